package ai

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"toolx/pkg/convert"
	"toolx/pkg/rawjson"
)

// fragment is a JSON value that arrives in pieces and is joined without knowing its members: a provider's message may
// have any, and all must be echoed. Text is joined as it is written, with escapes, which also repairs a surrogate pair
// that was split.
//
//   - Text grows, except for ids and names (see grow), which arrive whole.
//   - Objects are joined member by member.
//   - Elements of arrays are joined by their "index", where they have one.
//   - Other values replace earlier ones; null is ignored.
type fragment struct {
	kind     byte   // '{', '[', '"', 0 for any other value
	text     []byte // a string without its quotes, or the whole of another value
	members  []fragmentMember
	elements []*fragment
	index    string // of an element, empty if it has none
}

type fragmentMember struct {
	name  string
	key   json.RawMessage
	value *fragment
}

// kindOf returns the kind of a JSON value, see fragment.
func kindOf(value json.RawMessage) byte {
	if at := rawjson.SpaceEnd(value, 0); at < len(value) {
		switch value[at] {
		case '{', '[', '"':
			return value[at]
		}
	}
	return 0
}

// merge adds a piece to the member of that name.
func (f *fragment) merge(name string, value json.RawMessage) {
	value = bytes.TrimSpace(value)
	kind := kindOf(value)
	if string(value) == "null" && (f.kind != 0 || len(f.text) > 0) {
		return
	}
	if f.kind == '[' && kind == '"' || f.kind == '"' && kind == '[' {
		f.toParts()
		if kind == '"' {
			value = rawjson.Array([]json.RawMessage{textPart(value)})
		}
		kind = '['
	}
	if f.kind != kind {
		*f = fragment{kind: kind, index: f.index}
	}
	switch kind {
	case '{':
		for member := range rawjson.Each(value) {
			f.member(member.Name, member.Key).merge(member.Name, member.Value)
		}
	case '[':
		f.mergeElements(name, value)
	case '"':
		f.grow(name, value[1:len(value)-1])
	default:
		f.text = slices.Clone(value)
	}
}

// toParts turns content that began as text into a list of parts: some servers switch between the two in one answer.
func (f *fragment) toParts() {
	if f.kind != '"' {
		return
	}
	parts := fragment{kind: '[', index: f.index}
	if len(f.text) > 0 {
		part := &fragment{}
		part.merge("", textPart(f.json()))
		parts.elements = append(parts.elements, part)
	}
	*f = parts
}

func textPart(quoted json.RawMessage) json.RawMessage {
	return rawjson.Build("type", "text", "text", quoted)
}

// grow adds to text. An id, a type or a role arrives whole; some servers repeat it in every piece, and some do so with
// a function's name.
func (f *fragment) grow(name string, text []byte) {
	switch name {
	case "id", "type", "role":
		if len(f.text) > 0 {
			return
		}
	case "name":
		if bytes.Equal(f.text, text) {
			return
		}
	}
	f.text = append(f.text, text...)
}

// mergeElements joins elements with those of the same index. Among tool calls, one without an index, id or name
// continues the last; one with the index of a call, but another id or name, begins another call, because some servers
// use the same index for all calls.
func (f *fragment) mergeElements(name string, value json.RawMessage) {
	elements, _ := rawjson.Elements(value)
	for _, element := range elements {
		index, members := indexOf(element)
		at := -1
		if index != "" {
			at = f.lastAt(index)
			if at >= 0 && name == "tool_calls" && f.elements[at].isOther(element) {
				at = -1
			}
		} else if name == "tool_calls" && identify(element) == (callIdentity{}) {
			at = len(f.elements) - 1
		}
		if at < 0 {
			at = len(f.elements)
			f.elements = append(f.elements, &fragment{index: index})
		}
		if name == "tool_calls" { // the index counts pieces, and is not part of a call
			element = rawjson.Object(members)
		}
		f.elements[at].merge("", element)
	}
}

// lastAt returns the place of the last element with an index, negative if there is none.
func (f *fragment) lastAt(index string) int {
	for at, element := range slices.Backward(f.elements) {
		if element.index == index {
			return at
		}
	}
	return -1
}

// isOther reports whether a piece belongs to another tool call than f: it has another id, or, without an id, another
// name.
func (f *fragment) isOther(piece json.RawMessage) bool {
	after := identify(piece)
	if after.id != "" && !f.isEmpty("id") {
		return after.id != rawjson.Unquote(f.get("id"))
	}
	function := f.lookup("function")
	if function == nil || function.isEmpty("name") {
		return false
	}
	return after.name != "" && after.name != rawjson.Unquote(function.get("name"))
}

// callIdentity distinguishes tool calls; unknown parts are empty.
type callIdentity struct{ id, name string }

