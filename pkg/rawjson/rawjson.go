// Package rawjson splits JSON text into its parts and joins parts, byte for byte: no digit, no order of members and no
// escape is lost, and nothing is copied. The meaning of the text (schemas, JSON-RPC, MCP) is up to other packages.
//
// Functions that read take text that is known to be valid JSON. On other text they return what they
// have read so far, and never panic.
package rawjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
)

// Member is one name and value of a JSON object.
type Member struct {
	Name  string
	Key   json.RawMessage // the name as it is written, with its quotes
	Value json.RawMessage
}

// NewMember makes a member, and quotes its name.
func NewMember(name string, value json.RawMessage) Member {
	return Member{Name: name, Key: Quote(name), Value: value}
}

// Members splits an object into its members, in order; ok is false if text is any other value.
func Members(text []byte) (list []Member, ok bool) {
	if !opens(text, '{') {
		return nil, false
	}
	return slices.AppendSeq(make([]Member, 0, 4), Each(text)), true
}

// Each yields the members of an object one by one; none if text is any other value.
func Each(text []byte) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		for _, member := range EachAt(text) {
			if !yield(member) {
				return
			}
		}
	}
}

// Offsets say where a member stands in the text that it was split from.
type Offsets struct{ Key, Value int }

// EachAt is Each with the offsets of each member.
func EachAt(text []byte) iter.Seq2[Offsets, Member] {
	return func(yield func(Offsets, Member) bool) {
		if !opens(text, '{') {
			return
		}
		for at := next(text, SpaceEnd(text, 0)+1); at < len(text) && text[at] == '"'; at = next(text, at) {
			begin, end := at, StringEnd(text, at)
			key := text[at:end:end]
			start := SpaceEnd(text, SpaceEnd(text, end)+1)
			if start >= len(text) {
				return
			}
			at = ValueEnd(text, start)
			if !yield(Offsets{begin, start}, Member{Name: Unquote(key), Key: key, Value: text[start:at:at]}) {
				return
			}
		}
	}
}

// Get returns a member of an object, or nil. Of several with one name the last counts, as in
// encoding/json and in JavaScript's JSON.parse.
func Get(object []byte, name string) (value json.RawMessage) {
	for member := range Each(object) {
		if member.Name == name {
			value = member.Value
		}
	}
	return value
}

// GetText returns a member that is a string, unquoted; empty if there is none.
func GetText(object []byte, name string) string {
	if value := Get(object, name); IsString(value) {
		return Unquote(value)
	}
	return ""
}

// Elements splits an array into its elements; ok is false if text is any other value.
func Elements(text []byte) (list []json.RawMessage, ok bool) {
	if !opens(text, '[') {
		return nil, false
	}
	for element := range EachElement(text) {
		list = append(list, element)
	}
	return list, true
}

// FirstElements returns the first elements of an array, limit at most, and reports whether it has
// more; none if text is any other value.
func FirstElements(text []byte, limit int) (list []json.RawMessage, more bool) {
	for element := range EachElement(text) {
		if len(list) == limit {
			return list, true
		}
		list = append(list, element)
	}
	return list, false
}

// EachElement yields the elements of an array one by one; none if text is any other value.
func EachElement(text []byte) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		if !opens(text, '[') {
			return
		}
		for at := next(text, SpaceEnd(text, 0)+1); at < len(text) && text[at] != ']'; at = next(text, at) {
			end := ValueEnd(text, at)
			if end == at || !yield(text[at:end:end]) {
				return
			}
			at = end
		}
	}
}

// Object writes members as one object.
func Object(list []Member) json.RawMessage {
	size := len("{}")
	for _, m := range list {
		size += len(m.Key) + len(m.Value) + len(":,")
	}
	var out bytes.Buffer
	out.Grow(size)
	out.WriteByte('{')
	for i, m := range list {
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(m.Key)
		out.WriteByte(':')
		out.Write(m.Value)
	}
	out.WriteByte('}')
	return out.Bytes()
}

// With returns an object with a member set to a value, in its place or at the end, or without the member if the value
// is nil. Of several with one name, one is left.
func With(object json.RawMessage, name string, value json.RawMessage) json.RawMessage {
	var list []Member
	for member := range Each(object) {
		if member.Name == name {
			if value == nil {
				continue
			}
			member.Value, value = value, nil
		}
		list = append(list, member)
	}
	if value != nil {
		list = append(list, NewMember(name, value))
	}
	return Object(list)
}

// Build writes an object of names and values, each of which follows its name: a string, a number or a boolean, or JSON.
// JSON that is nil is left out with its name.
func Build(pairs ...any) json.RawMessage {
	size := 64 // for quotes, signs and numbers
	for _, given := range pairs {
		switch given := given.(type) {
		case json.RawMessage:
			size += len(given)
		case string:
			size += len(given)
		}
	}
	out := append(make([]byte, 0, size), '{')
	for i := 0; i < len(pairs); i += 2 {
		if value, isJSON := pairs[i+1].(json.RawMessage); isJSON && value == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(AppendQuote(out, pairs[i].(string)), ':')
		switch given := pairs[i+1].(type) {
		case json.RawMessage:
			out = append(out, given...)
		case string:
			out = AppendQuote(out, given)
		default:
			out = fmt.Append(out, given)
		}
	}
	return append(out, '}')
}

// Array writes elements as one array.
func Array(list []json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	size := 2
	for _, element := range list {
		size += len(element) + 1
	}
	out.Grow(size) // a large list is in memory once
	out.WriteByte('[')
	for i, element := range list {
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(element)
	}
	out.WriteByte(']')
	return out.Bytes()
}

// Marshal is json.Marshal without the escaping of <, > and &, which is for HTML and makes other text hard to read.
func Marshal(value any) (json.RawMessage, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// IsString reports whether text is a JSON string.
func IsString(text []byte) bool { return opens(text, '"') }

// IsObject reports whether text is a JSON object.
func IsObject(text []byte) bool { return opens(text, '{') }

// opens reports whether the value in text begins with sign.
func opens(text []byte, sign byte) bool {
	at := SpaceEnd(text, 0)
	return at < len(text) && text[at] == sign
}

// next passes spaces and one comma.
func next(text []byte, at int) int {
	at = SpaceEnd(text, at)
	if at < len(text) && text[at] == ',' {
		at = SpaceEnd(text, at+1)
	}
	return at
}

// SpaceEnd returns the offset of the first byte from at that is not JSON space.
func SpaceEnd(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r') {
		at++
	}
	return at
}

// StringEnd returns the offset after the string that begins at at.
func StringEnd(text []byte, at int) int {
	for at++; at < len(text); at++ {
		switch text[at] {
		case '\\':
			at++
		case '"':
			return at + 1
		}
	}
	return len(text)
}

// ValueEnd returns the offset after the value that begins at at.
func ValueEnd(text []byte, at int) int {
	depth := 0
	for at < len(text) {
		switch text[at] {
		case '"':
			at = StringEnd(text, at)
			if depth == 0 {
				return at
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return at // the end of what holds a number or a word
			}
			depth--
			if depth == 0 {
				return at + 1
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return at
			}
		}
		at++
	}
	return len(text)
}
