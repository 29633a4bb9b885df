package convert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"toolx/pkg/jsonschema"
)

// FuzzFit holds what is true of every fitted schema: it is valid, fitting it again changes nothing, it has no keyword
// and no ref that the target does not know, and Ollama's types keep all of it.
func FuzzFit(f *testing.F) {
	for _, seed := range fuzzSeeds() {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, schema []byte) {
		before := bytes.Clone(schema)
		for _, to := range everyTarget() {
			got, err := fit(schema, to)
			if !bytes.Equal(before, schema) {
				t.Fatalf("%s changed its input", to)
			}
			if err == nil {
				holdsFitted(t, to, got)
			}
		}
	})
}

func fuzzSeeds() []string {
	return []string{
		`{"type":"object","properties":{"max_length":{"type":"integer","default":5000,"exclusiveMinimum":0}},"required":["max_length"]}`,
		`{"type":"object","properties":{"t":{"$ref":"#/$defs/T"}},"$defs":{"T":{"type":"object","properties":{"c":{"type":"array","items":{"$ref":"#/$defs/T"}}}}}}`,
		`{"type":"object","properties":{"x":{"anyOf":[{"type":"string"},{"type":"null"}],"default":null},"k":{"const":1},"a":{},"l":{"type":"array"}}}`,
		`{"anyOf":[{"type":"object","properties":{"kind":{"const":"a"}}},{"type":"object","properties":{"kind":{"const":"b"}},"required":["kind"]}]}`,
		`{"allOf":[{"$ref":"#/definitions/A"},{"required":["b"],"properties":{"b":{"type":["string","null"]}}}],"definitions":{"A":{"oneOf":[true,{"type":"object"}]}}}`,
		`{"type":"object","properties":{"items":{"type":"array","items":[{"type":"string"},false],"additionalItems":{"minimum":1}},"type":{"enum":[1,"a",null]}}}`,
		`{"properties":{"a":{"nullable":true,"type":"STRING"},"b":{"not":{"type":"string"}},"c":{"if":{},"then":{"properties":{"d":{"format":"uri"}}}}}}`,
		`{"type":"object","properties":{"a":{"type":"object","properties":{"b":true,"c":false},"anyOf":[{"required":["b"]},{"required":["c"]}],"minProperties":1}}}`,
		`{"properties":{"a":{"anyOf":[{"anyOf":[{"$ref":"#/properties/a"},{"type":"null"}]}],"type":["object","string"],"enum":["x",{}]}}}`,
		`{"properties":{"a":{"$ref":"#a%20b"},"b":{"$anchor":"a b","$id":"x","prefixItems":[{}],"items":false},"c":{"$ref":"x#/prefixItems/0"}}}`,
	}
}

func holdsFitted(t *testing.T, to Format, got fitted) {
	t.Helper()
	if !json.Valid(got.schema) {
		t.Fatalf("%s: not valid: %s", to, got.schema)
	}
	again, err := fit(got.schema, to)
	if err != nil {
		t.Fatalf("%s: cannot be fitted again: %v\n%s", to, err, got.schema)
	}
	if !bytes.Equal(again.schema, got.schema) {
		t.Fatalf("%s: not stable:\n%s\n%s", to, got.schema, again.schema)
	}
	p := recordOf(to).schema
	if problem := foreign(got.schema, jsonschema.NewNode(got.schema), &p, true); problem != "" {
		t.Fatalf("%s: %s in %s", to, problem, got.schema)
	}
	if to == Ollama {
		holdsOllama(t, got.schema)
	}
	seen := make(map[Loss]bool)
	for _, loss := range got.losses {
		if seen[loss] {
			t.Fatalf("%s: told twice: %+v", to, loss)
		}
		seen[loss] = true
	}
}

// foreign finds the first thing in a schema that its profile does not hold.
func foreign(document json.RawMessage, o *node, p *profile, root bool) string {
	for _, m := range o.Members() {
		if problem := foreignMember(document, o, m, p, root); problem != "" {
			return problem
		}
		below := p
		if m.Name == "items" && p.elements != nil {
			below = p.elements
		}
		for _, child := range schemasIn(m) {
			if problem := foreign(document, child, below, false); problem != "" {
				return problem
			}
		}
	}
	return ""
}

func foreignMember(document json.RawMessage, o *node, m member, p *profile, root bool) string {
	switch {
	case !p.keeps(m.Name, root):
		return "keyword " + m.Name
	case m.Name == "$ref" && !p.refs:
		return "a ref"
	case m.Name == "$ref" && p.closed && len(o.Members()) > 1:
		return "a ref in company"
	case m.Name == "$ref":
		reader := schemaReader{document: jsonschema.Parse(document)}
		if _, found := reader.resolve(o.Get("$ref").Text()); !found {
			return "a dangling ref " + o.Get("$ref").Text()
		}
	case m.Name == "oneOf" && p.plain():
		return "oneOf"
	case m.Name == "enum" && p.openAPI && !isStringList(m.Node):
		return "an enum of other values than strings"
	case root && p.noRootUnions && slices.Contains([]string{"anyOf", "oneOf", "allOf", "enum", "not"}, m.Name):
		return m.Name + " at the root"
	}
	return ""
}

