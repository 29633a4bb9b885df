package convert

// anthropicDialect is Anthropic's messages API.
func anthropicDialect() dialect {
	described := flat("input_schema")
	described.strict = []string{"strict"}
	return dialect{
		label:  "Anthropic",
		names:  portableNames(),
		layout: described,
		marks:  func(element members) bool { return element.has("input_schema") },
	}
}
