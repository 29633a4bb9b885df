package form

import (
	"strings"
	"testing"

	"toolx/pkg/jsonschema"
)

// TestShape: what a schema of one parameter becomes, and what is said of it.
func TestShape(t *testing.T) {
	for _, test := range []struct {
		name, schema string
		kind         jsonschema.ShapeKind
		nullable     bool
		hint         string
	}{
		{"string", `{"type":"string"}`, jsonschema.ShapeText, false, "text"},
		{"bounds of text", `{"type":"string","minLength":2,"maxLength":5,"pattern":"^a"}`, jsonschema.ShapeText, false, "text, 2 to 5 characters, matches ^a"},
		{"format, default, example", `{"type":"string","format":"date","default":"2020-01-01","examples":["2021-01-01"]}`, jsonschema.ShapeText, false, `text, date, default "2020-01-01", e.g. "2021-01-01"`},
		{"integer", `{"type":"integer","minimum":1,"maximum":9,"multipleOf":2}`, jsonschema.ShapeNumber, false, "integer, 1 to 9, in steps of 2"},
		{"number", `{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1}`, jsonschema.ShapeNumber, false, "number, above 0, below 1"},
		{"draft 4 bounds", `{"type":"number","minimum":0,"exclusiveMinimum":true}`, jsonschema.ShapeNumber, false, "number, above 0"},
		{"boolean", `{"type":"boolean"}`, jsonschema.ShapeBool, false, "boolean"},
		{"enum", `{"enum":["a",2,true]}`, jsonschema.ShapeEnum, false, "a | 2 | true"},
		{"enum of what looks alike", `{"enum":["1",1,"null",""]}`, jsonschema.ShapeEnum, false, `"1" | 1 | "null" | ""`},
		{"enum with null", `{"enum":["a","b",null]}`, jsonschema.ShapeEnum, true, "a | b, or null"},
		{"enum with null that the type forbids", `{"type":"string","enum":["a","b",null]}`, jsonschema.ShapeEnum, false, "a | b"},
		{"const", `{"const":{"a":1}}`, jsonschema.ShapeEnum, false, `{"a":1}`},
		{"titled constants", `{"oneOf":[{"const":1,"title":"one"},{"const":2,"title":"two"}]}`, jsonschema.ShapeEnum, false, "one | two"},
		{"null alone", `{"type":"null"}`, jsonschema.ShapeEnum, false, "null"},
		{"array", `{"type":"array","items":{"type":"string"},"minItems":1}`, jsonschema.ShapeArray, false, "array, at least 1 row"},
		{"array without type", `{"items":{"type":"string"}}`, jsonschema.ShapeArray, false, "array"},
		{"object", `{"type":"object","properties":{"a":{}}}`, jsonschema.ShapeObject, false, "object"},
		{"object without type", `{"properties":{"a":{}}}`, jsonschema.ShapeObject, false, "object"},
		{"map", `{"type":"object","additionalProperties":{"type":"integer"}}`, jsonschema.ShapeObject, false, "map"},
		{"pattern properties", `{"type":"object","patternProperties":{"^x":{"type":"integer"}}}`, jsonschema.ShapeObject, false, "map"},
		{"nullable by type", `{"type":["string","null"]}`, jsonschema.ShapeText, true, "text, or null"},
		{"nullable by anyOf", `{"anyOf":[{"type":"integer","maximum":3},{"type":"null"}]}`, jsonschema.ShapeNumber, true, "integer, at most 3, or null"},
		{"null that the type forbids", `{"type":"integer","anyOf":[{"maximum":3},{"type":"null"}]}`, jsonschema.ShapeNumber, false, "integer, at most 3"},
		{"several types", `{"type":["string","integer","null"]}`, jsonschema.ShapeVariant, true, "string | integer, or null"},
		{"oneOf", `{"oneOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]}`, jsonschema.ShapeVariant, false, "string | array of string"},
		{"oneOf of what is required", `{"oneOf":[{"required":["id"]},{"required":["name","at"]},{"properties":{"x":{}}}]}`, jsonschema.ShapeVariant, false, "with id | with name, at | with x"},
		{"oneOf of much that is required", `{"oneOf":[{"type":"object","required":["a","b","c","d"]},{"type":"string"}]}`, jsonschema.ShapeVariant, false, "object with a, b, c, ... | string"},
		{"oneOf of what is called alike", `{"oneOf":[{"type":"object","title":"x"},{"type":"string"},{"type":"array","title":"x"}]}`, jsonschema.ShapeVariant, false, "x (1) | string | x (2)"},
		{"oneOf by reference and constant", `{"oneOf":[{"$ref":"#/$defs/Circle"},{"type":"object","properties":{"kind":{"const":"box"}}}]}`, jsonschema.ShapeVariant, false, `Circle | kind "box"`},
		{"anyOf of one scalar", `{"anyOf":[{"type":"string","format":"date"},{"type":"string","maxLength":3}]}`, jsonschema.ShapeText, false, "text"},
		{"anyOf of conditions", `{"type":"object","properties":{"a":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, jsonschema.ShapeObject, false, "object"},
		{"anyOf of conditions, without type", `{"properties":{"a":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, jsonschema.ShapeObject, false, "object"},
		{"allOf", `{"allOf":[{"type":"integer"},{"minimum":3}]}`, jsonschema.ShapeNumber, false, "integer, at least 3"},
		{"reference", `{"$ref":"#/$defs/Circle"}`, jsonschema.ShapeObject, false, "object"},
		{"reference with escapes", `{"$ref":"#/$defs/a~1b%20c~0/items"}`, jsonschema.ShapeNumber, false, "integer"},
		{"reference into a list", `{"$ref":"#/$defs/list/oneOf/1"}`, jsonschema.ShapeBool, false, "boolean"},
		{"reference in a circle", `{"$ref":"#/properties/p"}`, jsonschema.ShapeJSON, true, "any value, JSON or words"},
		{"reference to nowhere", `{"$ref":"#/$defs/none"}`, jsonschema.ShapeJSON, true, "JSON: a reference that leads nowhere"},
		{"reference to elsewhere", `{"$ref":"https://example.com/x.json"}`, jsonschema.ShapeJSON, true, "JSON: a reference that leads nowhere"},
		{"reference by anchor", `{"$ref":"#count"}`, jsonschema.ShapeNumber, false, "integer"},
		{"reference by the schema's own address", `{"$ref":"https://example.com/tool#/$defs/Circle"}`, jsonschema.ShapeObject, false, "object"},
		{"nullable reference to nowhere", `{"anyOf":[{"$ref":"#/none"},{"type":"null"}]}`, jsonschema.ShapeJSON, true, "JSON: a reference that leads nowhere"},
		{"reference to the whole", `{"$ref":""}`, jsonschema.ShapeObject, false, "object"},
		{"null twice", `{"enum":[null,null]}`, jsonschema.ShapeEnum, false, "null | null"},
		{"choice with a reference to nowhere", `{"type":"object","anyOf":[{"$ref":"#/none"},{"required":["a"]}]}`, jsonschema.ShapeVariant, false, "none | with a"},
		{"tuple", `{"type":"array","prefixItems":[{"type":"string"}]}`, jsonschema.ShapeJSON, false, "JSON: a tuple"},
		{"old tuple", `{"type":"array","items":[{"type":"string"}]}`, jsonschema.ShapeJSON, false, "JSON: a tuple"},
		{"untyped", `{}`, jsonschema.ShapeJSON, true, "any value, JSON or words"},
		{"not", `{"not":{"type":"string"}}`, jsonschema.ShapeJSON, true, "any value, JSON or words"},
		{"if", `{"if":{"type":"string"},"then":{"minLength":1}}`, jsonschema.ShapeJSON, true, "any value, JSON or words"},
		{"true", `true`, jsonschema.ShapeJSON, true, "any value, JSON or words"},
		{"false", `false`, jsonschema.ShapeJSON, false, "JSON: no value fits"},
		{"type in capitals", `{"type":"INTEGER"}`, jsonschema.ShapeNumber, false, "integer"},
		{"type that limits imply", `{"minLength":2}`, jsonschema.ShapeText, false, "text, at least 2 characters"},
		{"limits of several types", `{"minLength":2,"minimum":1}`, jsonschema.ShapeJSON, true, "any value, JSON or words"},
		{"no type that exists", `{"type":"strnig"}`, jsonschema.ShapeJSON, true, "any value, JSON or words"},
		{"contradiction", `{"allOf":[{"type":"string"},{"type":"integer"}]}`, jsonschema.ShapeJSON, false, "JSON: no value fits"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newForm(`{"type":"object","$id":"https://example.com/tool","properties":{"p":` + test.schema + `},"$defs":{
				"n":{"$anchor":"count","type":"integer"},
				"Circle":{"type":"object","properties":{"radius":{"type":"number"}}},
				"list":{"oneOf":[{"type":"string"},{"type":"boolean"}]},
				"a/b c~":{"type":"array","items":{"type":"integer"}}}}`)
			s := f.root.children[0].shape
			if s.Kind != test.kind || s.Nullable != test.nullable || hint(s) != test.hint {
				t.Errorf("it is %s, nullable %t, %q", s.Kind, s.Nullable, hint(s))
			}
		})
	}
}

// The whole is an object, whatever the schema says.
func TestRoot(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object","properties":{"b":{},"a":{}},"required":["c"]}`:                                "b a c",
		`{"allOf":[{"properties":{"a":{}}},{"$ref":"#/$defs/x"}],"$defs":{"x":{"properties":{"b":{}}}}}`: "a b",
		`{"properties":{"a":{}},"if":{},"then":{"properties":{"b":{}}},"else":{"properties":{"c":{}}}}`:  "a b c",
		`{"properties":{"a":{}},"dependentSchemas":{"a":{"properties":{"b":{}}}}}`:                       "a b",
		`{"anyOf":[{"type":"null"},{"type":"object","properties":{"a":{}}}]}`:                            "a",

		// Members that are only named where something is required, or looked at (no schema
		// may look as if there were nothing to fill in).
		`{"oneOf":[{"required":["a"]},{"required":["b","c"]}]}`:                                                                         "a b c",
		`{"type":"object","anyOf":[{"required":["a"]},{"required":["b"]}]}`:                                                             "a b",
		`{"type":"object","properties":{"b":{"type":"string"}},"oneOf":[{"required":["a"]},{"required":["b"]}]}`:                        "b a",
		`{"oneOf":[{"required":["a"],"not":{"required":["b"]}},{"allOf":[{"required":["b"]}]}]}`:                                        "a b",
		`{"anyOf":[{"$ref":"#/$defs/x"},{"required":["b"]}],"$defs":{"x":{"required":["a"]}}}`:                                          "a b",
		`{"allOf":[{"oneOf":[{"required":["a"]},{"required":["b"]}]},{"anyOf":[{"required":["c"]},{"required":["d"]}]}]}`:               "a b c d",
		`{"if":{"properties":{"kind":{"const":"x"}}},"then":{"required":["a"]},"else":{"oneOf":[{"required":["b"]}]}}`:                  "a b kind",
		`{"allOf":[{"if":{"required":["a"]},"then":{"properties":{"b":{"type":"string"}}}}]}`:                                           "b a",
		`{"dependentRequired":{"a":["b"]},"dependencies":{"c":["d"],"e":{"required":["f"]}}}`:                                           "a b c d e f",
		`{"anyOf":[` + strings.Repeat(`{"required":["a"],"properties":{"a":{}}},`, jsonschema.MaxAlternatives) + `{"required":["b"]}]}`: "a b",

		`{"type":"string"}`: "", `true`: "", `false`: "", ``: "", `{`: "", `[]`: "", `null`: "", `{"$ref":"#"}`: "", `{"$ref":"other"}`: "",
	} {
		f := newForm(schema)
		var names []string
		for _, child := range f.root.children {
			names = append(names, child.name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s has %q, want %q", schema, got, want)
		}
		if got := arguments(f); got != "{}" {
			t.Errorf("%s makes %s of nothing", schema, got)
		}
	}
}

// Alternatives of whole objects are picked; what a picked one does not have is not
// offered.
func TestRootOfAlternatives(t *testing.T) {
	for _, schema := range []string{
		`{"oneOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}},"required":["b"]}]}`,
		`{"$ref":"#/$defs/x","$defs":{"x":{"oneOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}},"required":["b"]}]}}}`,
	} {
		f := newForm(schema)
		press(f, "enter", "down", "x")
		if got := frame(f, 60, 6); arguments(f) != `{"a":"x"}` || strings.Contains(got, "b*") {
			t.Errorf("%s makes %s:\n%s", schema, arguments(f), got)
		}
	}
}

// What the root's schema leaves open can be given by name, with the values that it
// allows.
func TestOpenRoot(t *testing.T) {
	for _, test := range []struct{ schema, shows, value, want string }{
		{`{"additionalProperties":{"type":"integer"}}`, "+ add a parameter", "7", `{"k":7}`},
		{`{"type":"object","additionalProperties":true}`, "+ add a parameter", "seven", `{"k":"seven"}`},
		{`{"patternProperties":{"^k":{"type":"string"}},"additionalProperties":false}`, "+ add a parameter", "7", `{"k":"7"}`},
		{`{"patternProperties":{"^k":{"type":"string"}}}`, "+ add a parameter", `"7"`, `{"k":"7"}`},
		{`{"minProperties":1}`, "+ add a parameter", "[1]", `{"k":[1]}`},
		{`{"$ref":"#/nowhere"}`, "+ add a parameter", "7", `{"k":7}`},
		{`{"enum":[{"k":7}]}`, "+ add a parameter", "7", `{"k":7}`},
		{`{}`, "needs no parameters; ctrl+a adds one", "7", `{"k":7}`},
		{`true`, "needs no parameters; ctrl+a adds one", "7", `{"k":7}`},
		{``, "needs no parameters; ctrl+a adds one", "7", `{"k":7}`},
	} {
		f := newForm(test.schema)
		if got := frame(f, 60, 6); !strings.Contains(got, test.shows) {
			t.Errorf("%s is drawn as\n%s", test.schema, got)
		}
		press(f, "ctrl+a", "k", "tab", test.value)
		if got := arguments(f); got != test.want {
			t.Errorf("%s makes %s, want %s", test.schema, got, test.want)
		}
		if problems := f.Problems(); len(problems) > 0 {
			t.Errorf("%s: %q", test.schema, problems)
		}
	}
}

// Where any value fits, words are text, and shown so; what begins like JSON is JSON, or
// wrong.
func TestWords(t *testing.T) {
	for typed, want := range map[string]string{
		"words":   `{"a":"words"}`,
		"héllo":   `{"a":"héllo"}`,
		"true":    `{"a":true}`,
		"/tmp/x":  `{"a":"/tmp/x"}`,
		`"12"`:    `{"a":"12"}`,
		"12":      `{"a":12}`,
		`{"b":1}`: `{"a":{"b":1}}`,
	} {
		f := newForm(`{"type":"object","required":["a"]}`)
		press(f, typed)
		if got := arguments(f); got != want || len(f.Problems()) > 0 {
			t.Errorf("%s makes %s (%q), want %s", typed, got, f.Problems(), want)
		}
	}
	f := newForm(`{"type":"object","required":["a"]}`)
	press(f, "yes")
	if got := frame(f, 60, 4); !strings.Contains(got, `"yes"`) {
		t.Errorf("what is sent is not shown:\n%s", got)
	}
	for _, typed := range []string{"1 apple", `{"b":`, "[1", "-x", `"open`} {
		f := newForm(`{"type":"object","required":["a"]}`)
		press(f, typed)
		if len(f.Problems()) == 0 {
			t.Errorf("%s is no JSON, and nothing is wrong", typed)
		}
	}
}

// A schema that holds itself has fields to a depth, then JSON; all of it can be
// filled in.
func TestRecursion(t *testing.T) {
	f := newForm(`{"$ref":"#/$defs/t","$defs":{"t":{"type":"object","properties":{"next":{"$ref":"#/$defs/t"},"n":{"type":"integer"}}}}}`)
	given := `{"next":{"next":{"next":{"next":{"n":1}}}}}`
	if err := f.SetArguments([]byte(given)); err != nil || arguments(f) != given {
		t.Fatalf("%v: %s", err, arguments(f))
	}
	at, depth := f.root, 0
	for at.kind == jsonschema.ShapeObject {
		at, depth = at.children[0], depth+1
	}
	if at.kind != jsonschema.ShapeJSON || depth != maxRecursion || at.text() != `{"next":{"n":1}}` {
		t.Errorf("after %d fields it is %s %s", depth, at.kind, at.text())
	}
}

// Schemas that grow without end, or nearly so, make a form of bounded size.
func TestHostileSize(t *testing.T) {
	for name, schema := range map[string]string{
		"wide recursion": `{"$ref":"#/$defs/t","$defs":{"t":{"type":"object","required":["a","b","c","d"],"properties":{` +
			`"a":{"$ref":"#/$defs/t"},"b":{"$ref":"#/$defs/t"},"c":{"$ref":"#/$defs/t"},"d":{"$ref":"#/$defs/t"}}}}}`,
		"doubled":         `{"$defs":{"x":{"allOf":[{"$ref":"#/$defs/x"},{"$ref":"#/$defs/x"}]}},"properties":{"a":{"$ref":"#/$defs/x"}}}`,
		"alternatives":    `{"properties":{"a":{"anyOf":[` + strings.TrimSuffix(strings.Repeat(`{"type":"object","properties":{"x":{}}},`, 5000), ",") + `]}}}`,
		"nested choices":  strings.Repeat(`{"anyOf":[{"type":"object","properties":{"x":`, 100) + `{}` + strings.Repeat(`}},{"type":"object","properties":{"y":{}}}]}`, 100),
		"choice of self":  `{"anyOf":[{"$ref":"#"},{"type":"object","properties":{"x":{"$ref":"#"}}}]}`,
		"many values":     `{"properties":{"a":{"enum":[` + strings.Repeat("1,", 50000) + `1]}}}`,
		"long texts":      `{"properties":{"a":{"type":"string","title":"` + strings.Repeat("t", 1<<18) + `","description":"` + strings.Repeat("d ", 1<<18) + `"}}}`,
		"long name":       `{"properties":{"` + strings.Repeat("n", 1<<18) + `":{"type":"string"}}}`,
		"deep properties": strings.Repeat(`{"properties":{"a":`, 300) + `{}` + strings.Repeat(`}}`, 300),
	} {
		t.Run(name, func(t *testing.T) {
			f := newForm(schema)
			exact(t, f, 80, 24)
			for range 40 {
				press(f, "esc", "right", "j")
			}
			exact(t, f, 36, 6)
			if len(f.visible()) > 2000 {
				t.Errorf("%d rows", len(f.visible()))
			}
		})
	}
}
