// Package ai lets models call tools. A Conversation is the loop that all of them share: it converts tools when it sends
// a request, runs the model's calls through the one Executor, and returns their results, including errors, to the model
// for its final answer (AI-1). A Provider handles one turn with one kind of server: Ollama, Anthropic, or any server
// with OpenAI's chat completions.
//
// Messages are kept as the JSON that was sent and received. Everything in a model's answer (signatures of its
// thinking, unknown members) is part of the next request, byte for byte; only fragments are joined.
//
// The package prints nothing: it emits Events. It depends on the Executor and nothing below it, and leaves tool formats
// to package convert.
package ai
