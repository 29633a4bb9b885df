package ai

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
)

// Said is a message of a conversation that took place elsewhere.
type Said struct {
	Role   string // "user" or "assistant"
	Blocks []exec.Block
}

// Continue asks the model what comes next in a conversation. It is Ask with more than a question; where the provider
// cannot take what was said, such as audio, nobody is asked, and the error says what.
func (c *Conversation) Continue(ctx context.Context, said []Said) (*Answer, error) {
	exchange := make([]json.RawMessage, len(said))
	for i, one := range said {
		var err error
		if exchange[i], err = one.message(c.Provider.Name()); err != nil {
			return nil, err
		}
	}
	return c.answer(ctx, exchange)
}

// message returns what was said in the form of a provider. Text alone has one form everywhere.
func (s Said) message(provider string) (json.RawMessage, error) {
	if s.Role != "user" && s.Role != "assistant" {
		return nil, fmt.Errorf("the role %q is unknown", s.Role)
	}
	if !slices.ContainsFunc(s.Blocks, func(block exec.Block) bool { return block.Type != "text" }) {
		return textMessage(s.Role, s.text()), nil
	}
	if provider == Ollama {
		return s.ollama()
	}
	parts := make([]json.RawMessage, len(s.Blocks))
	for i, block := range s.Blocks {
		part := openAIPart
		if provider == Anthropic {
			part = anthropicPart
		}
		if parts[i] = part(block); parts[i] == nil || s.Role != "user" && block.Type != "text" {
			return nil, s.refusal(provider, block)
		}
	}
	return rawjson.Build("role", s.Role, "content", rawjson.Array(parts)), nil
}

// text returns the texts of it, a line each.
func (s Said) text() string {
	var texts []string
	for _, block := range s.Blocks {
		if block.Type == "text" {
			texts = append(texts, block.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// refusal says what a provider cannot take.
func (s Said) refusal(provider string, block exec.Block) error {
	what := fmt.Sprintf("content of the type %q", block.Type)
	if block.MIMEType != "" {
		what += fmt.Sprintf(" (%s)", block.MIMEType)
	}
	return fmt.Errorf("%s takes no %s from the role %q", provider, what, s.Role)
}

// ollama has images beside the text (api/chat), of whatever type the model takes.
func (s Said) ollama() (json.RawMessage, error) {
	var images []json.RawMessage
	for _, block := range s.Blocks {
		switch {
		case block.Type == "text":
		case isImage(block) && s.Role == "user":
			images = append(images, rawjson.Quote(encoded(block.Data)))
		default:
			return nil, s.refusal(Ollama, block)
		}
	}
	return rawjson.Build("role", s.Role, "content", s.text(), "images", rawjson.Array(images)), nil
}

// anthropicPart returns a block of the messages API, which takes four types of images; nil for what it does not take.
func anthropicPart(block exec.Block) json.RawMessage {
	switch {
	case block.Type == "text":
		return textPart(rawjson.Quote(block.Text))
	case isImage(block) && slices.Contains([]string{"image/jpeg", "image/png", "image/gif", "image/webp"},
		block.MIMEType):
		source := rawjson.Build("type", "base64", "media_type", block.MIMEType, "data", encoded(block.Data))
		return rawjson.Build("type", "image", "source", source)
	}
	return nil
}

// openAIPart returns a part of chat completions' content: text, an image, or audio of two formats; nil for what it does
// not take.
func openAIPart(block exec.Block) json.RawMessage {
	sound := map[string]string{
		"audio/wav": "wav", "audio/x-wav": "wav", "audio/wave": "wav", "audio/mpeg": "mp3",
		"audio/mp3": "mp3",
	}
	switch {
	case block.Type == "text":
		return textPart(rawjson.Quote(block.Text))
	case isImage(block):
		url := "data:" + block.MIMEType + ";base64," + encoded(block.Data)
		return rawjson.Build("type", "image_url", "image_url", rawjson.Build("url", url))
	case block.Type == "audio" && len(block.Data) > 0 && sound[block.MIMEType] != "":
		return rawjson.Build("type", "input_audio", "input_audio",
			rawjson.Build("data", encoded(block.Data), "format", sound[block.MIMEType]))
	}
	return nil
}

func isImage(block exec.Block) bool {
	return block.Type == "image" && len(block.Data) > 0 && strings.HasPrefix(block.MIMEType, "image/")
}

func encoded(data []byte) string { return base64.StdEncoding.EncodeToString(data) }
