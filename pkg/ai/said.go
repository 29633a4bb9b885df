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

// Continue asks the model what comes next in a conversation. It is Ask with more than a
// question; where the provider cannot take what was said, such as audio, nobody is
// asked, and the error says what.
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

// message is what was said in the form of a provider. Text alone has one form
// everywhere.
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
	return rawjson.Object([]rawjson.Member{
		rawjson.NewMember("role", rawjson.Quote(s.Role)), rawjson.NewMember("content", rawjson.Array(parts)),
	}), nil
}

// text are the texts of it, a line each.
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
			images = append(images, encoded(block.Data))
		default:
			return nil, s.refusal(Ollama, block)
		}
	}
	return rawjson.Object([]rawjson.Member{
		rawjson.NewMember("role", rawjson.Quote(s.Role)), rawjson.NewMember("content", rawjson.Quote(s.text())),
		rawjson.NewMember("images", rawjson.Array(images)),
	}), nil
}

// anthropicPart is a block of the messages API, which takes four types of images; nil
// for what it does not take.
func anthropicPart(block exec.Block) json.RawMessage {
	switch {
	case block.Type == "text":
		return textPart(rawjson.Quote(block.Text))
	case isImage(block) && slices.Contains([]string{"image/jpeg", "image/png", "image/gif", "image/webp"}, block.MIMEType):
		return typedPart("image", "source", rawjson.Object([]rawjson.Member{
			rawjson.NewMember("type", rawjson.Quote("base64")),
			rawjson.NewMember("media_type", rawjson.Quote(block.MIMEType)),
			rawjson.NewMember("data", encoded(block.Data)),
		}))
	}
	return nil
}

// openAIPart is a part of chat completions' content: text, an image, or audio of two
// formats; nil for what it does not take.
func openAIPart(block exec.Block) json.RawMessage {
	sound := map[string]string{"audio/wav": "wav", "audio/x-wav": "wav", "audio/wave": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}
	switch {
	case block.Type == "text":
		return textPart(rawjson.Quote(block.Text))
	case isImage(block):
		url := "data:" + block.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(block.Data)
		return typedPart("image_url", "image_url", rawjson.Object([]rawjson.Member{rawjson.NewMember("url", rawjson.Quote(url))}))
	case block.Type == "audio" && len(block.Data) > 0 && sound[block.MIMEType] != "":
		return typedPart("input_audio", "input_audio", rawjson.Object([]rawjson.Member{
			rawjson.NewMember("data", encoded(block.Data)), rawjson.NewMember("format", rawjson.Quote(sound[block.MIMEType])),
		}))
	}
	return nil
}

func isImage(block exec.Block) bool {
	return block.Type == "image" && len(block.Data) > 0 && strings.HasPrefix(block.MIMEType, "image/")
}

// typedPart is a part of a message: its type, and its content under a name.
func typedPart(kind, name string, content json.RawMessage) json.RawMessage {
	return rawjson.Object([]rawjson.Member{rawjson.NewMember("type", rawjson.Quote(kind)), rawjson.NewMember(name, content)})
}

func encoded(data []byte) json.RawMessage {
	return rawjson.Quote(base64.StdEncoding.EncodeToString(data))
}
