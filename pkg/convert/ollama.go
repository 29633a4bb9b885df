package convert

// ollamaDialect is Ollama's /api/chat, which takes what Qwen takes, any name, and
// passes less of a schema on (see fit). An empty description it drops, so that there
// is none.
func ollamaDialect() dialect {
	ollama := qwenDialect()
	ollama.label = "Ollama"
	ollama.names = nameRule{}
	ollama.layout.described, ollama.layout.wordy = false, true
	return ollama
}
