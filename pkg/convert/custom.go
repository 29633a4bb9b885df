package convert

import (
	"encoding/json"
	"slices"

	"toolx/pkg/rawjson"
)

// looksCustom recognises a config's tool by its implementation, else by having
// parameters, or no schema at all, and nothing of another format.
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

// readCustom renames the schema and keeps what MCP knows as well. How the tool is
// run is left behind: a definition is what callers see. What is none of these is
// what OpenAI has beside a function's parameters.
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

// functionForm returns the form of a function without its wrapping; nil where it is its essence alone.
func functionForm(function members) json.RawMessage {
	if len(function.without(nameMember, descriptionMember, "parameters")) == 0 {
		return nil
	}
	return functionLayout().form(rawjson.Object(wrapped(function)))
}
