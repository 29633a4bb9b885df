package form

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
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

	// raw is the value as it is written: of a number and of JSON as it is typed, which may be broken. It is nil if the
	// field is unset. Of a group it only says that the value is null, or is there although nothing in it is.
	raw json.RawMessage

	place    int // among the children around it
	open     bool
	grown    bool
	children []*field // of a variant: one for each alternative that was chosen before
	// alternative is which of its children a variant shows, -1 for none.
	alternative int

	// What the last check found: remarks, and how many problems lie within a group.
	notes   []note
	trouble int
}

// Limits of the fields of one schema, which comes from a server and may be hostile.
const (
	maxRecursion = 3  // the same $ref within itself, then JSON
	maxNesting   = 16 // fields within fields, then JSON
	maxOpen      = 50 // rows of a group that is opened automatically
)

// newField makes the field of a shape within another field, within the limits of nesting.
func newField(parent *field, depth int, s *jsonschema.Shape) *field {
	f := &field{parent: parent, depth: depth, shape: s, alternative: -1}
	why := ""
	switch group := s.Kind >= jsonschema.ShapeObject; {
	case !s.Known:
		why = jsonschema.Nowhere
	case group && depth > maxNesting:
		why = "nested deeply"
	case group && f.repeats() >= maxRecursion:
		why = "it contains itself"
	}
	if why != "" {
		s.Kind, s.Why, s.Nullable = jsonschema.ShapeJSON, why, s.Nullable || !s.Known
	}
	f.kind = s.Kind
	return f
}

// newRoot makes the field of the whole arguments, which are an object.
func newRoot(schema *jsonschema.Document) *field {
	shape := schema.Arguments()
	f := &field{shape: shape, kind: shape.Kind, alternative: -1, open: true}
	f.grow()
	f.openRequired()
	return f
}

