package convert

import (
	"strings"
)

// maxTried limits how many lines are tried as the beginning of JSON, because each attempt may read the whole text.
const maxTried = 64

// WrittenCalls returns likely calls in text in which ReadCalls found none: JSON with a name and arguments at the
// beginning of a line, and tagged calls from providers whose calls are not text. They may be quotations, so a person
// decides whether they run.
func WrittenCalls(text string) []ToolCall {
	var r callReader
	r.text(text)
	if len(r.calls) > 0 {
		return r.calls
	}
	for tried := 0; text != "" && tried < maxTried; {
		line := strings.TrimLeft(text, " \t\r\n")
		if fence := strings.TrimLeft(line, "`~"); len(line)-len(fence) >= len("```") { // JSON may follow
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

// isWrittenCall reports whether an object has a tool name and arguments. In a quoted tool definition, parameters is a
// schema.
func isWrittenCall(fields *node) bool {
	fields = functionIn(fields)
	if fields.Get("name").Text() == "" {
		return false
	}
	parameters := fields.Get("parameters")
	return fields.Has("arguments") ||
		parameters.IsObject() && !fields.Has("description") && !parameters.Get("properties").IsObject()
}
