package exec

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	// The formats whose dimensions a placeholder can show.
	_ "image/gif"
	_ "image/jpeg"
	_ "image/png"
	"strings"

	"toolx/pkg/rawjson"
)

// Block is one MCP content block, read leniently: a block of an unknown type is shown in its raw form. Text and data
// are decoded on demand, since both can be large.
type Block struct {
	Type     string
	MIMEType string
	URI      string // of resource and resource_link
	// Name, Title and Description are those of a resource_link.
	Name, Title, Description string
	// Quoted is the text of a text block or an embedded resource as a JSON string, nil if there is none.
	Quoted json.RawMessage
	Raw    json.RawMessage

	data json.RawMessage // base64 as a JSON string, nil if there is none
}

// ReadBlock reads one element of a content array. It never fails: unreadable members remain empty, and Raw has
// everything.
func ReadBlock(raw json.RawMessage) Block {
	block := Block{Raw: raw, Type: rawjson.GetText(raw, "type")}
	source, data := raw, "data"
	if block.Type == "resource" {
		source, data = rawjson.Get(raw, "resource"), "blob"
	}
	for member := range rawjson.Each(source) {
		if !rawjson.IsString(member.Value) {
			continue // other members may be readable
		}
		switch member.Name {
		case "mimeType":
			block.MIMEType = rawjson.Unquote(member.Value)
		case "uri":
			block.URI = rawjson.Unquote(member.Value)
		case "name":
			block.Name = rawjson.Unquote(member.Value)
		case "title":
			block.Title = rawjson.Unquote(member.Value)
		case "description":
			block.Description = rawjson.Unquote(member.Value)
		case "text":
			if block.Type == "text" || block.Type == "resource" {
				block.Quoted = member.Value
			}
		case data:
			if len(member.Value) > len(`""`) {
				block.data = member.Value
			}
		}
	}
	return block
}

// Text returns the text of a text block or an embedded resource, empty if there is none.
func (b Block) Text() string {
	if b.Quoted == nil {
		return ""
	}
	return rawjson.Unquote(b.Quoted)
}

// Binary reports whether the block carries bytes rather than text (EXEC-15).
func (b Block) Binary() bool { return b.data != nil }

// Data returns the bytes of an image, audio or a blob, nil if there are none. The error reports invalid base64.
func (b Block) Data() ([]byte, error) {
	if b.data == nil {
		return nil, nil
	}
	return base64.StdEncoding.DecodeString(rawjson.Unquote(b.data))
}

// Base64 returns the bytes as base64 without line breaks; empty if there are none, or they are not valid base64.
func (b Block) Base64() string {
	data, err := b.Data()
	if err != nil || data == nil {
		return ""
	}
	if text := rawjson.Unquote(b.data); !strings.ContainsAny(text, "\r\n") {
		return text
	}
	return base64.StdEncoding.EncodeToString(data)
}

// Image reports whether the block carries an image.
func (b Block) Image() bool {
	return b.Binary() && (b.Type == "image" || strings.HasPrefix(b.MIMEType, "image/"))
}

// String returns the block as text; bytes are described, not shown: "[image image/png 70 B 1×1]".
func (b Block) String() string {
	switch {
	case b.Type == "text", b.Type == "resource" && !b.Binary() && len(b.Quoted) > len(`""`):
		return b.Text()
	case b.Binary():
		return "[" + b.describe() + "]"
	case b.Type == "resource_link":
		return fmt.Sprintf("[link %s %s]", b.Name, b.URI)
	}
	return string(b.Raw)
}

// describe returns the type and size of the bytes: "image image/png 70 B 1×1".
func (b Block) describe() string {
	data, err := b.Data()
	if err != nil {
		return fmt.Sprintf("%s %s, not valid base64: %v", b.Type, b.MIMEType, err)
	}
	text := strings.TrimSpace(b.Type+" "+b.MIMEType) + " " + Bytes(int64(len(data)))
	if config, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil {
		text += fmt.Sprintf(" %d×%d", config.Width, config.Height)
	}
	return text
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
