package form

import (
	"bytes"
	"encoding/json"

	"toolx/pkg/rawjson"
)

// put fills a field in. A value that the field's kind cannot show makes it a JSON
// field, so that nothing is lost.
func (f *field) put(raw json.RawMessage) {
	f.clear()
	switch {
	case f.kind == kindNumber || f.kind == kindJSON:
		f.state, f.text = valued, string(compact(raw))
	case f.shape.nullable && string(raw) == "null":
		f.state = nullness
	case f.kind == kindVariant:
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
	f.kind, f.state, f.text = kindJSON, valued, string(compact(raw))
}

// compact takes the spaces out of JSON, and nothing else.
func compact(raw json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return raw
	}
	return out.Bytes()
}

// fits says whether the field's kind can show a value.
func (f *field) fits(raw json.RawMessage) bool {
	switch f.kind {
	case kindText:
		return typeOf(raw) == typeString
	case kindBool:
		return typeOf(raw) == typeBoolean
	case kindObject:
		return typeOf(raw) == typeObject
	case kindArray:
		return typeOf(raw) == typeArray
	}
	return true
}

func (f *field) putValue(raw json.RawMessage) {
	switch f.kind {
	case kindObject:
		f.putMembers(raw)
	case kindArray:
		elements, _ := rawjson.Elements(raw)
		for _, element := range elements {
			f.addRow(len(f.children)).put(element)
		}
	case kindText:
		f.raw, f.text = raw, rawjson.Unquote(raw)
	default:
		f.raw = compact(raw)
	}
	f.open = len(f.children) <= maxOpen
}

// maxOpen is how many rows a group may have to be shown at once.
const maxOpen = 50

// putMembers fills in the fields that the schema names, and keeps all other members
// as rows behind them.
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

// byName are the fields of an object by their names.
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
	choice := f.alternative(raw)
	if choice < 0 {
		f.putJSON(raw)
		return
	}
	f.choose(choice).put(raw)
	f.open = true
}

// alternative is the one that a value fits best, -1 where it fits none.
func (f *field) alternative(raw json.RawMessage) int {
	best, choice := 0, -1
	for i, a := range f.shape.alternatives {
		if !takes(a.parts, raw) {
			continue
		}
		if points := score(a.parts, raw); choice < 0 || points > best {
			best, choice = points, i
		}
	}
	return choice
}
