package convert

import "toolx/pkg/jsonschema"

// bedrockFormats returns the format of Bedrock's Converse API. It rejects empty descriptions, so they are omitted.
// Bedrock has models of several vendors, so schemas use only what all of them support.
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

func looksLikeBedrock(element *node) bool {
	return element.Get("toolSpec").IsObject() || isBedrockSchema(element.Value(schemaMember))
}

// isBedrockSchema reports whether a schema is wrapped as {"json": {…}}, which is not JSON Schema.
func isBedrockSchema(schema *node) bool {
	return len(schema.Members()) == 1 && schema.Get("json").IsObject()
}

// wrapToolSpec adds toolSpec to an element without it.
func wrapToolSpec(element *node) (*node, error) {
	if element.Get("toolSpec").IsObject() || !element.Has(nameMember) {
		return element, nil
	}
	return jsonschema.Build("toolSpec", element), nil
}
