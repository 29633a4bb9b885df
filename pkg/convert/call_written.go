package convert

import (
	"strings"

	"toolx/pkg/rawjson"
)

// maxTried bounds how many lines of a text are tried as the beginning of JSON: each try reads to its end.
const maxTried = 64

// WrittenCalls returns what looks like calls in text that ReadCalls found no calls in: JSON that begins a line, in a
// code fence or not, with a name and arguments; and calls with marks that are not read from text of that provider.
// A model may also quote such text, so that a person decides whether it runs.
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

// written reads a call that is written as text, an array of them, or a message with tool_calls.
func (r *callReader) written(value []byte) {
	if elements, ok := rawjson.Elements(value); ok {
		for _, element := range elements {
			if literal(element) == "object" {
				r.written(element)
			}
		}
		return
	}
	fields := membersOf(value)
	for _, call := range fields.list("tool_calls") {
		if isWrittenCall(membersOf(call)) {
			r.hermesObject(call)
		}
	}
	if isWrittenCall(fields) {
		r.hermesObject(value)
	}
}

// isWrittenCall reports whether an object names a tool and has arguments for it. The definition of a tool, which an
// answer may quote, has a schema where some models put the arguments.
func isWrittenCall(fields members) bool {
	if function, ok := fields.object("function"); ok && !fields.has("name") {
		fields = function
	}
	if fields.text("name") == "" {
		return false
	}
	parameters, ok := fields.object("parameters")
	return fields.has("arguments") || ok && !fields.has("description") && !parameters.isObject("properties")
}
