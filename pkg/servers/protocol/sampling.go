package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// Sampling is a server's request to a model (MCP, client/sampling, CreateMessageRequest). All texts are the server's
// and untrusted.
type Sampling struct {
	System   string // instructions; may be empty
	Messages []SamplingMessage
	// Hints are names of models, or parts of them, that the server prefers, the best first.
	Hints []string
	// MaxTokens is the most tokens that the answer may have; zero where the server sets no limit.
	MaxTokens   int64
	Temperature json.Number // empty where that is not said
	Stops       []string    // texts that end the answer
}

// SamplingMessage is a part of the conversation so far.
type SamplingMessage struct {
	Role   string
	Blocks []exec.Block
}

// String returns the message as text; content that is not text is named.
func (m SamplingMessage) String() string {
	return strings.Join(words.Texts(m.Blocks, exec.Block.String), "\n")
}

// ReadSampling reads the params of sampling/createMessage, leniently: only a request without messages is an error.
func ReadSampling(params json.RawMessage) (*Sampling, error) {
	asked := &Sampling{System: rawjson.GetText(params, "systemPrompt")}
	messages, _ := rawjson.Elements(rawjson.Get(params, "messages"))
	if len(messages) == 0 {
		return nil, errors.New("there are no messages")
	}
	for _, message := range messages {
		content := rawjson.Get(message, "content")
		blocks, several := rawjson.Elements(content)
		if !several { // since 2025-11-25 there may be several
			blocks = []json.RawMessage{content}
		}
		one := SamplingMessage{Role: rawjson.GetText(message, "role")}
		for _, block := range blocks {
			one.Blocks = append(one.Blocks, exec.ReadBlock(block))
		}
		asked.Messages = append(asked.Messages, one)
	}
	hints, _ := rawjson.Elements(rawjson.Get(rawjson.Get(params, "modelPreferences"), "hints"))
	for _, hint := range hints {
		if name := rawjson.GetText(hint, "name"); name != "" {
			asked.Hints = append(asked.Hints, name)
		}
	}
	// A member of the wrong type is ignored.
	_ = json.Unmarshal(rawjson.Get(params, "maxTokens"), &asked.MaxTokens)
	_ = json.Unmarshal(rawjson.Get(params, "temperature"), &asked.Temperature)
	_ = json.Unmarshal(rawjson.Get(params, "stopSequences"), &asked.Stops)
	return asked, nil
}

// Preferences returns the server's preferences for the answer, worded for people.
func (s *Sampling) Preferences() []string {
	var preferences []string
	if len(s.Hints) > 0 {
		preferences = append(preferences, "a model like "+strings.Join(s.Hints, ", "))
	}
	if s.MaxTokens > 0 {
		preferences = append(preferences, fmt.Sprintf("at most %d tokens", s.MaxTokens))
	}
	if s.Temperature != "" {
		preferences = append(preferences, "temperature "+s.Temperature.String())
	}
	for _, stop := range s.Stops {
		preferences = append(preferences, fmt.Sprintf("ends at %q", stop))
	}
	return preferences
}

// Sampled returns a CreateMessageResult with a text, the model that wrote it, and why it stopped ("endTurn",
// "maxTokens").
func Sampled(model, text, stop string) json.RawMessage {
	return rawjson.Build("role", "assistant", "model", model,
		"content", rawjson.Build("type", "text", "text", text), "stopReason", stop)
}

// wantsTools reports whether a request lets the model call the server's tools. A server may only send such a request to
// a client that advertises sampling.tools.
func wantsTools(params json.RawMessage) bool {
	tools := rawjson.Get(params, "tools")
	choice := rawjson.Get(params, "toolChoice")
	return tools != nil && string(tools) != "null" || choice != nil && string(choice) != "null"
}
