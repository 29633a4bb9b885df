package convert

import (
	"strings"
)

// maxTried bounds the lines of a text that are tried as the beginning of JSON: each attempt reads to its end.
const maxTried = 64

// WrittenCalls returns likely calls in text without calls for ReadCalls: JSON that begins a line, in a code fence or
// not, with a name and arguments; and calls with marks that are not read from text of that provider. The text may be a
// quotation, so a person decides whether it runs.
func WrittenCalls(text string) []ToolCall {
	var r callReader
	r.text(text)
	if len(r.calls) > 0 {
		return r.calls
	}
	for tried := 0; text != "" && tried < maxTried; {
		line := strings.TrimLeft(text, " \t\r\n")
		if fence := strings.TrimLeft(line, "`~"); len(line)-len(fence) >= len("```") { // JSON may follow on its line
			line = strings.TrimLeft(fence, alphanumeric+"_- \t")
		}
		if strings.HasPrefix(line, "{") || strings.HasPrefix(line, "[") {
			tried++
			if value, end, err := jsonPrefix(line); err == nil {
				r.written(value)
				text = line[end:]
				continue
			}
		}
		_, text, _ = strings.Cut(line, "\n")
	}
	return r.calls
}

// written reads a call written as text, an array of them, or a message with tool_calls.
func (r *callReader) written(value *node) {
	for _, element := range value.Elements() {
		if element.IsObject() {
			r.written(element)
		}
	}
	for _, call := range value.Get("tool_calls").Elements() {
		if isWrittenCall(call) {
			r.hermesObject(call)
		}
	}
	if isWrittenCall(value) {
		r.hermesObject(value)
	}
}

// isWrittenCall reports whether an object names a tool and has arguments for it. A tool's definition, which an answer
// may quote, has a schema where some models put the arguments.
func isWrittenCall(fields *node) bool {
	fields = functionIn(fields)
	if fields.Get("name").Text() == "" {
		return false
	}
	parameters := fields.Get("parameters")
	return fields.Has("arguments") ||
		parameters.IsObject() && !fields.Has("description") && !parameters.Get("properties").IsObject()
}
