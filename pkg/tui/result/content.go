package result

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/tui/markdown"
	"toolx/pkg/tui/pane"
	"toolx/pkg/words"
)

// block is a content block for display.
type block struct {
	role     string      // of the message that begins with it, empty for none; not safe
	label    string      // its kind, unless it is only text; not safe
	text     string      // the beginning of its text; not safe
	total    int         // the size of its text, in bytes
	cut      bool        // text is not all of it
	image    *exec.Block // nil if it is not an image
	markdown bool        // its type is Markdown
}

// blockOf reads a block, with at most most bytes of its text.
func blockOf(raw json.RawMessage, most int) block {
	read := exec.ReadBlock(raw)
	switch {
	case read.Binary() && read.Type != "text":
		b := block{label: strings.Trim(read.String(), "[]")}
		if read.Type == "resource" {
			b.label = labelOf(b.label, read.URI)
		}
		if read.Image() {
			b.image = &read
		}
		return b
	case read.Quoted != nil:
		b := textBlock(read.Quoted, most)
		if read.Type == "resource" {
			b.label = labelOf("resource", read.MIMEType, read.URI)
			b.markdown = read.MIMEType == "text/markdown"
		}
		return b
	case read.Type == "resource_link":
		label := labelOf("link", read.Title, read.Name, read.MIMEType, read.URI)
		return block{label: label, text: read.Description, total: len(read.Description)}
	}
	text := string(raw[:min(len(raw), most)])
	return block{label: labelOf("block of type", read.Type), text: text, total: len(raw), cut: len(raw) > most}
}

// textBlock returns a block for a JSON string, with at most most bytes of it.
func textBlock(quoted json.RawMessage, most int) block {
	most = max(most, len(`""`))
	return block{text: rawjson.UnquoteHead(quoted, most), total: sizeOf(quoted), cut: len(quoted) > most}
}

// labelOf returns a label with the texts that are not empty.
func labelOf(label string, texts ...string) string {
	for _, text := range texts {
		if text != "" {
			label += " " + words.Head(text, maxCell)
		}
	}
	return label
}

// content is a body that shows content blocks one after the other.
type content struct {
	*pane.TextView
	blocks   []block
	rest     int  // how many more there are
	markdown bool // texts are Markdown
}

// newMessages shows the content blocks of messages.
func newMessages(theme *pane.Theme, messages ...exec.Message) *content {
	blocks, rest := messageBlocks(messages)
	return newContent(theme, blocks, rest)
}

func newContent(theme *pane.Theme, blocks []block, rest int) *content {
	c := &content{blocks: blocks, rest: rest}
	for _, b := range blocks {
		c.markdown = c.markdown || b.markdown || looksLikeMarkdown(b.text)
	}
	c.TextView = pane.NewTextView(theme, c.compose)
	return c
}

// looksLikeMarkdown reports whether a text contains something that is rare outside Markdown: a code
// fence, or a heading after an empty line that is not a comment of a script.
func looksLikeMarkdown(source string) bool {
	if len(source) > markdown.MaxSource {
		return false
	}
	empty := true
	for line := range strings.Lines(source) {
		heading := strings.HasPrefix(line, "## ") || strings.HasPrefix(line, "### ")
		if strings.HasPrefix(line, "```") || heading && empty {
			return true
		}
		empty = strings.TrimSpace(line) == ""
	}
	return false
}

// About returns how the text is shown.
func (c *content) About() string {
	if c.markdown {
		return "markdown"
	}
	return ""
}

// Bindings returns the keys of a text, and the one that switches Markdown on and off.
func (c *content) Bindings() []pane.Binding {
	if c.Editing() {
		return c.TextView.Bindings()
	}
	help := "as Markdown"
	if c.markdown {
		help = "as plain text"
	}
	return append(c.TextView.Bindings(), pane.Binding{Keys: []string{"m"}, Help: help, Do: pane.Do(c.switchMarkdown)})
}

func (c *content) switchMarkdown() {
	c.markdown = !c.markdown
	c.Recompose()
}

// compose returns the lines of all blocks.
func (c *content) compose(width int) []string {
	theme, left := c.Theme, maxDrawnPixels
	var lines []string
	for i, b := range c.blocks {
		if i > 0 {
			lines = append(lines, "")
		}
		if b.role != "" {
			lines = append(lines, theme.Paint(pane.Strong, theme.Cut(render.Safe(b.role), width)))
		}
		lines = append(lines, c.labelLines(i, width)...)
		if b.image != nil && theme.DrawsPixels() {
			drawn, pixels := drawPicture(b.image, width, left)
			lines, left = append(lines, drawn...), left-pixels
		}
		lines = append(lines, c.textLines(b, width)...)
	}
	if c.rest > 0 {
		remark := fmt.Sprintf("[%s; o opens all of them in the pager, S saves them]", words.Count(c.rest, "more block"))
		lines = append(lines, "", theme.Paint(pane.Warn, theme.Cut(remark, width)))
	}
	if len(lines) == 0 {
		return []string{theme.Paint(pane.Dim, "empty")}
	}
	return lines
}

