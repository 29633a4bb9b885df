package convert

import (
	"bytes"
	"encoding/json"
	"slices"

	"toolx/pkg/rawjson"
)

// members are those of a JSON object, in their order. The methods change nothing; they return copies.
type members []rawjson.Member

// membersOf returns the members of an object; nil if text is none.
func membersOf(text json.RawMessage) members {
	list, _ := rawjson.Members(text)
	return list
}

// index returns the place of a member, of the last one where a name stands twice, as JSON parsers have it; -1 if there
// is none.
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

// valueAt follows a path of names; nil where it leads nowhere, or to null.
func valueAt(text json.RawMessage, path []string) json.RawMessage {
	for _, name := range path {
		text = membersOf(text).get(name)
	}
	return text
}

// hasAt reports whether a path of names leads to a value, be it null.
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

// removeAt takes the member at the end of a path away.
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
