package convert

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestFitRandom holds what FuzzFit holds for schemas made of JSON Schema's own words, which mutated bytes rarely are.
func TestFitRandom(t *testing.T) {
	for seed := range uint64(150) {
		maker := schemaMaker{rand.New(rand.NewPCG(seed, 1))}
		schema := json.RawMessage(maker.root())
		for _, to := range everyTarget() {
			got, err := fit(schema, to)
			if err != nil {
				continue
			}
			holdsFitted(t, to, got)
			if t.Failed() {
				t.Fatalf("seed %d: %s", seed, schema)
			}
		}
	}
}

// schemaMaker makes random schemas.
type schemaMaker struct{ *rand.Rand }

func (m schemaMaker) root() string {
	return fmt.Sprintf(`{%s,"$defs":{"A":%s,"B":%s}}`, m.members(3), m.schema(2), m.schema(2))
}

func (m schemaMaker) schema(depth int) string {
	if m.IntN(15) == 0 {
		return m.one("true", "false", "{}")
	}
	return "{" + m.members(depth) + "}"
}

func (m schemaMaker) members(depth int) string {
	made := map[string]string{"description": `"text"`}
	for range m.IntN(5) {
		keyword := m.keyword(depth)
		made[keyword] = m.value(keyword, depth)
	}
	if m.IntN(3) > 0 {
		made["type"] = m.one(`"string"`, `"object"`, `"array"`, `"integer"`, `["string","null"]`,
			`["integer","object"]`, `"null"`)
	}
	var members []string
	for _, keyword := range slices.Sorted(maps.Keys(made)) {
		members = append(members, fmt.Sprintf("%q:%s", keyword, made[keyword]))
	}
	m.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return strings.Join(members, ",")
}

func (m schemaMaker) keyword(depth int) string {
	flat := []string{
		"$ref", "const", "enum", "required", "default", "title", "format", "minLength", "exclusiveMinimum", "minimum",
		"additionalProperties", "nullable", "uniqueItems", "x-own", "pattern", "maxItems", "dependentRequired",
	}
	if depth == 0 {
		return m.one(flat...)
	}
	return m.one(append(flat, "properties", "properties", "properties", "items", "anyOf", "anyOf", "oneOf", "allOf",
		"not",
		"prefixItems", "patternProperties", "if", "then", "else", "dependentSchemas")...)
}

func (m schemaMaker) value(keyword string, depth int) string {
	switch keyword {
	case "$ref":
		return m.one(`"#/$defs/A"`, `"#/$defs/B"`, `"#"`, `"#/properties/a"`, `"other.json#/x"`,
			`"#/$defs/A/properties/a"`)
	case "const", "default":
		return m.one(`"x"`, "1", "null", "true", `{"$ref":"#"}`)
	case "enum":
		return m.one(`["x","y"]`, "[1,2]", `["x",null]`, `[1,"x",false]`, "[]", `[{"a":1}]`)
	case "required":
		return m.one(`["a"]`, `["a","b"]`, "[]", "null", `["type"]`)
	case "additionalProperties":
		return m.one("false", "true", "{}", m.schema(max(depth-1, 0)))
	case "exclusiveMinimum":
		return m.one("1", "true")
	case "nullable", "uniqueItems":
		return m.one("true", "false")
	case "minLength", "minimum", "maxItems":
		return m.one("0", "3", "1.5e2")
	case "dependentRequired":
		return `{"a":["b"]}`
	case "properties", "patternProperties", "dependentSchemas":
		return fmt.Sprintf(`{"a":%s,"b":%s,"type":%s}`, m.schema(depth-1), m.schema(depth-1), m.schema(depth-1))
	case "anyOf", "oneOf", "allOf", "prefixItems":
		return "[" + strings.Join([]string{
			m.schema(depth - 1), m.schema(depth - 1),
			`{"type":"null"}`,
		}[m.IntN(2):m.IntN(2)+2], ",") + "]"
	case "items", "not", "if", "then", "else":
		return m.schema(depth - 1)
	}
	return m.one(`"uri"`, `"date-time"`)
}

func (m schemaMaker) one(choices ...string) string { return choices[m.IntN(len(choices))] }
