package form

import "toolx/pkg/jsonschema"

// to puts the cursor on a row by its place.
func (f *entry) to(place int) {
	rows := f.visible()
	f.cursor, f.onKey = rows[max(0, min(place, len(rows)-1))], false
	f.startEditing()
}

// vertical moves a line up or down, within text of several lines first.
func (f *entry) vertical(by int) {
	if f.editor != nil && f.editor.vertical(by > 0) {
		return
	}
	f.to(f.place() + by)
}

// step moves as in vim, without starting to type in the text that it passes.
func (f *entry) step(by int) {
	f.typing = false
	f.vertical(by)
}

// next moves to the next tab stop: a key and its value are two.
func (f *entry) next() {
	f.typing = true
	if f.onKey {
		f.onKey = false
		f.startEditing()
		return
	}
	if f.last() {
		return
	}
	f.to(f.place() + 1)
	f.onKey = f.cursor.field.extra && !f.cursor.add
	f.startEditing()
}

// previous is next backwards.
func (f *entry) previous() {
	f.typing = true
	if f.cursor.field.extra && !f.cursor.add && !f.onKey {
		f.onKey = true
		f.startEditing()
		return
	}
	f.to(f.place() - 1)
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
	f.rows, f.typing = nil, true
	f.cursor = row{field: wrong}
	f.to(f.place())
	f.keepText()
}

// lacking returns the field to fill in first for a missing one: for an object, its first required field.
func (f *field) lacking() *field {
	if f.kind != jsonschema.ShapeObject || f.present() {
		return f
	}
	f.open = true
	f.grow()
	for _, child := range f.children {
		if child.required {
			return child.lacking()
		}
	}
	return f
}

// Resume moves the cursor to where it is in another form of the same tool. If that field is gone,
// typing ends, because further keys were meant for that field.
func (f *Form) Resume(old *Form) {
	if f.json != nil || old.json != nil {
		return
	}
	place := f.find(old.cursor.field.path(), old.cursor.add)
	if place < 0 {
		f.leave()
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

// AtEnd reports whether enter has nothing left to do in the form: the cursor is on the last field, which takes one line
// of text or one of a few values.
func (f *entry) AtEnd() bool {
	if f.json != nil || !f.last() || f.cursor.add {
		return false
	}
	at := f.cursor.field
	if f.cursor.takesText(false) {
		return f.editor != nil && !f.editor.lines
	}
	searches := at.kind == jsonschema.ShapeEnum && len(at.shape.Options) > fewOptions
	return f.editor == nil && at.kind != jsonschema.ShapeVariant && at.switches() && !searches
}

// Empty reports whether the tool takes no parameters.
func (f *entry) Empty() bool {
	rows := f.visible()
	return f.json == nil && len(rows) == 1 && rows[0].add && rows[0].noEnter() != ""
}

// StopTyping makes letters commands.
func (f *entry) StopTyping() { f.leave() }

func (f *entry) last() bool { return f.place() == len(f.visible())-1 && !f.onKey }
