package convert

import (
	"encoding/json"
	"slices"
	"strings"

	"toolx/pkg/exec"
)

// isAnthropicCall recognises {"type": "tool_use", "id", "name", "input"}. Tools that
// Anthropic runs itself (server_tool_use) are none of ours.
func isAnthropicCall(fields members) bool { return fields.text("type") == "tool_use" }

func readAnthropicCall(fields members) (ToolCall, Format) {
	return newCall(fields.text("id"), fields.text("name"), fields.get("input")), Anthropic
}

type anthropicBlock struct {
	Type   string           `json:"type"`
	Text   string           `json:"text,omitempty"`
	Source *anthropicSource `json:"source,omitempty"`
}

type anthropicSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"` // base64 in JSON
}

// anthropicResult returns a tool_result block. All of a turn stand in one user message, before any text.
func anthropicResult(result ToolResult) any {
	var content []anthropicBlock
	for _, part := range resultParts(result, anthropicImages()) {
		switch {
		case part.image != nil:
			content = append(content, anthropicBlock{
				Type:   "image",
				Source: &anthropicSource{"base64", part.image.MIMEType, part.image.Data},
			})
		case part.text != "": // which the API refuses
			content = append(content, anthropicBlock{Type: "text", Text: part.text})
		}
	}
	return struct {
		Type    string           `json:"type"`
		ID      string           `json:"tool_use_id"`
		Content []anthropicBlock `json:"content,omitempty"`
		IsError bool             `json:"is_error,omitempty"`
	}{"tool_result", result.Call.ID, content, result.IsError}
}

// anthropicImages returns the types of images that the messages API takes.
func anthropicImages() []string {
	return []string{"image/jpeg", "image/png", "image/gif", "image/webp"}
}

// resultPart is a piece of a result: text, or an image.
type resultPart struct {
	text  string
	image *exec.Block
}

// resultParts returns a result in pieces, for providers that take images of some types. Everything else is text. Where
// the text for the model is not simply that of the blocks, because it was cut or the result is structured, it comes
// first and whole, and the images behind it.
func resultParts(result ToolResult, images []string) []resultPart {
	whole := len(result.Content) > 0 && result.Text == contentText(result.Content)
	var parts []resultPart
	if !whole {
		parts = append(parts, resultPart{text: result.Text})
	}
	for _, raw := range result.Content {
		block := exec.ParseBlock(raw)
		switch {
		case block.Type == "image" && len(block.Data) > 0 && slices.Contains(images, block.MIMEType):
			parts = append(parts, resultPart{image: &block})
		case whole:
			parts = append(parts, resultPart{text: block.String()})
		}
	}
	return parts
}

// contentText returns the text of MCP content as models get it, a block on a line or more.
func contentText(content []json.RawMessage) string {
	lines := make([]string, len(content))
	for i, raw := range content {
		lines[i] = exec.ParseBlock(raw).String()
	}
	return strings.Join(lines, "\n")
}
