// Package ai lets models call tools. A Conversation is the loop that is the same
// for all of them: tools are converted at the moment of sending, the model's calls
// run through the one Executor, and their results, errors too, go back for its
// final answer (AI-1). A Provider is one turn with one kind of server: Ollama,
// Anthropic, or whatever speaks OpenAI's chat completions.
//
// Messages are kept as the JSON that was sent and received. What a model added to
// its answer (signatures of its thinking, members that toolx has never heard of) is
// part of the next request, byte for byte; only fragments are joined.
//
// The package prints nothing: what happens is an Event. It sees the Executor and
// nothing below it, and tool formats are the business of convert.
package ai
