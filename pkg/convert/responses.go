package convert

// responsesDialect is OpenAI's responses API. There a tool without "strict" is a
// strict one, so it always says which it is.
func responsesDialect() dialect {
	described := flat("parameters")
	described.skeleton = `{"type":"function","name":null,"description":null,"parameters":null,"strict":false}`
	described.strict = []string{"strict"}
	return dialect{
		label:   "OpenAI Responses",
		names:   portableNames(),
		most:    openaiMost,
		longest: openaiLongest,
		layout:  described,
		marks: func(element members) bool {
			return element.text("type") == "function" && element.has(nameMember)
		},
	}
}
