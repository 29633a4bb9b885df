package convert

import (
	"encoding/json"
	"strings"
)

// isBedrockCall recognises {"toolUse": {"toolUseId", "name", "input"}}.
func isBedrockCall(fields members) bool {
	return fields.isObject("toolUse")
}

func readBedrockCall(fields members) (ToolCall, Format) {
	use, _ := fields.object("toolUse")
	return newCall(use.text("toolUseId"), use.text("name"), use.get("input")), Bedrock
}

type bedrockBlock struct {
	JSON  json.RawMessage `json:"json,omitempty"`
	Text  string          `json:"text,omitempty"`
	Image *bedrockImage   `json:"image,omitempty"`
}

type bedrockImage struct {
	Format string `json:"format"`
	Source struct {
		Bytes []byte `json:"bytes"` // base64 in JSON
	} `json:"source"`
}

type bedrockToolResult struct {
	ID      string         `json:"toolUseId"`
	Content []bedrockBlock `json:"content"`
	Status  string         `json:"status"`
}

// bedrockResult returns a toolResult block of the Converse API.
func bedrockResult(result ToolResult) any {
	written := bedrockToolResult{ID: result.Call.ID, Content: bedrockContent(result), Status: "success"}
	if result.IsError {
		written.Status = "error"
	}
	return struct {
		ToolResult bedrockToolResult `json:"toolResult"`
	}{written}
}

func bedrockContent(result ToolResult) []bedrockBlock {
	structured, isStructured := structuredValue(result)
	var content []bedrockBlock
	for _, part := range resultParts(result, anthropicImages()) {
		switch {
		case part.image != nil:
			image := &bedrockImage{Format: strings.TrimPrefix(part.image.MIMEType, "image/")}
			image.Source.Bytes = part.image.Data
			content = append(content, bedrockBlock{Image: image})
		case isStructured && part.text == result.Text:
			content = append(content, bedrockBlock{JSON: structured})
		case part.text != "":
			content = append(content, bedrockBlock{Text: part.text})
		}
	}
	if len(content) == 0 { // blank text is refused, and so is no content at all
		content = []bedrockBlock{{Text: "(no output)"}}
	}
	return content
}
