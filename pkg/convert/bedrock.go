package convert

import (
	"encoding/json"

	"toolx/pkg/rawjson"
)

// bedrockDialect is Bedrock's Converse API. A description there has one character
// at least, so an empty one is left out.
func bedrockDialect() dialect {
	return dialect{
		label: "Bedrock",
		names: portableNames(),
		layout: layout{
			skeleton:    `{"toolSpec":{"name":null,"description":null,"inputSchema":{"json":null}}}`,
			name:        []string{"toolSpec", "name"},
			description: []string{"toolSpec", "description"},
			schema:      []string{"toolSpec", "inputSchema", "json"},
			strict:      []string{"toolSpec", "strict"},
			wordy:       true,
		},
		marks: func(element members) bool {
			return element.isObject("toolSpec") || isBedrockSchema(element.get(schemaMember))
		},
		prepare: wrapToolSpec,
	}
}

// isBedrockSchema recognises {"json": {…}}, the wrapping that no JSON Schema has.
func isBedrockSchema(schema json.RawMessage) bool {
	members := membersOf(schema)
	return len(members) == 1 && members.isObject("json")
}

// wrapToolSpec takes the specification without its wrapping as well.
func wrapToolSpec(element members) (members, error) {
	if element.isObject("toolSpec") || !element.has(nameMember) {
		return element, nil
	}
	return members{rawjson.NewMember("toolSpec", rawjson.Object(element))}, nil
}
