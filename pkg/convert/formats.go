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
	Qwen         Format = "qwen"          // Qwen's chat template
	Ollama       Format = "ollama"        // what Ollama passes on to the model
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

// Formats that users cannot select.
const (
	// QwenCoder is the format of Qwen3-Coder's tool calls, which are XML; its tools are those of Qwen.
	QwenCoder Format = "qwen-coder"
	// Custom is the read-only format of tools in toolx's config: name, description, parameters and an implementation,
	// which is not converted.
	Custom Format = "custom"
)

// record describes a format. Zero fields do not apply.
type record struct {
	format Format
	label  string // for messages
	hidden bool   // users cannot select it

	names nameRule
	// most is the limit of tools in a request, longest the documented limit of a description in characters.
	most, longest int

	layout layout // of an element of the list of tools
	exact  bool   // elements have only the members of the layout
	// marks reports whether an element looks like this format. Formats without marks look like looksLike or are
	// write-only.
	marks     func(element *node) bool
	looksLike Format
	writeOnly bool
	// aliases are alternative members for a schema, lists the members of a document that contain elements.
	aliases, lists []string
	// variant, if not nil, returns the format of an element in a list of this format.
	variant func(element *node) Format
	// prepare converts variants of an element to the layout, or returns why it cannot be read.
	prepare func(element *node) (*node, error)
	// read and write replace the layout.
	read  func(element *node) (*node, error)
	write func(e commonFields, definition *node) *node
	// document writes the whole list if it is not an array.
	document func(tools []json.RawMessage) []byte

	schema profile
	// llama is set if requests often go to a local llama.cpp.
	llama bool
	// strict is set if every tool is strict, closed if strict tools follow Anthropic's rules instead of OpenAI's.
	strict, closed bool

	calls  []callShape
	family Format // the format whose calls look the same; empty for the format itself
	inText bool   // calls may be in the text of a message
	ids    idRule
	result resultForm
}

// records are the formats in the order for users. Elements are matched in this order, and calls in reverse order,
// because the first formats have the fewest distinctive members.
type records struct {
	once    sync.Once
	list    []*record
	schemas []string // the members for a schema or its container in all formats
}

// known is initialized on first use, because its functions depend on all formats.
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

// schemaMembers returns the members for schemas in all formats.
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

// Formats returns the public formats of tool definitions in order.
func Formats() []Format {
	var formats []Format
	for _, one := range allRecords() {
		if !one.hidden {
			formats = append(formats, one.format)
		}
	}
	return formats
}

// ParseFormat returns the format with a name.
func ParseFormat(text string) (Format, error) {
	format := Format(strings.ToLower(text))
	if !slices.Contains(Formats(), format) {
		return "", errFormat(text)
	}
	return format, nil
}

func errFormat(text string) error {
	return fault.Usage(fmt.Sprintf("unknown format %q", text), "choose one of "+Join(Formats()))
}

// Join joins formats with commas.
func Join(formats []Format) string {
	names := make([]string, len(formats))
	for i, format := range formats {
		names[i] = string(format)
	}
	return strings.Join(names, ", ")
}

// Label returns the format's name for messages: "LangChain".
func (f Format) Label() string { return cmp.Or(recordOf(f).label, string(f)) }

// portableNames returns the rule of OpenAI, Anthropic, Bedrock and Mistral.
func portableNames() nameRule { return nameRule{longest: longestName, signs: "_-"} }
