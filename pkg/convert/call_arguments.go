package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"toolx/pkg/rawjson"
)

// maxEncoded bounds how often arguments may have been encoded as a string.
const maxEncoded = 4

var errNoToolName = errors.New("the tool call names no tool")

// newCall makes a call of its parts. Arguments that cannot be read, and a missing
// name, are the call's own error.
func newCall(id, name string, arguments json.RawMessage) ToolCall {
	object, err := readArguments(arguments)
	if name == "" {
		err = errNoToolName
	}
	return ToolCall{ID: id, Name: name, Arguments: object, Err: err}
}

// readArguments makes one JSON object of what a model gave: an object, a string
// that holds one (encoded once or more), nothing. The object is byte for byte the
// model's, unless it had to be mended. With an error it is empty.
func readArguments(given json.RawMessage) (json.RawMessage, error) {
	none := json.RawMessage("{}")
	for range maxEncoded {
		given = withoutFence(bytes.TrimSpace(given))
		if len(given) == 0 || string(given) == "null" {
			return none, nil
		}
		if !json.Valid(given) {
			mended, end, ok := mendJSON(string(given))
			if !ok || end != len(given) {
				return none, fmt.Errorf("the arguments are %w", notJSON(given))
			}
			given = mended
		}
		switch {
		case given[0] == '{':
			return given, nil
		case !rawjson.IsString(given):
			return none, fmt.Errorf("the arguments must be a JSON object, not %s", cutText(string(given)))
		}
		given = json.RawMessage(rawjson.Unquote(given))
	}
	return none, errors.New("the arguments are JSON that was encoded as a string too many times")
}

// withoutFence takes a value out of the code fence of Markdown that a model put around
// it.
func withoutFence(text []byte) []byte {
	const fence = "```"
	inner, opened := bytes.CutPrefix(text, []byte(fence))
	inner, closed := bytes.CutSuffix(inner, []byte(fence))
	language, code, isBlock := bytes.Cut(inner, []byte("\n"))
	if !opened || !closed || !isBlock || bytes.ContainsAny(language, `{"'`) {
		return text
	}
	return bytes.TrimSpace(code)
}

// cutText shows the beginning of a text that may be long.
func cutText(text string) string {
	const most = 60
	runes := []rune(text[:min(len(text), most*4)])
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most-1]) + "…"
}
