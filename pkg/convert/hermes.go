package convert

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"toolx/pkg/rawjson"
)

// hermesDialect returns the dialect of the text with which Qwen's chat template puts tools into the system prompt, a
// form that the Hermes models began. Elements are Qwen's.
func hermesDialect() dialect {
	hermes := qwenDialect()
	hermes.label = "Hermes"
	hermes.document = hermesPrompt
	return hermes
}

// hermesPrompt returns what Qwen 2.5 and 3 see of tools, byte for byte; nothing where there is no tool.
func hermesPrompt(tools []json.RawMessage) []byte {
	if len(tools) == 0 {
		return nil
	}
	var out bytes.Buffer
	out.WriteString("# Tools\n\nYou may call one or more functions to assist with the user query.\n\n" +
		"You are provided with function signatures within <tools></tools> XML tags:\n<tools>")
	for _, tool := range tools {
		out.WriteByte('\n')
		writeSpaced(&out, tool)
	}
	out.WriteString("\n</tools>\n\n" +
		"For each function call, return a json object with function name and arguments " +
		"within <tool_call></tool_call> XML tags:\n<tool_call>\n" +
		`{"name": <function-name>, "arguments": <args-json-object>}` + "\n</tool_call>")
	return out.Bytes()
}

// writeSpaced writes JSON as the template's tojson does, which is Python's
// json.dumps with ensure_ascii off: a space behind each comma and colon, and
// characters as they are.
func writeSpaced(out *bytes.Buffer, text json.RawMessage) {
	if members, ok := rawjson.Members(text); ok {
		out.WriteByte('{')
		for i, member := range members {
			writeComma(out, i)
			writePlainString(out, member.Name)
			out.WriteString(": ")
			writeSpaced(out, member.Value)
		}
		out.WriteByte('}')
		return
	}
	if elements, ok := rawjson.Elements(text); ok {
		out.WriteByte('[')
		for i, element := range elements {
			writeComma(out, i)
			writeSpaced(out, element)
		}
		out.WriteByte(']')
		return
	}
	if rawjson.IsString(text) {
		writePlainString(out, rawjson.Unquote(text))
		return
	}
	out.Write(text)
}

func writeComma(out *bytes.Buffer, index int) {
	if index > 0 {
		out.WriteString(", ")
	}
}

// writePlainString escapes only what JSON demands.
func writePlainString(out *bytes.Buffer, text string) {
	out.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\r':
			out.WriteString(`\r`)
		case r == '\t':
			out.WriteString(`\t`)
		case r == '\b':
			out.WriteString(`\b`)
		case r == '\f':
			out.WriteString(`\f`)
		case r < ' ':
			fmt.Fprintf(out, `\u%04x`, r)
		default:
			out.WriteString(string(utf8.AppendRune(nil, r)))
		}
	}
	out.WriteByte('"')
}
