package convert

// anthropicDialect is Anthropic's messages API.
func anthropicDialect() dialect {
	return dialect{
		label:  "Anthropic",
		names:  portableNames(),
		layout: flat("input_schema"),
		marks:  func(element members) bool { return element.has("input_schema") },
	}
}
