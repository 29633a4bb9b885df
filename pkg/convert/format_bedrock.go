package convert

import "toolx/pkg/rawjson"

// bedrockFormats returns the format of Bedrock's Converse API. It wants a description of one character at least, so an
// empty one is left out. It has models of several makers, so that schemas keep to what all of them take.
func bedrockFormats() []*record {
	schema := openProfile()
	schema.noRootUnions = true
	return []*record{{
		format: Bedrock, label: "Bedrock", names: portableNames(),
		layout: layout{
			skeleton:    `{"toolSpec":{"name":null,"description":null,"inputSchema":{"json":null}}}`,
			name:        []string{"toolSpec", "name"},
			description: []string{"toolSpec", "description"},
			schema:      []string{"toolSpec", "inputSchema", "json"},
			strict:      []string{"toolSpec", "strict"},
			wordy:       true,
		},
		marks: looksLikeBedrock, prepare: wrapToolSpec,
		schema: schema, closed: true,
		calls: []callShape{{holds("toolUse"), within("toolUse", shapedAs(Bedrock, "toolUseId", "input"))}},
		ids:   idRule{takes: isPlainID, prefix: "call_"},
		result: resultForm{
			turn:       "content",
			result:     `{"toolResult":{"toolUseId":"$id","content":"$content","status":"$status"}}`,
			text:       `{"text":"$text"}`,
			image:      `{"image":{"format":"$format","source":{"bytes":"$data"}}}`,
			structured: `{"json":"$json"}`,
			empty:      "(no output)",
		},
	}}
}

func looksLikeBedrock(element members) bool {
	return element.isObject("toolSpec") || isBedrockSchema(element.get(schemaMember))
}

// isBedrockSchema recognises {"json": {…}}, the wrapping that no JSON Schema has.
func isBedrockSchema(schema []byte) bool {
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
