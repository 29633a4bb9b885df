package convert

// ollamaDialect is Ollama's /api/chat, which takes what Qwen takes, any name, and
// passes less of a schema on (see fit). An empty description it drops, so that none
// is made up.
func ollamaDialect() dialect {
	ollama := qwenDialect()
	ollama.label = "Ollama"
	ollama.names = nameRule{}
	ollama.layout.described = false
	return ollama
}
