package exec

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"toolx/pkg/rawjson"
)

// maxContents limits the contents of a resource, since each takes much more memory than its text.
const maxContents = 100_000

// ReadContents converts a ReadResourceResult (MCP 2025-11-25, server/resources) to content blocks, each an embedded
// resource. The value is the text if all contents are text. The error reports a malformed reply. It fits
// Operation.Read.
func ReadContents(reply json.RawMessage) (Parts, error) {
	list := rawjson.Get(reply, "contents")
	if len(list) == 0 || list[0] != '[' {
		return Parts{}, errors.New("contents is not an array")
	}
	contents, more := rawjson.FirstElements(list, maxContents)
	parts := Parts{Content: make([]json.RawMessage, 0, len(contents))}
	var texts []string
	for _, content := range contents {
		parts.Content = append(parts.Content, rawjson.Object([]rawjson.Member{
			rawjson.NewMember("type", rawjson.Quote("resource")), rawjson.NewMember("resource", content),
		}))
		if text := rawjson.Get(content, "text"); rawjson.IsString(text) {
			texts = append(texts, rawjson.Unquote(text))
		}
	}
	if more {
		parts.Warnings = []string{fmt.Sprintf(
			"the resource has more than %d contents; the rest is omitted (use -o raw for all)", maxContents)}
	}
	if len(texts) == len(contents) {
		parts.Value = rawjson.Quote(strings.Join(texts, "\n"))
	}
	return parts, nil
}

// Message is one message of a prompt.
type Message struct {
	Role    string
	Content json.RawMessage // one block, or an array of them
	// Blocks are the content's blocks.
	Blocks []json.RawMessage
}

// ReadMessages reads the messages of a GetPromptResult (MCP 2025-11-25, server/prompts); the error reports that they
// are not an array.
func ReadMessages(reply json.RawMessage) ([]Message, error) {
	elements, ok := rawjson.Elements(rawjson.Get(reply, "messages"))
	if !ok {
		return nil, errors.New("messages is not an array")
	}
	messages := make([]Message, len(elements))
	for i, element := range elements {
		content := rawjson.Get(element, "content")
		blocks, several := rawjson.Elements(content)
		if !several && content != nil {
			blocks = []json.RawMessage{content}
		}
		messages[i] = Message{Role: rawjson.GetText(element, "role"), Content: content, Blocks: blocks}
	}
	return messages, nil
}

// ReadPrompt returns a whole GetPromptResult as the value, and its messages' content as the content. It fits
// Operation.Read.
func ReadPrompt(reply json.RawMessage) (Parts, error) {
	messages, err := ReadMessages(reply)
	parts := Parts{Value: reply, Whole: true}
	for _, message := range messages {
		parts.Content = append(parts.Content, message.Blocks...)
	}
	return parts, err
}