// ollamaParameters and ollamaProperty mirror ToolFunctionParameters and ToolProperty of Ollama 0.17.4 (api/types.go),
// through which it reads every request.
type ollamaParameters struct {
	Type       string                     `json:"type"`
	Defs       any                        `json:"$defs,omitempty"`
	Items      any                        `json:"items,omitempty"`
	Required   []string                   `json:"required,omitempty"`
	Properties *map[string]ollamaProperty `json:"properties"`
}

type ollamaProperty struct {
	AnyOf       []ollamaProperty           `json:"anyOf,omitempty"`
	Type        ollamaType                 `json:"type,omitempty"`
	Items       any                        `json:"items,omitempty"`
	Description string                     `json:"description,omitempty"`
	Enum        []any                      `json:"enum,omitempty"`
	Properties  *map[string]ollamaProperty `json:"properties,omitempty"`
}

type ollamaType []string

func (t *ollamaType) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*t = []string{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(t))
}

func (t ollamaType) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

// holdsOllama holds that what goes through Ollama's types comes out as it was.
func holdsOllama(t *testing.T, schema json.RawMessage) {
	t.Helper()
	var parameters ollamaParameters
	if err := json.Unmarshal(schema, &parameters); err != nil {
		t.Fatalf("ollama refuses %s: %v", schema, err)
	}
	out, err := json.Marshal(parameters)
	if err != nil {
		t.Fatal(err)
	}
	var before, after any
	_ = json.Unmarshal(schema, &before)
	_ = json.Unmarshal(out, &after)
	if !reflect.DeepEqual(before, after) {
		t.Fatalf("ollama keeps\n%s of\n%s", out, schema)
	}
}

// TestFitAdversarial holds that schemas made to explode come to an end, and to a size that a request can carry.
func TestFitAdversarial(t *testing.T) {
	for name, schema := range adversarial() {
		for _, to := range everyTarget() {
			t.Run(name+" "+string(to), func(t *testing.T) {
				got, err := fit(json.RawMessage(schema), to)
				if err != nil {
					return // refused is as good
				}
				if limit := len(schema) + 4*maxBytes; len(got.schema) > limit {
					t.Errorf("%d bytes", len(got.schema))
				}
				holdsFitted(t, to, got)
			})
		}
	}
}

func adversarial() map[string]string {
	var doubling strings.Builder
	for i := range 40 {
		fmt.Fprintf(&doubling, `"d%d":{"type":"object","properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}},`, i, i+1, i+1)
	}
	var web strings.Builder
	for i := range 12 {
		fmt.Fprintf(&web, `%s"d%d":{"type":"object","properties":{`, map[bool]string{true: ",", false: ""}[i > 0], i)
		for j := range 12 {
			fmt.Fprintf(&web, `%s"p%d":{"$ref":"#/$defs/d%d"}`, map[bool]string{true: ",", false: ""}[j > 0], j, j)
		}
		web.WriteString("}}")
	}
	constants := make([]string, 2000)
	values := make([]string, len(constants))
	for i := range constants {
		constants[i], values[i] = fmt.Sprintf(`{"const":%d}`, i), fmt.Sprint(i)
	}
	return map[string]string{
		"constants": `{"properties":{"a":{"oneOf":[` + strings.Join(constants, ",") + `]}}}`,
		"values":    `{"properties":{"a":{"allOf":[{"enum":[` + strings.Join(values, ",") + `]},{"enum":[0,` + strings.Join(values, ",") + `]}]}}}`,
		"doubling":  `{"type":"object","properties":{"x":{"$ref":"#/$defs/d0"}},"$defs":{` + doubling.String() + `"d40":{"type":"string"}}}`,
		"web":       `{"type":"object","properties":{"x":{"$ref":"#/$defs/d0"}},"$defs":{` + web.String() + `}}`,
		"merging": `{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a","title":"t"}],"$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"},{"$ref":"#/$defs/b","title":"t"}]},` +
			`"b":{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a","title":"u"},{"$ref":"#/$defs/b","title":"v"}]}}}`,
		"self":     `{"type":"object","properties":{"x":{"$ref":"#/properties/x"}}}`,
		"circle":   `{"type":"object","properties":{"x":{"$ref":"#/properties/y"},"y":{"$ref":"#/properties/x"}}}`,
		"root":     `{"$ref":"#"}`,
		"allOf":    `{"allOf":[{"$ref":"#"},{"$ref":"#"}],"properties":{"a":{"$ref":"#"}}}`,
		"anyOf":    `{"anyOf":[{"$ref":"#"},{"anyOf":[{"$ref":"#"},{"$ref":"#"}]}]}`,
		"big text": `{"properties":{"a":{"items":[` + strings.Repeat(`{"$ref":"#/$defs/b"},`, 100) + `{}]}},"$defs":{"b":{"description":"` + strings.Repeat("x", 1<<16) + `"}}}`,
		"deep":     strings.Repeat(`{"properties":{"a":`, 3000) + `{}` + strings.Repeat(`}}`, 3000),
		"unions":   strings.Repeat(`{"properties":{"a":{}},"anyOf":[{},`, 200) + `{}` + strings.Repeat(`]}`, 200),
		"number":   `{"properties":{"a":{"allOf":[{"minimum":1e999999999},{"minimum":1e-999999999}]}}}`,
	}
}
