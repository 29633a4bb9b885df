package jsonschema

import (
	"encoding/json"
	"errors"
	"strings"
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

// Members that a closed schema does not have are problems of a value, although arguments may have them (VAL-2).
func TestCheckValueOfClosedSchemas(t *testing.T) {
	const closed = `{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false}`
	for schema, want := range map[string]string{
		closed:                                "'b' is not allowed",
		`{"properties":{"x":` + closed + `}}`: "'x.b' is not allowed",
		`{"anyOf":[` + closed + `,{"type":"string"}]}`:            "'b' is not allowed",
		`{"properties":{"a":true},"unevaluatedProperties":false}`: "'b' is not allowed",
	} {
		compiled, err := Parse(json.RawMessage(schema)).Compile(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		value := `{"a":1,"b":2}`
		if strings.HasPrefix(want, "'x.") {
			value = `{"x":` + value + `}`
		}
		problems, err := compiled.CheckValue(t.Context(), json.RawMessage(value))
		if err != nil || len(problems) != 1 || problems[0].String() != want {
			t.Errorf("%s: %v, %v; want %q", schema, problems, err, want)
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
