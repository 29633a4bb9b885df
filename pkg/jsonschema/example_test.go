package jsonschema

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"toolx/pkg/rawjson"
)

// An example is valid by its own schema: that is checked for each.
func TestExample(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{"what is required, in its order", lightSchema, `{"deviceName":"example","action":"on"}`},
		{"nothing is required", `{"properties":{"a":{"type":"string"}}}`, `{}`},
		{"no schema", ``, `{}`},
		{"the author's own examples", `{"required":["a","b"],"properties":{"a":{"type":"string","examples":["Paris"]},"b":{"type":"integer","default":7}}}`, `{"a":"Paris","b":7}`},
		{"an example that is wrong", `{"required":["a"],"properties":{"a":{"type":"integer","examples":["x"]}}}`, `{"a":1}`},
		{"const and null", `{"required":["a","z"],"properties":{"a":{"const":"x"},"z":{"type":"null"}}}`, `{"a":"x","z":null}`},
		{"formats", `{"required":["a","b"],"properties":{"a":{"type":"string","format":"date"},"b":{"type":"string","format":"uri"}}}`, `{"a":"2026-01-31","b":"https://example.com"}`},
		{"lengths", `{"required":["a","b"],"properties":{"a":{"type":"string","minLength":10},"b":{"type":"string","maxLength":3}}}`, `{"a":"exampleexa","b":"exa"}`},
		{"a pattern", `{"required":["a"],"properties":{"a":{"type":"string","pattern":"^[A-Z]{2}-\\d+$","minLength":6}}}`, `{"a":"AA-111"}`},
		{"bounds", `{"required":["a","b","c","d","e"],"properties":{"a":{"type":"integer","minimum":5,"multipleOf":4},"b":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1},"c":{"type":"integer","maximum":-3},"d":{"type":"integer","exclusiveMinimum":9},"e":{"type":"integer"}}}`, `{"a":8,"b":0.5,"c":-3,"d":10,"e":1}`},
		{"arrays", `{"required":["a","b"],"properties":{"a":{"type":"array","items":{"type":"string"},"minItems":2,"uniqueItems":true},"b":{"type":"array","prefixItems":[{"type":"integer"}]}}}`, `{"a":["example","example2"],"b":[1]}`},
		{"nested and by reference", `{"required":["o"],"properties":{"o":{"$ref":"#/$defs/o"}},"$defs":{"o":{"type":"object","required":["m"],"properties":{"m":{"type":"boolean"}}}}}`, `{"o":{"m":true}}`},
		{"an alternative", `{"oneOf":[{"required":["a"],"properties":{"a":{"type":"string"}}},{"required":["b"]}]}`, `{"a":"example"}`},
		{"nullable", `{"required":["a"],"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, `{"a":"example"}`},
		{"recursive", `{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","required":["next"],"properties":{"next":{"anyOf":[{"$ref":"#/$defs/n"},{"type":"null"}]}}}}}`, `{"next":null}`},
		{"a condition", `{"required":["kind"],"properties":{"kind":{"enum":["a","b"]},"x":{"type":"integer"}},"if":{"properties":{"kind":{"const":"a"}}},"then":{"required":["x"],"properties":{"x":{"minimum":10}}},"else":{"required":["y"]}}`, `{"kind":"a","x":10}`},
		{"a condition not met", `{"required":["kind"],"properties":{"kind":{"const":"b"},"y":{"type":"boolean"}},"if":{"properties":{"kind":{"const":"a"}}},"then":false,"else":{"required":["y"]}}`, `{"kind":"b","y":true}`},
		{"what goes together", `{"required":["a"],"properties":{"a":{"type":"string"},"b":{"type":"integer"}},"dependentRequired":{"a":["b"],"b":["c"]}}`, `{"a":"example","b":1,"c":"example"}`},
		{"what goes together, in draft 7", `{"$schema":"http://json-schema.org/draft-07/schema#","required":["a"],"properties":{"a":{"type":"string"},"b":{"const":2}},"dependencies":{"a":{"required":["b"]}}}`, `{"a":"example","b":2}`},
		{"names by a pattern", `{"minProperties":2,"propertyNames":{"pattern":"^[a-z]{3,}$"},"additionalProperties":{"type":"integer"}}`, `{"aaaa":1,"example":1}`},
		{"names from a list", `{"minProperties":2,"propertyNames":{"enum":["x","y"]}}`, `{"x":"example","y":"example"}`},
		{"names of patternProperties", `{"minProperties":1,"patternProperties":{"^x-":{"type":"integer"}},"additionalProperties":false}`, `{"x-":1}`},
		{"different values of a list", `{"required":["a"],"properties":{"a":{"items":{"enum":["x","y","z"]},"type":"array","minItems":3,"uniqueItems":true}}}`, `{"a":["x","y","z"]}`},
		{"different values of all kinds", `{"required":["a","b","c","d"],"properties":{
			"a":{"items":{"type":"boolean"},"type":"array","minItems":2,"uniqueItems":true},
			"b":{"items":{"type":"integer","multipleOf":5},"type":"array","minItems":2,"uniqueItems":true},
			"c":{"items":{"type":"string","maxLength":2},"type":"array","minItems":2,"uniqueItems":true},
			"d":{"items":{"type":"object","required":["n"],"properties":{"n":{"type":"string","pattern":"^[a-z]+$"}}},"type":"array","minItems":2,"uniqueItems":true}}}`, `{"a":[true,false],"b":[5,10],"c":["ex","e2"],"d":[{"n":"example"},{"n":"aa"}]}`},
		{"look-ahead", `{"required":["a"],"properties":{"a":{"type":"string","pattern":"^(?!admin)\\w+$"}}}`, `{"a":"example"}`},
		{"another value than an excluded one", `{"required":["n"],"properties":{"n":{"type":"integer","not":{"const":1}}}}`, `{"n":2}`},
		{"one alternative only", `{"required":["v"],"properties":{"v":{"oneOf":[{"type":"integer"},{"minimum":1}]}}}`, `{"v":"example2"}`},
		{"a count of members", `{"type":"object","minProperties":1,"additionalProperties":{"type":"integer"}}`, `{"name1":1}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := Parse(json.RawMessage(test.schema)).Example(t.Context())
			if err != nil || string(rawjson.Compact(got)) != string(rawjson.Compact(json.RawMessage(test.want))) {
				t.Fatalf("got %s, %v\nwant %s", got, err, test.want)
			}
			if problems, unknown := texts(t, test.schema, string(got)); len(problems)+len(unknown) > 0 {
				t.Errorf("%s has the problems %q %q", got, problems, unknown)
			}
		})
	}
}

func TestExampleThatCannotBe(t *testing.T) {
	for _, schema := range []string{`false`, `{"required":["a"],"properties":{"a":false}}`} {
		got, err := Parse(json.RawMessage(schema)).Example(t.Context())
		if !errors.Is(err, errNoExample) || got == nil {
			t.Errorf("%s: got %s, %v", schema, got, err)
		}
	}
}

// A schema can ask for any number of elements of any length: an example is bounded in
// what is made for it, whatever time there is, and says when it does not fit.
func TestExampleIsBounded(t *testing.T) {
	large(t)
	const many = "1000000000"
	for name, of := range map[string]string{
		"long text":          `{"type":"string","minLength":` + many + `}`,
		"many long texts":    `{"type":"array","minItems":` + many + `,"items":{"type":"string","minLength":` + many + `}}`,
		"many distinct":      `{"type":"array","minItems":` + many + `,"uniqueItems":true,"items":{"type":"string","minLength":300}}`,
		"many lists":         `{"type":"array","minItems":` + many + `,"items":{"type":"array","minItems":` + many + `,"items":{"type":"array","minItems":` + many + `}}}`,
		"many members":       `{"type":"object","minProperties":` + many + `,"additionalProperties":{"type":"string","minLength":500}}`,
		"names by a pattern": `{"type":"object","minProperties":` + many + `,"propertyNames":{"pattern":"^[a-z]{50,}$"}}`,
		"a pattern":          `{"type":"array","minItems":` + many + `,"items":{"type":"string","minLength":` + many + `,"pattern":"^(ab{1000}){1000}$"}}`,
		"a pattern to grow":  `{"type":"array","minItems":` + many + `,"items":{"type":"string","minLength":` + many + `,"pattern":"^(?=.*z)[a-z]*$"}}`,
		"a long pattern":     `{"type":"array","minItems":` + many + `,"items":{"type":"string","pattern":"^(` + strings.Repeat("a", 9000) + `)*(?=b)$"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			schema := json.RawMessage(`{"required":["a"],"properties":{"a":` + of + `}}`)
			maker := newExampleMaker(Parse(schema), 0, unlimited(t.Context()))
			raw, err := rawjson.Marshal(maker.make(maker.document.root, 0))
			const most = 4 * maxExampleSize // text, and what stands around it
			if err != nil || len(raw) > most {
				t.Errorf("%d bytes are made, at most %d are wanted: %v", len(raw), most, err)
			}
			if _, err := Parse(schema).Example(t.Context()); !errors.Is(err, errNoExample) {
				t.Errorf("it is said to fit: %v", err)
			}
		})
	}
}

// A pattern's text grows to the length that is asked for.
func TestExampleOfLongPattern(t *testing.T) {
	for _, pattern := range []string{`^[a-z]+$`, `^x-(ab)*$`} {
		schema := json.RawMessage(`{"required":["a"],"properties":{"a":{"type":"string","minLength":1500,"pattern":"` + pattern + `"}}}`)
		if got, err := Parse(schema).Example(t.Context()); err != nil {
			t.Errorf("%s: got %.50s, %v", pattern, got, err)
		}
	}
}

// A broken schema still says enough for an example (VAL-3).
func TestExampleOfBrokenSchema(t *testing.T) {
	got, err := Parse(json.RawMessage(`{"required":["a"],"properties":{"a":{"type":"string"},"b":{"$ref":"https://example.com/x"}}}`)).Example(t.Context())
	if err != nil || string(got) != `{"a":"example"}` {
		t.Errorf("got %s, %v", got, err)
	}
}
