package convert

func anthropicFormats() []*record {
	layout := flat("input_schema")
	layout.strict = []string{"strict"}
	schema := openProfile()
	schema.noRootUnions, schema.key = true, pattern(`^[a-zA-Z0-9_.-]{1,64}$`)
	return []*record{{
		format: Anthropic, label: "Anthropic", names: portableNames(), layout: layout,
		marks:  func(element *node) bool { return element.Has("input_schema") },
		schema: schema, closed: true,
		// Calls of tools that Anthropic runs itself (server_tool_use) are ignored.
		calls: []callShape{{ofType("tool_use"), shapedAs(Anthropic, "id", "input")}},
		ids:   idRule{takes: isPlainID, prefix: "call_"},
		result: resultForm{ // all results of a turn are in one user message, before any text
			turn:   "content",
			result: `{"type":"tool_result","tool_use_id":"$id","content":"$content","is_error":"$failed"}`,
			text:   `{"type":"text","text":"$text"}`,
			image:  `{"type":"image","source":{"type":"base64","media_type":"$media","data":"$data"}}`,
		},
	}}
}
