package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/xeipuuv/gojsonschema"

	"toolx/pkg/rawjson"
)

// TestQuickSchemaAgrees replaces every value of a file that has all keys: what the quick schema accepts, the compiled
// one accepts too.
func TestQuickSchemaAgrees(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "config", "all.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	root, problems := parseYAML("all.yaml", data)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	compiled, err := compiledSchema()
	if err != nil {
		t.Fatal(err)
	}
	plain, _ := root.plain().(map[string]any)
	tool, _ := rawjson.At(plain, "/tools/0/implementation")
	delete(tool.(map[string]any), "content") // has names that the schema does not list
	accepted, refused := 0, 0
	check := func() {
		if !quickSchema().Fits(plain) {
			refused++
			return
		}
		accepted++
		result, err := compiled.Validate(gojsonschema.NewRawLoader(plain))
		if err != nil || !result.Valid() {
			t.Errorf("%v, %v: %v", plain, err, result.Errors())
		}
	}
	check()
	if accepted != 1 {
		t.Error("the unchanged file is not accepted")
	}
	others := []any{
		nil, "", "x", "30s", true, json.Number("0"), json.Number("-1"), json.Number("1.5"),
		[]any{},
		[]any{"x"},
		map[string]any{},
		map[string]any{"": "x"},
	}
	var walk func(value any)
	walk = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			for key, member := range value {
				for _, other := range others {
					value[key] = other
					check()
				}
				delete(value, key)
				check()
				value[key] = member
				walk(member)
			}
		case []any:
			for i, element := range value {
				for _, other := range others {
					value[i] = other
					check()
				}
				value[i] = element
				walk(element)
			}
		}
	}
	walk(plain)
	if accepted < 100 || refused < 100 {
		t.Errorf("%d accepted, %d refused", accepted, refused)
	}
}
