package convert

// cohereDialect is Cohere's v2 chat: OpenAI's layout. The rule for names is that of
// v1, which says more than v2's documentation.
func cohereDialect() dialect {
	cohere := mistralDialect()
	cohere.label = "Cohere"
	cohere.layout.strict = nil // which Cohere has for a request as a whole
	cohere.names = nameRule{signs: "_", longest: longestName, notFirst: "0123456789"}
	return cohere
}
