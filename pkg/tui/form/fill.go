package form

import (
	"context"
	"encoding/json"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// Fill gives values to required fields that have none, from the schema's examples if it has some (see
// jsonschema.Document.Example). It keeps what was typed, including broken JSON.
func (f *Form) Fill() {
	// An error means that the example may be invalid, which the form then shows as for any other
	// value.
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
