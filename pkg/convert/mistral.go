package convert

// mistralDialect is Mistral's chat completions: OpenAI's layout. Members that
// Mistral does not know are refused by it, so no one else's are passed on.
func mistralDialect() dialect {
	mistral := openaiDialect()
	mistral.label = "Mistral"
	mistral.most, mistral.longest = 0, 0
	mistral.marks = nil
	return mistral
}
