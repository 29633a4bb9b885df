package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// The tags in the text of models whose calls are text.
const (
	callOpen      = "<tool_call>"
	callClose     = "</tool_call>"
	thinkOpen     = "<think>"
	thinkClose    = "</think>"
	functionOpen  = "<function="
	functionClose = "</function>"
	functionTag   = "<function>"
)

// text reads the calls in a model's text (see TextFilter). It ignores quoted calls and those in <think> or before a
// </think> without <think>, which the prompt contained.
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

// cutAtMark splits text at the first of several marks, all of which begin with "<". mark and rest are empty if there is
// none.
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

// textCall reads the text after <tool_call>: JSON, Qwen3-Coder's XML, or <function>NAME</function> and JSON. The
// closing tag may be missing. Anything else is prose that mentions the tag.
func (r *callReader) textCall(text string) (rest string) {
	body := strings.TrimLeft(text, " \t\r\n")
	switch {
	case strings.HasPrefix(body, functionOpen):
		return r.qwenCoderCall(body[len(functionOpen):])
	case strings.HasPrefix(body, functionTag):
		return r.taggedCall(body[len(functionTag):])
	case strings.HasPrefix(body, "{"), strings.HasPrefix(body, "["):
		return r.hermesCalls(body)
	}
	return text
}