// labelLines describes a block; a single text needs no label.
func (c *content) labelLines(i, width int) []string {
	b := c.blocks[i]
	label := b.label
	switch {
	case label == "" && (len(c.blocks) == 1 || b.role != ""):
		return nil
	case label == "":
		label = "text " + exec.Bytes(int64(b.total))
	}
	label = fmt.Sprintf("%d  %s", i+1, c.Theme.Signs(render.Safe(label)))
	if b.image != nil {
		label += "  (s saves it)"
	}
	return c.Theme.Paragraph(pane.Accent, label, width)
}

func (c *content) textLines(b block, width int) []string {
	var lines []string
	switch {
	case b.text == "":
	case c.markdown && len(b.text) <= markdown.MaxSource:
		for _, line := range markdown.Render(b.text, width, c.Theme) {
			lines = append(lines, strings.ReplaceAll(line, "\t", "    "))
		}
	default:
		lines = pane.Wrap(strings.TrimRight(pane.Lines(b.text), "\n"), width)
	}
	if b.cut {
		lines = append(lines, c.Theme.Paragraph(pane.Warn, cutRemark(len(b.text), b.total), width)...)
	}
	return lines
}

// messagesOf returns the messages of a prompt's result, or nil. Only a prompt's value is the whole
// reply (see exec.ReadPrompt) and has such a member.
func messagesOf(result *exec.Result) []exec.Message {
	if result.Err != nil || len(result.Raw) == 0 || len(result.Value) != len(result.Raw) {
		return nil
	}
	messages, err := exec.ReadMessages(result.Raw)
	if err != nil {
		return nil
	}
	return messages
}

// messagesTab shows the messages of a prompt, each below its role.
func messagesTab(messages []exec.Message) *tab {
	return &tab{
		name:      "messages",
		extension: ".txt",
		open:      func(theme *pane.Theme) pane.Pane { return newMessages(theme, messages...) },
		write: func(out io.Writer, safe bool) error {
			return render.Messages(out, messages, render.Screen{TTY: safe})
		},
	}
}

// messageBlocks returns the blocks of all messages that are shown; the first block of each message has
// its role. rest counts the others.
func messageBlocks(messages []exec.Message) (blocks []block, rest int) {
	left := maxText
	for _, message := range messages {
		if len(blocks) >= maxBlocks {
			rest += max(1, len(message.Blocks))
			continue
		}
		if len(message.Blocks) == 0 {
			blocks = append(blocks, block{role: message.Role})
		}
		for i, raw := range message.Blocks {
			if len(blocks) >= maxBlocks {
				rest += len(message.Blocks) - i
				break
			}
			b := blockOf(raw, left)
			left = max(0, left-len(b.text))
			if i == 0 {
				b.role = message.Role
			}
			blocks = append(blocks, b)
		}
	}
	return blocks, rest
}

// Limits in bytes of what is shown. The pager and saved files have everything.
const (
	maxText    = 1 << 20  // of shown text
	maxTree    = 16 << 20 // of JSON that is shown as a tree or a table
	maxChecked = 2 << 20  // of JSON that is validated
	maxCell    = 512      // of a cell of a table
)

// maxBlocks limits the content blocks that are shown.
const maxBlocks = 10_000

// sizeOf returns the size in bytes of a decoded JSON string.
func sizeOf(quoted json.RawMessage) int {
	var n counter
	_ = rawjson.WriteText(&n, quoted) // counting does not fail
	return int(n)
}

// counter counts the bytes that are written to it.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// WriteString saves io.WriteString a copy for every escape.
func (c *counter) WriteString(s string) (int, error) {
	*c += counter(len(s))
	return len(s), nil
}

// firstPart returns the beginning of a text, with a note if some of it is missing.
func firstPart(whole string) string {
	if len(whole) <= maxText {
		return whole
	}
	return strings.ToValidUTF8(whole[:maxText], "") + "\n\n" + cutRemark(maxText, len(whole))
}

// cutRemark returns how many bytes are shown.
func cutRemark(shown, total int) string {
	return fmt.Sprintf("[first %s of %s; o opens all of it in the pager, S saves it]",
		exec.Bytes(int64(shown)), exec.Bytes(int64(total)))
}
