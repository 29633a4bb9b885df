package convert

import (
	"encoding/json"
	"slices"

	"toolx/pkg/rawjson"
)

func mcpFormats() []*record {
	return []*record{
		{
			format: Custom, label: "custom", hidden: true, layout: flat("parameters"), marks: looksCustom,
			looksLike: OpenAI, // whose function it is, without its wrapping
			read:      readCustom,
		},
		{
			// The names that MCP wants (1 to 128 of A-Z a-z 0-9 _ . -) are a SHOULD that servers ignore, so they stay.
			format: MCP, label: "MCP", layout: flat(schemaMember), marks: looksLikeMCP, read: readMCP, write: writeMCP,
			schema: profile{untouched: true},
			calls:  []callShape{{isMCPCall, readMCPCall}},
			ids:    idRule{optional: true},
			result: resultForm{
				result: `{"content":"$blocks","structuredContent":"$structured","isError":"$failed"}`,
			},
		},
	}
}

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

// isMCPCall recognises the parameters of tools/call, {"name", "arguments"}, and the whole request. A tool's definition
// has other members beside its name.
func isMCPCall(fields members) bool {
	if fields.text("method") == "tools/call" {
		return true
	}
	return fields.text("name") != "" && len(fields.without("name", "arguments", "_meta", "id")) == 0
}

// readMCPCall reads either form. The id is the request's, as it is written there. A name alone does not mark MCP's
// format: LangChain and Gemini's libraries may leave empty arguments out.
func readMCPCall(fields members) (ToolCall, Format) {
	id := rawjson.Unquote(fields.get("id"))
	format := MCP
	if params, ok := fields.object("params"); ok {
		fields = params
	} else if !fields.has("arguments") {
		format = ""
	}
	return newCall(id, fields.text("name"), fields.get("arguments")), format
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
