package result

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"toolx/pkg/exec"
	"toolx/pkg/jsonschema"
	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
	"toolx/pkg/words"
)

// remark is a line about the whole result: that it is valid, what is wrong with it, or how much of it is missing. Its
// text is safe.
type remark struct {
	role pane.Role
	text string
}

// newRemark returns a remark with the beginning of any text.
func newRemark(role pane.Role, text string) remark {
	const longest = 1000
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "..."
	}
	return remark{role, render.Safe(text)}
}

// sign returns a sign for the role, for terminals without colour.
func (r remark) sign(theme *pane.Theme) string {
	switch r.role {
	case pane.Good:
		return theme.Glyphs.Good
	case pane.Bad:
		return theme.Glyphs.Bad
	}
	return theme.Glyphs.Warn
}

// maxRemarks limits the warnings, and the schema problems, that are shown.
const maxRemarks = 10

// remarksOn returns the remarks on a result.
func remarksOn(result *exec.Result, tool *exec.Tool) []remark {
	var remarks []remark
	if cut := result.Truncated; cut != nil {
		text := fmt.Sprintf("output cut: %s of %s", exec.Bytes(cut.ShownBytes), exec.Bytes(cut.TotalBytes))
		remarks = append(remarks, remark{pane.Warn, text})
	}
	remarks = append(remarks, verdict(result, tool)...)
	return append(remarks, first(result.Warnings, pane.Warn, "warning", func(text string) string { return text })...)
}

// first returns remarks for the first of several items, and the number of the others.
func first[T any](all []T, role pane.Role, noun string, text func(T) string) []remark {
	var remarks []remark
	for i, one := range all {
		if i == maxRemarks {
			return append(remarks, remark{role, words.Count(len(all)-i, "more "+noun)})
		}
		remarks = append(remarks, newRemark(role, text(one)))
	}
	return remarks
}

// verdict checks the structured content against the tool's output schema. A tool with such a schema
// must return structured content, unless it failed (MCP 2025-06-18, server/tools, output schema).
func verdict(result *exec.Result, tool *exec.Tool) []remark {
	if tool == nil || len(tool.OutputSchema) == 0 || result.Raw == nil {
		return nil
	}
	structured := structuredIn(result.Raw)
	switch {
	case structured == nil && result.Err != nil:
		return nil
	case structured == nil:
		return []remark{{pane.Bad, "the tool has an output schema, but returned no structuredContent"}}
	case len(structured) > maxChecked:
		size := exec.Bytes(int64(len(structured)))
		return []remark{{pane.Warn, "structuredContent is too large to check: " + size}}
	}
	return validate(structured, tool.Output())
}

// validate validates a value against a schema.
func validate(value json.RawMessage, schema *jsonschema.Document) []remark {
	compiled, err := schema.Compile(context.Background())
	if err != nil {
		return []remark{newRemark(pane.Warn, "the output schema is broken: "+err.Error())}
	}
	problems, err := compiled.CheckValue(context.Background(), value)
	switch {
	case err != nil:
		return []remark{newRemark(pane.Warn, "the output schema cannot validate the result: "+err.Error())}
	case len(problems) == 0:
		return []remark{{pane.Good, "structuredContent matches the output schema"}}
	}
	remarks := []remark{{pane.Bad, "structuredContent does not match the output schema:"}}
	return append(remarks, first(problems, pane.Bad, "problem", jsonschema.Problem.String)...)
}
