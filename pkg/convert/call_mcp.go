package convert

import (
	"encoding/json"

	"toolx/pkg/rawjson"
)

// isMCPCall recognises the parameters of tools/call, {"name", "arguments"}, and the
// whole request. A tool's definition has a name too, and more beside it.
func isMCPCall(fields members) bool {
	if fields.text("method") == "tools/call" {
		return true
	}
	for _, field := range fields {
		switch field.Name {
		case "name", "arguments", "_meta", "id":
		default:
			return false
		}
	}
	return fields.text("name") != ""
}

// readMCPCall reads either form. The id is the request's, as it is written there.
func readMCPCall(fields members) (ToolCall, Format) {
	id := rawjson.Unquote(fields.get("id"))
	if params, ok := fields.object("params"); ok {
		fields = params
	}
	return newCall(id, fields.text("name"), fields.get("arguments")), MCP
}

type mcpCallToolResult struct {
	Content    []json.RawMessage `json:"content"`
	Structured json.RawMessage   `json:"structuredContent,omitempty"`
	IsError    bool              `json:"isError,omitempty"`
}

// mcpResult is a CallToolResult: the tool's own blocks, unless the text for the
// model is another, cut one.
func mcpResult(result ToolResult) any {
	content := result.Content
	own := result.Text == contentText(content) || result.Structured != nil && result.Text == string(result.Structured)
	if len(content) == 0 || !own {
		content = []json.RawMessage{mcpText(result.Text)}
	}
	written := mcpCallToolResult{Content: content, IsError: result.IsError}
	if own || len(result.Content) == 0 {
		written.Structured = result.Structured
	}
	return written
}

func mcpText(text string) json.RawMessage {
	return rawjson.Object([]rawjson.Member{
		rawjson.NewMember("type", json.RawMessage(`"text"`)),
		rawjson.NewMember("text", rawjson.Quote(text)),
	})
}
