package convert

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"toolx/pkg/fault"
)

// Format is a provider's form of tools and of tool calls.
type Format string

// The formats of tool definitions.
const (
	MCP          Format = "mcp"           // MCP tools/list
	LangChain    Format = "langchain"     // LangChain JS: name, description, schema
	Qwen         Format = "qwen"          // what Qwen's chat template keeps
	Ollama       Format = "ollama"        // only what Ollama passes on to the model
	OpenAI       Format = "openai"        // chat completions
	OpenAIStrict Format = "openai-strict" // chat completions with strict: true
	Responses    Format = "responses"     // OpenAI's responses API
	Anthropic    Format = "anthropic"     // Anthropic's messages API
	Gemini       Format = "gemini"        // parameters, for old endpoints
	GeminiJSON   Format = "gemini-json"   // parametersJsonSchema
	Bedrock      Format = "bedrock"       // Bedrock's Converse API
	Mistral      Format = "mistral"
	Cohere       Format = "cohere"
	Hermes       Format = "hermes" // the <tools> text of a prompt; write-only
)

// The formats without a name for users.
const (
	// QwenCoder is the format of Qwen3-Coder's tool calls, which are XML; its tools are those of Qwen.
	QwenCoder Format = "qwen-coder"
	// Custom is the form of tools in toolx's own config: name, description, parameters and an implementation, which is
	// not converted. It is only read.
	Custom Format = "custom"
)

// record is everything about a format. Zero fields do not apply.
type record struct {
	format Format
	label  string // in a sentence
	hidden bool   // users cannot name it

	names nameRule
	// most bounds the tools in a request; longest is the documented limit of a description in characters.
	most, longest int

	layout layout // of an element of the list of tools
	exact  bool   // elements have the members of the layout and no others
	// marks reports whether an element looks like this format's. An element of a format without marks looks like one of
	// another format, unless the format is write-only.
	marks     func(element *node) bool
	looksLike Format
	writeOnly bool
	// aliases are further members for a schema, lists those of a document for elements.
	aliases, lists []string
	// variant returns the format of an element in a list of this format, where there are several.
	variant func(element *node) Format
	// prepare converts an element's variants to the form of the layout, or returns why it cannot be read.
	prepare func(element *node) (*node, error)
	// read and write replace the layout.
	read  func(element *node) (*node, error)
	write func(e commonFields, definition *node) *node
	// document writes the whole list, if it is not an array.
	document func(tools []json.RawMessage) []byte

	schema profile
	// llama reports that requests often go to a local llama.cpp.
	llama bool
	// strict reports that every tool is strict, closed that strict tools follow Anthropic's rules, not OpenAI's.
	strict, closed bool

	calls  []callShape
	family Format // whose calls look the same; empty for the format itself
	inText bool   // calls may be in the text of a message
	ids    idRule
	result resultForm
}

// records are the formats, in the order for users. An element is compared with them in this order, and a call from the
// last to the first, which has the fewest marks of its own.
type records struct {
	once    sync.Once
	list    []*record
	schemas []string // the members for a schema, or for its container, in any format
}

// known is made when first needed: its functions depend on all formats.
var known records

func allRecords() []*record {
	known.once.Do(func() {
		known.set(slices.Concat(
			mcpFormats(), langChainFormats(), qwenFormats(), openAIFormats(), anthropicFormats(), geminiFormats(),
			bedrockFormats(), otherChatFormats(), hermesFormats(),
		))
	})
	return known.list
}

func (k *records) set(list []*record) {
	k.list, k.schemas = list, nil
	for _, one := range list {
		inside := min(len(one.layout.schema), len(one.layout.name)+1)
		k.schemas = union(k.schemas, slices.Concat(one.layout.schema[:inside], one.aliases))
	}
}

// schemaMembers are the members for schemas in all formats.
func schemaMembers() []string {
	allRecords()
	return known.schemas
}

// recordOf returns the record of a format; an empty one if it is unknown.
func recordOf(format Format) *record {
	for _, one := range allRecords() {
		if one.format == format {
			return one
		}
	}
	return &record{}
}

// Formats returns the formats of tool definitions, in the order for users.
func Formats() []Format {
	var formats []Format
	for _, one := range allRecords() {
		if !one.hidden {
			formats = append(formats, one.format)
		}
	}
	return formats
}

// ParseFormat returns the format of a name.
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

// Join lists formats in a sentence.
func Join(formats []Format) string {
	names := make([]string, len(formats))
	for i, format := range formats {
		names[i] = string(format)
	}
	return strings.Join(names, ", ")
}

// Label returns the format's name in a sentence: "LangChain".
func (f Format) Label() string { return cmp.Or(recordOf(f).label, string(f)) }

// portableNames returns the rule of OpenAI, Anthropic, Bedrock and Mistral.
func portableNames() nameRule { return nameRule{longest: longestName, signs: "_-"} }
