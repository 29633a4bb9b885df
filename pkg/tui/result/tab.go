package result

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/tui/jsontree"
	"toolx/pkg/tui/pane"
)

// tab is one way to look at a result.
type tab struct {
	name string
	// open makes the body; nothing is read before the tab is shown.
	open     func(*pane.Theme) pane.Pane
	made     pane.Pane
	value    json.RawMessage   // of a tab that shows JSON as a tree or a table
	blocks   []json.RawMessage // that a text shows, which only names those of bytes
	compared string            // what a comparison has found
	// write writes the whole content of the tab. With safe it writes for a terminal; else every byte
	// is the server's own, except the line ends between blocks.
	write     func(out io.Writer, safe bool) error
	extension string // of a file that it is saved to
}

// tabsOf returns the tabs of a result. There is always at least one.
func tabsOf(result *exec.Result) []*tab {
	var tabs []*tab
	add := func(l *tab) {
		if l != nil {
			tabs = append(tabs, l)
		}
	}
	structured, messages := structuredIn(result.Raw), messagesOf(result)
	switch {
	case messages != nil:
		add(messagesTab(messages))
	case result.Err != nil:
		add(errorTab(result.Err))
		add(jsonTab("structured", structured))
	case result.Truncated != nil:
		add(textTab("text", result.Value))
	case structured != nil:
		add(jsonTab("structured", structured))
	default:
		add(valueTab(result))
	}
	if len(result.Content) > 0 && messages == nil {
		add(contentTab(result))
	}
	if len(result.Raw) <= maxTree { // else it would look like the raw tab
		add(replyTab(result.Raw))
	}
	add(rawTab(result))
	if len(tabs) == 0 {
		add(textTab("text", json.RawMessage(`""`)))
	}
	return tabs
}

// valueTab shows a JSON value: that of a tool without content, or a text with JSON. Other text is in the content tab.
func valueTab(result *exec.Result) *tab {
	switch {
	case result.ValueIsContent() || len(result.Value) == 0:
		return nil
	case !rawjson.IsString(result.Value):
		return jsonTab("value", result.Value)
	}
	if text := jsonInText(result.Value); text != nil {
		return jsonTab("json", text)
	}
	if len(result.Content) == 0 {
		return textTab("text", result.Value)
	}
	return nil
}

// jsonInText returns the object or array in a JSON string, or nil if the string has anything else or is too long.
func jsonInText(quoted json.RawMessage) json.RawMessage {
	const longest = 256 // of the space before a value
	if len(quoted) > maxTree {
		return nil
	}
	begin := bytes.TrimSpace([]byte(rawjson.UnquoteHead(quoted, longest)))
	if len(begin) == 0 || begin[0] != '{' && begin[0] != '[' {
		return nil
	}
	text := []byte(rawjson.Unquote(quoted))
	if !json.Valid(text) {
		return nil
	}
	return text
}

// structuredIn returns structuredContent of a CallToolResult, or nil.
func structuredIn(raw json.RawMessage) json.RawMessage {
	for member := range rawjson.Each(raw) {
		if member.Name == "structuredContent" && string(member.Value) != "null" {
			return member.Value
		}
	}
	return nil
}

// jsonTab shows JSON as a tree or a table; nil if there is no JSON.
func jsonTab(name string, value json.RawMessage) *tab {
	if len(value) == 0 {
		return nil
	}
	return &tab{
		name:      name,
		extension: ".json",
		value:     value,
		open: func(theme *pane.Theme) pane.Pane {
			if len(value) > maxTree {
				return newRaw(theme, value)
			}
			return newDocument(theme, value)
		},
		write: func(out io.Writer, safe bool) error {
			if safe {
				return render.Document(out, value, render.Screen{TTY: true})
			}
			_, err := out.Write(value)
			return err
		},
	}
}

// newRaw shows JSON byte for byte: lines are broken only at the width.
func newRaw(theme *pane.Theme, raw json.RawMessage) pane.Pane {
	var begin strings.Builder
	_ = rawjson.Escape(&begin, raw[:min(len(raw), maxText)]) // a builder does not fail
	if len(raw) > maxText {
		begin.WriteString("\n\n" + cutRemark(maxText, len(raw)))
	}
	safe := pane.Lines(begin.String())
	return pane.NewTextView(theme, func(width int) []string { return theme.Break(safe, width) })
}

// replyTab shows the server's result as a tree, because content blocks are unsuitable for a table.
func replyTab(raw json.RawMessage) *tab {
	l := jsonTab("reply", raw)
	if l != nil {
		l.open = func(theme *pane.Theme) pane.Pane { return &document{tree: jsontree.New(raw, theme)} }
	}
	return l
}

// textTab shows the text of a JSON string.
func textTab(name string, quoted json.RawMessage) *tab {
	return &tab{
		name:      name,
		extension: ".txt",
		open: func(theme *pane.Theme) pane.Pane {
			return newContent(theme, []block{textBlock(quoted, maxText)}, 0)
		},
		write: func(out io.Writer, safe bool) error { return writeQuoted(out, quoted, safe) },
	}
}

// contentTab shows the content blocks one after the other.
func contentTab(result *exec.Result) *tab {
	return &tab{
		name:      "content",
		blocks:    result.Content,
		extension: ".txt",
		open: func(theme *pane.Theme) pane.Pane {
			return newMessages(theme, exec.Message{Blocks: result.Content})
		},
		write: func(out io.Writer, safe bool) error { return writeContent(out, result.Content, safe) },
	}
}

// rawTab shows the server's exact result, byte for byte; nil if there is none.
func rawTab(result *exec.Result) *tab {
	raw := result.Raw
	if len(raw) == 0 {
		return nil
	}
	return &tab{
		name:      "raw",
		extension: ".json",
		open:      func(theme *pane.Theme) pane.Pane { return newRaw(theme, raw) },
		write: func(out io.Writer, safe bool) error {
			if safe {
				return rawjson.Escape(out, raw)
			}
			_, err := out.Write(raw)
			return err
		},
	}
}

// writeContent writes content blocks, each beginning on a new line; binary blocks are only named.
func writeContent(out io.Writer, content []json.RawMessage, safe bool) error {
	for i, raw := range content {
		if i > 0 {
			if _, err := io.WriteString(out, "\n"); err != nil {
				return err
			}
		}
		if err := writeBlock(out, raw, safe); err != nil {
			return err
		}
	}
	return nil
}

func writeBlock(out io.Writer, raw json.RawMessage, safe bool) error {
	block := exec.ReadBlock(raw)
	if block.Quoted != nil && !block.Binary() {
		return writeQuoted(out, block.Quoted, safe)
	}
	text := block.String()
	if safe {
		text = render.SafeBlock(text)
	}
	_, err := io.WriteString(out, text)
	return err
}

// writeQuoted writes the text of a JSON string.
func writeQuoted(out io.Writer, quoted json.RawMessage, safe bool) error {
	if !safe {
		return rawjson.WriteText(out, quoted)
	}
	_, err := io.WriteString(out, render.SafeBlock(rawjson.Unquote(quoted)))
	return err
}
