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
	structured, messages := structuredIn(result.Raw), messagesOf(result)
	switch {
	case len(messages) > 0:
		tabs = append(tabs, messagesTab(messages))
	case messages != nil:
	case result.Err != nil:
		tabs = append([]*tab{errorTab(result.Err)}, jsonTabs("structured", structured)...)
	case result.Truncated != nil:
		tabs = append(tabs, textTab(result.Value))
	case structured != nil:
		tabs = jsonTabs("structured", structured)
	default:
		tabs = valueTabs(result)
	}
	if len(result.Content) > 0 && messages == nil {
		tabs = append(tabs, contentTab("content", result.Content))
	}
	if raw := result.Raw; len(raw) > 0 {
		if len(raw) <= maxTree { // else it would look like the raw tab
			tabs = append(tabs, treeTab("reply", raw))
		}
		tabs = append(tabs, rawTab(raw))
	}
	if len(tabs) == 0 {
		tabs = append(tabs, textTab(json.RawMessage(`""`)))
	}
	return tabs
}

// valueTabs shows a JSON value: that of a tool without content, or a text with JSON. Other text is in the content tab.
func valueTabs(result *exec.Result) []*tab {
	switch {
	case result.ValueIsContent() || len(result.Value) == 0:
		return nil
	case !rawjson.IsString(result.Value):
		return jsonTabs("value", result.Value)
	}
	if text := jsonInText(result.Value); text != nil {
		return jsonTabs("json", text)
	}
	if len(result.Content) == 0 {
		return []*tab{textTab(result.Value)}
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

// jsonTabs shows JSON as a tree, and as a table if it is a list of objects; the table comes first if it shows
// everything. There are no tabs without JSON.
func jsonTabs(name string, value json.RawMessage) []*tab {
	if len(value) == 0 {
		return nil
	}
	tree := treeTab(name, value)
	if len(value) > maxTree {
		tree.open = func(theme *pane.Theme) pane.Pane { return newRaw(theme, value) }
		return []*tab{tree}
	}
	found, flat := tableIn(value)
	table := *tree
	table.name, table.open = "table", func(theme *pane.Theme) pane.Pane { return newTable(theme, value) }
	switch {
	case flat:
		return []*tab{&table, tree}
	case found:
		return []*tab{tree, &table}
	}
	return []*tab{tree}
}

// treeTab shows JSON as a tree.
func treeTab(name string, value json.RawMessage) *tab {
	return &tab{
		name:      name,
		extension: ".json",
		value:     value,
		open:      func(theme *pane.Theme) pane.Pane { return jsontree.New(value, theme) },
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

// textTab shows the text of a JSON string.
func textTab(quoted json.RawMessage) *tab {
	return contentTab("text", []json.RawMessage{rawjson.Build("type", "text", "text", quoted)})
}

// contentTab shows content blocks one after the other.
func contentTab(name string, content []json.RawMessage) *tab {
	return &tab{
		name:      name,
		blocks:    content,
		extension: ".txt",
		open:      func(theme *pane.Theme) pane.Pane { return newMessages(theme, exec.Message{Blocks: content}) },
		write:     func(out io.Writer, safe bool) error { return writeContent(out, content, safe) },
	}
}

// rawTab shows the server's exact result, byte for byte.
func rawTab(raw json.RawMessage) *tab {
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
	if block.Quoted != nil && !block.Binary() && !safe {
		return rawjson.WriteText(out, block.Quoted)
	}
	text := block.String()
	if safe {
		text = render.SafeBlock(text)
	}
	_, err := io.WriteString(out, text)
	return err
}
