package convert

import (
	"encoding/json"

	"toolx/pkg/rawjson"
)

// openaiMost is how many tools OpenAI takes in a request ("array too long …
// maximum length 128"); openaiLongest is the length of descriptions that its
// documentation once gave.
const (
	openaiMost    = 128
	openaiLongest = 1024
)

// openaiDialect is OpenAI's chat completions. What reads the same (Qwen, Ollama,
// Mistral, Cohere) is recognised as this one.
func openaiDialect() dialect {
	described := functionLayout()
	described.strict = []string{"function", "strict"}
	return dialect{
		label:   "OpenAI",
		names:   portableNames(),
		most:    openaiMost,
		longest: openaiLongest,
		layout:  described,
		marks:   func(element members) bool { return element.isObject("function") },
		prepare: wrapFunction,
	}
}

// strictDialect is chat completions with strict: true, where the model's arguments
// always fit the schema.
func strictDialect() dialect {
	strict := openaiDialect()
	strict.label = "OpenAI strict"
	strict.marks = nil
	return strict
}

// wrapFunction takes a function without its wrapping as well, as the old
// "functions" of a request hold it.
func wrapFunction(element members) (members, error) {
	if element.isObject("function") || !element.has(nameMember) {
		return element, nil
	}
	return wrapped(element.without("type")), nil
}

// wrapped returns an element of a function.
func wrapped(function members) members {
	return members{
		rawjson.NewMember("type", json.RawMessage(`"function"`)),
		rawjson.NewMember("function", rawjson.Object(function)),
	}
}
