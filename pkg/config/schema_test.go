package config

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"toolx/schema"
)

// published is as much of the schema's own shape as the test needs.
type published struct {
	Properties  map[string]json.RawMessage `json:"properties"`
	Additional  *bool                      `json:"additionalProperties"`
	Definitions map[string]json.RawMessage `json:"definitions"`
}

// The published schema and the tables of the decoder know the same keys, so that an editor and toolx agree.
func TestSchemaKnowsWhatLoadKnows(t *testing.T) {
	var root published
	if err := json.Unmarshal([]byte(schema.Config()), &root); err != nil {
		t.Fatal(err)
	}
	definition := func(name string) published {
		var d published
		if err := json.Unmarshal(root.Definitions[name], &d); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return d
	}
	tests := []struct {
		name   string
		schema published
		fields []string
	}{
		{"the file", root, fieldNames(rootFields())},
		{"server", definition("server"), fieldNames(serverFields())},
		{"auth", definition("auth"), fieldNames(fieldsOf[Auth]())},
		{"identityProvider", definition("identityProvider"), fieldNames(fieldsOf[Provider]())},
		{"retry", definition("retry"), fieldNames(fieldsOf[Retry]())},
		{"tool", definition("tool"), fieldNames(toolFields())},
		{"implementation", definition("implementation"), fieldNames(fieldsOf[Implementation]())},
		{"faults", definition("faults"), fieldNames(fieldsOf[Faults]())},
		{"defaults", definition("defaults"), fieldNames(defaultsFields())},
		{"log", definition("log"), fieldNames(logFields())},
		{"doctor", definition("doctor"), fieldNames(fieldsOf[Doctor]())},
	}
	for _, test := range tests {
		keys := slices.Sorted(maps.Keys(test.schema.Properties))
		slices.Sort(test.fields)
		if !slices.Equal(keys, test.fields) {
			t.Errorf("%s: the schema has %v, Load knows %v", test.name, keys, test.fields)
		}
		if test.schema.Additional == nil || *test.schema.Additional {
			t.Errorf("%s: the schema does not mark unknown keys", test.name)
		}
	}
}

// Every key of the schema is explained to the editor's user.
func TestSchemaIsDocumented(t *testing.T) {
	var root any
	if err := json.Unmarshal([]byte(schema.Config()), &root); err != nil {
		t.Fatal(err)
	}
	definitions, _ := root.(map[string]any)["definitions"].(map[string]any)
	for name, definition := range definitions {
		checkDescribed(t, name, definition)
	}
}

func checkDescribed(t *testing.T, path string, part any) {
	t.Helper()
	object, _ := part.(map[string]any)
	if object["description"] == nil && object["$ref"] == nil {
		t.Errorf("%s has no description", path)
	}
	if path == "implementation.content" {
		return // its items are MCP's, not ours to explain
	}
	properties, _ := object["properties"].(map[string]any)
	for name, property := range properties {
		checkDescribed(t, path+"."+name, property)
	}
}
