package exec

import (
	"encoding/json"
	"strings"
	"testing"
)

// A resource with very many contents is read up to a limit, with a warning.
func TestContentsAreBounded(t *testing.T) {
	t.Parallel()
	for count, warnings := range map[int]int{maxContents: 0, maxContents + 1: 1} {
		reply := `{"contents":[{"text":"a"}` + strings.Repeat(`,{"text":"a"}`, count-1) + `]}`
		parts, err := ReadContents(json.RawMessage(reply))
		if err != nil || len(parts.Content) != maxContents || len(parts.Warnings) != warnings {
			t.Errorf("%d contents: %d are read; %q, %v", count, len(parts.Content), parts.Warnings, err)
		}
	}
}

// A tool's schemas are cut from its definition, which may have tens of megabytes.
func TestNewToolCopiesNoSchema(t *testing.T) {
	t.Parallel()
	definition := json.RawMessage(`{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"array"}}`)
	tool, err := NewTool(definition)
	if err != nil {
		t.Fatal(err)
	}
	copy(definition[strings.Index(string(definition), "object"):], "OBJECT")
	if string(tool.InputSchema) != `{"type":"OBJECT"}` || string(tool.OutputSchema) != `{"type":"array"}` {
		t.Errorf("the schemas are %s and %s", tool.InputSchema, tool.OutputSchema)
	}
}

// Structured content of very many members is not cut into all of them, only to see whether it has one.
func TestWrapsLooksAtTwoMembers(t *testing.T) {
	structured := json.RawMessage(`{"a":1` + strings.Repeat(`,"b":2`, 10_000) + `}`)
	allocated := testing.AllocsPerRun(10, func() { wraps(structured, json.RawMessage(`"1"`)) })
	if allocated > 10 {
		t.Errorf("%v allocations", allocated)
	}
}
