package form

import (
	"slices"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// entry is the place in the values where the user is, and what is typed there.
type entry struct {
	values
	focused bool
	// typing reports whether text fields take letters as soon as the cursor is on them; esc ends it, enter
	// and tab start it again.
	typing bool
	cursor row
	onKey  bool    // the cursor is on the key of a row of key and value
	editor *editor // of the field under the cursor, or of the JSON; nil if none is open
	rows   []row   // the fields that can be reached now; nil if they must be gathered
}

// HoldFormats makes a wrong format a problem rather than a warning: a server that asks for a format relies on it.
func (f *entry) HoldFormats() {
	f.holdFormats = true
	f.changed()
}

// Focus sets whether the form gets the keys.
func (f *entry) Focus(on bool) {
	f.focused = on
	f.typing = f.typing || on
	f.startEditing()
}

// Editing reports whether letters are text, or select a value, rather than commands.
func (f *entry) Editing() bool { return f.focused && (f.editor != nil || f.letters()) }

// StopTyping makes letters commands.
func (f *entry) StopTyping() {
	f.typing = false
	f.closeEditor()
}

// AtEnd reports whether enter has nothing left to do in the form: the cursor is on the last field, which takes one line
// of text or one of a few values.
func (f *entry) AtEnd() bool {
	if f.json != nil || !f.last() || f.cursor.add {
		return false
	}
	if f.cursor.takesText(false) {
		return f.editor != nil && !f.editor.several()
	}
	c := choice{f.cursor.field}
	return f.editor == nil && c.kind != jsonschema.ShapeVariant && c.switches() && !c.searched()
}

// Empty reports whether the tool takes no parameters.
func (f *entry) Empty() bool {
	rows := f.visible()
	return f.json == nil && len(rows) == 1 && rows[0].noRows() != ""
}

// Fields returns how many rows the form has.
func (f *entry) Fields() int { return len(f.visible()) }

// changed drops what was derived from the fields.
func (f *entry) changed() {
	f.rows, f.made = nil, nil
	if f.stale = f.slow && f.editor != nil; !f.stale {
		f.verdict = nil
	}
}

// replaced takes a value that was not typed; typing continues after it, since a suggestion may be only a beginning.
func (f *entry) replaced() {
	f.changed()
	f.startEditing()
	f.keepText()
}

// visible returns the rows outside closed groups, in order.
func (f *entry) visible() []row {
	if f.rows == nil {
		if f.root.kind == jsonschema.ShapeVariant {
			f.rows = append(f.rows, row{field: f.root})
		}
		if f.rows = f.root.appendRows(f.rows); len(f.rows) == 0 {
			f.rows = append(f.rows, row{field: f.root, add: true})
		}
	}
	return f.rows
}

// place returns the index of the cursor's row among the visible ones. If its field is gone, the cursor
// moves to the nearest one.
func (f *entry) place() int {
	rows := f.visible()
	if at := slices.Index(rows, f.cursor); at >= 0 {
		return at
	}
	at := 0
	for around := f.cursor.field; around != nil; around = around.parent {
		if at = slices.Index(rows, row{field: around}); at >= 0 {
			break
		}
	}
	at = max(0, at)
	f.cursor, f.onKey = rows[at], false
	return at
}

// find returns the place of the row of a path among the visible ones, or -1.
func (f *entry) find(path string, add bool) int {
	return slices.IndexFunc(f.visible(), func(r row) bool { return r.add == add && r.field.path() == path })
}

// last reports whether there is nothing below the cursor.
func (f *entry) last() bool { return f.place() == len(f.visible())-1 && !f.onKey }

// to puts the cursor on a row by its place.
func (f *entry) to(place int) {
	rows := f.visible()
	f.cursor, f.onKey = rows[max(0, min(place, len(rows)-1))], false
	f.startEditing()
}

// vertical moves a line up or down, within text of several lines first.
func (f *entry) vertical(by int) {
	if f.editor == nil || !f.editor.vertical(by > 0) {
		f.to(f.place() + by)
	}
}

// next moves to the next tab stop: a key and its value are two.
func (f *entry) next() {
	f.typing = true
	switch {
	case f.onKey:
		f.onKey = false
		f.startEditing()
	case !f.last():
		f.to(f.place() + 1)
		f.onKey = f.cursor.field.extra && !f.cursor.add
		f.startEditing()
	}
}

// previous is next backwards.
func (f *entry) previous() {
	f.typing = true
	if f.onKey = f.cursor.field.extra && !f.cursor.add && !f.onKey; f.onKey {
		f.startEditing()
		return
	}
	f.to(f.place() - 1)
}

// goTo moves to a new row; in an object, to its first field that still has to be filled in.
func (f *entry) goTo(at *field) {
	missing := func(c *field) bool { return !c.present() }
	if first := slices.IndexFunc(at.inside(), missing); first >= 0 && !at.extra {
		at = at.inside()[first]
	}
	f.cursor, f.onKey, f.typing = row{field: at}, at.extra, true
	f.changed()
	f.startEditing()
}

// ToProblem moves to the first field that prevents the call, opens everything around it, and starts
// typing after the existing text, so that it can be corrected. If no single field is at fault, nothing changes.
func (f *entry) ToProblem() {
	wrong := f.check().first
	if wrong == nil || f.json != nil {
		return
	}
	wrong = wrong.lacking()
	for around := wrong.parent; around != nil; around = around.parent {
		around.open = true
	}
	f.rows, f.typing, f.cursor = nil, true, row{field: wrong}
	f.to(f.place())
	f.keepText()
}

// Resume moves the cursor to where it is in another form of the same tool. If that field is gone,
// typing ends, because further keys were meant for that field.
func (f *entry) Resume(old *Form) {
	if f.json != nil || old.json != nil {
		return
	}
	place := f.find(old.cursor.field.path(), old.cursor.add)
	if place < 0 {
		f.StopTyping()
		return
	}
	f.typing = old.typing
	f.to(place)
	if f.onKey = old.onKey; f.onKey {
		f.startEditing()
	}
	if f.editor != nil && old.editor != nil && f.editor.String() == old.editor.String() {
		f.editor.at, f.editor.all = old.editor.at, old.editor.all
	}
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
	text := f.cursor.field.text()
	if f.onKey {
		text = f.cursor.field.name
	}
	if f.editor = newEditor(text); !f.editor.several() {
		f.editor.selectAll()
	}
}

// closeEditor ends typing in the open text.
func (f *entry) closeEditor() {
	f.editor = nil
	if f.stale {
		f.changed()
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
	if f.editor == nil && !f.cursor.add && f.cursor.field.switches() {
		f.editor = newEditor("")
	}
}

// letters reports whether letters belong to the field under the cursor although no text is open there.
// In a choice they begin one of its values, in an array or map they begin a row, and in an object they
// do nothing, because someone who types words does not mean commands. After esc they are commands.
func (f *entry) letters() bool {
	at := f.cursor.field
	switch {
	case !f.typing || f.json != nil || f.editor != nil:
		return false
	case f.cursor.add:
		return f.cursor.noRows() == ""
	}
	return at.group() || at.switches()
}

// Typed returns the parameter whose text is under the cursor, and the text so far. It is a parameter of the tool, or a
// row in one that is a list. ok is false for anything else, and while the arguments are edited as JSON.
func (f *entry) Typed() (name, text string, ok bool) {
	f.place()
	at := f.cursor.field
	if f.json != nil || f.cursor.add || f.onKey || at.kind != jsonschema.ShapeText {
		return "", "", false
	}
	text = at.text()
	if at.parent.kind == jsonschema.ShapeArray {
		at = at.parent
	}
	if at.parent != f.root || at.extra {
		return "", "", false
	}
	return at.name, text, true
}

// typed takes over the editor's text.
func (f *entry) typed() {
	defer f.changed()
	text, at := f.editor.String(), f.cursor.field
	switch {
	case f.json != nil:
	case f.onKey:
		at.name, at.key = text, rawjson.Quote(text)
	case at.switches():
		if found := (choice{at}).search(text); found >= 0 {
			choice{at}.pick(found)
		}
	default:
		at.setText(text)
	}
}

// insert types text at the cursor.
func (f *entry) insert(text string) {
	f.editor.insert(text)
	f.typed()
}
