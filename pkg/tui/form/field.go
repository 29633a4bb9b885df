package form

import (
	"bytes"
	"encoding/json"
	"slices"

	"toolx/pkg/jsonschema"
)

// state reports whether a field is unset, null, or has a value.
type state int

const (
	unset    state = iota // it is left out
	valued                // it has a value
	nullness              // it is null
)

// field is one value of the form, with its child fields. Children are made when the field is opened or
// filled in, because a recursive schema has no end.
type field struct {
	parent   *field
	depth    int
	shape    *jsonschema.Shape
	kind     jsonschema.ShapeKind // of the shape, or JSON if the value does not fit the shape
	required bool

	name  string          // of a member
	key   json.RawMessage // the name as it is written
	extra bool            // a member whose name is free

	state state
	text  string          // of text; of a number and of JSON as it is typed
	raw   json.RawMessage // of a choice; of text as it was given, until it is edited

	place    int // among the children around it
	open     bool
	grown    bool
	children []*field // of objects and arrays
	choice   int      // of a variant: which alternative, -1 for none
	inners   []*field // of a variant: one for each alternative that was chosen before
}

// Limits of the fields of one schema, which comes from a server and may be hostile.
const (
	maxRecursion = 3  // the same $ref within itself, then JSON
	maxNesting   = 16 // fields within fields, then JSON
)

// newField makes the field of a schema within another field.
func newField(parent *field, schema *jsonschema.Node) *field {
	f := &field{parent: parent, depth: parent.depth + 1, choice: -1}
	f.take(schema.Shape())
	return f
}

// take gives the field the shape of its schema, within the limits of nesting.
func (f *field) take(s *jsonschema.Shape) {
	f.shape = s
	why := ""
	switch group := s.Kind >= jsonschema.ShapeObject; {
	case !s.Known:
		why = jsonschema.Nowhere
	case group && f.depth > maxNesting:
		why = "nested deeply"
	case group && f.repeats() >= maxRecursion:
		why = "it contains itself"
	}
	if why != "" {
		s.Kind, s.Why, s.Nullable = jsonschema.ShapeJSON, why, s.Nullable || !s.Known
	}
	f.kind = s.Kind
}

// repeats counts the fields around this one that have the same schema.
func (f *field) repeats() int {
	count := 0
	for around := f.parent; around != nil && f.shape.Target != nil; around = around.parent {
		if around.shape.Target == f.shape.Target {
			count++
		}
	}
	return count
}

// group reports whether the field contains other fields, directly or in an alternative.
func (f *field) group() bool { return f.kind >= jsonschema.ShapeObject }

// holdsFields reports whether the field is an object or an array.
func (f *field) holdsFields() bool { return f.group() && f.kind != jsonschema.ShapeVariant }

// switches reports whether the field has one of several values.
func (f *field) switches() bool {
	return f.kind == jsonschema.ShapeBool || f.kind == jsonschema.ShapeEnum || f.kind == jsonschema.ShapeVariant
}

// row reports whether the field is a row that can be added and removed.
func (f *field) row() bool {
	return f.extra || f.parent != nil && f.parent.kind == jsonschema.ShapeArray
}

// inner returns the chosen alternative of a variant, nil if none is chosen.
func (f *field) inner() *field {
	if f.kind != jsonschema.ShapeVariant || f.choice < 0 {
		return nil
	}
	return f.inners[f.choice]
}

// present reports whether the field has a value to send. An object is present as soon as anything in it is.
func (f *field) present() bool {
	switch {
	case f.state != unset || f.row():
		return true
	case f.kind == jsonschema.ShapeObject:
		return slices.ContainsFunc(f.children, (*field).present)
	}
	inner := f.inner()
	return inner != nil && inner.present()
}

// grow makes the fields that an object's schema names.
func (f *field) grow() {
	if f.grown || f.kind != jsonschema.ShapeObject {
		return
	}
	f.grown = true
	defer f.number(0)
	for _, p := range f.shape.Properties {
		child := newField(f, p.Node)
		child.name, child.key, child.required = p.Name, p.Key, p.Required
		f.children = append(f.children, child)
	}
}

// addRow inserts a row into an array, or an unnamed member into an object, at a place among its children.
func (f *field) addRow(at int) *field {
	schema := f.shape.Items
	if f.kind == jsonschema.ShapeObject {
		schema = f.shape.Additional
	}
	row := newField(f, schema)
	row.extra = f.kind == jsonschema.ShapeObject
	row.key = json.RawMessage(`""`)
	f.children = slices.Insert(f.children, at, row)
	f.number(at)
	return row
}

// number renumbers the children from an index on.
func (f *field) number(from int) {
	for i := from; i < len(f.children); i++ {
		f.children[i].place = i
	}
}

// choose selects an alternative of a variant. Text typed into another alternative is kept for when it is chosen again.
func (f *field) choose(choice int) *field {
	if f.inners == nil {
		f.inners = make([]*field, len(f.shape.Alternatives))
	}
	f.choice = choice
	if f.inners[choice] == nil {
		a := f.shape.Alternatives[choice]
		inner := &field{parent: f, depth: f.depth, choice: -1, open: true}
		inner.take(a.Shape())
		f.inners[choice] = inner
	}
	return f.inners[choice]
}

// clear unsets the field and everything in it.
func (f *field) clear() {
	f.kind, f.state, f.text, f.raw = f.shape.Kind, unset, "", nil
	f.children, f.grown, f.choice, f.inners = nil, false, -1, nil
}

// begin gives a new row an empty value, so that it can be sent. Numbers have no empty value and have to be typed.
func (f *field) begin() {
	switch f.kind {
	case jsonschema.ShapeText, jsonschema.ShapeObject, jsonschema.ShapeArray:
		f.state = valued
	case jsonschema.ShapeBool:
		f.state, f.raw = valued, json.RawMessage("false")
	case jsonschema.ShapeEnum:
		f.state, f.raw = valued, f.shape.Options[0].Raw
	case jsonschema.ShapeVariant:
		f.choose(0).begin()
	}
	f.open = f.group()
	f.setConstants()
}

// setConstants fills in the members of an object that can have only one value.
func (f *field) setConstants() {
	f.grow()
	for _, child := range f.children {
		one := child.kind == jsonschema.ShapeEnum && len(child.shape.Options) == 1
		if child.required && child.state == unset && one {
			child.state, child.raw = valued, child.shape.Options[0].Raw
		}
	}
}

// enter prepares everything around the field for a value in it: null values around it are unset, and
// an object that becomes present gets its constants.
func (f *field) enter() {
	for around := f.parent; around != nil; around = around.parent {
		if around.kind == jsonschema.ShapeObject && around.parent != nil && !around.present() {
			around.setConstants()
		}
		if around.state == nullness {
			around.state = unset
		}
	}
}

// option returns the index of a value among a choice's options, or -1.
func (f *field) option() int {
	return slices.IndexFunc(f.shape.Options, func(o jsonschema.Option) bool { return bytes.Equal(o.Raw, f.raw) })
}
