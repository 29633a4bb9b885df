package convert

import (
	"slices"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

func mcpFormats() []*record {
	return []*record{
		{
			format: Custom, label: "custom", hidden: true, layout: flat("parameters"), marks: looksCustom,
			looksLike: OpenAI, // an OpenAI function without its wrapper
			read:      readCustom,
		},
		{
			// MCP's rule for names (1 to 128 of A-Z a-z 0-9 _ . -) is a SHOULD that servers ignore, so names do not
			// change.
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

func looksLikeMCP(element *node) bool {
	if element.Has(schemaMember) {
		return !isBedrockSchema(element.Value(schemaMember))
	}
	return element.Has(nameMember) && !hasSchema(element) &&
		element.Has("annotations", "outputSchema", "icons", "execution")
}

// readMCP returns the definition unchanged.
func readMCP(element *node) (*node, error) {
	_, err := flat(schemaMember).commonFields(element)
	return element, err
}

// writeMCP changes only the common fields of the definition.
func writeMCP(e commonFields, definition *node) *node {
	changed := definition.Clone()
	changed.Set(nameMember, jsonschema.Quoted(e.name))
	changed.Set(descriptionMember, e.description)
	changed.Set(schemaMember, e.schema)
	return changed
}

// isMCPCall reports whether an object is a tools/call request or its params, {"name", "arguments"}. A tool's definition
// has other members.
func isMCPCall(fields *node) bool {
	if fields.Get("method").Text() == "tools/call" {
		return true
	}
	return fields.Get("name").Text() != "" && !hasBeyond(fields, "name", "arguments", "_meta", "id")
}

// readMCPCall reads either form. The id is that of the request. A name alone does not identify MCP, because LangChain
// and Gemini's libraries may omit empty arguments.
func readMCPCall(fields *node) (ToolCall, Format) {
	id := rawjson.Unquote(fields.Value("id").Bytes())
	format := MCP
	if params := fields.Get("params"); params.IsObject() {
		fields = params
	} else if !fields.Has("arguments") {
		format = ""
	}
	return newCall(id, fields.Get("name").Text(), fields.Value("arguments")), format
}

// looksCustom reports whether an object is a tool from a config: with an implementation, or with parameters or no
// schema and no members of other formats.
func looksCustom(element *node) bool {
	switch {
	case !element.Has(nameMember) || element.Get("type").Text() != "" || element.Has("function"):
		return false
	case element.Get("implementation").IsObject():
		return true
	case element.Value("parameters") != nil:
		return !hasGeminiTypes(element.Value("parameters"))
	}
	return !hasSchema(element) && !looksLikeMCP(element) && !looksLikeLangChain(element)
}

// readCustom renames the schema, keeps members of MCP, and drops the implementation. Other members are kept as
// OpenAI's.
func readCustom(element *node) (*node, error) {
	for _, name := range []string{schemaMember, "schema"} { // a config may use these as well
		element = withName(element, name, "parameters")
	}
	found, err := flat("parameters").commonFields(element)
	if err != nil {
		return nil, err
	}
	known := []string{"title", "annotations", "icons", "outputSchema"}
	function := without(element, slices.Concat(known, []string{metaMember, "implementation", "timeout"})...)
	definition := found.definition(OpenAI, functionForm(function))
	for _, name := range known {
		definition.Set(name, element.Value(name))
	}
	if meta := element.Get(metaMember); meta.IsObject() {
		all := meta.Clone()
		for _, m := range definition.Get(metaMember).Members() {
			all.Set(m.Name, m.Node)
		}
		definition.Set(metaMember, all)
	}
	return definition, nil
}

// functionForm returns the form of a function without its wrapper; nil if it has only common fields.
func functionForm(function *node) *node {
	if !hasBeyond(function, nameMember, descriptionMember, "parameters") {
		return nil
	}
	return functionLayout().form(wrapped(function))
}
