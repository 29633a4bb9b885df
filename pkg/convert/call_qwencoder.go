package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"toolx/pkg/rawjson"
)

const (
	parameterOpen  = "<parameter="
	parameterClose = "</parameter>"
)

var errCutCall = errors.New("the tool call ends before its " + functionClose)

// qwenCoderCall reads a call of Qwen3-Coder, from behind "<function=" on:
//
//	NAME>
//	<parameter=P>
//	value
//	</parameter>
//	</function>
//
// Values are text without any escaping, so that nothing but the place of a closing
// mark tells it from the value (see parameterEnd).
func (r *callReader) qwenCoderCall(text string) (rest string) {
	name, rest, ok := strings.Cut(text, ">")
	if !ok || strings.ContainsAny(name, "<\n") {
		return text // prose
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

// maxParameters bounds the parameters of one call in text.
const maxParameters = 500

// qwenCoderParameters reads the parameters that text begins with.
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

// qwenCoderParameter reads one parameter, from behind "<parameter=" on. The line
// breaks next to its marks are not part of the value.
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

// parameterEnd finds where a value ends, and the length of the mark there: at the
// first </parameter> behind which another parameter or the function's end follows,
// since the value may hold one itself; where the model forgot it, at what should
// follow it. It is negative where the value does not end.
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
