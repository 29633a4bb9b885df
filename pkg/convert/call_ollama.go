package convert

import "toolx/pkg/rawjson"

// isOllamaCall tells Ollama's call from OpenAI's: the arguments are an object, or
// there is an index beside them. Gateways that give OpenAI's calls an object keep
// its type and id.
func isOllamaCall(call, function callFields) bool {
	if function.has("index") {
		return true
	}
	_, isObject := rawjson.Members(function.get("arguments"))
	return isObject && !(call.has("type") && call.has("id")) && !isMistralID(call.text("id"))
}

// ollamaResult is Ollama's tool message: models without ids know the tool by name.
func ollamaResult(result ToolResult) any {
	return struct {
		Role    string `json:"role"`
		Content string `json:"content"`
		Name    string `json:"tool_name"`
		ID      string `json:"tool_call_id,omitempty"`
	}{"tool", markedText(result), result.Call.Name, result.Call.ID}
}
