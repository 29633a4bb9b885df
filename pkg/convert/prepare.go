package convert

import (
	"encoding/json"
	"slices"

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
	if _, err := flat(schemaMember).essence(definition); err != nil {
		return nil, err
	}
	return definition, nil
}

// writeMCP changes no more of the definition than the essence asks for.
func writeMCP(e essence, definition members) json.RawMessage {
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
	found, err := flat("parameters").essence(rawjson.Object(element))
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

// functionForm returns the form of a function without its wrapping; nil if it is its essence alone.
func functionForm(function members) json.RawMessage {
	if len(function.without(nameMember, descriptionMember, "parameters")) == 0 {
		return nil
	}
	return functionLayout().form(rawjson.Object(wrapped(function)))
}
