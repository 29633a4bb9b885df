package form

import (
	"encoding/json"
	"slices"
	"strings"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// paste inserts text at the cursor. Terminals send a carriage return for a line's end. A JSON object of the tool's
// parameters fills the form. If no text is being typed, other JSON becomes the value.
func (f *Form) paste(text string) {
	if f.json == nil && f.takesAll(text) {
		_ = f.SetArguments(json.RawMessage(strings.TrimSpace(text))) // it is an object
		return
	}
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
	f.insert(text)
}

// takesAll reports whether text is a JSON object that has only parameters of the tool.
func (f *Form) takesAll(text string) bool {
	if notObject([]byte(text)) != nil {
		return false
	}
	members, _ := rawjson.Members([]byte(text))
	for _, member := range members {
		known := func(child *field) bool { return child.name == member.Name }
		if !slices.ContainsFunc(f.root.children, known) {
			return false
		}
	}
	return len(members) > 0
}

// takesText reports whether text can be typed in the row right away: its value, or its key.
func (r row) takesText(onKey bool) bool {
	return !r.add && (onKey || !r.field.group() && !r.field.switches())
}

// startEditing opens the text under the cursor if typing is on, else closes the open one. It selects text of one line:
// users who return to a value usually replace it, and moving the cursor keeps it.
func (f *entry) startEditing() {
	f.closeEditor()
	if !f.focused || !f.typing {
		return
	}
	if f.json != nil {
		f.editor = f.json.editor
		return
	}
	f.place()
	if !f.cursor.takesText(f.onKey) {
		return
	}
	text := f.cursor.field.text
	if f.onKey {
		text = f.cursor.field.name
	}
	f.editor = newEditor(text)
	if f.editor.lines = f.editor.several(); !f.editor.lines {
		f.editor.selectAll()
	}
}

// keepText makes the next key change the text under the cursor instead of replacing it.
func (f *entry) keepText() {
	if f.editor != nil {
		f.editor.all = false
	}
}

// edit begins typing at the cursor; for a choice, that searches its values.
func (f *entry) edit() {
	f.typing = true
	f.startEditing()
	if f.editor == nil && !f.cursor.add && f.cursor.field.words() != nil {
		f.editor = newEditor("")
	}
}

// leave ends typing: letters are commands now.
func (f *entry) leave() {
	f.typing = false
	f.closeEditor()
}

// typed takes over the editor's text.
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

// enterKey does what enter does while text is typed: it adds a line in text of several lines, else
// moves to the next field.
func (f *Form) enterKey() {
	switch {
	case f.editor.lines && !f.onKey:
		f.newLine()
	case f.last():
		f.leave()
	default:
		f.next()
	}
}

// Typed returns the parameter whose text is under the cursor, and the text so far. It is a parameter of the tool, or a
// row in one that is a list. ok is false for anything else, and while the arguments are edited as JSON.
func (f *entry) Typed() (name, text string, ok bool) {
	if f.json != nil {
		return "", "", false
	}
	f.place()
	at := f.cursor.field
	if f.cursor.add || f.onKey || at.kind != jsonschema.ShapeText {
		return "", "", false
	}
	parameter := at
	if at.parent != nil && at.parent.kind == jsonschema.ShapeArray {
		parameter = at.parent
	}
	if parameter.parent != f.root || parameter.extra {
		return "", "", false
	}
	return parameter.name, at.text, true
}

// Type replaces the text under the cursor; it does nothing where Typed has no text.
func (f *Form) Type(text string) {
	if _, _, ok := f.Typed(); !ok {
		return
	}
	at := f.cursor.field
	at.enter()
	at.put(rawjson.Quote(text))
	f.replaced()
}
