package form

import (
	"encoding/json"
	"strings"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
	"toolx/pkg/tui/pane"
)

// key does what a key does now: what the bindings say, else it goes to the text
// under the cursor.
func (f *Form) key(msg tea.KeyPressMsg) tea.Cmd {
	if binding := pane.Find(f.Bindings(), msg.String()); binding != nil {
		if binding.Off != "" {
			return nil
		}
		return binding.Do()
	}
	if f.editor == nil && msg.Text != "" && f.letters() {
		return f.letter(msg)
	}
	if f.editor == nil {
		return nil
	}
	if f.editor.key(msg.Keystroke(), msg.Text) {
		f.typed()
	}
	return nil
}

// paste puts text in at the cursor. Terminals send a line's end as a carriage
// return. Where no text is typed, JSON becomes the value.
func (f *Form) paste(text string) {
	if f.editor == nil {
		f.typing = true
		f.startEditing()
	}
	if f.editor == nil {
		if at := f.cursor.field; !f.cursor.add && at.parent != nil && notJSON(strings.TrimSpace(text)) == "" {
			at.enter()
			at.put(json.RawMessage(strings.TrimSpace(text)))
			f.changed()
		}
		return
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	if f.json == nil && f.cursor.field.kind == jsonschema.ShapeNumber {
		text = strings.TrimSpace(text)
	}
	f.editor.insert(text)
	f.typed()
}

// takesText reports whether the cursor stands where text can be typed right away.
func (f *Form) takesText() bool {
	if f.cursor.add {
		return false
	}
	kind := f.cursor.field.kind
	return f.onKey || kind == jsonschema.ShapeText || kind == jsonschema.ShapeNumber || kind == jsonschema.ShapeJSON
}

// startEditing opens the text under the cursor where typing is on; else it closes
// what is open.
func (f *Form) startEditing() {
	f.closeEditor()
	if !f.focused || !f.typing {
		return
	}
	if f.json != nil {
		f.editor = f.json.editor
		return
	}
	f.place()
	if !f.takesText() {
		return
	}
	text := f.cursor.field.text
	if f.onKey {
		text = f.cursor.field.name
	}
	f.editor = newEditor(text)
	f.editor.lines = f.editor.several()
}

// edit begins typing at the cursor; of a choice it is the search for one of its values.
func (f *Form) edit() tea.Cmd {
	f.typing = true
	f.startEditing()
	if f.editor == nil && !f.cursor.add && f.cursor.field.words() != nil {
		f.editor = newEditor("")
	}
	return nil
}

// leave ends typing: letters are commands now.
func (f *Form) leave() tea.Cmd {
	f.typing = false
	f.closeEditor()
	return nil
}

// typed takes over what the editor holds.
func (f *Form) typed() {
	defer f.changed()
	if f.json != nil {
		return
	}
	at, text := f.cursor.field, f.editor.String()
	f.editor.lines = f.editor.several()
	switch {
	case f.onKey:
		at.name, at.key = text, rawjson.Quote(text)
	case at.words() != nil:
		if turn := at.search(text); turn >= 0 {
			at.enter()
			at.takeTurn(turn)
		}
	case at.kind == jsonschema.ShapeText:
		at.enter()
		at.state, at.text, at.raw = valued, text, nil
	case text == "" && !at.row():
		at.clear()
	default:
		at.enter()
		at.state, at.text = valued, text
	}
}

// enterKey is what enter does while text is typed: a new line where there are
// several, else on to the next field.
func (f *Form) enterKey() tea.Cmd {
	switch {
	case f.editor.lines && !f.onKey:
		f.editor.insert("\n")
		f.typed()
	case f.last():
		return f.leave()
	default:
		return f.next()
	}
	return nil
}
