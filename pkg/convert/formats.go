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

// The formats that no user names.
const (
	// QwenCoder is the format of Qwen3-Coder's tool calls, which are XML; its tools are those of Qwen.
	QwenCoder Format = "qwen-coder"
	// Custom is the shape of tools in toolx's own config: name, description, parameters and how they are run, which no
	// conversion carries. It is recognised and read, and nothing is written in it.
	Custom Format = "custom"
)

// record is all that this package knows of a format. What is zero does not apply.
type record struct {
	format Format
	label  string // in a sentence
	hidden bool   // no user names it

	names nameRule
	// most is how many tools a request may have; longest is the documented limit of a description in characters.
	most, longest int

	layout layout // of an element of the list of tools
	exact  bool   // elements have the members of the layout and no others
	// marks reports whether an element looks like this format's. An element of a format without marks looks like one of
	// another format, unless nobody has such elements, since they are only written.
	marks     func(element *node) bool
	looksLike Format
	writeOnly bool
	// aliases are further members that hold a schema, lists those of a document that hold elements.
	aliases, lists []string
	// variant returns the format of an element in a list of this format, where there are several.
	variant func(element *node) Format
	// prepare brings an element's variants into the one form that the layout describes, or says why it cannot be read.
	prepare func(element *node) (*node, error)
	// read and write replace what the layout would do.
	read  func(element *node) (*node, error)
	write func(e commonFields, definition *node) *node
	// document writes the whole list, where that is no array.
	document func(tools []json.RawMessage) []byte

	schema profile
	// llama reports that requests often go to llama.cpp, on one's own machine.
	llama bool
	// strict reports that every tool is strict, closed that strict tools obey Anthropic's rules and not OpenAI's.
	strict, closed bool

	calls  []callShape
	family Format // that calls look like; empty for the format itself
	inText bool   // calls may stand in the text of a message
	ids    idRule
	result resultForm
}

// records are the formats. Users are told of them in this order; an element is held against them in this order, and a
// call from the last to the first, which has the least marks of its own.
type records struct {
	once    sync.Once
	list    []*record
	schemas []string // the members in which any of them keeps a schema, or what holds one
}

// known is made when it is first asked for: what its functions read depends on all formats.
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

// schemaMembers are where formats keep schemas.
func schemaMembers() []string {
	allRecords()
	return known.schemas
}

// recordOf returns what is known of a format; an empty record if it is unknown.
func recordOf(format Format) *record {
	for _, one := range allRecords() {
		if one.format == format {
			return one
		}
	}
	return &record{}
}

// Formats returns the formats of tool definitions, in the order in which they are told.
func Formats() []Format {
	var formats []Format
	for _, one := range allRecords() {
		if !one.hidden {
			formats = append(formats, one.format)
		}
	}
	return formats
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

// Label returns the format's name in a sentence: "LangChain".
func (f Format) Label() string { return cmp.Or(recordOf(f).label, string(f)) }

// portableNames returns the rule of OpenAI, Anthropic, Bedrock and Mistral.
func portableNames() nameRule { return nameRule{longest: longestName, signs: "_-"} }
