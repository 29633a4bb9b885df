package jsonschema

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// mustCompile compiles a schema that is not broken.
func mustCompile(t testing.TB, schema string) *Schema {
	t.Helper()
	compiled, err := Parse(json.RawMessage(schema)).Compile(t.Context())
	if err != nil {
		t.Fatalf("compile %s: %v", words.Shorten(schema, 200), err)
	}
	return compiled
}

// texts validates and returns problems, then unknown parameters, as text.
func texts(t testing.TB, schema, arguments string) (problems, unknown []string) {
	t.Helper()
	found, names, err := mustCompile(t, schema).Check(t.Context(), json.RawMessage(arguments))
	if err != nil {
		t.Fatalf("check %s: %v", words.Shorten(arguments, 200), err)
	}
	for _, problem := range found {
		problems = append(problems, problem.String())
	}
	for _, name := range names {
		unknown = append(unknown, name.String())
	}
	return problems, unknown
}

func wantTexts(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

const lightSchema = `{
	"type": "object",
	"properties": {
		"deviceName": {"type": "string", "description": "Name of the device. Case matters."},
		"action": {"type": "string", "enum": ["on", "off"]},
		"level": {"type": "integer", "minimum": 0, "maximum": 99}
	},
	"required": ["deviceName", "action"]
}`

// VAL-1, EXEC-7: every kind of problem, in words that say what to give instead.
func TestCheckProblems(t *testing.T) {
	tests := []struct {
		name      string
		schema    string
		arguments string
		want      []string
	}{
		{"valid", lightSchema, `{"deviceName":"a","action":"on","level":99}`, nil},
		{"missing in the schema's order", lightSchema, `{}`, []string{
			"missing 'deviceName'", "missing 'action'",
		}},
		{"all at once", lightSchema, `{"action":"dim","level":"5"}`, []string{
			"missing 'deviceName'",
			`'action' must be one of "on", "off"; got "dim"`,
			`'level' must be an integer; got "5"`,
		}},
		{"another kind than an enum's", lightSchema, `{"deviceName":"a","action":1}`, []string{`'action' must be one of "on", "off"; got 1`}},
		{"not an object", lightSchema, `[]`, []string{"the arguments must be an object; got []"}},
		{"a whole number with a point", lightSchema, `{"deviceName":"a","action":"on","level":5.0}`, nil},
		{"a fraction", lightSchema, `{"deviceName":"a","action":"on","level":5.5}`, []string{"'level' must be an integer; got 5.5"}},
		{"range", lightSchema, `{"deviceName":"a","action":"on","level":-1}`, []string{"'level' must be at least 0; got -1"}},
		{"huge integers are compared exactly", `{"properties":{"n":{"maximum":9007199254740993}}}`, `{"n":9007199254740994}`, []string{"'n' must be at most 9007199254740993; got 9007199254740994"}},
		{"steps", `{"properties":{"n":{"multipleOf":0.1}}}`, `{"n":0.35}`, []string{"'n' must be a multiple of 0.1; got 0.35"}},
		{"open bounds", `{"properties":{"n":{"exclusiveMinimum":0,"exclusiveMaximum":1}}}`, `{"n":1}`, []string{"'n' must be less than 1; got 1"}},
		{"text length", `{"properties":{"s":{"minLength":1}}}`, `{"s":""}`, []string{`'s' must have at least 1 character; got ""`}},
		{"pattern", `{"properties":{"s":{"pattern":"^a+$"}}}`, `{"s":"b"}`, []string{`'s' must match the pattern ^a+$; got "b"`}},
		{"pattern with look-ahead", `{"properties":{"s":{"pattern":"^(?!admin)\\w+$"}}}`, `{"s":"admin"}`, []string{`'s' must match the pattern ^(?!admin)\w+$; got "admin"`}},
		{"array length", `{"properties":{"a":{"minItems":2}}}`, `{"a":[1]}`, []string{"'a' must have at least 2 items; got 1"}},
		{"repeated items", `{"properties":{"a":{"uniqueItems":true}}}`, `{"a":[1,2,1]}`, []string{"'a' must not repeat a value (items 0 and 2 are equal)"}},
		{"nested paths", `{"properties":{"o":{"properties":{"m":{"type":"boolean"}},"required":["k"]},"items":{"items":{"properties":{"name":{"type":"string"}}}}}}`, `{"o":{"m":1},"items":[{},{},{"name":2}]}`, []string{
			"missing 'o.k'", "'items[2].name' must be a string; got 2", "'o.m' must be a boolean; got 1",
		}},
		{"odd names in paths", `{"properties":{"o":{"properties":{"a.b":{"type":"string"}}},"a.b":{"type":"string"}}}`, `{"o":{"a.b":1},"a.b":1}`, []string{
			"'a.b' must be a string; got 1", `'o["a.b"]' must be a string; got 1`,
		}},
		{"references", `{"$defs":{"id":{"$anchor":"id","type":"string"}},"properties":{"a":{"$ref":"#/$defs/id"},"b":{"$ref":"#id"}}}`, `{"a":1,"b":2}`, []string{
			"'a' must be a string; got 1", "'b' must be a string; got 2",
		}},
		{"alternatives of kinds", `{"properties":{"v":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}`, `{"v":true}`, []string{"'v' must be a string or an integer; got true"}},
		{"alternatives of values", `{"properties":{"v":{"oneOf":[{"const":"a"},{"const":"b"}]}}}`, `{"v":"c"}`, []string{`'v' must be one of "a", "b"; got "c"`}},
		{"nullable keeps the real reason", `{"properties":{"v":{"anyOf":[{"type":"string","minLength":3},{"type":"null"}]}}}`, `{"v":"a"}`, []string{`'v' must have at least 3 characters; got "a"`}},
		{"one of two names", `{"anyOf":[{"required":["x"]},{"required":["y"]}]}`, `{}`, []string{"missing 'x' (or 'y' instead)"}},
		{
			"nearest alternative", `{"properties":{"shape":{"oneOf":[
			{"properties":{"kind":{"const":"circle"},"r":{"type":"number"}},"required":["kind","r"]},
			{"properties":{"kind":{"const":"square"},"side":{"type":"number"}},"required":["kind","side"]}]}}}`,
			`{"shape":{"kind":"square"}}`,
			[]string{"missing 'shape.side'"},
		},
		{"several alternatives", `{"oneOf":[{"title":"by name","required":["a","b"]},{"title":"by id","required":["c","d","e"]}]}`, `{}`, []string{
			"missing 'a' (nearest of the alternatives by name, by id)", "missing 'b'",
		}},
		{"more than one fits", `{"properties":{"v":{"oneOf":[{"type":"integer"},{"minimum":1}]}}}`, `{"v":5}`, []string{"'v' must fit exactly one alternative of the schema; got 5 (it fits alternatives 1 and 2)"}},
		{"needed by another", `{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, []string{"missing 'b' (needed because 'a' is given)"}},
		{"names", `{"propertyNames":{"pattern":"^[a-z]+$"}}`, `{"A":1}`, []string{"'A' is not an allowed name here (it must match the pattern ^[a-z]+$)"}},
		{
			"names of several objects",
			`{"properties":{"a":{"items":{"$ref":"#/$defs/o"}},"b":{"$ref":"#/$defs/o"},"c":{}},` +
				`"$defs":{"o":{"propertyNames":{"maxLength":1},"properties":{"x":{"type":"string"}}}}}`,
			`{"a":[{"AA":1,"BB":1,"x":1},{"AA":1},{}],"b":{"AA":1,"x":1},"c":{"AA":1}}`,
			[]string{
				"'a[0].AA' is not an allowed name here (it must have at most 1 character)",
				"'a[0].BB' is not an allowed name here (it must have at most 1 character)",
				"'a[0].x' must be a string; got 1",
				"'a[1].AA' is not an allowed name here (it must have at most 1 character)",
				"'b.AA' is not an allowed name here (it must have at most 1 character)",
				"'b.x' must be a string; got 1",
			},
		},
		{"excluded", `{"properties":{"v":{"not":{"const":1}}}}`, `{"v":1}`, []string{"'v' has a value that the schema excludes"}},
		{"long values are cut", `{"properties":{"v":{"type":"integer"}}}`, `{"v":"` + strings.Repeat("x", 100) + `"}`, []string{`'v' must be an integer; got "` + strings.Repeat("x", 58) + "…"}},
		{"formats are annotations", `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"v":{"format":"email"}}}`, `{"v":"nobody"}`, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, _ := texts(t, test.schema, test.arguments)
			wantTexts(t, "problems", got, test.want)
		})
	}
}

// VAL-1: one rule of each draft that the others lack.
func TestDialects(t *testing.T) {
	tests := []struct{ dialect, schema, valid, invalid string }{
		{"http://json-schema.org/draft-04/schema#", `"properties":{"n":{"minimum":1,"exclusiveMinimum":true}}`, `{"n":2}`, `{"n":1}`},
		{"http://json-schema.org/draft-06/schema#", `"properties":{"n":{"const":1}}`, `{"n":1}`, `{"n":2}`},
		{"http://json-schema.org/draft-07/schema#", `"if":{"required":["a"]},"then":{"required":["b"]}`, `{"a":1,"b":1}`, `{"a":1}`},
		{"https://json-schema.org/draft/2019-09/schema", `"dependentRequired":{"a":["b"]}`, `{"b":1}`, `{"a":1}`},
		{"https://json-schema.org/draft/2020-12/schema", `"properties":{"a":{"prefixItems":[{"type":"string"}]}}`, `{"a":["x"]}`, `{"a":[1]}`},
		{"", `"properties":{"a":{"prefixItems":[{"type":"string"}]}}`, `{"a":["x"]}`, `{"a":[1]}`},
	}
	for _, test := range tests {
		t.Run(test.dialect, func(t *testing.T) {
			schema := "{" + test.schema + "}"
			if test.dialect != "" {
				schema = fmt.Sprintf(`{"$schema":%q,%s}`, test.dialect, test.schema)
			}
			if got, _ := texts(t, schema, test.valid); len(got) != 0 {
				t.Errorf("%s: %q", test.valid, got)
			}
			if got, _ := texts(t, schema, test.invalid); len(got) != 1 {
				t.Errorf("%s: got %q, want one problem", test.invalid, got)
			}
		})
	}
}

// VAL-2: what the schema does not name is a remark with the nearest name, never a
// problem, even where the schema forbids it.
func TestUnknownParameters(t *testing.T) {
	tests := []struct {
		name, schema, arguments string
		want                    []string
	}{
		{"abbreviated", lightSchema, `{"deviceName":"a","action":"on","lvl":5}`, []string{"unknown parameter 'lvl' (did you mean 'level'?)"}},
		{"misspelt", lightSchema, `{"deviceName":"a","action":"on","lebel":5}`, []string{"unknown parameter 'lebel' (did you mean 'level'?)"}},
		{"nothing near", lightSchema, `{"deviceName":"a","action":"on","zzz":5}`, []string{"unknown parameter 'zzz' (known: action, deviceName, level)"}},
		{"below a string", `{"properties":{"s":{"type":"string"}}}`, `{"s.foo":1}`, []string{"unknown parameter 's.foo' (known: s)"}},
		{"closed", `{"properties":{"a":{}},"additionalProperties":false}`, `{"b":1}`, []string{"unknown parameter 'b' (known: a)"}},
		{"closed without names", `{"type":"object","additionalProperties":false}`, `{"b":1}`, []string{"unknown parameter 'b'"}},
		{"unevaluated", `{"properties":{"ab":{}},"unevaluatedProperties":false}`, `{"abc":1}`, []string{"unknown parameter 'abc' (did you mean 'ab'?)"}},
		{"nested and closed", `{"properties":{"o":{"properties":{"mode":{}},"additionalProperties":false}}}`, `{"o":{"mod":1}}`, []string{"unknown parameter 'o.mod' (did you mean 'mode'?)"}},
		{"nested", `{"properties":{"o":{"properties":{"mode":{}}}}}`, `{"o":{"mod":1}}`, []string{"unknown parameter 'o.mod' (did you mean 'mode'?)"}},
		{"in an array", `{"properties":{"l":{"items":{"properties":{"name":{}}}}}}`, `{"l":[{"nam":1}]}`, []string{"unknown parameter 'l[0].nam' (did you mean 'name'?)"}},
		{"in the only alternative that fits", `{"oneOf":[{"properties":{"k":{"const":1}},"required":["k"],"additionalProperties":false},{"properties":{"k":{"const":2}},"required":["k"],"additionalProperties":false}]}`, `{"k":2,"x":1}`, []string{"unknown parameter 'x' (known: k)"}},
		{"known by a reference", `{"$ref":"#/$defs/o","$defs":{"o":{"properties":{"a":{}}}}}`, `{"a":1}`, nil},
		{"known by an alternative", `{"properties":{"a":{}},"anyOf":[{"properties":{"b":{}}},{"properties":{"c":{}}}]}`, `{"a":1,"b":1,"c":1}`, nil},
		{"known by a pattern", `{"properties":{"a":{}},"patternProperties":{"^x-":{}}}`, `{"x-y":1}`, nil},
		{"free keys", `{"type":"object","additionalProperties":{"type":"string"}}`, `{"a":"1"}`, nil},
		{"any object", `{"type":"object"}`, `{"a":"1"}`, nil},
		{"open, but misspelt", `{"properties":{"level":{}},"additionalProperties":true}`, `{"lebel":1,"other":1}`, []string{"unknown parameter 'lebel' (did you mean 'level'?)"}},
		{"two closed parts of an allOf", `{"allOf":[{"properties":{"a":{}},"additionalProperties":false},{"properties":{"b":{}},"additionalProperties":false}]}`, `{"a":1,"b":1}`, nil},
		{"no schema", ``, `{"a":1}`, nil},
		{"no parameters", `{"type":"object","properties":{}}`, `{"a":1}`, []string{"unknown parameter 'a'"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			problems, unknown := texts(t, test.schema, test.arguments)
			wantTexts(t, "unknown", unknown, test.want)
			wantTexts(t, "problems", problems, nil)
		})
	}
}

func TestUnknownNameBelowPropertyOfTwoParts(t *testing.T) {
	const part = `{"properties":{"a":{"properties":{"b":{}}}}}`
	_, unknown := texts(t, `{"allOf":[`+part+`,`+part+`]}`, `{"a":{"c":1}}`)
	wantTexts(t, "unknown", unknown, []string{"unknown parameter 'a.c' (known: b)"})
}

// A name of another alternative is known, and still does not go with this one.
func TestNameOfAnotherAlternative(t *testing.T) {
	problems, unknown := texts(t, `{"oneOf":[
		{"properties":{"a":{}},"required":["a"],"additionalProperties":false},
		{"properties":{"b":{}},"required":["b"],"additionalProperties":false}]}`, `{"a":1,"b":1}`)
	wantTexts(t, "problems", problems,
		[]string{"'b' cannot be given together with the other parameters (nearest of the alternatives {a}, {b})"})
	wantTexts(t, "unknown", unknown, nil)
}

// VAL-3: what is no schema is an error of the schema, in one line.
func TestBrokenSchemas(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{"text", `"x"`, "a schema is an object or a boolean, not a string"},
		{"array", `[]`, "not an array"},
		{"number", `42`, "not an integer"},
		{"null", `null`, "not null"},
		{"not JSON", `{`, "not JSON"},
		{"unknown type", `{"properties":{"a":{"type":"strnig"}}}`, `'#/properties/a/type' must be one of`},
		{"unknown dialect", `{"$schema":"https://example.com/dialect"}`, `unknown dialect "https://example.com/dialect"`},
		{"missing definition", `{"properties":{"a":{"$ref":"#/$defs/none"}}}`, "not found"},
		{"too deep", strings.Repeat(`{"not":`, rawjson.MaxDepth+1) + "{}" + strings.Repeat("}", rawjson.MaxDepth+1), "nested deeper"},
		{"a number beyond all range", `{"minimum":1e999999}`, "out of range"},
		{"too large", `{"allOf":[` + strings.Repeat("{},", 60_000) + `{}]}`, "too large"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse(json.RawMessage(test.schema)).Compile(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one line with %q", err, test.want)
			}
		})
	}
}

