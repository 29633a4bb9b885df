package convert

// isOllamaCall tells Ollama's call from OpenAI's: the arguments are an object, or
// there is an index beside them. Gateways that give OpenAI's calls an object keep
// its type and id.
func isOllamaCall(call, function members) bool {
	if function.get("index") != nil {
		return true
	}
	id := call.text("id")
	complete := id != "" && call.text("type") != ""
	return function.isObject("arguments") && !complete && !isMistralID(id)
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
