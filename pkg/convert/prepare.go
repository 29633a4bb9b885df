package convert

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"toolx/pkg/rawjson"
)

func looksLikeMCP(element members) bool {
	if element.has(schemaMember) {
		return !isBedrockSchema(element.get(schemaMember))
	}
	return element.has(nameMember) && !hasSchema(element) &&
		element.has("annotations", "outputSchema", "icons", "execution")
}

// readMCP leaves the definition as it is.
func readMCP(element members) (json.RawMessage, error) {
	definition := rawjson.Object(element)
	if _, err := flat(schemaMember).commonFields(definition); err != nil {
		return nil, err
	}
	return definition, nil
}

// writeMCP changes no more of the definition than the common fields require.
func writeMCP(e commonFields, definition members) json.RawMessage {
	changed := definition.with(nameMember, rawjson.Quote(e.name))
	if e.description != nil {
		changed = changed.with(descriptionMember, e.description)
	}
	return rawjson.Object(changed.with(schemaMember, e.schema))
}

// openaiMost is how many tools OpenAI takes in a request ("array too long … maximum length 128"); openaiLongest is the
// length of descriptions that its documentation once gave.
const (
	openaiMost    = 128
	openaiLongest = 1024
)

// wrapFunction takes a function without its wrapping as well, as the old "functions" of a request hold it.
func wrapFunction(element members) (members, error) {
	if element.isObject("function") || !element.has(nameMember) {
		return element, nil
	}
	return wrapped(element.without("type")), nil
}

// wrapped returns an element of a function.
func wrapped(function members) members {
	return membersOf(rawjson.Build("type", "function", "function", rawjson.Object(function)))
}

// bedrockLayout returns the layout of Bedrock's Converse API. It wants a description of one character at least, so an
// empty one is left out.
func bedrockLayout() layout {
	return layout{
		skeleton:    `{"toolSpec":{"name":null,"description":null,"inputSchema":{"json":null}}}`,
		name:        []string{"toolSpec", "name"},
		description: []string{"toolSpec", "description"},
		schema:      []string{"toolSpec", "inputSchema", "json"},
		strict:      []string{"toolSpec", "strict"},
		wordy:       true,
	}
}

func looksLikeBedrock(element members) bool {
	return element.isObject("toolSpec") || isBedrockSchema(element.get(schemaMember))
}

// isBedrockSchema recognises {"json": {…}}, the wrapping that no JSON Schema has.
func isBedrockSchema(schema json.RawMessage) bool {
	members := membersOf(schema)
	return len(members) == 1 && members.isObject("json")
}

// wrapToolSpec also takes a specification without its wrapping.
func wrapToolSpec(element members) (members, error) {
	if element.isObject("toolSpec") || !element.has(nameMember) {
		return element, nil
	}
	return members{rawjson.NewMember("toolSpec", rawjson.Object(element))}, nil
}

// looksCustom recognises a config's tool by its implementation, else by having parameters, or no schema at all, and
// nothing of another format.
func looksCustom(element members) bool {
	switch {
	case !element.has(nameMember) || element.text("type") != "" || element.has("function"):
		return false
	case element.isObject("implementation"):
		return true
	case element.get("parameters") != nil:
		return !hasGeminiTypes(element.get("parameters"))
	}
	return !hasSchema(element) && !looksLikeMCP(element) && !looksLikeLangChain(element)
}

// readCustom renames the schema and keeps members that MCP knows. It drops how the tool is run. Other members are kept
// as OpenAI's.
func readCustom(element members) (json.RawMessage, error) {
	for _, name := range []string{schemaMember, "schema"} { // a config takes these as well
		element = element.rename(name, "parameters")
	}
	found, err := flat("parameters").commonFields(rawjson.Object(element))
	if err != nil {
		return nil, err
	}
	known := []string{"title", "annotations", "icons", "outputSchema"}
	function := element.without(slices.Concat(known, []string{metaMember, "implementation", "timeout"})...)
	definition := membersOf(found.definition(OpenAI, functionForm(function)))
	for _, name := range known {
		if value := element.get(name); value != nil {
			definition = definition.with(name, value)
		}
	}
	if meta := membersOf(element.get(metaMember)); meta != nil {
		all := slices.Concat(meta, membersOf(definition.get(metaMember)))
		definition = definition.with(metaMember, rawjson.Object(all))
	}
	return rawjson.Object(definition), nil
}

