package form

import (
	"encoding/json"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// Fill gives values to what is required and has none, from the examples of the
// schema where it has some (see jsonschema.Document.Example). What was typed stays, and so does JSON
// that is broken.
func (f *Form) Fill() {
	// The error says that the example may not be valid: that is shown of it then, as
	// of any other value.
	example, _ := f.tool.Input().Example()
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

// supply fills in what is not there; a variant that is chosen stays what it is.
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

// merge adds to an object what another has and it has not.
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