// hermesCalls reads the JSON values of a block, usually one.
func (r *callReader) hermesCalls(text string) (rest string) {
	for {
		value, end, err := jsonPrefix(text)
		if err != nil {
			return r.brokenCall(text, "", callClose, err)
		}
		list := []*node{value}
		if value.IsArray() {
			list = value.Elements()
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

// jsonPrefix reads the JSON value at the beginning of text, repaired if necessary.
func jsonPrefix(text string) (value *node, end int, err error) {
	var raw json.RawMessage
	decoder := json.NewDecoder(strings.NewReader(text))
	if err = decoder.Decode(&raw); err == nil {
		return jsonschema.NewNode(raw), int(decoder.InputOffset()), nil
	}
	if repaired, end, ok := repairJSON(text); ok {
		return jsonschema.NewNode(repaired), end, nil
	}
	return nil, 0, err
}

// functionIn returns the function of a call in OpenAI's format, or the call itself.
func functionIn(call *node) *node {
	if function := call.Get("function"); function.IsObject() && !call.Has("name") {
		return function
	}
	return call
}

// hermesObject reads {"name", "arguments"}. Some models write "parameters" or OpenAI's format instead.
func (r *callReader) hermesObject(value *node) {
	fields := functionIn(value)
	arguments := fields.Value("arguments")
	if arguments == nil {
		arguments = fields.Value("parameters")
	}
	r.add(newCall(fields.Get("id").Text(), fields.Get("name").Text(), arguments), Hermes)
}

// taggedCall reads a call whose name has its own tag, from the text after <function>:
//
//	NAME</function>
//	{"P": "value"}
//	</tool_call>
func (r *callReader) taggedCall(text string) (rest string) {
	name, body, ok := strings.Cut(text, functionClose)
	if !ok || strings.ContainsAny(strings.TrimSpace(name), "<\n") {
		return text // prose
	}
	return r.namedCall(strings.TrimSpace(name), strings.TrimLeft(body, " \t\r\n"), callClose, Hermes)
}

// namedCall reads the JSON arguments of a call after its name; closing is its closing tag.
func (r *callReader) namedCall(name, text, closing string, shape Format) (rest string) {
	if text == "" || strings.HasPrefix(text, closing) {
		r.add(newCall("", name, nil), shape)
		return text
	}
	arguments, end, err := jsonPrefix(text)
	if err != nil {
		return r.brokenCall(text, name, closing, err)
	}
	r.add(newCall("", name, arguments), shape)
	return text[end:]
}

// brokenCall adds a failed call with invalid JSON, so that the model gets the error; closing is its closing tag. If
// name is empty, it is read from the JSON.
func (r *callReader) brokenCall(text, name, closing string, err error) (rest string) {
	body, mark, rest := cutAtMark(text, closing, callOpen)
	switch mark {
	case callOpen: // the next call
		rest = text[len(body):]
	case "":
		err = fmt.Errorf("%w; it ends before its %s", err, closing)
	}
	if name == "" {
		name = namedIn(body)
	}
	r.add(failedCall("", name, fmt.Errorf("the tool call is not valid JSON: %w", err)), Hermes)
	return rest
}

// writeHermesResults writes a user turn like the chat templates of Hermes and Qwen: one block per result, in the order
// of the calls.
func writeHermesResults(results []ToolResult) []byte {
	// A tool's text must not close its block or imitate another one.
	marks := strings.NewReplacer("<tool_response>", "< tool_response>", "</tool_response>", "< /tool_response>")
	blocks := make([]string, len(results))
	for i, result := range results {
		blocks[i] = "<tool_response>\n" + marks.Replace(markedText(result)) + "\n</tool_response>"
	}
	return []byte(strings.Join(blocks, "\n"))
}

const (
	parameterOpen  = "<parameter="
	parameterClose = "</parameter>"
)

var errCutCall = errors.New("the tool call ends before its " + functionClose)

// qwenCoderCall reads a call of Qwen3-Coder, from the text after "<function=":
//
//	NAME>
//	<parameter=P>
//	value
//	</parameter>
//	</function>
//
// or, from other models, NAME>{"P": "value"}</function>. Values are unescaped text, so a closing tag in a value can be
// told from a real one only by its position (see parameterEnd).
func (r *callReader) qwenCoderCall(text string) (rest string) {
	name, rest, ok := strings.Cut(text, ">")
	if !ok || strings.ContainsAny(name, "<\n") {
		return text // prose
	}
	if body := strings.TrimLeft(rest, " \t\r\n"); strings.HasPrefix(body, "{") {
		return r.namedCall(strings.TrimSpace(name), body, functionClose, QwenCoder)
	}
	call := ToolCall{Name: strings.TrimSpace(name), Arguments: json.RawMessage("{}"), Untyped: true}
	given, rest, err := qwenCoderParameters(rest)
	after, closed := strings.CutPrefix(rest, functionClose)
	switch {
	case err != nil:
		call.Err = err
		_, _, after = cutAtMark(rest, functionClose)
	case call.Name == "":
		call.Err = errNoToolName
	case !closed && !strings.HasPrefix(rest, callClose):
		call.Err = errCutCall
	default:
		call.Arguments = rawjson.Object(given)
	}
	r.add(call, QwenCoder)
	return after
}

// maxParameters limits the parameters of one call in text.
const maxParameters = 500

// qwenCoderParameters reads the parameters at the beginning of text.
func qwenCoderParameters(text string) (given []rawjson.Member, rest string, err error) {
	names := make(map[string]bool)
	for {
		text = strings.TrimLeft(text, " \t\r\n")
		body, isParameter := strings.CutPrefix(text, parameterOpen)
		if !isParameter {
			return given, text, nil
		}
		name, value, after, ok := qwenCoderParameter(body)
		switch {
		case !ok:
			return nil, "", errCutCall
		case names[name]:
			return nil, after, fmt.Errorf("the parameter %q is given twice", name)
		case len(given) == maxParameters:
			return nil, after, fmt.Errorf("the tool call has more than %d parameters", maxParameters)
		}
		names[name] = true
		given = append(given, rawjson.NewMember(name, rawjson.Quote(value)))
		text = after
	}
}

// qwenCoderParameter reads one parameter, from the text after "<parameter=". Line breaks next to its tags are not part
// of the value.
func qwenCoderParameter(text string) (name, value, rest string, ok bool) {
	name, body, ok := strings.Cut(text, ">")
	if !ok {
		return "", "", "", false
	}
	end, size := parameterEnd(body)
	if end < 0 {
		return "", "", "", false
	}
	value = strings.TrimSuffix(strings.TrimPrefix(body[:end], "\n"), "\n")
	return strings.TrimSpace(name), value, body[end+size:], true
}

// parameterEnd returns where a value ends, and the length of its closing tag: at the first </parameter> that is
// followed by another parameter or the function's end, because the value may contain the tag too, or else before the
// next tag. end is negative if the value does not end.
func parameterEnd(body string) (end, size int) {
	for at := 0; ; {
		i := strings.Index(body[at:], parameterClose)
		if i < 0 {
			break
		}
		at += i + len(parameterClose)
		follows := strings.TrimLeft(body[at:], " \t\r\n")
		for _, mark := range []string{parameterOpen, functionClose, callClose} {
			if strings.HasPrefix(follows, mark) {
				return at - len(parameterClose), len(parameterClose)
			}
		}
		if follows == "" {
			return at - len(parameterClose), len(parameterClose)
		}
	}
	end = -1
	for _, mark := range []string{"\n" + parameterOpen, functionClose} {
		if i := strings.Index(body, mark); i >= 0 && (end < 0 || i < end) {
			end = i
		}
	}
	return end, 0
}
