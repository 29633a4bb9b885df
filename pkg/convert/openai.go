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
