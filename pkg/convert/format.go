package convert

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Format is a provider's shape of tools and of tool calls.
type Format string

// The formats of tool definitions.
const (
	MCP          Format = "mcp"           // MCP tools/list
	LangChain    Format = "langchain"     // LangChain JS: name, description, schema
	Qwen         Format = "qwen"          // all that Qwen's chat template keeps
	Ollama       Format = "ollama"        // only what Ollama passes on to the model
	OpenAI       Format = "openai"        // chat completions
	OpenAIStrict Format = "openai-strict" // chat completions with strict: true
	Responses    Format = "responses"     // OpenAI's responses API
	Anthropic    Format = "anthropic"     // Anthropic's messages API
	Gemini       Format = "gemini"        // parameters, as old endpoints want them
	GeminiJSON   Format = "gemini-json"   // parametersJsonSchema
	Bedrock      Format = "bedrock"       // Bedrock's Converse API
	Mistral      Format = "mistral"
	Cohere       Format = "cohere"
	Hermes       Format = "hermes" // the <tools> text of a prompt; only written
)

// QwenCoder is the format of Qwen3-Coder's tool calls, which are XML; its tools
// are those of Qwen.
const QwenCoder Format = "qwen-coder"

// Formats returns the formats of tool definitions, in the order in which they are told.
func Formats() []Format {
	return []Format{
		MCP, LangChain, Qwen, Ollama, OpenAI, OpenAIStrict, Responses,
		Anthropic, Gemini, GeminiJSON, Bedrock, Mistral, Cohere, Hermes,
	}
}

// ParseFormat finds the format of a name as a user types it.
func ParseFormat(text string) (Format, error) {
	format := Format(strings.ToLower(text))
	if !slices.Contains(Formats(), format) {
		return "", errFormat(text)
	}
	return format, nil
}

func errFormat(text string) error {
	return usageError(fmt.Sprintf("unknown format %q: choose one of %s", text, Join(Formats())))
}

// Join lists formats for a sentence.
func Join(formats []Format) string {
	names := make([]string, len(formats))
	for i, format := range formats {
		names[i] = string(format)
	}
	return strings.Join(names, ", ")
}

// Custom is the shape of tools in toolx's own config: name, description, parameters
// and how they are run, which no conversion carries. It is recognised and read, and
// nothing is written in it.
const Custom Format = "custom"

// Label returns the format's name in a sentence: "LangChain".
func (f Format) Label() string {
	if known, ok := dialectOf(f); ok {
		return known.label
	}
	return string(f)
}

// dialect is what this package knows of a format.
type dialect struct {
	label string
	names nameRule
	// most is how many tools a request may have; 0 where no limit is known.
	most int
	// longest is the documented limit of a description in characters; 0 where
	// there is none.
	longest int
	layout  layout
	// exact says that elements hold what the layout has and nothing else, wherever
	// the tool came from.
	exact bool
	// marks reports whether an element looks like this format's; nil for a format that is never recognised, because
	// another one reads the same.
	marks func(element members) bool
	// prepare brings an element's variants into the one form that the layout
	// describes, or says why it cannot be read; nil where there is one form only.
	prepare func(element members) (members, error)
	// read and write stand in for what the layout would do; nil for most.
	read  func(element members) (json.RawMessage, error)
	write func(e essence, definition members) json.RawMessage
	// document writes the whole list; nil where it is an array.
	document func(tools []json.RawMessage) []byte
}

// dialectOf returns the table of formats.
func dialectOf(format Format) (found dialect, ok bool) {
	switch format {
	case MCP:
		return mcpDialect(), true
	case LangChain:
		return langchainDialect(), true
	case Qwen:
		return qwenDialect(), true
	case Ollama:
		return ollamaDialect(), true
	case OpenAI:
		return openaiDialect(), true
	case OpenAIStrict:
		return strictDialect(), true
	case Responses:
		return responsesDialect(), true
	case Anthropic:
		return anthropicDialect(), true
	case Gemini:
		return geminiDialect(), true
	case GeminiJSON:
		return geminiJSONDialect(), true
	case Bedrock:
		return bedrockDialect(), true
	case Mistral:
		return mistralDialect(), true
	case Cohere:
		return cohereDialect(), true
	case Hermes:
		return hermesDialect(), true
	case Custom:
		return customDialect(), true
	}
	return dialect{}, false
}
