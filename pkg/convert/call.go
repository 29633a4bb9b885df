package convert

import "encoding/json"

// ToolCall is a model's request to call a tool.
type ToolCall struct {
	ID        string          // the provider's; empty where the message had none
	Name      string          // as the model wrote it
	Arguments json.RawMessage // a JSON object
	// Untyped says that the arguments came as text (Qwen3-Coder): every value is a
	// JSON string, which the tool's schema has to type.
	Untyped bool
	// Err is why the arguments could not be read, or nil; it goes to the model as the call's result.
	Err error
	// custom says that the call is one of OpenAI's custom tools, whose results are
	// of a type of their own.
	custom bool
}

// Message holds the tool calls of a model's answer.
type Message struct {
	// Format is the one that results are to be written in; empty where there are no
	// calls and no format was named.
	Format Format
	Calls  []ToolCall
	// Seen says in a few words what was read, for whoever misses the calls in it:
	// "an object with role, content".
	Seen string
}

// ReadCalls takes the tool calls from a provider's tool call, an array of them, or
// a whole assistant message or response; of a conversation from its last assistant
// message, but for those that have their results behind them. An empty from means that
// the format is recognised. A message without calls is no error; text that is no message
// of any kind, or of another format than from, is one. A call that cannot be read, or
// that is none of a function (OpenAI's custom tools), has an error of its own.
//
// Calls of OpenAI, Mistral and Cohere look alike, and only their results differ.
// They count as OpenAI's, unless every id has the 9 letters and digits of Mistral's,
// or the message has Cohere's tool_plan.
//
// Calls in text (Hermes, Qwen3-Coder) are looked for where the whole input is text,
// and in the content of a chat message that has no tool_calls, which is where a
// server that cannot read them leaves them; there not where from is a provider
// whose own calls are never text. What stands in <think> is no call, nor what text
// quotes as code, in backticks or a fence.
func ReadCalls(data []byte, from Format) (*Message, error) {
	reader := callReader{from: from}
	if err := reader.document(data); err != nil {
		return nil, err
	}
	return reader.message()
}
