package jsonschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// A schema over the limit is not read, and says why where it is compiled.
func TestTooLargeSchema(t *testing.T) {
	t.Parallel()
	begin, end := `{"type":"object","properties":{"a":{}},"description":"`, `"}`
	fits := json.RawMessage(begin + strings.Repeat("a", MaxSize-len(begin)-len(end)) + end)
	document := Parse(fits)
	if _, err := document.Compile(t.Context()); err != nil || document.TooLarge() ||
		len(document.Root().Facets().Properties()) != 1 {
		t.Errorf("a schema of %d bytes is not read: %v", len(fits), err)
	}
	document = Parse(append(fits, ' '))
	if _, err := document.Compile(t.Context()); err == nil || !strings.Contains(err.Error(), "1048577 bytes") {
		t.Errorf("the error is %v", err)
	}
	if !document.TooLarge() || document.Root().Facets().Properties() != nil {
		t.Error("a schema over the limit is read")
	}
}

// A schema of very many patterns is too large to be compiled: each is a program.
func TestTooManyPatterns(t *testing.T) {
	t.Parallel()
	var list strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&list, `,"^(a|b%d)+$":{"type":"integer"}`, i)
	}
	schema := `{"type":"object","patternProperties":{` + list.String()[1:] + `}}`
	if _, err := Parse(json.RawMessage(schema)).Compile(t.Context()); !errors.Is(err, ErrTooLarge) {
		t.Errorf("the error is %v", err)
	}
}
