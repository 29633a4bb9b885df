package form

import (
	"bytes"
	"encoding/json"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/tui/pane"
)

// jsonText is the whole form, typed as JSON.
type jsonText struct {
	*editor
	// before is the text that was made from the fields. If it did not change, the fields are kept,
	// with the state that JSON does not express.
	before string
}

// indent writes JSON over several lines; other text stays as it is.
func indent(text []byte) string {
	var out bytes.Buffer
	if json.Indent(&out, text, "", "  ") != nil {
		return string(text)
	}
	return out.String()
}

// toJSON turns the fields into JSON to edit. Text in a field that is not JSON is included as it is.
func (f *Form) toJSON() tea.Cmd {
	f.openJSON(writeLines(f.root))
	return nil
}

// Draft returns what is typed now as JSON to edit. Text that is not JSON yet is included as it is.
func (f *Form) Draft() string { return indent(f.snapshot()) }

// EditText opens the JSON editor with a text, for instance from an external editor; it need not be
// JSON.
func (f *Form) EditText(text string) {
	if f.json == nil {
		f.toJSON()
	}
	f.openJSON(text)
}

func (f *Form) openJSON(text string) {
	before := text
	if f.json != nil {
		before = f.json.before
	}
	f.json = &jsonText{editor: newEditor(text), before: before}
	f.json.move(0)
	f.typing = true
	f.changed()
	f.startEditing()
}

// toFields returns from JSON to the fields. Broken JSON stays open, with the cursor at the error.
func (f *Form) toFields() tea.Cmd {
	text := f.json.String()
	if text != f.json.before {
		if notObject([]byte(text)) != nil {
			if at, broken := brokenAt(text); broken {
				f.json.move(len([]rune(text[:at])))
			}
			return f.edit()
		}
		path := f.cursor.field.path()
		f.fill(json.RawMessage(bytes.TrimSpace([]byte(text))))
		f.find(path)
	}
	f.json, f.editor = nil, nil
	f.changed()
	f.place()
	f.startEditing()
	return nil
}

func (f *Form) jsonBindings() []pane.Binding {
	list := []pane.Binding{{Keys: []string{"f2"}, Help: "back to the fields", Do: f.toFields}}
	if f.editor == nil {
		line := func(down bool) func() tea.Cmd {
			return func() tea.Cmd { f.json.vertical(down); return nil }
		}
		return append(list,
			pane.Binding{Keys: []string{"enter"}, Help: "type", Do: f.edit},
			pane.Binding{Keys: []string{"down", "j"}, Help: "a line down", Do: line(true)},
			pane.Binding{Keys: []string{"up", "k"}, Help: "a line up", Do: line(false)})
	}
	lines := func(by int) func() tea.Cmd {
		return func() tea.Cmd {
			for range f.screen.page() {
				f.json.vertical(by > 0)
			}
			return nil
		}
	}
	insert := func(text string) func() tea.Cmd {
		return func() tea.Cmd {
			f.editor.insert(text)
			f.typed()
			return nil
		}
	}
	return append(list,
		pane.Binding{Keys: []string{"esc"}, Help: "stop typing", Do: f.leave},
		pane.Binding{Keys: []string{"enter"}, Help: "new line", Do: insert("\n")},
		pane.Binding{Keys: []string{"tab"}, Help: "indent", Do: insert("  ")},
		pane.Binding{Keys: []string{"down"}, Help: "a line down", Do: func() tea.Cmd { f.json.vertical(true); return nil }},
		pane.Binding{Keys: []string{"up"}, Help: "a line up", Do: func() tea.Cmd { f.json.vertical(false); return nil }},
		pane.Binding{Keys: []string{"pgdown"}, Help: "a page down", Do: lines(1)},
		pane.Binding{Keys: []string{"pgup"}, Help: "a page up", Do: lines(-1)})
}
