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

// readMCPCall reads either form. The id is the request's, as it is written there. A
// name alone is no mark of MCP's: LangChain and Gemini's libraries may leave empty
// arguments out.
func readMCPCall(fields members) (ToolCall, Format) {
	id := rawjson.Unquote(fields.get("id"))
	format := MCP
	if params, ok := fields.object("params"); ok {
		fields = params
	} else if !fields.has("arguments") {
		format = ""
	}
	return newCall(id, fields.text("name"), fields.get("arguments")), format
}

type mcpCallToolResult struct {
	Content    []json.RawMessage `json:"content"`
	Structured json.RawMessage   `json:"structuredContent,omitempty"`
	IsError    bool              `json:"isError,omitempty"`
}

// mcpResult returns a CallToolResult: the tool's own blocks, unless the text for the model is another, cut one.
func mcpResult(result ToolResult) any {
	written := mcpCallToolResult{Content: result.Content, IsError: result.IsError}
	isStructured := result.Structured != nil && result.Text == string(result.Structured)
	if isStructured {
		written.Structured = result.Structured
	}
	if len(result.Content) == 0 || !isStructured && result.Text != contentText(result.Content) {
		written.Content = []json.RawMessage{mcpText(result.Text)}
	}
	return written
}

func mcpText(text string) json.RawMessage {
	return rawjson.Object([]rawjson.Member{
		rawjson.NewMember("type", json.RawMessage(`"text"`)),
		rawjson.NewMember("text", rawjson.Quote(text)),
	})
}
