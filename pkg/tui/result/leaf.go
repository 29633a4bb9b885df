package result

import (
	"bytes"
	"encoding/json"
	"io"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/tui/jsontree"
	"toolx/pkg/tui/pane"
)

// leaf is one way to look at a result.
type leaf struct {
	name string
	// open makes the body; nothing is read before the leaf is looked at.
	open func(*pane.Theme) body
	made body
	// write writes all of what the leaf shows the first part of. Where safe is set
	// it goes to a terminal, else every byte is the server's own, but for the line
	// ends between blocks.
	write     func(out io.Writer, safe bool) error
	extension string // of a file that it is saved to
}

// leavesOf takes a result apart. There is always at least one leaf.
func leavesOf(result *exec.Result) []*leaf {
	var leaves []*leaf
	add := func(l *leaf) {
		if l != nil {
			leaves = append(leaves, l)
		}
	}
	structured, messages := structuredIn(result.Raw), messagesOf(result)
	switch {
	case messages != nil:
		add(messagesLeaf(messages))
	case result.Err != nil:
		add(errorLeaf(result.Err))
		add(jsonLeaf("structured", structured))
	case result.Truncated != nil:
		add(textLeaf("text", result.Value))
	case structured != nil:
		add(jsonLeaf("structured", structured))
	default:
		add(valueLeaf(result))
	}
	if len(result.Content) > 0 && messages == nil {
		add(contentLeaf(result))
	}
	if len(result.Raw) <= maxTree { // else it would look like the raw one
		add(replyLeaf(result.Raw))
	}
	add(rawLeaf(result))
	if len(leaves) == 0 {
		add(textLeaf("text", json.RawMessage(`""`)))
	}
	return leaves
}

// valueLeaf is for a value that is JSON: of a tool that gives no content, or a text
// that is written as JSON. Other text is in the content's leaf.
func valueLeaf(result *exec.Result) *leaf {
	switch {
	case result.ValueIsContent() || len(result.Value) == 0:
		return nil
	case !rawjson.IsString(result.Value):
		return jsonLeaf("value", result.Value)
	}
	if text := jsonInText(result.Value); text != nil {
		return jsonLeaf("json", text)
	}
	if len(result.Content) == 0 {
		return textLeaf("text", result.Value)
	}
	return nil
}

// jsonInText is the object or array that a JSON string says, nil where it says
// something else, or too much.
func jsonInText(quoted json.RawMessage) json.RawMessage {
	const longest = 256 // of the space ahead of a value
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

// structuredIn cuts structuredContent out of a CallToolResult, nil where there is
// none.
func structuredIn(raw json.RawMessage) json.RawMessage {
	for member := range rawjson.Each(raw) {
		if member.Name == "structuredContent" && string(member.Value) != "null" {
			return member.Value
		}
	}
	return nil
}

// jsonLeaf shows JSON as a tree or a table; nil where there is none.
func jsonLeaf(name string, value json.RawMessage) *leaf {
	if len(value) == 0 {
		return nil
	}
	return &leaf{
		name:      name,
		extension: ".json",
		open: func(theme *pane.Theme) body {
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

// replyLeaf shows the server's result as a tree: its blocks make no good table.
func replyLeaf(raw json.RawMessage) *leaf {
	l := jsonLeaf("reply", raw)
	if l != nil {
		l.open = func(theme *pane.Theme) body { return jsontree.New(raw, theme) }
	}
	return l
}

// textLeaf shows what a JSON string says.
func textLeaf(name string, quoted json.RawMessage) *leaf {
	return &leaf{
		name:      name,
		extension: ".txt",
		open: func(theme *pane.Theme) body {
			return newContent(theme, []block{textBlock(quoted, maxText)}, 0)
		},
		write: func(out io.Writer, safe bool) error { return writeQuoted(out, quoted, safe) },
	}
}

// contentLeaf shows the content blocks, one after the other.
func contentLeaf(result *exec.Result) *leaf {
	return &leaf{
		name:      "content",
		extension: ".txt",
		open: func(theme *pane.Theme) body {
			blocks, rest := blocksOf(result.Content)
			return newContent(theme, blocks, rest)
		},
		write: func(out io.Writer, safe bool) error {
			return writeContent(out, result.Content, safe)
		},
	}
}

// rawLeaf shows the server's exact result, byte for byte; nil where there is none.
func rawLeaf(result *exec.Result) *leaf {
	raw := result.Raw
	if len(raw) == 0 {
		return nil
	}
	return &leaf{
		name:      "raw",
		extension: ".json",
		open:      func(theme *pane.Theme) body { return newRaw(theme, raw) },
		write: func(out io.Writer, safe bool) error {
			if safe {
				return render.EscapeJSON(out, raw)
			}
			_, err := out.Write(raw)
			return err
		},
	}
}

// writeContent writes content blocks, each on lines of its own; bytes are named.
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
	if quoted := textOf(raw); quoted != nil {
		return writeQuoted(out, quoted, safe)
	}
	text := exec.ParseBlock(raw).String()
	if safe {
		text = render.SafeBlock(text)
	}
	_, err := io.WriteString(out, text)
	return err
}

// writeQuoted writes what a JSON string says.
func writeQuoted(out io.Writer, quoted json.RawMessage, safe bool) error {
	if !safe {
		return rawjson.WriteText(out, quoted)
	}
	_, err := io.WriteString(out, render.SafeBlock(rawjson.Unquote(quoted)))
	return err
}
