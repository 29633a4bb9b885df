package jsonschema

import (
	"encoding/json"
	"errors"
	"testing"
)

func TestCheckValueTakesAnyKindOfValue(t *testing.T) {
	schema, err := Parse(json.RawMessage(`{"type":"array","items":{"type":"integer"}}`)).Compile(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]int{`[1,2]`: 0, `[1,"x"]`: 1, `{"a":1}`: 1, `[`: 1} {
		problems, err := schema.CheckValue(t.Context(), json.RawMessage(value))
		if err != nil || len(problems) != want {
			t.Errorf("%s: %v, %v; want %d problems", value, problems, err, want)
		}
	}
}

func TestCompileSchemaPointsAtWhatIsNoSchema(t *testing.T) {
	_, err := Parse(json.RawMessage(`{"type":"object","properties":{"a/b":{"type":5}}}`)).Compile(t.Context())
	var schemaErr *SchemaError
	if !errors.As(err, &schemaErr) || schemaErr.Pointer != "/properties/a~1b/type" {
		t.Errorf("%#v", err)
	}
}
