package schema_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"toolx/schema"
)

// TestShapes checks that shapes.json is the schema without what only people read; -update writes it.
func TestShapes(t *testing.T) {
	var whole any
	if err := json.Unmarshal([]byte(schema.Config()), &whole); err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(withoutTexts(whole, false))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("shapes.json", append(want, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if schema.Shapes() != string(want)+"\n" {
		t.Error("shapes.json is out of date; make docs writes it")
	}
}

// withoutTexts copies a part of a schema. named says that the members of an object are schemas by name, not keywords.
func withoutTexts(part any, named bool) any {
	switch part := part.(type) {
	case map[string]any:
		copied := map[string]any{}
		for name, member := range part {
			if named || !slices.Contains([]string{"title", "description", "examples", "default"}, name) {
				byName := !named && slices.Contains([]string{"properties", "definitions", "patternProperties"}, name)
				copied[name] = withoutTexts(member, byName)
			}
		}
		return copied
	case []any:
		copied := make([]any, len(part))
		for i, element := range part {
			copied[i] = withoutTexts(element, false)
		}
		return copied
	}
	return part
}
