package convert

import (
	"encoding/json"

	"toolx/pkg/rawjson"
)

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
