package convert

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"toolx/pkg/rawjson"
)

// customOutput is the type of a custom tool's result in the responses API.
const customOutput = "custom_tool_call_output"

// callShape is one way in which providers write a call.
type callShape struct {
	is   func(fields members) bool
	read func(fields members) (ToolCall, Format)
}

// callShapes are tried in this order: those with a mark of their own first.
func callShapes() []callShape {
	return []callShape{
		// Tools that Anthropic runs itself are server_tool_use, and do not count.
		{ofType("tool_use"), shapedAs(Anthropic, "id", "input")},
		{ofType("function_call"), readResponsesCall},
		{holds("functionCall"), within("functionCall", shapedAs(Gemini, "id", "args"))},
		{isPythonGeminiCall, within("function_call", shapedAs(Gemini, "id", "args"))},
		{holds("toolUse"), within("toolUse", shapedAs(Bedrock, "toolUseId", "input"))},
		{isCustomCall, readCustomCall},
		{isChatCall, readChatCall},
		{isEmptyCall, func(fields members) (ToolCall, Format) { return unreadableCall(fields), OpenAI }},
		{ofType("invalid_tool_call"), readInvalidLangChainCall},
		{isLangChainCall, shapedAs(LangChain, "id", "args")},
		{isMCPCall, readMCPCall},
	}
}

func ofType(name string) func(members) bool {
	return func(fields members) bool { return fields.text("type") == name }
}

func holds(member string) func(members) bool {
	return func(fields members) bool { return fields.isObject(member) }
}

// within reads a call that stands in a member.
func within(member string, read func(members) (ToolCall, Format)) func(members) (ToolCall, Format) {
	return func(fields members) (ToolCall, Format) {
		call, _ := fields.object(member)
		return read(call)
	}
}

// shapedAs reads a call with a name member, and its id and arguments in the given members.
func shapedAs(format Format, id, arguments string) func(members) (ToolCall, Format) {
	return func(fields members) (ToolCall, Format) {
		return newCall(fields.text(id), fields.text("name"), fields.get(arguments)), format
	}
}

// readResponsesCall reads an item of the responses API: {"type": "function_call", "call_id", "name", "arguments"}. Its
// id is that of the item; the output refers to the call_id. A program that has the response in OpenAI's Go types and
// writes it as JSON writes a union in place of the arguments.
func readResponsesCall(fields members) (ToolCall, Format) {
	arguments := fields.get("arguments")
	if union, ok := fields.object("arguments"); ok && union.has("OfString") {
		arguments = union.get("OfString")
	}
	return newCall(cmp.Or(fields.text("call_id"), fields.text("id")), fields.text("name"), arguments), Responses
}

// isPythonGeminiCall recognises Gemini's call as its Python library spells it, unless it is a function_call of OpenAI,
// which is deprecated.
func isPythonGeminiCall(fields members) bool {
	call, ok := fields.object("function_call")
	return ok && !call.has("arguments")
}

// isCustomCall recognises a call of a custom tool, whose input is text: {"id", "type": "custom", "custom": {"name",
// "input"}}, and the responses API's {"type": "custom_tool_call", "call_id", "name", "input"}.
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
	call := failedCall(fields.text("id"), fields.text("name"),
		errors.New("no tool takes bare text: call a function, with JSON as its arguments"))
	call.custom = true
	if custom, ok := fields.object("custom"); ok {
		call.Name = custom.text("name")
		return call, OpenAI
	}
	call.ID = cmp.Or(fields.text("call_id"), call.ID)
	return call, Responses
}

// isChatCall recognises {"id", "type": "function", "function": {"name", "arguments"}}, unless it is a tool's
// definition.
func isChatCall(fields members) bool {
	function, ok := fields.object("function")
	return ok && !function.has("parameters") && !function.has("description")
}

// readChatCall reads the call of OpenAI and of compatible APIs.
func readChatCall(fields members) (ToolCall, Format) {
	function, _ := fields.object("function")
	call := newCall(fields.text("id"), function.text("name"), function.get("arguments"))
	switch {
	case isOllamaCall(fields, function):
		return call, Ollama
	case isMistralID(call.ID):
		return call, Mistral
	}
	return call, OpenAI
}

// isOllamaCall tells Ollama's call from OpenAI's: the arguments are an object, or there is an index beside them.
// Gateways that write OpenAI's calls with an object keep its type and id.
func isOllamaCall(call, function members) bool {
	if function.get("index") != nil {
		return true
	}
	id := call.text("id")
	complete := id != "" && call.text("type") != ""
	return function.isObject("arguments") && !complete && !isMistralID(id)
}

// isEmptyCall recognises a call whose function is missing.
func isEmptyCall(fields members) bool {
	return fields.text("type") == "function" && fields.text("id") != "" && !fields.isObject("function") &&
		!hasSchema(fields)
}

// unreadableCall stands for an entry among the calls of a model's message that is a call in no format: the model waits
// for its result all the same.
func unreadableCall(fields members) ToolCall {
	function, _ := fields.object("function")
	return failedCall(fields.text("id"), cmp.Or(function.text("name"), fields.text("name")),
		errors.New("the tool call has no function with a name and arguments"))
}

// failedCall returns a call that cannot be made.
func failedCall(id, name string, err error) ToolCall {
	return ToolCall{ID: id, Name: name, Arguments: json.RawMessage("{}"), Err: err}
}

// isLangChainCall recognises {"name", "args", "id", "type": "tool_call"}.
func isLangChainCall(fields members) bool {
	return fields.text("name") != "" && (fields.text("type") == "tool_call" || fields.has("args"))
}

// readInvalidLangChainCall reads what LangChain keeps of a call that it could not read: {"name", "args": "<text>",
// "id", "error", "type": "invalid_tool_call"}.
func readInvalidLangChainCall(fields members) (ToolCall, Format) {
	why := cmp.Or(fields.text("error"), "they are not valid JSON")
	return failedCall(fields.text("id"), fields.text("name"),
		fmt.Errorf("the arguments of the tool call could not be read: %s", why)), LangChain
}

// isMCPCall recognises the parameters of tools/call, {"name", "arguments"}, and the whole request. A tool's definition
// has other members beside its name.
func isMCPCall(fields members) bool {
	if fields.text("method") == "tools/call" {
		return true
	}
	return fields.text("name") != "" && len(fields.without("name", "arguments", "_meta", "id")) == 0
}

// readMCPCall reads either form. The id is the request's, as it is written there. A name alone does not mark MCP's
// format: LangChain and Gemini's libraries may leave empty arguments out.
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
