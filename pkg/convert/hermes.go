package convert

import (
	"bytes"
	"encoding/json"

	"toolx/pkg/rawjson"
)

// hermesPrompt returns what Qwen 2.5 and 3 see of tools, byte for byte; nothing if there is no tool.
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

// writeSpaced writes JSON as the template's tojson does, which is Python's json.dumps with ensure_ascii off: a space
// behind each comma and colon, and characters as they are.
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

// writePlainString escapes only what JSON demands: json.Marshal escapes two separators of lines as well.
func writePlainString(out *bytes.Buffer, text string) {
	out.WriteByte('"')
	for _, r := range text {
		if r >= ' ' && r != '"' && r != '\\' {
			out.WriteRune(r)
			continue
		}
		quoted := rawjson.Quote(string(r))
		out.Write(quoted[1 : len(quoted)-1])
	}
	out.WriteByte('"')
}
