package convert

import (
	"bytes"
	"encoding/json"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

func qwenFormats() []*record {
	qwen, coder := qwenRecord(Qwen, "Qwen"), qwenRecord(QwenCoder, "Qwen Coder")
	coder.hidden = true
	// Ollama's /api/chat accepts Qwen's format with any name, but passes on less of the schema. It drops empty
	// descriptions, so they are omitted.
	layout := functionLayout()
	layout.wordy = true
	return []*record{qwen, coder, {
		format: Ollama, label: "Ollama", layout: layout, exact: true, looksLike: OpenAI, prepare: wrapFunction,
		schema: ollamaProfile, llama: true,
		family: OpenAI, inText: true, ids: idRule{optional: true},
		result: resultForm{ // without ids, models identify the tool by name
			result: `{"role":"tool","content":"$text","tool_name":"$name","tool_call_id":"$id"}`,
		},
	}}
}

// qwenRecord returns a format of Qwen, whose function-calling format (CONV-4) has exactly these members. Qwen accepts
// any name; the rule is for the servers that run it.
func qwenRecord(format Format, label string) *record {
	layout := functionLayout()
	layout.described = true
	return &record{
		format: format, label: label, names: portableNames(), layout: layout, exact: true, looksLike: OpenAI,
		prepare: wrapFunction, schema: qwenProfile, llama: format == Qwen,
		family: OpenAI, inText: true, ids: idRule{optional: true}, result: resultForm{asText: true},
	}
}

// hermesFormats returns the text that Qwen's chat template adds to the system prompt for tools.
func hermesFormats() []*record {
	hermes := qwenRecord(Hermes, "Hermes")
	hermes.writeOnly, hermes.document = true, hermesPrompt
	return []*record{hermes}
}

// qwenProfile is for Qwen's chat template, which prints the schema unchanged. Keywords that confuse small models are
// expanded: refs, const, oneOf and allOf.
var qwenProfile = profile{
	looseTypes:       true,
	propertiesNeeded: true,
}

// ollamaProfile is for Ollama's api.Tool (v0.17.4, api/types.go), which keeps everything below items, and elsewhere six
// keywords in this order.
var ollamaProfile = profile{
	keywords:         []string{"anyOf", "type", "items", "description", "enum", "properties"},
	rootKeywords:     []string{"type", "required", "properties"},
	order:            []string{"anyOf", "type", "required", "items", "description", "enum", "properties"},
	prompt:           true,
	looseTypes:       true,
	propertiesNeeded: true,
	noRootUnions:     true,
	elements:         &qwenProfile,
}

// hermesPrompt returns the exact prompt text with tools for Qwen 2.5 and 3; empty without tools.
func hermesPrompt(tools []json.RawMessage) []byte {
	if len(tools) == 0 {
		return nil
	}
	var out bytes.Buffer
	out.WriteString("# Tools\n\nYou may call one or more functions to assist with the user query.\n\n" +
		"You are provided with function signatures within <tools></tools> XML tags:\n<tools>")
	for _, tool := range tools {
		out.WriteByte('\n')
		writeSpaced(&out, jsonschema.NewNode(tool))
	}
	out.WriteString("\n</tools>\n\n" +
		"For each function call, return a json object with function name and arguments " +
		"within <tool_call></tool_call> XML tags:\n<tool_call>\n" +
		`{"name": <function-name>, "arguments": <args-json-object>}` + "\n</tool_call>")
	return out.Bytes()
}

// writeSpaced writes JSON like the template's tojson, which is Python's json.dumps with ensure_ascii=False: a space
// after each comma and colon, and unescaped characters.
func writeSpaced(out *bytes.Buffer, value *node) {
	switch {
	case value.IsObject():
		out.WriteByte('{')
		for i, m := range value.Members() {
			writeComma(out, i)
			writePlainString(out, m.Name)
			out.WriteString(": ")
			writeSpaced(out, m.Node)
		}
		out.WriteByte('}')
	case value.IsArray():
		out.WriteByte('[')
		for i, element := range value.Elements() {
			writeComma(out, i)
			writeSpaced(out, element)
		}
		out.WriteByte(']')
	case value.IsString():
		writePlainString(out, value.Text())
	default:
		out.Write(value.Bytes())
	}
}

func writeComma(out *bytes.Buffer, index int) {
	if index > 0 {
		out.WriteString(", ")
	}
}

// writePlainString escapes only what JSON requires: json.Marshal also escapes two line separators.
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
