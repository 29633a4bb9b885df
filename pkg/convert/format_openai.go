package convert

import (
	"cmp"
	"errors"

	"toolx/pkg/jsonschema"
)

// OpenAI's limits: the number of tools in a request ("array too long … maximum length 128"), and the length of
// descriptions in an older version of its documentation.
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
	strict := chat // the API enforces the schema
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
	// Cohere's strict applies to the whole request. The rule for names is from version 1 of its API, which is more
	// specific than version 2's documentation.
	schema := openAIProfile()
	schema.key, schema.keyRoot = pattern(`^[A-Za-z_][A-Za-z0-9_]*$`), true
	return []*record{
		{
			// Mistral rejects unknown members, so those of other formats are dropped.
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
			result: resultForm{ // version 2 of its API requires a document that the answer can cite
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

// wrapFunction adds the wrapper to a function without it, as in the deprecated "functions".
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

// isCustomCall reports whether an object is a call of a custom tool, whose input is text: {"id", "type": "custom",
// "custom": {"name", "input"}}.
func isCustomCall(fields *node) bool {
	custom := fields.Get("custom")
	return custom.IsObject() && fields.Get("type").Text() == "custom" && (custom.Has("input") || fields.Has("id"))
}

func readCustomCall(fields *node) (ToolCall, Format) {
	return customCall(fields.Get("id").Text(), fields.Get("custom")), OpenAI
}

// customCall returns a failed call, because toolx has no tools that accept plain text.
func customCall(id string, custom *node) ToolCall {
	call := failedCall(id, custom.Get("name").Text(),
		errors.New("plain text input is not supported: call a function with JSON arguments"))
	call.custom = true
	return call
}

// readResponsesCall reads an item of the Responses API: {"type": "function_call", "call_id", "name", "arguments"}. The
// id identifies the item; results refer to call_id. OpenAI's Go types, encoded as JSON, have a union instead of the
// arguments.
func readResponsesCall(fields *node) (ToolCall, Format) {
	arguments := fields.Value("arguments")
	if union := fields.Get("arguments"); union.Has("OfString") {
		arguments = union.Value("OfString")
	}
	id := cmp.Or(fields.Get("call_id").Text(), fields.Get("id").Text())
	return newCall(id, fields.Get("name").Text(), arguments), Responses
}

// isChatCall reports whether an object is {"id", "type": "function", "function": {"name", "arguments"}}, and not a tool
// definition.
func isChatCall(fields *node) bool {
	function := fields.Get("function")
	return function.IsObject() && !function.Has("parameters") && !function.Has("description")
}

// readChatCall reads a call of OpenAI or a compatible API.
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

// isOllamaCall reports whether a call is Ollama's: its arguments are an object, or it has an index. Gateways that write
// OpenAI's arguments as an object keep type and id.
func isOllamaCall(call, function *node) bool {
	if function.Value("index") != nil {
		return true
	}
	id := call.Get("id").Text()
	complete := id != "" && call.Get("type").Text() != ""
	return function.Get("arguments").IsObject() && !complete && !isMistralID(id)
}

// isEmptyCall reports whether an object is a call without a function.
func isEmptyCall(fields *node) bool {
	return fields.Get("type").Text() == "function" && fields.Get("id").Text() != "" &&
		!fields.Get("function").IsObject() && !hasSchema(fields)
}
