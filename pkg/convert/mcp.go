package convert

import (
	"encoding/json"

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
