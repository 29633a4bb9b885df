package form

import (
	"encoding/json"

	"toolx/pkg/jsonschema"
)

// row is a place where the cursor can be: a field, or the line that adds a row to it.
type row struct {
	field *field
	add   bool
}

// appendRows appends the rows within a field. Those of an alternative that is an object or array follow
// the picker directly; any other alternative has a row of its own.
func (f *field) appendRows(rows []row) []row {
	if !f.open || f.null() {
		return rows
	}
	f.grow()
	for _, child := range f.inside() {
		if f.kind != jsonschema.ShapeVariant || !child.holdsFields() {
			rows = append(rows, row{field: child})
		}
		rows = child.appendRows(rows)
	}
	if f.takesRows() && !f.silent() {
		rows = append(rows, row{field: f, add: true})
	}
	return rows
}

// takesText reports whether text can be typed in the row right away: its value, or its key.
func (r row) takesText(onKey bool) bool {
	return !r.add && (onKey || !r.field.group() && !r.field.switches())
}

// noRows returns why nothing can be added or filled in; empty if it can.
func (r row) noRows() string {
	switch {
	case r.add && r.field.silent():
		return "the tool needs no parameters; ctrl+a adds one"
	case r.add && !r.field.takesRows():
		return "the tool takes no parameters"
	}
	return ""
}

// notes returns the remarks at a row.
func (r row) notes() []note {
	if r.add {
		return nil
	}
	return r.field.notes
}

// around returns the group that the row is in, nil if it is not in one.
func (r row) around() *field {
	around := r.field
	if !r.add {
		around = around.parent
	}
	if around == nil || around.parent == nil {
		return nil
	}
	return around
}

// container returns the field to which a row is added at the cursor: the innermost array or object
// that takes rows, or nil. child is its child that holds the cursor.
func (r row) container() (around, child *field) {
	if r.add && r.field.takesRows() {
		return r.field, nil
	}
	for around = r.field; around != nil; around = around.parent {
		if within := settled(around); within.takesRows() {
			return within, child
		}
		if around.row() {
			return around.parent, around
		}
		child = around
	}
	return nil, nil
}

// own returns the innermost row that the cursor is in, or nil.
func (r row) own() *field {
	if r.add {
		return nil
	}
	at := r.field
	for at != nil && !at.row() {
		at = at.parent
	}
	return at
}

// addRow adds a row after the one under the cursor, and returns it.
func (r row) addRow() *field {
	within, child := r.container()
	within.grow()
	at := len(within.children)
	if child != nil {
		at = max(child.place+1, within.named())
	}
	added := within.addRow(at)
	added.enter()
	if within.open = true; within.raw == nil {
		within.raw = json.RawMessage("{}") // it is there, also when the row is gone
	}
	added.begin()
	return added
}
