package convert

import (
	"bytes"
	"encoding/json"
	"slices"

	"toolx/pkg/rawjson"
)

// object is a JSON object under change. One that is not changed gives its source
// back, byte for byte.
type object struct {
	members
	source  json.RawMessage
	changed bool
	// hints say in words what the object could not keep as keywords.
	hints []string
}

// parseObject cuts an object into its members. Of a name that is there twice the
// last one counts, as nearly all parsers have it.
func parseObject(text json.RawMessage) (*object, bool) {
	members, ok := rawjson.Members(text)
	if !ok {
		return nil, false
	}
	o := &object{source: text}
	at := make(map[string]int, len(members))
	for _, m := range members {
		if i, twice := at[m.Name]; twice {
			o.members[i].Value = m.Value
			o.changed = true
			continue
		}
		at[m.Name] = len(o.members)
		o.members = append(o.members, m)
	}
	return o, true
}

func newObject(members ...rawjson.Member) *object {
	return &object{members: members, changed: true}
}

func (o *object) raw() json.RawMessage {
	if !o.changed {
		return o.source
	}
	return rawjson.Object(o.members)
}

func (o *object) clone() *object {
	copied := *o
	copied.members = slices.Clone(o.members)
	copied.hints = slices.Clone(o.hints)
	return &copied
}

// set changes a member in its place, or adds it at the end.
func (o *object) set(name string, value json.RawMessage) {
	i := o.index(name)
	if i < 0 {
		o.members = append(o.members, rawjson.NewMember(name, value))
		o.changed = true
		return
	}
	o.put(i, value)
}

// put changes the value of member i.
func (o *object) put(i int, value json.RawMessage) {
	if !bytes.Equal(o.members[i].Value, value) {
		o.members[i].Value = value
		o.changed = true
	}
}

// setType says a schema's types in their place, or at the beginning.
func (o *object) setType(types ...string) {
	if o.has("type") {
		o.set("type", quoteTypes(types))
		return
	}
	o.members = slices.Insert(o.members, 0, rawjson.NewMember("type", quoteTypes(types)))
	o.changed = true
}

// drop removes a member and gives its value, nil where there was none.
func (o *object) drop(name string) json.RawMessage {
	i := o.index(name)
	if i < 0 {
		return nil
	}
	value := o.members[i].Value
	o.members = slices.Delete(o.members, i, i+1)
	o.changed = true
	return value
}

// rename gives a member another name in its place.
func (o *object) rename(from, to string) {
	if i := o.index(from); i >= 0 {
		o.members[i] = rawjson.NewMember(to, o.members[i].Value)
		o.changed = true
	}
}

// keepOnly drops all members but those, and gives what was dropped.
func (o *object) keepOnly(keep func(name string) bool) (dropped []rawjson.Member) {
	var kept []rawjson.Member
	for _, m := range o.members {
		if keep(m.Name) {
			kept = append(kept, m)
		} else {
			dropped = append(dropped, m)
		}
	}
	if dropped != nil {
		o.members, o.changed = kept, true
	}
	return dropped
}

// objectOf returns a member that is an object; nil where it is none.
func (o *object) objectOf(name string) *object {
	inner, _ := parseObject(o.value(name))
	return inner
}

// objectOfOrEmpty returns a member that is an object, or one without members.
func (o *object) objectOfOrEmpty(name string) *object {
	if inner := o.objectOf(name); inner != nil {
		return inner
	}
	return newObject()
}

// stringsOf returns the elements of a member that is an array of strings.
func (o *object) stringsOf(name string) []string { return stringList(o.value(name)) }

func stringList(text json.RawMessage) []string {
	elements, _ := rawjson.Elements(text)
	var list []string
	for _, element := range elements {
		if rawjson.IsString(element) {
			list = append(list, rawjson.Unquote(element))
		}
	}
	return list
}

func quoteList(list []string) json.RawMessage {
	quoted := make([]json.RawMessage, len(list))
	for i, text := range list {
		quoted[i] = rawjson.Quote(text)
	}
	return rawjson.Array(quoted)
}

// literal names the JSON type of a value.
func literal(text json.RawMessage) string {
	at := rawjson.SpaceEnd(text, 0)
	if at >= len(text) {
		return ""
	}
	switch text[at] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	if bytes.ContainsAny(text, ".eE") {
		return "number"
	}
	return "integer"
}

// isTrue and isFalse tell the two boolean schemas.
func isTrue(text json.RawMessage) bool  { return string(bytes.TrimSpace(text)) == "true" }
func isFalse(text json.RawMessage) bool { return string(bytes.TrimSpace(text)) == "false" }
