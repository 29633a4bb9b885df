package convert

import (
	"encoding/json"

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