// openRequired opens required objects that have few fields, and gives required fields their defaults, because the call
// needs a value and the schema has one.
func (f *field) openRequired() {
	for _, child := range f.inside() {
		if child.required && child.shape.Default != nil && !child.present() {
			child.put(child.shape.Default.Raw())
		}
		few := child.kind == jsonschema.ShapeObject && len(child.shape.Properties) <= maxOpen/2
		if child.required && few && f.depth < 2 {
			child.setOpen(true)
			child.openRequired()
		}
	}
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

// row reports whether the field is a row that can be added and removed.
func (f *field) row() bool {
	return f.extra || f.parent != nil && f.parent.kind == jsonschema.ShapeArray
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

// inside returns the fields of an object, the rows of an array, or the chosen alternative of a variant.
func (f *field) inside() []*field {
	if f.kind == jsonschema.ShapeVariant {
		if f.alternative < 0 {
			return nil
		}
		return f.children[f.alternative : f.alternative+1]
	}
	return f.children
}

// settled returns the field behind all pickers.
func settled(f *field) *field {
	for f.kind == jsonschema.ShapeVariant && f.alternative >= 0 {
		f = f.children[f.alternative]
	}
	return f
}

// null reports whether the value is null.
func (f *field) null() bool { return string(f.raw) == "null" }

// present reports whether the field has a value to send. A group is present as soon as anything in it is.
func (f *field) present() bool {
	return f.raw != nil || f.row() || slices.ContainsFunc(f.inside(), (*field).present)
}

// needed reports whether the call needs the field. A field that is required within an optional group
// is needed once the group is present.
func (f *field) needed() bool {
	around := f.parent
	if around == nil || !f.required && !f.row() {
		return false
	}
	return around.parent == nil || around.present() || around.needed()
}

// text returns the value as it is typed.
func (f *field) text() string {
	switch {
	case f.null():
		return ""
	case f.kind == jsonschema.ShapeText:
		return rawjson.Unquote(f.raw)
	}
	return string(f.raw)
}

// setText takes typed text. Without text, a field of anything but text is unset, if it can be.
func (f *field) setText(text string) {
	switch {
	case f.kind == jsonschema.ShapeText:
		f.enter()
		f.raw = rawjson.Quote(text)
	case text == "" && !f.row():
		f.clear()
	default:
		f.enter()
		f.raw = json.RawMessage(text) // not nil, even without text
	}
}

// grow makes the fields that an object's schema names.
func (f *field) grow() {
	if f.grown || f.kind != jsonschema.ShapeObject {
		return
	}
	f.grown = true
	for _, p := range f.shape.Properties {
		child := newField(f, f.depth+1, p.Node.Shape())
		child.name, child.key, child.required = p.Name, p.Key, p.Required
		f.children = append(f.children, child)
	}
	f.number()
}

// addRow inserts a row into an array, or an unnamed member into an object, at a place among its children.
func (f *field) addRow(at int) *field {
	schema := f.shape.Items
	if f.kind == jsonschema.ShapeObject {
		schema = f.shape.Additional
	}
	row := newField(f, f.depth+1, schema.Shape())
	row.extra, row.key = f.kind == jsonschema.ShapeObject, json.RawMessage(`""`)
	if f.children = slices.Insert(f.children, at, row); at == len(f.children)-1 {
		row.place = at // many rows are added one by one
	} else {
		f.number()
	}
	return row
}

// remove removes the row from the fields around it.
func (f *field) remove() {
	f.parent.children = slices.Delete(f.parent.children, f.place, f.place+1)
	f.parent.number()
}

// move swaps the row with the one before or after it.
func (f *field) move(by int) {
	all := f.parent.children
	all[f.place], all[f.place+by] = all[f.place+by], all[f.place]
	f.parent.number()
}

// number renumbers the children.
func (f *field) number() {
	for i, child := range f.children {
		child.place = i
	}
}

// named returns how many of an object's fields its schema names; they cannot be moved.
func (f *field) named() int {
	if at := slices.IndexFunc(f.children, (*field).row); at >= 0 {
		return at
	}
	return len(f.children)
}

// clear unsets the field and everything in it.
func (f *field) clear() {
	f.kind, f.raw, f.children, f.grown, f.alternative = f.shape.Kind, nil, nil, false, -1
}

// setNull makes the value null.
func (f *field) setNull() {
	f.enter()
	f.clear()
	f.raw = json.RawMessage("null")
}

// begin gives a new row an empty value, so that it can be sent. Numbers have no empty value and have to be typed.
func (f *field) begin() {
	switch f.kind {
	case jsonschema.ShapeText:
		f.raw = json.RawMessage(`""`)
	case jsonschema.ShapeObject, jsonschema.ShapeArray:
		f.raw = json.RawMessage("{}") // an array too: it only has to be there
	case jsonschema.ShapeBool:
		f.raw = json.RawMessage("false")
	case jsonschema.ShapeEnum:
		f.raw = f.shape.Options[0].Raw
	case jsonschema.ShapeVariant:
		choice{f}.choose(0).begin()
	}
	f.open = f.group()
	f.setConstants()
}

// setConstants fills in the members of an object that can have only one value.
func (f *field) setConstants() {
	f.grow()
	for _, child := range f.inside() {
		one := child.kind == jsonschema.ShapeEnum && len(child.shape.Options) == 1
		if child.required && child.raw == nil && one {
			child.raw = child.shape.Options[0].Raw
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
		if around.null() {
			around.raw = nil
		}
	}
}

// setOpen opens or closes a group.
func (f *field) setOpen(open bool) {
	if open && f.null() {
		f.enter()
		f.raw = nil
	}
	if f.open = open; open {
		f.grow()
	}
}

// offered returns the values that the schema suggests: its examples and its default.
func (f *field) offered() []*jsonschema.Node {
	if f.shape.Default == nil {
		return f.shape.Examples
	}
	return append(slices.Clone(f.shape.Examples), f.shape.Default)
}

// offer takes the next of the values that the schema suggests.
func (f *field) offer() {
	list, next := f.offered(), 0
	if f.present() {
		now := write(f).out
		next = 1 + slices.IndexFunc(list, func(n *jsonschema.Node) bool { return rawjson.Same(n.Raw(), now) })
	}
	f.enter()
	f.put(list[next%len(list)].Raw())
}

// lacking returns the field to fill in first for a missing one: for an object, its first required field.
func (f *field) lacking() *field {
	if f.kind != jsonschema.ShapeObject || f.present() {
		return f
	}
	f.setOpen(true)
	for _, child := range f.children {
		if child.required {
			return child.lacking()
		}
	}
	return f
}

// put fills a field in. A value that the field's kind cannot show makes it a JSON field, so that nothing is lost.
func (f *field) put(raw json.RawMessage) {
	f.clear()
	fitting := -1
	if f.kind == jsonschema.ShapeVariant {
		fitting = f.shape.Alternative(raw)
	}
	switch {
	case f.shape.Nullable && string(raw) == "null":
		f.raw = raw
	case fitting >= 0:
		choice{f}.choose(fitting).put(raw)
		f.open = true
	case fits(f.kind, raw):
		f.putValue(raw)
	default:
		f.kind, f.raw = jsonschema.ShapeJSON, rawjson.Compact(raw)
	}
}

// fits reports whether a kind of field can show a value.
func fits(kind jsonschema.ShapeKind, raw json.RawMessage) bool {
	wanted, ok := map[jsonschema.ShapeKind]jsonschema.Kinds{
		jsonschema.ShapeText: jsonschema.String, jsonschema.ShapeBool: jsonschema.Boolean,
		jsonschema.ShapeObject: jsonschema.Object, jsonschema.ShapeArray: jsonschema.Array,
	}[kind]
	return !ok && kind != jsonschema.ShapeVariant || jsonschema.KindsOf(raw) == wanted
}

func (f *field) putValue(raw json.RawMessage) {
	switch f.raw = raw; f.kind {
	case jsonschema.ShapeObject:
		f.putMembers(raw)
	case jsonschema.ShapeArray:
		elements, _ := rawjson.Elements(raw)
		for _, element := range elements {
			f.addRow(len(f.children)).put(element)
		}
	case jsonschema.ShapeText:
	default:
		f.raw = rawjson.Compact(raw)
	}
	f.open = len(f.children) <= maxOpen
}

// putMembers fills in the fields that the schema names, and keeps all other members as rows after them.
func (f *field) putMembers(raw json.RawMessage) {
	f.grow()
	named := make(map[string]*field, len(f.children))
	for _, child := range f.children {
		named[child.name] = child
	}
	for m := range rawjson.Each(raw) {
		child := named[m.Name]
		if child == nil {
			child = f.addRow(len(f.children))
			child.name = m.Name
		}
		child.key = m.Key
		child.put(m.Value)
	}
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
