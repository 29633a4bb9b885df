package convert

// mistralResult is Mistral's tool message: OpenAI's with the tool's name, and an id
// of 9 letters and digits.
func mistralResult(result ToolResult) any {
	return struct {
		Role    string `json:"role"`
		Name    string `json:"name"`
		Content string `json:"content"`
		ID      string `json:"tool_call_id"`
	}{"tool", result.Call.Name, markedText(result), result.Call.ID}
}
