package convert

import (
	"encoding/json"
	"fmt"
	"strings"

	"toolx/pkg/rawjson"
)

// The marks in the text of models whose calls are text.
const (
	callOpen      = "<tool_call>"
	callClose     = "</tool_call>"
	thinkOpen     = "<think>"
	thinkClose    = "</think>"
	functionOpen  = "<function="
	functionClose = "</function>"
)

// holdsTextCalls reports whether text may hold calls.
func holdsTextCalls(text string) bool {
	return strings.Contains(text, callOpen) || strings.Contains(text, functionOpen)
}

// text reads the calls in a model's text (see TextFilter). Calls that are quoted do not count, nor those in the model's
// thinking, which is what stands in <think>, and what stands before a </think> whose beginning was part of the prompt.
func (r *callReader) text(text string) {
	filter := NewTextFilter(func(string) {}, func(string) {})
	filter.Write(text)
	filter.End()
	for rest := strings.Join(filter.calls, ""); rest != ""; {
		var mark string
		switch _, mark, rest = cutAtMark(rest, callOpen, functionOpen); mark {
		case callOpen:
			rest = r.textCall(rest)
		case functionOpen:
			rest = r.qwenCoderCall(rest)
		}
	}
}

// cutAtMark parts text at the first of some marks, all of which begin with "<";
// mark and rest are empty where there is none.
func cutAtMark(text string, marks ...string) (before, mark, rest string) {
	for at := 0; ; at++ {
		next := strings.IndexByte(text[at:], '<')
		if next < 0 {
			return text, "", ""
		}
		at += next
		for _, mark := range marks {
			if rest, found := strings.CutPrefix(text[at:], mark); found {
				return text[:at], mark, rest
			}
		}
	}
}

// textCall reads what stands behind <tool_call>: JSON, or Qwen3-Coder's XML. The
// block may lack its end. Anything else is prose that speaks of the mark.
func (r *callReader) textCall(text string) (rest string) {
	body := strings.TrimLeft(text, " \t\r\n")
	switch {
	case strings.HasPrefix(body, functionOpen):
		return r.qwenCoderCall(body[len(functionOpen):])
	case strings.HasPrefix(body, "{"), strings.HasPrefix(body, "["):
		return r.hermesCalls(body)
	}
	return text
}

// hermesCalls reads JSON values up to the end of their block: one, as models are
// taught, or several.
func (r *callReader) hermesCalls(text string) (rest string) {
	for {
		value, end, err := jsonPrefix(text)
		if err != nil {
			return r.brokenCall(text, err)
		}
		list, isList := rawjson.Elements(value)
		if !isList {
			list = []json.RawMessage{value}
		}
		for _, element := range list {
			r.hermesObject(element)
		}
		text = strings.TrimLeft(text[end:], " \t\r\n,")
		if !strings.HasPrefix(text, "{") {
			return strings.TrimPrefix(text, callClose)
		}
	}
}

// jsonPrefix reads the JSON value that text begins with, mended where that is
// certain.
func jsonPrefix(text string) (value json.RawMessage, end int, err error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	if err = decoder.Decode(&value); err == nil {
		return value, int(decoder.InputOffset()), nil
	}
	if mended, end, ok := mendJSON(text); ok {
		return mended, end, nil
	}
	return nil, 0, err
}

// hermesObject reads {"name", "arguments"}; some models say "parameters", and some
// write the call as OpenAI's API does.
func (r *callReader) hermesObject(value json.RawMessage) {
	fields := membersOf(value)
	if function, ok := fields.object("function"); ok && !fields.has("name") {
		fields = function
	}
	arguments := fields.get("arguments")
	if arguments == nil {
		arguments = fields.get("parameters")
	}
	r.add(newCall(fields.text("id"), fields.text("name"), arguments), Hermes)
}

// brokenCall keeps a call whose JSON cannot be read, for the model to be told.
func (r *callReader) brokenCall(text string, err error) (rest string) {
	body, mark, rest := cutAtMark(text, callClose, callOpen)
	switch mark {
	case callOpen: // of the next call
		rest = text[len(body):]
	case "":
		err = fmt.Errorf("%w; it ends before its %s", err, callClose)
	}
	r.add(failedCall("", namedIn(body), fmt.Errorf("the tool call is not valid JSON: %w", err)), Hermes)
	return rest
}

// writeHermesResults writes the text of a user turn, as the chat templates of Hermes and Qwen do: a block for each
// result, in the calls' order.
func writeHermesResults(results []ToolResult) []byte {
	// A tool's text must not end its own block, nor speak for another tool.
	marks := strings.NewReplacer("<tool_response>", "< tool_response>", "</tool_response>", "< /tool_response>")
	blocks := make([]string, len(results))
	for i, result := range results {
		blocks[i] = "<tool_response>\n" + marks.Replace(markedText(result)) + "\n</tool_response>"
	}
	return []byte(strings.Join(blocks, "\n"))
}
