package convert

// ollamaDialect is Ollama's /api/chat, which takes what Qwen takes, any name, and
// passes less of a schema on (see fit).
func ollamaDialect() dialect {
	ollama := qwenDialect()
	ollama.label = "Ollama"
	ollama.names = nameRule{}
	return ollama
}
