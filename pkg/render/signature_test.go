package render

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/jsonschema"
)

func TestSignature(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{
			"the contract's example", `{"type":"object","properties":{"deviceName":{"type":"string"},
				"action":{"type":"string","enum":["on","off"]},"level":{"type":"integer"}},"required":["action","deviceName"]}`,
			`f(deviceName: string, action: "on"|"off", level?: integer)`,
		},
		{"no schema", ``, "f()"},
		{"a schema that is none", `"text"`, "f()"},
		{"no properties", `{"type":"object"}`, "f()"},
		{"broken JSON", `{"properties":{"a":{"type":"string"},`, "f()"},
		{"untyped", `{"properties":{"a":{},"b":true,"c":false,"d":{"description":"x"}}}`, "f(a?: any, b?: any, c?: never, d?: any)"},
		{"arrays", `{"properties":{"a":{"type":"array","items":{"type":"string"}},"b":{"type":"array"},"c":{"items":{"enum":[1,2]}}}}`, "f(a?: string[], b?: any[], c?: (1|2)[])"},
		{"tuple", `{"properties":{"a":{"prefixItems":[{"type":"number"},{"type":"string"}]}}}`, "f(a?: [number, string])"},
		{"nullable", `{"properties":{"a":{"type":["string","null"]},"b":{"anyOf":[{"type":"integer"},{"type":"null"}]}}}`, "f(a?: string|null, b?: integer|null)"},
		{"union, each once", `{"properties":{"a":{"oneOf":[{"type":"string"},{"type":"string"},{"const":null}]}}}`, "f(a?: string|null)"},
		{"const", `{"properties":{"a":{"const":{"x": 1.0}}}}`, `f(a?: {"x":1.0})`},
		{"map", `{"properties":{"a":{"type":"object","additionalProperties":{"type":"string"}},"b":{"type":"object"}}}`, "f(a?: {[key]: string}, b?: object)"},
		{"nested", `{"properties":{"a":{"properties":{"b":{"properties":{"c":{"properties":{"d":{}}}}}},"required":["b"]}}}`, "f(a?: {b: {c?: {…}}})"},
		{"allOf", `{"properties":{"a":{"allOf":[{"type":"string"},{"type":"number"}]}},"allOf":[{"properties":{"b":{"type":"string"}},"required":["b"]}]}`, "f(a?: never, b: string)"},
		{"limits beside a type", `{"properties":{"a":{"allOf":[{"type":"string"},{"minLength":3}]}}}`, "f(a?: string)"},
		{"object with conditions", `{"properties":{"a":{"properties":{"b":{"type":"string"},"c":{}},"anyOf":[{"required":["b"]},{"required":["c"]}]}}}`, "f(a?: {b?: string, c?: any})"},
		{"nullable object", `{"properties":{"a":{"type":"array","items":{"anyOf":[{"type":"null"},{"properties":{"b":{"type":"string"}}}]}}}}`, "f(a?: ({b?: string}|null)[])"},
		{"alternatives of the arguments", `{"oneOf":[{"properties":{"by":{"const":"id"},"id":{"type":"integer"}},"required":["by","id"]},{"properties":{"by":{"const":"name"}},"required":["by"]}]}`, `f(by: "id"|"name", id?: integer)`},
		{"a name that is only required", `{"properties":{"a":{"type":"string"}},"required":["b"]}`, "f(a?: string, b: any)"},
		{"reference among alternatives", `{"properties":{"a":{"anyOf":[{"$ref":"https://host/x.json#/Thing"},{"type":"string"}]}}}`, "f(a?: Thing|string)"},
		{"anchor", `{"$defs":{"l":{"$anchor":"lvl","type":"integer"}},"properties":{"a":{"$ref":"#lvl"}}}`, "f(a?: integer)"},
		{"reference", `{"$defs":{"Mode":{"enum":["a"]}},"properties":{"m":{"$ref":"#/$defs/Mode"}}}`, `f(m?: "a")`},
		{"reference at the top", `{"$ref":"#/definitions/X","definitions":{"X":{"properties":{"a":{"type":"string"}}}}}`, "f(a?: string)"},
		{"escaped reference", `{"$defs":{"a/b~c":{"type":"string"}},"properties":{"m":{"$ref":"#/$defs/a~1b~0c"}}}`, "f(m?: string)"},
		{"cycle", `{"$defs":{"Node":{"properties":{"next":{"$ref":"#/$defs/Node"}}}},"properties":{"n":{"$ref":"#/$defs/Node"}}}`, "f(n?: {next?: Node})"},
		{"cycle at the top", `{"$ref":"#"}`, "f()"},
		{"whole document", `{"properties":{"a":{"$ref":"#"}}}`, "f(a?: {a?: {…}})"},
		{"outside reference", `{"properties":{"a":{"$ref":"https://host/x.json#/Thing"},"b":{"$ref":"#/nowhere"}}}`, "f(a?: Thing, b?: nowhere)"},
		{"many options", `{"properties":{"a":{"enum":[1,2,3,4,5,6,7,8]}}}`, "f(a?: 1|2|3|4|5|6|…)"},
		{"long option", `{"properties":{"a":{"enum":["` + strings.Repeat("x", 50) + `"]}}}`, `f(a?: "xxxxxxxxxxxxxxxxxxxxx…")`},
		{"odd names", `{"properties":{"my key":{},"a\"b":{},"":{},"x.y":{}}}`, `f("my key"?: any, "a\"b"?: any, ""?: any, x.y?: any)`},
		{"order of the schema", `{"properties":{"z":{},"a":{},"m":{}}}`, "f(z?: any, a?: any, m?: any)"},
		{"hostile names and options", `{"properties":{"a\u202e":{"enum":["\u001b[31m\u200b"]},"b":{"type":"\u009b"}}}`, `f(a\u{202e}?: "\u001b[31m\u200b", b?: \u{9b})`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := signature("f", jsonschema.Parse(json.RawMessage(tt.schema)), 0); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestSignatureFits(t *testing.T) {
	schema := jsonschema.Parse(json.RawMessage(`{"properties":{"first":{"type":"string"},"second":{"type":"string"},"漢字":{"type":"string"}}}`))
	tests := []struct {
		width int
		want  string
	}{
		{60, "tool(first?: string, second?: string, 漢字?: string)"},
		{52, "tool(first?: string, second?: string, 漢字?: string)"},
		{51, "tool(first?: string, second?: string, …)"},
		{30, "tool(first?: string, …)"},
		{12, "tool(…)"},
		{5, "tool…"},
	}
	for _, tt := range tests {
		got := signature("tool", schema, tt.width)
		if got != tt.want || ansi.StringWidth(got) > tt.width {
			t.Errorf("in %d columns %q of %d, want %q", tt.width, got, ansi.StringWidth(got), tt.want)
		}
	}
}

// A schema that multiplies itself costs no more than its budget.
func TestSignatureOfAnExponentialSchema(t *testing.T) {
	var defs strings.Builder
	for i := range 30 {
		next := string(rune('A' + i + 1))
		defs.WriteString(`"` + string(rune('A'+i)) + `":{"anyOf":[{"$ref":"#/$defs/` + next + `"},{"items":{"$ref":"#/$defs/` + next + `"}}]},`)
	}
	schema := `{"$defs":{` + defs.String() + `"z":{}},"properties":{"a":{"$ref":"#/$defs/A"},"b":{"type":"string"}}}`
	if got := signature("f", jsonschema.Parse(json.RawMessage(schema)), 80); len(got) > 400 {
		t.Errorf("a signature of %d bytes", len(got))
	}
}

func FuzzSignature(f *testing.F) {
	for _, seed := range []string{
		`{"properties":{"a":{"$ref":"#/properties/a"},"b":{"allOf":[{"$ref":"#"}]}},"allOf":[{"$ref":"#"}]}`,
		`{"properties":{"a":{"items":[{}]},"b":{"enum":[null,{"x":[1]}]},"\u202e":{"const":"\u001b"}},"required":["a"]}`,
		`{"type":["object",1],"properties":[]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, schema string) {
		whole := signature("f", jsonschema.Parse(json.RawMessage(schema)), 0)
		if Safe(whole) != whole {
			t.Fatalf("not safe: %+q", whole)
		}
		if short := signature("f", jsonschema.Parse(json.RawMessage(schema)), 40); ansi.StringWidth(short) > 40 {
			t.Fatalf("%q is %d columns wide", short, ansi.StringWidth(short))
		}
		parameterRows(jsonschema.Parse(json.RawMessage(schema)))
	})
}

// TestParameterRows holds what the table of show says of limits and of nested objects.
func TestParameterRows(t *testing.T) {
	schema := jsonschema.Parse(json.RawMessage(`{"properties":{
		"size":{"type":"number","minimum":0,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":false},
		"word":{"anyOf":[{"type":"string","default":"x"},{"type":"null"}]},
		"place":{"anyOf":[{"properties":{"x":{"type":"integer","minimum":1}},"required":["x"]},{"type":"null"}]},
		"rows":{"items":{"properties":{"y":{}}},"minItems":2},
		"one":{"oneOf":[{"properties":{"a":{}}},{"type":"boolean"}]}},"required":["size"]}`))
	var got []string
	for _, row := range parameterRows(schema) {
		need := "optional"
		if row.required {
			need = "required"
		}
		got = append(got, strings.TrimRight(strings.Join([]string{row.name, row.kind, need, row.bounds}, " "), " "))
	}
	want := []string{
		"size number required above 0; at most 9",
		"word string|null optional default \"x\"",
		"place object|null optional", "  x integer required at least 1",
		"rows object[] optional fewest items 2", "  y any optional",
		"one {a?: any}|boolean optional",
	}
	if !slices.Equal(got, want) {
		t.Errorf("\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}
