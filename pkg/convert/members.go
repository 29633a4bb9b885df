package convert

import (
	"bytes"
	"encoding/json"
	"slices"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// members are those of a JSON object, in their order. The methods change nothing; they return copies.
type members []rawjson.Member

// membersOf returns the members of an object; nil if text is none.
func membersOf(text json.RawMessage) members {
	list, _ := rawjson.Members(text)
	return list
}

// index returns the place of a member, the last one of that name as in JSON parsers; -1 if there is none.
func (o members) index(name string) int {
	for i, member := range slices.Backward(o) {
		if member.Name == name {
			return i
		}
	}
	return -1
}

// has reports whether any of the names is present, even if it is null.
func (o members) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return o.index(name) >= 0 })
}

// value returns a member's value; nil if there is none.
func (o members) value(name string) json.RawMessage {
	if i := o.index(name); i >= 0 {
		return o[i].Value
	}
	return nil
}

// get returns a member's value; nil if there is none, or null.
func (o members) get(name string) json.RawMessage {
	if value := o.value(name); !isNull(value) {
		return value
	}
	return nil
}

// text returns a member that is a string; empty if it is none.
func (o members) text(name string) string {
	if value := o.value(name); rawjson.IsString(value) {
		return rawjson.Unquote(value)
	}
	return ""
}

// list returns the elements of a member that is an array.
func (o members) list(name string) []json.RawMessage {
	list, _ := rawjson.Elements(o.value(name))
	return list
}

// object returns a member that is an object.
func (o members) object(name string) (members, bool) {
	list, ok := rawjson.Members(o.value(name))
	return list, ok
}

// isObject reports whether a member is an object.
func (o members) isObject(name string) bool { return isObjectText(o.value(name)) }

// with sets a member where it stands, or at the end.
func (o members) with(name string, value json.RawMessage) members {
	at := o.index(name)
	if at < 0 {
		return append(slices.Clone(o), rawjson.NewMember(name, value))
	}
	changed := slices.Clone(o)
	changed[at].Value = value
	return changed
}

// without leaves members out.
func (o members) without(names ...string) members {
	return slices.DeleteFunc(slices.Clone(o), func(member rawjson.Member) bool {
		return slices.Contains(names, member.Name)
	})
}

// rename gives a member another name, unless that one is taken.
func (o members) rename(from, to string) members {
	at := o.index(from)
	if at < 0 || o.has(to) {
		return o
	}
	changed := slices.Clone(o)
	changed[at] = rawjson.NewMember(to, changed[at].Value)
	return changed
}

// valueAt follows a path of names; nil if it leads nowhere, or to null.
func valueAt(text json.RawMessage, path []string) json.RawMessage {
	for _, name := range path {
		text = membersOf(text).get(name)
	}
	return text
}

// hasAt reports whether a path of names leads to a value, even if it is null.
func hasAt(text json.RawMessage, path []string) bool {
	last := len(path) - 1
	return membersOf(valueAt(text, path[:last])).has(path[last])
}

// setAt puts a value at the end of a path, making the objects on the way.
func setAt(text json.RawMessage, path []string, value json.RawMessage) json.RawMessage {
	if len(path) == 0 {
		return value
	}
	list := membersOf(text)
	return rawjson.Object(list.with(path[0], setAt(list.get(path[0]), path[1:], value)))
}

// removeAt removes the member at the end of a path.
func removeAt(text json.RawMessage, path []string) json.RawMessage {
	if !hasAt(text, path) {
		return text
	}
	last := len(path) - 1
	return setAt(text, path[:last], rawjson.Object(membersOf(valueAt(text, path[:last])).without(path[last])))
}

func isNull(text json.RawMessage) bool {
	return len(text) == 0 || bytes.Equal(bytes.TrimSpace(text), []byte("null"))
}

// object is a JSON object that may be changed. An unchanged one is written byte for byte as it was read.
type object struct {
	members
	source  json.RawMessage
	changed bool
	// hints say in words what the object could not keep as keywords.
	hints []string
}

// parseObject splits an object into its members. If a name occurs twice the last one counts, as in nearly all parsers.
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

// setType sets a schema's types, in their place or at the beginning.
func (o *object) setType(types ...string) {
	if o.has("type") {
		o.set("type", quoteTypes(types))
		return
	}
	o.members = slices.Insert(o.members, 0, rawjson.NewMember("type", quoteTypes(types)))
	o.changed = true
}

// drop removes a member and gives its value, nil if there was none.
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

// objectOf returns a member that is an object; nil if it is none.
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

// literal names the JSON type of a value; numbers are of one.
func literal(text json.RawMessage) string { return jsonschema.KindsOf(text).String() }

// isTrue and isFalse tell the two boolean schemas.
func isTrue(text json.RawMessage) bool  { return string(bytes.TrimSpace(text)) == "true" }
func isFalse(text json.RawMessage) bool { return string(bytes.TrimSpace(text)) == "false" }
