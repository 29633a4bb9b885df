package exec

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	// The formats whose size a placeholder can name.
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"
)

// Block is one MCP content block, read leniently: a type that toolx does not know keeps its raw form and is shown so,
// never refused.
type Block struct {
	Type     string
	Text     string // of text, and of an embedded text resource
	Data     []byte // of image, audio and blob, decoded
	MIMEType string
	URI      string // of resource and resource_link
	Name     string // of resource_link
	Raw      json.RawMessage
	// DataErr is the error of binary data that is not valid base64.
	DataErr error
}

// ParseBlock reads one element of a content array. It never fails: what cannot be read stays empty, and Raw holds
// everything.
func ParseBlock(raw json.RawMessage) Block {
	var fields struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Data     string `json:"data"`
		MIMEType string `json:"mimeType"`
		URI      string `json:"uri"`
		Name     string `json:"name"`
		Resource *struct {
			URI      string  `json:"uri"`
			MIMEType string  `json:"mimeType"`
			Text     *string `json:"text"`
			Blob     *string `json:"blob"`
		} `json:"resource"`
	}
	// A member of an unexpected type leaves the others readable.
	_ = json.Unmarshal(raw, &fields)
	block := Block{
		Type:     fields.Type,
		Text:     fields.Text,
		MIMEType: fields.MIMEType,
		URI:      fields.URI,
		Name:     fields.Name,
		Raw:      raw,
	}
	encoded := fields.Data
	if fields.Resource != nil {
		block.URI = fields.Resource.URI
		block.MIMEType = fields.Resource.MIMEType
		if fields.Resource.Text != nil {
			block.Text = *fields.Resource.Text
		}
		if fields.Resource.Blob != nil {
			encoded = *fields.Resource.Blob
		}
	}
	if encoded != "" {
		block.Data, block.DataErr = base64.StdEncoding.DecodeString(encoded)
	}
	return block
}

// Binary reports whether the block carries bytes rather than text (EXEC-15).
func (b Block) Binary() bool { return b.Data != nil || b.DataErr != nil }

// String returns the block as text; bytes are described, not shown: "[image image/png 70 B 1×1]".
func (b Block) String() string {
	switch {
	case b.Type == "text":
		return b.Text
	case b.DataErr != nil:
		return fmt.Sprintf("[%s %s, not valid base64: %v]", b.Type, b.MIMEType, b.DataErr)
	case b.Binary():
		text := b.Type
		if b.MIMEType != "" {
			text += " " + b.MIMEType
		}
		text += " " + Bytes(int64(len(b.Data)))
		if config, _, err := image.DecodeConfig(bytes.NewReader(b.Data)); err == nil {
			text += fmt.Sprintf(" %d×%d", config.Width, config.Height)
		}
		return "[" + text + "]"
	case b.Type == "resource" && b.Text != "":
		return b.Text
	case b.Type == "resource_link":
		return fmt.Sprintf("[link %s %s]", b.Name, b.URI)
	}
	return string(b.Raw)
}

// Bytes formats a size for people: "70 B", "1.4 KiB".
func Bytes(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, suffixes := float64(n)/unit, "KMGTPE"
	i := 0
	for value >= unit && i < len(suffixes)-1 {
		value /= unit
		i++
	}
	return fmt.Sprintf("%.1f %ciB", value, suffixes[i])
}