// functionForm returns the form of a function without its wrapping; nil if it has the common fields alone.
func functionForm(function members) json.RawMessage {
	if len(function.without(nameMember, descriptionMember, "parameters")) == 0 {
		return nil
	}
	return functionLayout().form(rawjson.Object(wrapped(function)))
}

// pythonSchema is where LangChain's Python library keeps a tool's schema, which its JavaScript library calls schema.
const pythonSchema = "args_schema"

func looksLikeLangChain(element members) bool {
	return element.get("schema") != nil || element.isObject(pythonSchema) ||
		slices.ContainsFunc(element, func(member rawjson.Member) bool { return isLangChains(member.Name) })
}

// isLangChains recognises LangChain's internal members.
func isLangChains(name string) bool { return name == "lc" || strings.HasPrefix(name, "lc_") }

// unwrapLangChain finds the name, description and schema (CONV-1): lc_name wins over name, and missing ones come from
// lc_kwargs. Other members stay, except LangChain's internal ones.
func unwrapLangChain(element members) (members, error) {
	if element.has("lc") {
		var err error
		if element, err = constructed(element); err != nil {
			return nil, err
		}
	}
	element = inJavaScript(element)
	arguments := inJavaScript(membersOf(element.get("lc_kwargs")))
	found := members{}
	if name := cmp.Or(element.text("lc_name"), element.text(nameMember), arguments.text(nameMember)); name != "" {
		found = found.with(nameMember, rawjson.Quote(name))
	}
	for _, name := range []string{descriptionMember, "schema"} {
		if value := fallback(element.get(name), arguments.get(name)); value != nil {
			found = found.with(name, value)
		}
	}
	for _, member := range element {
		if !isLangChains(member.Name) && !found.has(member.Name) && saysMore(member) {
			found = append(found, member)
		}
	}
	return found, nil
}

// inJavaScript calls the schema of a tool that was written by Python as JavaScript does.
func inJavaScript(element members) members {
	if schema := element.get(pythonSchema); element.isObject(pythonSchema) && element.get("schema") == nil {
		return element.without("schema", pythonSchema).with("schema", schema)
	}
	return element
}

// constructed takes the arguments of a serialized LangChain object: {"lc":1,"type":"constructor","kwargs":{…}}. Most
// tools cannot be serialized, and say so in type.
func constructed(element members) (members, error) {
	if element.text("type") == "constructor" && element.isObject("kwargs") {
		return membersOf(element.get("kwargs")), nil
	}
	if element.get("schema") != nil || element.isObject(pythonSchema) || element.isObject("lc_kwargs") {
		return element.without("lc", "type", "id"), nil
	}
	return nil, errors.New("a stringified LangChain tool has lost its schema: " +
		"export name, description and schema of the tool instead, the schema with z.toJSONSchema")
}

// fallback chooses the second value where the first is missing, or is a zod schema and the second is not.
func fallback(first, second json.RawMessage) json.RawMessage {
	if first == nil || (second != nil && isZod(membersOf(first)) && !isZod(membersOf(second))) {
		return second
	}
	return first
}

// saysMore reports whether a member is worth keeping: not one of the common fields, a function or a setting that is
// off.
func saysMore(member rawjson.Member) bool {
	switch member.Name {
	case nameMember, descriptionMember, "schema", "invoke", "func":
		return false
	case "responseFormat":
		return rawjson.Unquote(member.Value) != "content"
	}
	return !isAtRest(member.Value)
}

// writeLangChain says the name as lc_name too, so that the rule that reads it gives the same tool back.
func writeLangChain(e commonFields, definition members) json.RawMessage {
	plain := flat("schema").fill(nil, e)
	whole := flat("schema").fill(formFor(LangChain, definition), e)
	return rawjson.Object(membersOf(whole).
		with("schema", e.schema).
		with("lc_name", rawjson.Quote(e.name)).
		with("lc_kwargs", plain))
}

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
// after each comma and colon, and characters as they are.
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
