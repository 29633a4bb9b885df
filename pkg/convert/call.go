package convert

import (
	"encoding/json"
	"fmt"
	"slices"

	"toolx/pkg/rawjson"
)

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

// ToolResult is the outcome of a call.
type ToolResult struct {
	Call ToolCall
	// Text is the string form of the result (EXEC-16), or the error's text.
	Text string
	// Content are the MCP content blocks, Structured the structuredContent; nil
	// where there are none.
	Content    []json.RawMessage
	Structured json.RawMessage
	IsError    bool
}

// WriteResults writes results as the messages (or parts) that a provider takes
// after the calls, all of one turn together: a JSON array of messages for most, one
// user message for Anthropic, Gemini and Bedrock, text for Hermes.
//
// Text is what models see of a result: it may have been cut, which Content was not.
// Images of Content are handed over where the provider can hold them. Ids are those
// of the calls, unless the provider would refuse them: then one is made of the call's
// id, or of its place.
func WriteResults(to Format, results []ToolResult) ([]byte, error) {
	write, ok := resultWriter(to)
	if !ok {
		return nil, fmt.Errorf("no results are written for the format %q", to)
	}
	fitted := slices.Clone(results)
	for i := range fitted {
		fitted[i].Call.ID = fitID(to, fitted[i].Call.ID, i)
	}
	return write(fitted)
}

// resultWriter finds what writes the results of a turn.
func resultWriter(to Format) (write func([]ToolResult) ([]byte, error), ok bool) {
	switch to {
	case OpenAI, OpenAIStrict:
		return writeEach(openAIResult), true
	case Mistral:
		return writeEach(mistralResult), true
	case Cohere:
		return writeEach(cohereResult), true
	case Ollama:
		return writeEach(ollamaResult), true
	case Responses:
		return writeEach(responsesResult), true
	case LangChain:
		return writeEach(langChainResult), true
	case MCP:
		return writeEach(mcpResult), true
	case Anthropic:
		return writeTurn("content", anthropicResult), true
	case Bedrock:
		return writeTurn("content", bedrockResult), true
	case Gemini, GeminiJSON:
		return writeTurn("parts", geminiResult), true
	case Hermes, Qwen, QwenCoder:
		return writeHermesResults, true
	}
	return nil, false
}

// writeEach writes a message for each result.
func writeEach(message func(ToolResult) any) func([]ToolResult) ([]byte, error) {
	return func(results []ToolResult) ([]byte, error) {
		return rawjson.Marshal(eachResult(results, message))
	}
}

// writeTurn writes one user message, with a part for each result.
func writeTurn(member string, part func(ToolResult) any) func([]ToolResult) ([]byte, error) {
	return func(results []ToolResult) ([]byte, error) {
		parts, err := rawjson.Marshal(eachResult(results, part))
		if err != nil {
			return nil, err
		}
		return rawjson.Object([]rawjson.Member{
			rawjson.NewMember("role", json.RawMessage(`"user"`)),
			rawjson.NewMember(member, parts),
		}), nil
	}
}

func eachResult(results []ToolResult, write func(ToolResult) any) []any {
	written := make([]any, len(results))
	for i, result := range results {
		written[i] = write(result)
	}
	return written
}
