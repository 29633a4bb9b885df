package convert

import (
	"cmp"
	"errors"

	"toolx/pkg/jsonschema"
)

// The limits of OpenAI: the number of tools in a request ("array too long … maximum length 128"), and the length of
// descriptions that its documentation once had.
const (
	openaiMost    = 128
	openaiLongest = 1024
)

func openAIFormats() []*record {
	chat := record{
		format: OpenAI, label: "OpenAI", names: portableNames(), most: openaiMost, longest: openaiLongest,
		layout: chatLayout(), prepare: wrapFunction,
		marks:  func(element *node) bool { return element.Get("function").IsObject() },
		schema: openAIProfile(), llama: true,
		calls: []callShape{
			{isCustomCall, readCustomCall},
			{isChatCall, readChatCall},
			{isEmptyCall, func(fields *node) (ToolCall, Format) { return unreadableCall(fields), OpenAI }},
		},
		family: OpenAI,
		result: resultForm{result: `{"role":"tool","tool_call_id":"$id","content":"$text"}`},
	}
	strict := chat // the model's arguments always fit the schema
	strict.format, strict.label, strict.marks, strict.looksLike = OpenAIStrict, "OpenAI strict", nil, OpenAI
	strict.schema, strict.strict, strict.llama, strict.calls = strictProfile, true, false, nil
	responses := record{
		format: Responses, label: "OpenAI Responses", names: portableNames(), most: openaiMost, longest: openaiLongest,
		layout: flat("parameters"),
		marks: func(element *node) bool {
			return element.Get("type").Text() == "function" && element.Has(nameMember)
		},
		schema: openAIProfile(),
		calls: []callShape{
			{ofType("function_call"), readResponsesCall},
			{ofType("custom_tool_call"), func(fields *node) (ToolCall, Format) {
				return customCall(cmp.Or(fields.Get("call_id").Text(), fields.Get("id").Text()), fields), Responses
			}},
		},
		result: resultForm{result: `{"type":"$type","call_id":"$id","output":"$text"}`},
	}
	// A tool of this API without "strict" is strict, so it is always written.
	responses.layout.skeleton = `{"type":"function","name":null,"description":null,"parameters":null,"strict":false}`
	responses.layout.strict = []string{"strict"}
	return []*record{&chat, &strict, &responses}
}

// otherChatFormats returns formats with OpenAI's layout.
func otherChatFormats() []*record {
	// Cohere's strict is a setting of the whole request. The rule for names is that of version 1 of its API, which is
	// more specific than version 2's documentation.
	schema := openAIProfile()
	schema.key, schema.keyRoot = pattern(`^[A-Za-z_][A-Za-z0-9_]*$`), true
	return []*record{
		{
			// Mistral refuses unknown members, so no other format's are passed on.
			format: Mistral, label: "Mistral", names: portableNames(), layout: chatLayout(), looksLike: OpenAI,
			prepare: wrapFunction, schema: openAIProfile(),
			family: OpenAI, ids: idRule{takes: isMistralID},
			result: resultForm{
				result: `{"role":"tool","name":"$name","content":"$text","tool_call_id":"$id"}`,
			},
		},
		{
			format: Cohere, label: "Cohere", layout: functionLayout(), looksLike: OpenAI, prepare: wrapFunction,
			names:  nameRule{longest: longestName, signs: "_", notFirst: "0123456789"},
			schema: schema, family: OpenAI,
			result: resultForm{ // version 2 of its API needs a document, so that the answer can cite it
				result: `{"role":"tool","tool_call_id":"$id",
					"content":[{"type":"document","document":{"data":"$text"}}]}`,
			},
		},
	}
}

// chatLayout returns the layout of OpenAI's chat completions.
func chatLayout() layout {
	chat := functionLayout()
	chat.strict = []string{"function", "strict"}
	return chat
}

