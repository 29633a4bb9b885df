package ai

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"toolx/pkg/convert"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// Provider is where a model runs. It sends the request for a turn and reads the stream of the answer; it has nothing to
// do with tools, loops and retries.
type Provider interface {
	// Name is the provider's name as users type it.
	Name() string
	// Model is the name of the model.
	Model() string
	// Format is the form of its tools, calls and results.
	Format() convert.Format
	// Check returns what prevents sending requests: no key, no model. It sends nothing. The error is a *Failure or an
	// *fault.UsageError.
	Check() error
	// Body is the request as Turn sends it, without the key.
	Body(request Request) json.RawMessage
	// Turn sends one request and reads the answer to its end. emit receives each TextDelta and ThinkingDelta as it
	// arrives, on the caller's goroutine. The error is a *Failure; when ctx ends it wraps the context's.
	Turn(ctx context.Context, request Request, emit func(Event)) (*Turn, error)
}

// Request is the input of a turn.
type Request struct {
	System string // instructions; may be empty
	// Messages are the conversation, in the provider's form.
	Messages []json.RawMessage
	// Tools is the provider's list of tools; nil if there is none.
	Tools json.RawMessage
	// MaxTokens bounds the answer, including the model's thoughts; zero leaves it to the provider.
	MaxTokens int64
}

// Turn is one answer of a model.
type Turn struct {
	// Message is the assistant's message as the next request has to repeat it; nil if there is nothing to repeat.
	Message json.RawMessage
	// Calls is the message to read the calls from, if not Message: one with calls that the model wrote as text, or with
	// arguments that cannot be repeated.
	Calls json.RawMessage
	Text  string
	Stop  Stop
	// Reason is the provider's own word for Stop.
	Reason string
	Usage  Usage

	// written reports that calls are run that are neither in Message nor in Calls, but in Text (see WroteCalls).
	written bool
}

// Stop is why a model stopped.
type Stop string

// The reasons to stop.
const (
	StopEnd     Stop = "end"     // it has finished, or wants to call tools
	StopLength  Stop = "length"  // the limit of the answer, or of the context, was reached
	StopRefused Stop = "refused" // the model, or a filter, refused
	StopPause   Stop = "pause"   // the provider wants the same request again, with this message added
)

// Usage counts tokens as the provider does; zero if it reports none.
type Usage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
}

func (u Usage) add(more Usage) Usage {
	return Usage{Input: u.Input + more.Input, Output: u.Output + more.Output}
}

// The names of the providers.
const (
	Ollama    = "ollama"
	Anthropic = "anthropic"
	OpenAI    = "openai"
)

// record describes a provider.
type record struct {
	name string
	keys []string // the variables that may hold its key
	help string   // for toolx ask --help
	docs string   // the other cells of its row in docs/ask.md
	open func(Options) (Provider, error)

	// The rest is for messages.
	server      string // that should have responded
	address     string // an example for --base-url
	addressHint string
	reachHint   string
	models      string // the path of the list of models
}

// checkNetwork is the hint for a provider on the internet.
const checkNetwork = "check --base-url, the network and HTTPS_PROXY"

// records returns all providers, the default first.
func records() []record { return []record{ollamaRecord(), anthropicRecord(), openAIRecord()} }

// recordOf returns the record of a provider, OpenAI's for an unknown one.
func recordOf(name string) record {
	for _, r := range records() {
		if r.name == name {
			return r
		}
	}
	return openAIRecord()
}

// Providers returns the names that New knows, the default first.
func Providers() []string { return words.Texts(records(), func(r record) string { return r.name }) }

// Help returns a list of the providers and their variables.
func Help() string {
	var lines strings.Builder
	for _, r := range records() {
		fmt.Fprintf(&lines, "  %-10s %s\n", r.name, r.help)
	}
	return lines.String()
}

// Options select the model and its server.
type Options struct {
	Provider string // one of Providers; empty means Ollama
	Model    string // empty means the provider's default, where it has one
	// BaseURL overrides the environment; empty means the environment's, or the provider's own address.
	BaseURL string
	// Getenv returns an environment variable, empty if it is not set.
	Getenv func(string) string
	// Idle is how long a stream may be silent; zero means ten minutes, because a model may have to be loaded first.
	Idle time.Duration
	// UserAgent names the client to the server; may be empty.
	UserAgent string
}

// New makes a provider. It sends nothing: Check reports a missing key. The error is an *fault.UsageError.
func New(options Options) (Provider, error) {
	for _, r := range records() {
		if r.name == cmp.Or(options.Provider, Ollama) {
			return r.open(options)
		}
	}
	return nil, &fault.UsageError{
		Message: fmt.Sprintf("unknown value %q for --provider", options.Provider),
		Fix:     "--provider takes one of: " + strings.Join(Providers(), ", "),
	}
}

// Secrets returns the keys in the environment of all providers, to be masked in logs.
func Secrets(getenv func(string) string) []string {
	var secrets []string
	for _, r := range records() {
		for _, name := range r.keys {
			if value := strings.TrimSpace(getenv(name)); value != "" {
				secrets = append(secrets, value)
			}
		}
	}
	return secrets
}

// argumentsOf returns the arguments of one call as they can be repeated: those for the Executor, repaired if possible,
// or none. Most servers refuse a conversation with arguments that are not JSON.
func argumentsOf(call json.RawMessage, format convert.Format) json.RawMessage {
	message, err := convert.ReadCalls(call, format)
	if err != nil || len(message.Calls) != 1 {
		return json.RawMessage("{}")
	}
	return message.Calls[0].Arguments
}

// textMessage returns a message of a role in the form that all providers accept.
func textMessage(role, text string) json.RawMessage {
	return rawjson.Build("role", role, "content", text)
}

// withSystem puts the instructions before the messages, for providers that have no other place for them.
func withSystem(request Request) json.RawMessage {
	messages := request.Messages
	if request.System != "" {
		messages = append([]json.RawMessage{textMessage("system", request.System)}, messages...)
	}
	return rawjson.Array(messages)
}

// bearer sets the header that carries a key, if there is one.
func bearer(key string) func(http.Header) {
	return func(header http.Header) {
		if key != "" {
			header.Set("Authorization", "Bearer "+key)
		}
	}
}