func identify(call json.RawMessage) callIdentity {
	return callIdentity{rawjson.GetText(call, "id"), rawjson.GetText(rawjson.Get(call, "function"), "name")}
}

// indexOf separates an element's index from its other members; null counts as none.
func indexOf(element json.RawMessage) (index string, rest []rawjson.Member) {
	for member := range rawjson.Each(element) {
		if member.Name == "index" {
			if string(member.Value) != "null" {
				index = string(member.Value)
			}
			continue
		}
		rest = append(rest, member)
	}
	return index, rest
}

// member returns the member of that name, and adds it if needed.
func (f *fragment) member(name string, key json.RawMessage) *fragment {
	if known := f.lookup(name); known != nil {
		return known
	}
	value := &fragment{}
	f.members = append(f.members, fragmentMember{name: name, key: slices.Clone(key), value: value})
	return value
}

// has reports whether there is a member of that name.
func (f *fragment) has(name string) bool {
	return f.lookup(name) != nil
}

// lookup returns a member, nil if there is none.
func (f *fragment) lookup(name string) *fragment {
	for _, known := range f.members {
		if known.name == name {
			return known.value
		}
	}
	return nil
}

// get returns a member unchanged, nil if there is none.
func (f *fragment) get(name string) json.RawMessage {
	if member := f.lookup(name); member != nil {
		return member.json()
	}
	return nil
}

// set replaces or adds a member with a complete value.
func (f *fragment) set(name string, value json.RawMessage) {
	f.kind = '{'
	*f.member(name, rawjson.Quote(name)) = fragment{text: slices.Clone(value)}
}

// isEmpty reports whether a member is missing, null or empty text.
func (f *fragment) isEmpty(name string) bool {
	value := string(f.get(name))
	return value == "" || value == "null" || value == `""`
}

// json returns the value so far.
func (f *fragment) json() json.RawMessage {
	switch f.kind {
	case '{':
		members := make([]rawjson.Member, len(f.members))
		for i, member := range f.members {
			members[i] = rawjson.Member{Name: member.name, Key: member.key, Value: member.value.json()}
		}
		return rawjson.Object(members)
	case '[':
		elements := make([]json.RawMessage, len(f.elements))
		for i, element := range f.elements {
			elements[i] = element.json()
		}
		return rawjson.Array(elements)
	case '"':
		return slices.Concat(json.RawMessage{'"'}, f.text, json.RawMessage{'"'})
	}
	if len(f.text) == 0 {
		return json.RawMessage("null")
	}
	return f.text
}

// speech is the model's text so far. It passes pieces on as they arrive.
type speech struct {
	text    strings.Builder
	refused bool
	// filter, if not nil, receives the text first, and decides which part is the answer.
	filter *convert.TextFilter
}

// read passes on the text and the thoughts in a piece of a message. The member with the thoughts differs: Ollama has
// thinking, DeepSeek, Qwen and vLLM reasoning_content, OpenRouter and newer vLLM reasoning; Mistral has them among the
// parts of content.
func (t *speech) read(piece json.RawMessage, emit func(Event)) {
	thoughts := ""
	for member := range rawjson.Each(piece) {
		switch member.Name {
		case "content":
			t.content(member.Value, emit)
		case "thinking", "reasoning_content", "reasoning":
			if rawjson.IsString(member.Value) && thoughts == "" { // some send both
				thoughts = rawjson.Unquote(member.Value)
				t.think(thoughts, emit)
			}
		case "refusal":
			if rawjson.IsString(member.Value) {
				t.refused = true
				t.say(rawjson.Unquote(member.Value), emit)
			}
		}
	}
}

// content reads text, or a list of parts.
func (t *speech) content(content json.RawMessage, emit func(Event)) {
	if rawjson.IsString(content) {
		t.say(rawjson.Unquote(content), emit)
		return
	}
	parts, _ := rawjson.Elements(content)
	for _, part := range parts {
		for member := range rawjson.Each(part) {
			switch {
			case member.Name == "text" && rawjson.IsString(member.Value):
				t.say(rawjson.Unquote(member.Value), emit)
			case member.Name == "thinking":
				var thoughts speech
				thoughts.content(member.Value, func(Event) {})
				t.think(thoughts.text.String(), emit)
			}
		}
	}
}

func (t *speech) say(text string, emit func(Event)) {
	if t.filter != nil {
		t.filter.Write(text)
		return
	}
	t.pass(text, emit)
}

func (t *speech) pass(text string, emit func(Event)) {
	if text != "" {
		t.text.WriteString(text)
		emit(TextDelta{Text: text})
	}
}

func (t *speech) think(text string, emit func(Event)) {
	if text != "" {
		emit(ThinkingDelta{Text: text})
	}
}
