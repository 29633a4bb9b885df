package convert

import (
	"encoding/json"
	"slices"

	"toolx/pkg/rawjson"
)

// mcpDialect is MCP's own tools: the canonical form. The names that MCP wants (1 to
// 128 of A-Z a-z 0-9 _ . -) are a SHOULD that servers ignore, so they stay.
func mcpDialect() dialect {
	return dialect{
		label:  "MCP",
		layout: flat(schemaMember),
		marks:  looksLikeMCP,
		read:   readMCP,
		write:  writeMCP,
	}
}

func looksLikeMCP(element members) bool {
	if element.has(schemaMember) {
		return !isBedrockSchema(element.get(schemaMember))
	}
	return element.has(nameMember) && !hasSchema(element) &&
		(element.has("annotations") || element.has("outputSchema") || element.has("icons") || element.has("execution"))
}

// readMCP leaves the definition as it is.
func readMCP(element members) (json.RawMessage, error) {
	definition := rawjson.Object(element)
	_, err := essenceOf(element)
	return definition, err
}

// writeMCP changes no more of the definition than the essence asks for.
func writeMCP(e essence, definition members) json.RawMessage {
	changed := definition.with(nameMember, rawjson.Quote(e.name))
	if e.description != nil {
		changed = changed.with(descriptionMember, e.description)
	}
	return rawjson.Object(changed.with(schemaMember, e.schema))
}

// customDialect is the tools of toolx's config.
func customDialect() dialect {
	return dialect{label: "custom", layout: flat("parameters"), marks: looksCustom, read: readCustom}
}

func looksCustom(element members) bool {
	if !element.has(nameMember) || element.text("type") != "" {
		return false
	}
	if parameters := element.get("parameters"); parameters != nil {
		return !hasGeminiTypes(parameters)
	}
	return !hasSchema(element) && !slices.ContainsFunc(element, func(member rawjson.Member) bool {
		return isLangChains(member.Name)
	})
}

// readCustom renames parameters and keeps what MCP knows as well. How the tool is
// run is left behind: a definition is what callers see.
func readCustom(element members) (json.RawMessage, error) {
	found, err := newEssence(element.get(nameMember), element.get(descriptionMember), element.get("parameters"))
	if err != nil {
		return nil, err
	}
	definition := membersOf(found.definition(Custom, nil))
	for _, name := range []string{"title", "annotations", "icons", metaMember} {
		if value := element.get(name); value != nil {
			definition = definition.with(name, value)
		}
	}
	if output := element.get("output_schema"); output != nil {
		definition = definition.with("outputSchema", output)
	}
	return rawjson.Object(definition), nil
}
