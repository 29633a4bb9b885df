package form

import (
	"context"
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
	case !f.fits(raw):
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

// fits reports whether the field's kind can show a value.
func (f *field) fits(raw json.RawMessage) bool {
	wanted, ok := map[jsonschema.ShapeKind]jsonschema.Kinds{
		jsonschema.ShapeText: jsonschema.String, jsonschema.ShapeBool: jsonschema.Boolean,
		jsonschema.ShapeObject: jsonschema.Object, jsonschema.ShapeArray: jsonschema.Array,
	}[f.kind]
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
		f.addMember(m)
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

// addMember adds a member that the schema does not name.
func (f *field) addMember(m rawjson.Member) {
	child := f.addRow(len(f.children))
	child.name, child.key = m.Name, m.Key
	child.put(m.Value)
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

// Fill gives values to required fields that have none, from the schema's examples if it has some (see
// jsonschema.Document.Example). It keeps what was typed, including broken JSON.
func (f *Form) Fill() {
	// An error means that the example may be invalid, which the form then shows as for any other value.
	example, _ := f.tool.Input().Example(context.Background())
	if f.json != nil {
		if given, err := f.Arguments(); err == nil {
			f.openJSON(indent(merge(given, example)))
		}
		return
	}
	f.closeEditor()
	f.root.supply(example)
	f.root.open = true
	f.changed()
	f.startEditing()
}

// supply fills in fields that are unset; a chosen variant stays chosen.
func (f *field) supply(example json.RawMessage) {
	switch {
	case !f.present() && (f.parent != nil || f.kind == jsonschema.ShapeVariant):
		f.put(example)
	case f.kind == jsonschema.ShapeVariant && f.choice >= 0 && f.choice == f.shape.Alternative(example):
		f.inner().supply(example)
	case f.kind == jsonschema.ShapeObject && f.state != nullness:
		f.grow()
		named := f.byName()
		for m := range rawjson.Each(example) {
			if named[m.Name] != nil {
				named[m.Name].supply(m.Value)
				continue
			}
			f.addMember(m)
		}
	}
}

// merge adds to an object the members of another that it lacks.
func merge(given, more json.RawMessage) json.RawMessage {
	members, ok := rawjson.Members(given)
	others, both := rawjson.Members(more)
	if !ok || !both {
		return given
	}
	places := make(map[string]int, len(members))
	for i, m := range members {
		places[m.Name] = i
	}
	for _, m := range others {
		if at, there := places[m.Name]; there {
			members[at].Value = merge(members[at].Value, m.Value)
			continue
		}
		members = append(members, m)
	}
	return rawjson.Object(members)
}