// wrapFunction also accepts a function without its wrapping, as in the old "functions" of a request.
func wrapFunction(element *node) (*node, error) {
	if element.Get("function").IsObject() || !element.Has(nameMember) {
		return element, nil
	}
	return wrapped(without(element, "type")), nil
}

// wrapped wraps a function.
func wrapped(function *node) *node {
	return jsonschema.Build("type", "function", "function", function)
}

// openAIProfile allows any JSON Schema except combinators at the root and arrays without items.
func openAIProfile() profile {
	open := openProfile()
	open.itemsNeeded, open.propertiesNeeded, open.noRootUnions = true, true, true
	return open
}

// strictProfile is the subset of structured outputs.
var strictProfile = profile{
	keywords: []string{
		"type", "description", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf",
		"$ref", "$defs", "definitions", "pattern", "format", "multipleOf", "minimum", "maximum",
		"exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems",
	},
	formats: []string{
		"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid",
	},
	refs:             true,
	closed:           true,
	propertiesNeeded: true,
	noRootUnions:     true,
	check:            checkStrictLimits,
}

// customOutput is the type of a custom tool's result in the Responses API.
const customOutput = "custom_tool_call_output"

// isCustomCall recognises a call of a custom tool, whose input is text: {"id", "type": "custom", "custom": {"name",
// "input"}}.
func isCustomCall(fields *node) bool {
	custom := fields.Get("custom")
	return custom.IsObject() && fields.Get("type").Text() == "custom" && (custom.Has("input") || fields.Has("id"))
}

func readCustomCall(fields *node) (ToolCall, Format) {
	return customCall(fields.Get("id").Text(), fields.Get("custom")), OpenAI
}

// customCall returns a call that cannot be made: no tool of toolx accepts plain text.
func customCall(id string, custom *node) ToolCall {
	call := failedCall(id, custom.Get("name").Text(),
		errors.New("no tool takes bare text: call a function, with JSON as its arguments"))
	call.custom = true
	return call
}

// readResponsesCall reads an item of the Responses API: {"type": "function_call", "call_id", "name", "arguments"}. Its
// id is that of the item; the output refers to the call_id. OpenAI's Go types, written as JSON, have a union in place
// of the arguments.
func readResponsesCall(fields *node) (ToolCall, Format) {
	arguments := fields.Value("arguments")
	if union := fields.Get("arguments"); union.Has("OfString") {
		arguments = union.Value("OfString")
	}
	id := cmp.Or(fields.Get("call_id").Text(), fields.Get("id").Text())
	return newCall(id, fields.Get("name").Text(), arguments), Responses
}

// isChatCall recognises {"id", "type": "function", "function": {"name", "arguments"}}, unless it is a tool's
// definition.
func isChatCall(fields *node) bool {
	function := fields.Get("function")
	return function.IsObject() && !function.Has("parameters") && !function.Has("description")
}

// readChatCall reads the call of OpenAI and of compatible APIs.
func readChatCall(fields *node) (ToolCall, Format) {
	function := fields.Get("function")
	call := newCall(fields.Get("id").Text(), function.Get("name").Text(), function.Value("arguments"))
	switch {
	case isOllamaCall(fields, function):
		return call, Ollama
	case isMistralID(call.ID):
		return call, Mistral
	}
	return call, OpenAI
}

// isOllamaCall distinguishes Ollama's call from OpenAI's: the arguments are an object, or have an index beside them.
// Gateways that write OpenAI's calls with an object keep its type and id.
func isOllamaCall(call, function *node) bool {
	if function.Value("index") != nil {
		return true
	}
	id := call.Get("id").Text()
	complete := id != "" && call.Get("type").Text() != ""
	return function.Get("arguments").IsObject() && !complete && !isMistralID(id)
}

// isEmptyCall recognises a call without a function.
func isEmptyCall(fields *node) bool {
	return fields.Get("type").Text() == "function" && fields.Get("id").Text() != "" &&
		!fields.Get("function").IsObject() && !hasSchema(fields)
}
