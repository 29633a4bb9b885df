package form

import (
	"slices"

	"toolx/pkg/jsonschema"
)

// addRow adds a row after the one under the cursor and moves there.
func (f *Form) addRow() {
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
func (f *Form) goTo(at *field) {
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

func (f *Form) removeRow() {
	child := f.cursor.own()
	within, place := child.parent, slices.Index(f.visible(), row{field: child})
	within.children = slices.Delete(within.children, child.place, child.place+1)
	within.number(child.place)
	f.changed()
	f.to(place)
}

func (f *Form) moveRow(by int) {
	child := f.cursor.own()
	within, from, to := child.parent, child.place, child.place+by
	within.children[from], within.children[to] = within.children[to], within.children[from]
	within.number(min(from, to))
	f.changed()
}
