package form

import (
	"slices"
	"strconv"
	"strings"

	"toolx/pkg/jsonschema"
)

// row is a place where the cursor can be: a field, or the line that adds a row to it.
type row struct {
	field *field
	add   bool
}

// visible returns the rows outside closed groups, in order.
func (f *entry) visible() []row {
	if f.rows == nil {
		if f.root.kind == jsonschema.ShapeVariant {
			f.rows = append(f.rows, row{field: f.root})
		}
		f.rows = f.root.appendRows(f.rows)
		if len(f.rows) == 0 {
			f.rows = append(f.rows, row{field: f.root, add: true})
		}
	}
	return f.rows
}

// appendRows appends the rows within a field. Those of an alternative that is an object or array follow
// the picker directly; any other alternative has a row of its own.
func (f *field) appendRows(rows []row) []row {
	if !f.open || f.state == nullness {
		return rows
	}
	if inner := f.inner(); inner != nil {
		if !inner.holdsFields() {
			rows = append(rows, row{field: inner})
		}
		return inner.appendRows(rows)
	}
	if !f.holdsFields() {
		return rows
	}
	f.grow()
	for _, child := range f.children {
		rows = child.appendRows(append(rows, row{field: child}))
	}
	if f.takesRows() && !f.silent() {
		rows = append(rows, row{field: f, add: true})
	}
	return rows
}

// takesRows reports whether the field's purpose is to hold rows.
func (f *field) takesRows() bool {
	return f.kind == jsonschema.ShapeArray || f.kind == jsonschema.ShapeObject && f.shape.IsMap
}

// silent reports whether the tool's schema is a bare object, as most tools without parameters have it:
// rows are possible, but nothing asks for them.
func (f *field) silent() bool {
	return f.parent == nil && f.kind == jsonschema.ShapeObject && f.shape.Bare && len(f.children) == 0
}

// place returns the index of the cursor's row among the visible ones. If its field is gone, the cursor
// moves to the nearest one.
func (f *entry) place() int {
	rows := f.visible()
	if at := slices.Index(rows, f.cursor); at >= 0 {
		return at
	}
	for around := f.cursor.field; around != nil; around = around.parent {
		if at := slices.Index(rows, row{field: around}); at >= 0 {
			f.cursor, f.onKey = rows[at], false
			return at
		}
	}
	f.cursor, f.onKey = rows[0], false
	return 0
}

// find returns the place of the row of a path among the visible ones, or -1.
func (f *entry) find(path string, add bool) int {
	return slices.IndexFunc(f.visible(), func(r row) bool { return r.add == add && r.field.path() == path })
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

// settled returns the field behind all pickers.
func settled(f *field) *field {
	for f.inner() != nil {
		f = f.inner()
	}
	return f
}

// label returns the text before a field's value. An invisible name is quoted.
func (f *field) label() string {
	switch {
	case f.parent == nil:
		return "arguments"
	case f.parent.kind == jsonschema.ShapeArray:
		return "[" + strconv.Itoa(f.place) + "]"
	case f.parent.kind == jsonschema.ShapeVariant:
		return "value"
	case strings.TrimSpace(f.name) == "":
		return strconv.Quote(f.name)
	}
	return f.name
}

// path returns the field's path as problems name it: options.mode, items[2].
func (f *field) path() string {
	switch {
	case f.parent == nil:
		return ""
	case f.parent.kind == jsonschema.ShapeVariant:
		return f.parent.path()
	case f.parent.kind == jsonschema.ShapeArray:
		return f.parent.path() + f.label()
	}
	if before := f.parent.path(); before != "" {
		return before + "." + f.name
	}
	return f.name
}

// addRow adds a row after the one under the cursor and moves there.
func (f *entry) addRow() {
	within, child := f.cursor.container()
	within.grow()
	at := len(within.children)
	if child != nil {
		at = max(child.place+1, within.named())
	}
	row := within.addRow(at)
	row.enter()
	within.state, within.open = valued, true
	row.begin()
	f.changed()
	f.goTo(row)
}

// goTo moves to a new row; in an object, to its first field that still has to be filled in.
func (f *entry) goTo(at *field) {
	if first := slices.IndexFunc(at.children, func(c *field) bool { return !c.present() }); first >= 0 && !at.extra {
		at = at.children[first]
	}
	f.cursor, f.onKey, f.typing = row{field: at}, at.extra, true
	f.startEditing()
}

// named returns how many of an object's fields its schema names; they cannot be moved.
func (f *field) named() int {
	if f.kind == jsonschema.ShapeArray {
		return 0
	}
	for i, child := range f.children {
		if child.extra {
			return i
		}
	}
	return len(f.children)
}

func (f *entry) removeRow() {
	child := f.cursor.own()
	within, place := child.parent, slices.Index(f.visible(), row{field: child})
	within.children = slices.Delete(within.children, child.place, child.place+1)
	within.number(child.place)
	f.changed()
	f.to(place)
}

func (f *entry) moveRow(by int) {
	child := f.cursor.own()
	within, from, to := child.parent, child.place, child.place+by
	within.children[from], within.children[to] = within.children[to], within.children[from]
	within.number(min(from, to))
	f.changed()
}
