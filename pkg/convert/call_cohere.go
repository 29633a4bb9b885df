package convert

// cohereDocument is how Cohere's API (v2) wants a result, so that the answer can
// cite it.
type cohereDocument struct {
	Type     string `json:"type"`
	Document struct {
		Data string `json:"data"`
	} `json:"document"`
}

// cohereResult is Cohere's tool message.
func cohereResult(result ToolResult) any {
	document := cohereDocument{Type: "document"}
	document.Document.Data = markedText(result)
	return struct {
		Role    string           `json:"role"`
		ID      string           `json:"tool_call_id"`
		Content []cohereDocument `json:"content"`
	}{"tool", result.Call.ID, []cohereDocument{document}}
}
