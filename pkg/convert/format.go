package convert

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/fault"
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

// QwenCoder is the format of Qwen3-Coder's tool calls, which are XML; its tools are those of Qwen.
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
	return &fault.UsageError{Message: fmt.Sprintf("unknown format %q: choose one of %s", text, Join(Formats()))}
}

// Join lists formats for a sentence.
func Join(formats []Format) string {
	names := make([]string, len(formats))
	for i, format := range formats {
		names[i] = string(format)
	}
	return strings.Join(names, ", ")
}

// Custom is the shape of tools in toolx's own config: name, description, parameters and how they are run, which no
// conversion carries. It is recognised and read, and nothing is written in it.
const Custom Format = "custom"

// Label returns the format's name in a sentence: "LangChain".
func (f Format) Label() string {
	if known, ok := dialectOf(f); ok {
		return known.label
	}
	return string(f)
}

// dialect is what this package knows of a format's tool definitions.
type dialect struct {
	label string
	names nameRule
	// most is how many tools a request may have; 0 if no limit is known.
	most int
	// longest is the documented limit of a description in characters; 0 if there is none.
	longest int
	layout  layout
	// exact reports that elements have the members of the layout and no others.
	exact bool
	// marks reports whether an element looks like this format's; nil for a format that is never recognised, because
	// another one reads the same.
	marks func(element members) bool
	// prepare brings an element's variants into the one form that the layout describes, or says why it cannot be read;
	// nil if there is one form only.
	prepare func(element members) (members, error)
	// read and write replace what the layout would do; nil for most.
	read  func(element members) (json.RawMessage, error)
	write func(e commonFields, definition members) json.RawMessage
	// document writes the whole list; nil if it is an array.
	document func(tools []json.RawMessage) []byte
}

// dialectOf returns what is known of a format; ok is false for one that is no format of tools.
func dialectOf(format Format) (found dialect, ok bool) {
	switch format {
	case MCP:
		// The names that MCP wants (1 to 128 of A-Z a-z 0-9 _ . -) are a SHOULD that servers ignore, so they stay.
		return dialect{
			label: "MCP", layout: flat(schemaMember), marks: looksLikeMCP, read: readMCP, write: writeMCP,
		}, true
	case LangChain:
		// The tool objects of LangChain JS, as far as JSON holds them: invoke is a function and cannot be written.
		return dialect{
			label: "LangChain", layout: flat("schema"), marks: looksLikeLangChain, prepare: unwrapLangChain,
			write: writeLangChain,
		}, true
	case Qwen:
		return qwenDialect(), true
	case Hermes: // the text with which Qwen's chat template puts tools into the system prompt
		hermes := qwenDialect()
		hermes.label, hermes.document = "Hermes", hermesPrompt
		return hermes, true
	case Ollama:
		return ollamaDialect(), true
	case OpenAI:
		return openAIDialect(), true
	case OpenAIStrict:
		// Chat completions with strict: true, where the model's arguments always fit the schema.
		strict := openAIDialect()
		strict.label, strict.marks = "OpenAI strict", nil
		return strict, true
	case Responses:
		return responsesDialect(), true
	case Anthropic:
		return anthropicDialect(), true
	case Gemini:
		return geminiDialect(), true
	case GeminiJSON:
		return dialect{
			label: "Gemini JSON", names: geminiNames(), most: geminiMost, layout: flat("parametersJsonSchema"),
			marks: looksLikeGeminiJSON, prepare: fromGeminiJSON, document: geminiDocument,
		}, true
	case Bedrock:
		return dialect{
			label: "Bedrock", names: portableNames(), layout: bedrockLayout(), marks: looksLikeBedrock,
			prepare: wrapToolSpec,
		}, true
	case Mistral:
		// OpenAI's layout. Mistral refuses members that it does not know, so no other format's are passed on.
		return dialect{label: "Mistral", names: portableNames(), layout: chatLayout(), prepare: wrapFunction}, true
	case Cohere:
		// OpenAI's layout, but strict is a setting of the whole request. The rule for names is that of version 1 of the
		// API, which says more than version 2's documentation.
		return dialect{
			label: "Cohere", layout: functionLayout(), prepare: wrapFunction,
			names: nameRule{longest: longestName, signs: "_", notFirst: "0123456789"},
		}, true
	case Custom:
		return dialect{label: "custom", layout: flat("parameters"), marks: looksCustom, read: readCustom}, true
	}
	return dialect{}, false
}

// portableNames returns the rule of OpenAI, Anthropic, Bedrock and Mistral.
func portableNames() nameRule { return nameRule{longest: longestName, signs: "_-"} }

// chatLayout returns the layout of OpenAI's chat completions.
func chatLayout() layout {
	chat := functionLayout()
	chat.strict = []string{"function", "strict"}
	return chat
}

// The function-calling format of Qwen (CONV-4) has these members, no others, and leaves none out. Qwen itself takes any
// name; the rule is that of the servers that run it.
func qwenDialect() dialect {
	qwen := dialect{
		label: "Qwen", names: portableNames(), layout: functionLayout(), exact: true, prepare: wrapFunction,
	}
	qwen.layout.described = true
	return qwen
}

// Ollama's /api/chat takes what Qwen takes, and any name, but passes on less of a schema (see fit). It drops an empty
// description, so that there is none.
func ollamaDialect() dialect {
	ollama := dialect{label: "Ollama", layout: functionLayout(), exact: true, prepare: wrapFunction}
	ollama.layout.wordy = true
	return ollama
}

// What reads the same as OpenAI's tools (Qwen, Ollama, Mistral, Cohere) is recognised as this one.
func openAIDialect() dialect {
	return dialect{
		label: "OpenAI", names: portableNames(), most: openaiMost, longest: openaiLongest, layout: chatLayout(),
		prepare: wrapFunction,
		marks:   func(element members) bool { return element.isObject("function") },
	}
}

// A tool of the responses API without "strict" is a strict one, so it always says which it is.
func responsesDialect() dialect {
	described := flat("parameters")
	described.skeleton = `{"type":"function","name":null,"description":null,"parameters":null,"strict":false}`
	described.strict = []string{"strict"}
	return dialect{
		label: "OpenAI Responses", names: portableNames(), most: openaiMost, longest: openaiLongest, layout: described,
		marks: func(element members) bool { return element.text("type") == "function" && element.has(nameMember) },
	}
}

func anthropicDialect() dialect {
	described := flat("input_schema")
	described.strict = []string{"strict"}
	return dialect{
		label: "Anthropic", names: portableNames(), layout: described,
		marks: func(element members) bool { return element.has("input_schema") },
	}
}

// Gemini's parameters are a subset of OpenAPI's schemas with types in capitals. The schema of an object without
// properties is refused, so a tool without parameters has none.
func geminiDialect() dialect {
	declaration := flat("parameters")
	declaration.bare = true
	return dialect{
		label: "Gemini", names: geminiNames(), most: geminiMost, layout: declaration, marks: looksLikeGemini,
		prepare: fromGemini, document: geminiDocument,
	}
}
