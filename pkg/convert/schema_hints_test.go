package convert

import (
	"strings"
	"testing"
)

// TestFitConditions holds that if, then and else are told together or as lost, and that no property is lost which only
// they name.
func TestFitConditions(t *testing.T) {
	condition := `"if":{"properties":{"a":{"const":"x"}},"required":["a"]},"then":{"required":["b"]}`
	hint := `(if {"properties":{"a":{"const":"x"}},"required":["a"]} then {"required":["b"]})`
	long := strings.Repeat("x", longestSchema)
	runFitCases(t, []fitCase{
		{
			name: "together, with the condition's property", to: Ollama,
			schema: `{"type":"object","properties":{"b":{"type":"string"}},` + condition + `}`,
			want:   `{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"string"}}}`,
			hint:   hint,
			losses: []string{
				"info: a: changed property of a condition to an optional one",
				"info: : moved if, then and else to the description",
			},
		},
		{
			name: "lossy where the provider holds the model to the schema", to: Gemini,
			schema: `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},` + condition + `}`,
			want:   `{"type":"OBJECT","properties":{"a":{"type":"STRING"},"b":{"type":"STRING"}}}`,
			hint:   hint,
			losses: []string{"lossy: : dropped if, then and else"},
		},
		{
			name: "a property without a type, which the condition alone names", to: Ollama,
			schema: `{"type":"object","properties":{"b":{"type":"string"}},"if":{"properties":{"a":{"minLength":1}}},"then":{"required":["b"]}}`,
			want:   `{"type":"object","properties":{"b":{"type":"string"}}}`,
			hint:   `(if {"properties":{"a":{"minLength":1}}} then {"required":["b"]})`,
			losses: []string{
				"lossy: a: dropped property that only a condition mentions",
				"info: : moved if, then and else to the description",
			},
		},
		{
			name: "one property in both branches", to: Ollama,
			schema: `{"type":"object","properties":{"k":{"type":"string"}},"if":{"required":["k"]},"then":{"properties":{"u":{"enum":["C"]}}},"else":{"properties":{"u":{"enum":["F"]}}}}`,
			want:   `{"type":"object","properties":{"k":{"type":"string"},"u":{"type":"string","enum":["C","F"]}}}`,
			hint:   `(if {"required":["k"]} then {"properties":{"u":{"enum":["C"]}}} else {"properties":{"u":{"enum":["F"]}}})`,
			losses: []string{
				"info: u: changed conditional property to an optional one",
				"info: : moved if, then and else to the description",
			},
		},
		{
			name: "too long to be read", to: Ollama,
			schema: `{"type":"object","properties":{"a":{"type":"string"}},"if":{"properties":{"a":{"const":"` + long +
				`"}}},"then":{"required":["a"]}}`,
			want:   `{"type":"object","properties":{"a":{"type":"string"}}}`,
			losses: []string{"lossy: : dropped if, then and else"},
		},
		{
			name: "half a condition says nothing", to: Ollama,
			schema: `{"type":"object","properties":{"a":{"type":"string"}},"then":{"required":["a"]},"propertyOrdering":["a"]}`,
			want:   `{"type":"object","properties":{"a":{"type":"string"}}}`,
			losses: []string{
				"info: : dropped if, then and else, of which one is missing",
				"info: : dropped propertyOrdering",
			},
		},
	})
}

// TestFitMaps holds that a map's values are described as a whole, or told as lost.
func TestFitMaps(t *testing.T) {
	long := strings.Repeat("x", longestSchema)
	runFitCases(t, []fitCase{
		{
			name: "values with an enum and a description", to: Ollama,
			schema: `{"type":"object","properties":{"m":{"type":"object","additionalProperties":{"type":"string","enum":["red"],"description":"a COLOUR"}}}}`,
			want:   `{"type":"object","properties":{"m":{"type":"object","description":"(values: {\"type\":\"string\",\"enum\":[\"red\"],\"description\":\"a COLOUR\"})"}}}`,
			losses: []string{"info: m: moved additionalProperties to the description"},
		},
		{
			name: "values that the target could not hold", to: Gemini,
			schema: `{"type":"object","properties":{"m":{"type":"object","additionalProperties":{"type":"object","properties":{"a b":{"type":"string"}}}}}}`,
			want:   `{"type":"OBJECT","properties":{"m":{"type":"OBJECT","description":"(values: {\"type\":\"object\",\"properties\":{\"a b\":{\"type\":\"string\"}}})"}}}`,
			losses: []string{"lossy: m: dropped additionalProperties"},
		},
		{
			name: "values that are referred to", to: Ollama,
			schema: `{"type":"object","properties":{"m":{"type":"object","additionalProperties":{"$ref":"#/$defs/V"}}},"$defs":{"V":{"type":"object","properties":{"n":{"type":"integer"}}}}}`,
			want:   `{"type":"object","properties":{"m":{"type":"object","description":"(values: {\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}})"}}}`,
			losses: []string{
				"info: m{}: changed $ref to its definition",
				"info: m: moved additionalProperties to the description",
			},
		},
		{
			name: "values that take too many words", to: Ollama,
			schema: `{"type":"object","properties":{"m":{"type":"object","additionalProperties":{"type":"string","description":"` + long + `"}}}}`,
			want:   `{"type":"object","properties":{"m":{"type":"object","description":"(values: string)"}}}`,
			losses: []string{"lossy: m: dropped additionalProperties except for the type"},
		},
	})
}

// TestFitDescriptions holds that no description is lost where schemas become one.
func TestFitDescriptions(t *testing.T) {
	runFitCases(t, []fitCase{
		{
			name: "allOf of one", to: Qwen,
			schema: `{"type":"object","properties":{"a":{"type":"string","description":"one","allOf":[{"description":"IMPORTANT TWO"}]}}}`,
			want:   `{"type":"object","properties":{"a":{"type":"string","description":"one IMPORTANT TWO"}}}`,
			losses: []string{"info: a: changed allOf to one schema"},
		},
		{
			name: "a ref with company", to: Gemini,
			schema: `{"type":"object","properties":{"a":{"description":"outer","$ref":"#/$defs/A"}},"$defs":{"A":{"type":"string","description":"inner"}}}`,
			want:   `{"type":"OBJECT","properties":{"a":{"description":"outer inner","type":"STRING"}}}`,
			losses: []string{"info: a: changed $ref to its definition"},
		},
		{
			name: "said twice", to: Qwen,
			schema: `{"type":"object","properties":{"a":{"description":"The inner text.","$ref":"#/$defs/A"}},"$defs":{"A":{"type":"string","description":"inner"}}}`,
			want:   `{"type":"object","properties":{"a":{"description":"The inner text.","type":"string"}}}`,
			losses: []string{"info: a: changed $ref to its definition"},
		},
		{
			name: "alternatives at the root with constants that are described", to: Ollama,
			schema: `{"oneOf":[{"properties":{"k":{"const":"a","description":"A"}},"required":["k"]},{"properties":{"k":{"const":"b","description":"B"}},"required":["k"]}]}`,
			want:   `{"type":"object","required":["k"],"properties":{"k":{"anyOf":[{"type":"string","description":"A","enum":["a"]},{"type":"string","description":"B","enum":["b"]}]}}}`,
			losses: []string{
				"lossy: : changed oneOf at the root to optional properties",
				"info: k|1: changed const to enum", "info: k|2: changed const to enum",
			},
		},
	})
}
