package convert

// isGeminiCall recognises {"functionCall": {"id"?, "name", "args"}}, and the same as
// Gemini's Python library spells it.
func isGeminiCall(fields members) bool {
	_, ok := geminiCall(fields)
	return ok
}

func geminiCall(fields members) (members, bool) {
	if call, ok := fields.object("functionCall"); ok {
		return call, true
	}
	call, ok := fields.object("function_call")
	return call, ok && !call.has("arguments") // which OpenAI had once
}

func readGeminiCall(fields members) (ToolCall, Format) {
	call, _ := geminiCall(fields)
	return newCall(call.text("id"), call.text("name"), call.get("args")), Gemini
}

type geminiResponse struct {
	Output any `json:"output,omitempty"`
	Error  any `json:"error,omitempty"`
}

type geminiFunctionResponse struct {
	ID       string         `json:"id,omitempty"`
	Name     string         `json:"name"`
	Response geminiResponse `json:"response"`
}

// geminiResult returns a functionResponse part. The answer stands under "output", a failure under "error".
func geminiResult(result ToolResult) any {
	response := geminiResponse{Output: result.Text}
	if structured, ok := structuredValue(result); ok {
		response.Output = structured
	}
	if result.IsError {
		response = geminiResponse{Error: result.Text}
	}
	return struct {
		FunctionResponse geminiFunctionResponse `json:"functionResponse"`
	}{geminiFunctionResponse{result.Call.ID, result.Call.Name, response}}
}
