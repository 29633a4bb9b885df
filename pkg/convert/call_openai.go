package convert

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"toolx/pkg/rawjson"
)

// isChat reports whether a format's calls are those of OpenAI's chat completions, or look like them.
func isChat(format Format) bool {
	switch format {
	case OpenAI, OpenAIStrict, Mistral, Cohere, Ollama:
		return true
	}
	return false
}

// isChatCall recognises {"id", "type": "function", "function": {"name",
// "arguments"}}, which is not a tool's definition.
func isChatCall(fields members) bool {
	function, ok := fields.object("function")
	return ok && !function.has("parameters") && !function.has("description")
}

// isCustomCall recognises a call of a custom tool, whose input is text: {"id", "type":
// "custom", "custom": {"name", "input"}}, and the responses API's {"type":
// "custom_tool_call", "call_id", "name", "input"}.
func isCustomCall(fields members) bool {
	switch fields.text("type") {
	case "custom":
		custom, ok := fields.object("custom")
		return ok && (custom.has("input") || fields.has("id"))
	case "custom_tool_call":
		return true
	}
	return false
}

// readCustomCall reads a call that cannot be made: no tool of toolx takes bare text.
func readCustomCall(fields members) (ToolCall, Format) {
	call := ToolCall{ID: fields.text("id"), Arguments: json.RawMessage("{}"), Err: errCustomCall, custom: true}
	if custom, ok := fields.object("custom"); ok {
		call.Name = custom.text("name")
		return call, OpenAI
	}
	call.ID, call.Name = cmp.Or(fields.text("call_id"), call.ID), fields.text("name")
	return call, Responses
}

var errCustomCall = errors.New("no tool takes bare text: call a function, with JSON as its arguments")

// isEmptyCall recognises a call whose function is missing.
func isEmptyCall(fields members) bool {
	return fields.text("type") == "function" && fields.text("id") != "" && !fields.isObject("function") && !hasSchema(fields)
}

func readEmptyCall(fields members) (ToolCall, Format) { return unreadableCall(fields), OpenAI }

// unreadableCall stands for what a model's message has among its calls, and what is none
// in any format: the model waits for a result all the same.
func unreadableCall(fields members) ToolCall {
	function, _ := fields.object("function")
	return ToolCall{
		ID: fields.text("id"), Name: cmp.Or(function.text("name"), fields.text("name")),
		Arguments: json.RawMessage("{}"), Err: errors.New("the tool call has no function with a name and arguments"),
	}
}

// readChatCall reads the call of OpenAI and of all who follow it.
func readChatCall(fields members) (ToolCall, Format) {
	function, _ := fields.object("function")
	arguments := function.get("arguments")
	call := newCall(fields.text("id"), function.text("name"), arguments)
	switch {
	case isOllamaCall(fields, function):
		return call, Ollama
	case isMistralID(call.ID):
		return call, Mistral
	}
	return call, OpenAI
}

// commonChat returns the format of a message whose calls look like different ones. An id can have nine letters by
// chance; an argument object has no other reason.
func commonChat(a, b Format) Format {
	if a == Ollama || b == Ollama {
		return Ollama
	}
	return OpenAI
}

// noteWrapper takes what the response around a chat message says of its format.
func (r *callReader) noteWrapper(response, message members) {
	switch {
	case response.has("done") || response.has("created_at"):
		r.wrapper = Ollama
	case response.has("finish_reason") || message.has("tool_plan"):
		r.wrapper = Cohere
	}
}

// openAIResult is OpenAI's tool message. It has no mark for errors.
func openAIResult(result ToolResult) any {
	return struct {
		Role    string `json:"role"`
		ID      string `json:"tool_call_id"`
		Content string `json:"content"`
	}{"tool", result.Call.ID, markedText(result)}
}

// errorMark stands before the text of a failure where a provider has no other mark.
const errorMark = "Error: "

// markedText returns a result's text, with the mark of failures.
func markedText(result ToolResult) string {
	if !result.IsError || strings.HasPrefix(result.Text, errorMark) {
		return result.Text
	}
	return errorMark + result.Text
}

// structuredValue returns the structured result, where the text for the model is not another, cut one.
func structuredValue(result ToolResult) (json.RawMessage, bool) {
	if result.Structured == nil || result.IsError || result.Text != string(result.Structured) {
		return nil, false
	}
	_, isObject := rawjson.Members(result.Structured)
	return withoutHalves(result.Structured), isObject && json.Valid(result.Structured)
}
