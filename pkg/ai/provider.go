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
)

// Provider is where a model lives. It knows how a turn is asked for and how its stream is read, and nothing of tools,
// loops or retries.
type Provider interface {
	// Name is the provider's name, as users type it.
	Name() string
	// Model is the name of the model.
	Model() string
	// Format is the form of its tools, calls and results.
	Format() convert.Format
	// Check says what keeps requests from being sent at all: no key, no model. It asks nobody. The error is a *Failure
	// or an *fault.UsageError.
	Check() error
	// Body is the request as Turn sends it. It holds no key.
	Body(request Request) json.RawMessage
	// Turn sends one request and reads the answer to its end. emit gets each TextDelta and ThinkingDelta as it comes,
	// on the caller's goroutine. The error is a *Failure; when ctx ends it wraps the context's.
	Turn(ctx context.Context, request Request, emit func(Event)) (*Turn, error)
}

// Request is what a model is asked.
type Request struct {
	System string // instructions; may be empty
	// Messages are the conversation, in the provider's form.
	Messages []json.RawMessage
	// Tools is the provider's list of tools; nil if there is none.
	Tools json.RawMessage
	// MaxTokens is the most that the answer may have, what the model thinks included; zero leaves it to the provider.
	MaxTokens int64
}

// Turn is one answer of a model.
type Turn struct {
	// Message is the assistant's message as the next request has to repeat it; nil if there is nothing to repeat.
	Message json.RawMessage
	// Calls is what the calls are to be read from where that is not Message: a message with those that the model wrote
	// as text, or with arguments that cannot be repeated.
	Calls json.RawMessage
	Text  string
	Stop  Stop
	// Reason is the provider's own word for Stop.
	Reason string
	Usage  Usage

	// written reports that calls are made which are neither in Message nor in Calls: those in Text (see WroteCalls).
	written bool
}

// Stop says why a model stopped.
type Stop string

// The reasons to stop.
const (
	StopEnd     Stop = "end"     // it has said what it wanted to say, or wants tools to be called
	StopLength  Stop = "length"  // the limit of the answer, or of the context, was reached
	StopRefused Stop = "refused" // the model, or a filter, refused
	StopPause   Stop = "pause"   // the provider wants the same again, with this message added
)

// Usage counts tokens as the provider does; zero if it did not say.
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

// Providers returns the names that New knows, the default first.
func Providers() []string { return []string{Ollama, Anthropic, OpenAI} }

// Options say which model is asked and where.
type Options struct {
	Provider string // one of Providers; empty means Ollama
	Model    string // empty means the provider's default, where it has one
	// BaseURL wins over the environment; empty means what that says, or the provider's own address.
	BaseURL string
	// Getenv gives a variable of the environment, empty if it is not set.
	Getenv func(string) string
	// Idle is how long a stream may be silent, zero for ten minutes: a model may have to be loaded first.
	Idle time.Duration
	// UserAgent names the client to the server; may be empty.
	UserAgent string
}

// New makes a provider. It asks nobody: a missing key is for Check to tell. The error is an *fault.UsageError.
func New(options Options) (Provider, error) {
	switch cmp.Or(options.Provider, Ollama) {
	case Ollama:
		return newOllama(options)
	case Anthropic:
		return newAnthropic(options)
	case OpenAI:
		return newOpenAI(options)
	}
	return nil, &fault.UsageError{
		Message: fmt.Sprintf("provider %q is unknown", options.Provider),
		Fix:     "--provider takes one of: " + strings.Join(Providers(), ", "),
	}
}

// Secrets returns the keys that the environment holds for any provider, for whoever hides secrets in logs.
func Secrets(getenv func(string) string) []string {
	var secrets []string
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OLLAMA_API_KEY"} {
		if value := strings.TrimSpace(getenv(name)); value != "" {
			secrets = append(secrets, value)
		}
	}
	return secrets
}

// argumentsOf returns the arguments of one call as they can be repeated: those that the Executor gets, fixed where
// that is possible, or none. Most servers refuse a conversation in which some are not JSON.
func argumentsOf(call json.RawMessage, format convert.Format) json.RawMessage {
	message, err := convert.ReadCalls(call, format)
	if err != nil || len(message.Calls) != 1 {
		return json.RawMessage("{}")
	}
	return message.Calls[0].Arguments
}

// textMessage returns a message of a role in the form that all providers take.
func textMessage(role, text string) json.RawMessage {
	return rawjson.Build("role", role, "content", text)
}

// withSystem puts the instructions in front of the messages, where a provider has no other place for them.
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
