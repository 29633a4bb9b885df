package convert

import (
	"cmp"
	"encoding/json"
)

// isResponsesCall recognises {"type": "function_call", "call_id", "name",
// "arguments"}.
func isResponsesCall(fields members) bool { return fields.text("type") == "function_call" }

// readResponsesCall reads an item of the responses API. Its id is that of the item;
// the output belongs to the call_id.
func readResponsesCall(fields members) (ToolCall, Format) {
	id := cmp.Or(fields.text("call_id"), fields.text("id"))
	return newCall(id, fields.text("name"), responsesArguments(fields)), Responses
}

// responsesArguments returns the text of an item's arguments. A program that has the response in OpenAI's Go types and
// writes it as JSON gives a union in their place.
func responsesArguments(fields members) json.RawMessage {
	if union, ok := fields.object("arguments"); ok && union.has("OfString") {
		return union.get("OfString")
	}
	return fields.get("arguments")
}

// noteAnswer notes the call that a function_call_output belongs to: in a
// conversation of items, only calls without one are still to be made.
func (r *callReader) noteAnswer(item members) {
	if kind := item.text("type"); kind != "function_call_output" && kind != customOutput {
		return
	}
	if r.answered == nil {
		r.answered = make(map[string]bool)
	}
	r.answered[item.text("call_id")] = true
}

// customOutput is the type of a custom tool's result.
const customOutput = "custom_tool_call_output"

// responsesResult returns a function_call_output. It has no mark for errors.
func responsesResult(result ToolResult) any {
	kind := "function_call_output"
	if result.Call.custom {
		kind = customOutput
	}
	return struct {
		Type   string `json:"type"`
		ID     string `json:"call_id"`
		Output string `json:"output"`
	}{kind, result.Call.ID, markedText(result)}
}
