package form

import (
	"encoding/json"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// put fills a field in. A value that the field's kind cannot show makes it a JSON field, so that nothing is lost.
func (f *field) put(raw json.RawMessage) {
	f.clear()
	switch {
	case f.kind == jsonschema.ShapeNumber || f.kind == jsonschema.ShapeJSON:
		f.state, f.text = valued, string(rawjson.Compact(raw))
	case f.shape.Nullable && string(raw) == "null":
		f.state = nullness
	case f.kind == jsonschema.ShapeVariant:
		f.putVariant(raw)
	case !fits(f.kind, raw):
		f.putJSON(raw)
	default:
		f.state = valued
		f.putValue(raw)
	}
}

// putJSON makes the field a JSON field until it is unset.
func (f *field) putJSON(raw json.RawMessage) {
	f.kind, f.state, f.text = jsonschema.ShapeJSON, valued, string(rawjson.Compact(raw))
}

// fits reports whether a kind of field can show a value.
func fits(kind jsonschema.ShapeKind, raw json.RawMessage) bool {
	wanted, ok := map[jsonschema.ShapeKind]jsonschema.Kinds{
		jsonschema.ShapeText: jsonschema.String, jsonschema.ShapeBool: jsonschema.Boolean,
		jsonschema.ShapeObject: jsonschema.Object, jsonschema.ShapeArray: jsonschema.Array,
	}[kind]
	return !ok || jsonschema.KindsOf(raw) == wanted
}

func (f *field) putValue(raw json.RawMessage) {
	switch f.kind {
	case jsonschema.ShapeObject:
		f.putMembers(raw)
	case jsonschema.ShapeArray:
		elements, _ := rawjson.Elements(raw)
		for _, element := range elements {
			f.addRow(len(f.children)).put(element)
		}
	case jsonschema.ShapeText:
		f.raw, f.text = raw, rawjson.Unquote(raw)
	default:
		f.raw = rawjson.Compact(raw)
	}
	f.open = len(f.children) <= maxOpen
}

// maxOpen is the most rows that a group may have to be opened at once.
const maxOpen = 50

// putMembers fills in the fields that the schema names, and keeps all other members as rows after them.
func (f *field) putMembers(raw json.RawMessage) {
	f.grow()
	named := f.byName()
	for m := range rawjson.Each(raw) {
		if child := named[m.Name]; child != nil {
			child.key = m.Key
			child.put(m.Value)
			continue
		}
		child := f.addRow(len(f.children))
		child.name, child.key = m.Name, m.Key
		child.put(m.Value)
	}
}

// byName returns the fields of an object by name.
func (f *field) byName() map[string]*field {
	named := make(map[string]*field, len(f.children))
	for _, child := range f.children {
		named[child.name] = child
	}
	return named
}

// putVariant takes the alternative that a value fits best.
func (f *field) putVariant(raw json.RawMessage) {
	choice := f.shape.Alternative(raw)
	if choice < 0 {
		f.putJSON(raw)
		return
	}
	f.choose(choice).put(raw)
	f.open = true
}