// VAL-3: neither a file nor an address is read, and nothing of them shows.
func TestExternalReferencesAreNotFetched(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "secret.json")
	if err := os.WriteFile(file, []byte(`{"type":"secret"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{
		server.URL + "/schema.json", "file://" + filepath.ToSlash(file), "other.json", "../up.json#/x",
	} {
		for _, schema := range []string{
			fmt.Sprintf(`{"properties":{"a":{"$ref":%q}}}`, ref),
			fmt.Sprintf(`{"$schema":%q}`, ref),
		} {
			_, err := Parse(json.RawMessage(schema)).Compile(t.Context())
			if err == nil || strings.Contains(err.Error(), "secret\"") {
				t.Errorf("%s: got %v", schema, err)
			}
		}
	}
	if asked != 0 {
		t.Errorf("the server was asked %d times", asked)
	}
}

// VAL-3: an identifier is a name, not an address to fetch.
func TestReferencesByIdentifier(t *testing.T) {
	got, _ := texts(t, `{"$id":"https://example.com/tool.json","$defs":{"n":{"$id":"name.json","type":"string"}},
		"properties":{"a":{"$ref":"name.json"},"b":{"$ref":"https://example.com/tool.json#/$defs/n"}}}`, `{"a":1,"b":2}`)
	wantTexts(t, "problems", got, []string{"'a' must be a string; got 1", "'b' must be a string; got 2"})
}

// doubling returns a schema of n levels, each of which applies the one below twice.
func doubling(keyword, leaf string, n int) string {
	var out strings.Builder
	fmt.Fprintf(&out, `{"$defs":{"d0":%s`, leaf)
	for i := 1; i < n; i++ {
		fmt.Fprintf(&out, `,"d%d":{%q:[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, keyword, i-1, i-1)
	}
	fmt.Fprintf(&out, `},"$ref":"#/$defs/d%d"}`, n-1)
	return out.String()
}

// chain returns a schema in which n references follow each other before the next level of the arguments is reached.
func chain(n int) string {
	var out strings.Builder
	out.WriteString(`{"$defs":{"c0":{"properties":{"a":{"$ref":"#"}}}`)
	for i := 1; i < n; i++ {
		fmt.Fprintf(&out, `,"c%d":{"$ref":"#/$defs/c%d"}`, i, i-1)
	}
	fmt.Fprintf(&out, `},"$ref":"#/$defs/c%d"}`, n-1)
	return out.String()
}

// VAL-3: schemas without end do not block a call, and end no process: the check gives up and says so.
func TestEndlessSchemas(t *testing.T) {
	large(t)
	deep := strings.Repeat(`{"a":`, 400) + "{}" + strings.Repeat("}", 400)
	tests := []struct{ name, schema, arguments, want string }{
		{"itself", `{"$ref":"#"}`, `{}`, "refers to itself endlessly"},
		{"itself in allOf", `{"allOf":[{"$ref":"#"}]}`, `{}`, "refers to itself endlessly"},
		{"a circle", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, `{}`, "refers to itself endlessly"},
		{"dynamic", `{"$dynamicAnchor":"x","$dynamicRef":"#x"}`, `{}`, "refers to itself endlessly"},
		{"exponential allOf", doubling("allOf", `{"type":"object"}`, 60), `{}`, "too many steps"},
		{"exponential anyOf", doubling("anyOf", `{"minProperties":1}`, 60), `{}`, "too many steps"},
		{"exponential oneOf", doubling("oneOf", `{"minProperties":1}`, 60), `{}`, "too many steps"},
		{"exponential below not", strings.Replace(doubling("anyOf", "false", 60), `"$ref":"#/$defs/d59"`, `"not":{"$ref":"#/$defs/d59"}`, 1), `{}`, "too many steps"},
		{"deep in schema and arguments", chain(3000), deep, "too many steps"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := mustCompile(t, test.schema).Check(t.Context(), json.RawMessage(test.arguments))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// The validator's dynamic references reach schemas that no other way leads to; their steps count too.
func TestDynamicReferencesAreBounded(t *testing.T) {
	schema := strings.Replace(doubling("anyOf", `{"minProperties":1}`, 60), `"$ref":"#/$defs/d59"`,
		`"properties":{"a":{"$ref":"inner"}}`, 1)
	schema = strings.Replace(schema, `"$defs":{`, `"$defs":{
		"inner":{"$id":"inner","$dynamicRef":"#x","$defs":{"x":{"$dynamicAnchor":"x"}}},
		"outer":{"$dynamicAnchor":"x","$ref":"#/$defs/d59"},`, 1)
	_, _, err := mustCompile(t, schema).Check(t.Context(), json.RawMessage(`{"a":{}}`))
	if err == nil {
		t.Error("an exponential schema behind a $dynamicRef was checked to its end")
	}
}

// Recursive data is common and fine.
func TestRecursiveSchema(t *testing.T) {
	got, _ := texts(t, `{"properties":{"next":{"$ref":"#"},"v":{"type":"integer"}}}`, `{"next":{"next":{"v":"x"}}}`)
	wantTexts(t, "problems", got, []string{`'next.next.v' must be an integer; got "x"`})
}

// Large arguments take more steps than the smallest budget has.
func TestLargeArguments(t *testing.T) {
	arguments := `{"l":[` + strings.Repeat("1,", maxSteps) + `"x"]}`
	got, _ := texts(t, `{"properties":{"l":{"items":{"type":"integer"}}}}`, arguments)
	wantTexts(t, "problems", got, []string{fmt.Sprintf(`'l[%d]' must be an integer; got "x"`, maxSteps)})
}

// Arguments that two programs could read differently are never sent.
func TestAmbiguousArguments(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"a":1,"a":2}`:              "duplicate keys",
		`{"o":[{"b":1,"\u0062":2}]}`: "duplicate keys",
		"{\"a\":\"\xff\"}":           "not valid UTF-8",
		`{"a":NaN}`:                  "not JSON",
		`{"a":1}{}`:                  "not JSON",
		``:                           "empty",
		`{"a":1e999}`:                "out of range",
		`{"a":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`: "nested deeper",
	} {
		problems, _ := texts(t, `{}`, arguments)
		if len(problems) != 1 || !strings.Contains(problems[0], want) {
			t.Errorf("%s: got %q, want %q", arguments, problems, want)
		}
	}
}

// A pattern that no engine reads costs the rest of the schema nothing.
func TestUnreadablePatterns(t *testing.T) {
	schema := mustCompile(t, `{"properties":{"a":{"pattern":"^(?=a"},"b":{"type":"integer"}}}`)
	problems, _ := schema.Validate(t.Context(), json.RawMessage(`{"a":"x","b":"x"}`))
	if len(problems) != 1 || problems[0].Path != "b" {
		t.Errorf("got %v, want the problem of b only", problems)
	}
	wantTexts(t, "remarks", schema.Remarks(), []string{"the schema's pattern ^(?=a cannot be read and is not checked"})
}

// VAL-3: a pattern that takes too long on a text, in either engine, is given up with
// a remark, and the server judges; also where a match would refuse the value.
func TestCatastrophicPattern(t *testing.T) {
	endless := strings.Repeat("a", 50) + "!"
	tests := []struct{ name, a, pattern, text string }{
		{"backtracking", `{"pattern":%q}`, "^(?=a)(a+)+$", endless},
		{"linear", `{"pattern":%q}`, "^" + strings.Repeat(".{999}", 6) + "$", strings.Repeat("a", 100_000)},
		{"below not", `{"not":{"pattern":%q}}`, "^(?=a)(a+)+$", endless},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			schema := mustCompile(t, `{"properties":{"a":`+fmt.Sprintf(test.a, test.pattern)+`,"b":{"type":"integer"}}}`)
			found, err := schema.Judge(t.Context(), json.RawMessage(fmt.Sprintf(`{"a":%q,"b":1}`, test.text)))
			if err != nil || len(found.Problems) > 0 {
				t.Errorf("got %v, %v", found.Problems, err)
			}
			wantTexts(t, "remarks", found.Remarks, []string{
				"the pattern " + test.pattern + " takes too long on an argument and was not checked",
			})
			found, _ = schema.Judge(t.Context(), json.RawMessage(fmt.Sprintf(`{"a":%q,"b":"x"}`, test.text)))
			if len(found.Problems) == 0 || found.Problems[len(found.Problems)-1].Path != "b" {
				t.Errorf("got %v, want the problem of b", found.Problems)
			}
			if found, _ = schema.Judge(t.Context(), json.RawMessage(`{"b":1}`)); len(found.Remarks) > 0 {
				t.Errorf("other arguments have the remarks %q", found.Remarks)
			}
		})
	}
}

// Problems carry their parts, for JSON output and forms.
func TestProblemParts(t *testing.T) {
	problems, _ := mustCompile(t, lightSchema).Validate(t.Context(), json.RawMessage(`{"deviceName":"x","action":"dim"}`))
	raw, err := rawjson.Marshal(problems)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"path":"action","reason":"enum","expected":"one of \"on\", \"off\"","given":"\"dim\"","options":["\"on\"","\"off\""]}]`
	if string(raw) != want {
		t.Errorf("got  %s\nwant %s", raw, want)
	}
}

// One compiled schema serves calls that run at the same time.
func TestCheckConcurrently(t *testing.T) {
	schema := mustCompile(t, lightSchema)
	done := make(chan int)
	for range 8 {
		go func() {
			problems, _ := schema.Validate(t.Context(), json.RawMessage(`{"level":"x"}`))
			done <- len(problems)
		}()
	}
	for range 8 {
		if n := <-done; n != 3 {
			t.Errorf("got %d problems, want 3", n)
		}
	}
}

func FuzzValidate(f *testing.F) {
	for _, schema := range []string{
		lightSchema, `{"$ref":"#"}`, `{"oneOf":[{"const":1},{"properties":{"a":{"$ref":"#"}}}]}`, `true`, `[]`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","id":"#x","patternProperties":{"^(?=a)":{"$ref":"#x"}}}`,
		`{"allOf":[{"unevaluatedProperties":false}],"if":{"not":{}},"then":false,"dependentSchemas":{"a":{"required":["b"]}}}`,
		doubling("allOf", "{}", 12),
	} {
		f.Add(schema, `{"a":1,"level":[{}],"deviceName":"x"}`)
	}
	f.Fuzz(func(t *testing.T, text, arguments string) {
		checkQuick(t, text, arguments)
		schema, err := Parse(json.RawMessage(text)).Compile(t.Context())
		if err != nil {
			return
		}
		problems, unknown, err := schema.Check(t.Context(), json.RawMessage(arguments))
		if err != nil && len(problems)+len(unknown) > 0 {
			t.Errorf("problems beside the error %v", err)
		}
		for _, problem := range problems {
			if problem.String() == "" || problem.Reason == "" {
				t.Errorf("an empty problem: %#v", problem)
			}
		}
		for _, parameter := range unknown {
			if parameter.String() == "" {
				t.Error("an empty warning")
			}
		}
		again, _, _ := schema.Check(t.Context(), json.RawMessage(arguments))
		if err == nil && fmt.Sprint(problems) != fmt.Sprint(again) {
			t.Errorf("two runs differ:\n%v\n%v", problems, again)
		}
	})
}

func BenchmarkCompileAndValidate(b *testing.B) {
	arguments := json.RawMessage(`{"deviceName":"Switch One","action":"on","level":5}`)
	for b.Loop() {
		schema := mustCompile(b, lightSchema)
		if problems, unknown := schema.Validate(context.Background(), arguments); len(problems)+len(unknown) > 0 {
			b.Fatal(problems, unknown)
		}
	}
}

// TestEmptyEnum shows that an empty enum of draft 7 is a schema that nothing satisfies, and one of draft 4 is none.
func TestEmptyEnum(t *testing.T) {
	compile := func(draft string) (*Schema, error) {
		return Parse([]byte(`{"$schema":"http://json-schema.org/draft-0` + draft + `/schema#",` +
			`"properties":{"a":{"enum":[]},"const":{"const":{"enum":[]}}}}`)).Compile(t.Context())
	}
	if _, err := compile("4"); err == nil {
		t.Error("draft 4 asks for an element")
	}
	schema, err := compile("7")
	if err != nil {
		t.Fatal(err)
	}
	for arguments, valid := range map[string]bool{`{"a":1}`: false, `{}`: true, `{"const":{"enum":[]}}`: true} {
		problems, _ := schema.Validate(t.Context(), json.RawMessage(arguments))
		if (len(problems) == 0) != valid {
			t.Errorf("%s: %v", arguments, problems)
		}
	}
}
