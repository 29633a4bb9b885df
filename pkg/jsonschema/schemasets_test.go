package jsonschema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestUnevaluatedIsBounded proves that a schema whose alternatives each take a set of all names of the arguments is
// given up by a count, before the sets are made (VAL-3), and that schemas as people write them are not.
func TestUnevaluatedIsBounded(t *testing.T) {
	large(t)
	object := func(names int) json.RawMessage {
		var text strings.Builder
		for i := range names {
			fmt.Fprintf(&text, `"p%d":1,`, i)
		}
		return json.RawMessage(`{` + text.String() + `"a":[` + strings.Repeat("1,", names) + `1]}`)
	}
	alternatives := strings.Repeat(`{"type":"string"},`, 1000) + `true`
	for _, test := range []struct {
		name, schema string
		names        int
		givenUp      bool
	}{
		{"anyOf", `{"anyOf":[` + alternatives + `],"unevaluatedProperties":false}`, 4000, true},
		{"oneOf", `{"oneOf":[` + alternatives + `],"unevaluatedProperties":false}`, 4000, true},
		{"not", `{"allOf":[{"not":{"anyOf":[` + alternatives + `]}}],"unevaluatedProperties":false}`, 4000, true},
		{"items", `{"properties":{"a":{"anyOf":[` + alternatives + `],"unevaluatedItems":false}}}`, 4000, true},
		{"elsewhere", `{"$defs":{"d":{"anyOf":[` + alternatives + `]}},"$ref":"#/$defs/d","unevaluatedProperties":false}`, 4000, true},
		{"many alternatives", `{"anyOf":[` + alternatives + `],"unevaluatedProperties":false}`, 50, false},
		{"many names", `{"anyOf":[{"type":"string"},true],"unevaluatedProperties":false}`, 100_000, false},
		{"nothing unevaluated", `{"anyOf":[` + alternatives + `]}`, 4000, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			schema, err := Parse(json.RawMessage(test.schema)).Compile(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err = schema.Check(t.Context(), object(test.names)); (err != nil) != test.givenUp {
				t.Errorf("given up: %v", err)
			}
		})
	}
}
