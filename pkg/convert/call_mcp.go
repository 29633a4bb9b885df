package convert

import (
	"encoding/json"

	"toolx/pkg/rawjson"
)

// isMCPCall recognises the parameters of tools/call, {"name", "arguments"}, and the
// whole request. A tool's definition has a name too, and more beside it.
func isMCPCall(fields callFields) bool {
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
	return fields.has("name")
}

// readMCPCall reads either form. The id is the request's, as it is written there.
func readMCPCall(fields callFields) (ToolCall, Format) {
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

// mcpResult is a CallToolResult: the tool's own blocks where there are any.
func mcpResult(result ToolResult) any {
	content := result.Content
	if len(content) == 0 {
		text := rawjson.Object([]rawjson.Member{
			rawjson.NewMember("type", json.RawMessage(`"text"`)),
			rawjson.NewMember("text", rawjson.Quote(result.Text)),
		})
		content = []json.RawMessage{text}
	}
	return mcpCallToolResult{Content: content, Structured: result.Structured, IsError: result.IsError}
}
