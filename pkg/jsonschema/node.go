package jsonschema

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"

	"toolx/pkg/rawjson"
)

// Node is one JSON value, usually in a schema. It is split into its parts when they are first needed, and each part
// exists once, so nodes can be compared by identity. Members keep their order, and unchanged parts keep their bytes. A
// nil Node is a missing value.
//
// Only nodes from Build, List or Clone may be changed, and only by the code that made them; the nodes in them may not.
type Node struct {
	doc      *Document
	raw      json.RawMessage // nil for a node made of others, until Bytes is called
	cut      sync.Once
	members  []Member
	byName   map[string]*Node // for many members
	repeats  bool             // a name is repeated
	elements []*Node
}

// Member is one name of an object in a schema, with its value.
type Member struct {
	Name string
	Key  json.RawMessage // the name as it is written
	Node *Node
}

// NewNode returns a value without a document, so that its references lead nowhere.
func NewNode(text json.RawMessage) *Node { return &Node{raw: text} }

// Quoted returns a string.
func Quoted(text string) *Node { return NewNode(rawjson.Quote(text)) }

// made marks a node that already has its parts.
func made(n *Node) *Node {
	n.cut.Do(func() {})
	return n
}

// Build makes an object from names, each followed by its value: a string or a *Node. A nil value is omitted with its
// name.
func Build(pairs ...any) *Node {
	n := &Node{members: []Member{}}
	for i := 0; i < len(pairs); i += 2 {
		switch value := pairs[i+1].(type) {
		case string:
			n.Set(pairs[i].(string), Quoted(value))
		case *Node:
			n.Set(pairs[i].(string), value)
		}
	}
	return made(n)
}

// List makes an array.
func List(elements ...*Node) *Node {
	return made(&Node{elements: slices.Clip(append([]*Node{}, elements...))})
}

// Strings makes an array of strings.
func Strings(texts []string) *Node {
	elements := make([]*Node, len(texts))
	for i, text := range texts {
		elements[i] = Quoted(text)
	}
	return List(elements...)
}

// Clone returns a copy that may be changed, with each name once. Its parts are the same nodes.
func (n *Node) Clone() *Node {
	copied := &Node{doc: n.doc, raw: n.raw, members: slices.Clone(n.Members()), elements: n.Elements()}
	if n.repeats {
		copied.raw = nil
	}
	return made(copied)
}

// Set changes a member in its place, or adds it at the end; a nil value changes nothing.
func (n *Node) Set(name string, value *Node) {
	if value == nil {
		return
	}
	if n.doc == nil {
		n.doc = value.doc
	}
	switch at := indexOf(n.members, name); {
	case at < 0:
		n.members = append(n.members, Member{name, rawjson.Quote(name), value})
	case n.members[at].Node.Equal(value):
		return
	default:
		n.members[at].Node = value
	}
	n.changed()
}

// changed discards the text of the node.
func (n *Node) changed() { n.raw, n.byName = nil, nil }

func indexOf(members []Member, name string) int {
	return slices.IndexFunc(members, func(m Member) bool { return m.Name == name })
}

// Drop removes a member and returns its value, nil if there was none.
func (n *Node) Drop(name string) *Node {
	at := indexOf(n.members, name)
	if at < 0 {
		return nil
	}
	value := n.members[at].Node
	n.members = slices.Delete(n.members, at, at+1)
	n.changed()
	return value
}

// Rename renames a member in its place.
func (n *Node) Rename(from, to string) {
	if at := indexOf(n.members, from); at >= 0 {
		n.members[at] = Member{to, rawjson.Quote(to), n.members[at].Node}
		n.changed()
	}
}

// Keep removes all other members, and returns them.
func (n *Node) Keep(keep func(m Member) bool) (dropped []Member) {
	kept := []Member{}
	for _, m := range n.members {
		if keep(m) {
			kept = append(kept, m)
		} else {
			dropped = append(dropped, m)
		}
	}
	if dropped != nil {
		n.members = kept
		n.changed()
	}
	return dropped
}

// Map returns a copy with changed members or elements; the node itself if none differs.
func (n *Node) Map(change func(at int, m Member) *Node) *Node {
	copied, differs := n.Clone(), n.repeats
	for i, m := range copied.members {
		copied.members[i].Node = change(i, m)
		differs = differs || !m.Node.Equal(copied.members[i].Node)
	}
	copied.elements = slices.Clone(copied.elements)
	for i, element := range copied.elements {
		copied.elements[i] = change(i, Member{Node: element})
		differs = differs || !element.Equal(copied.elements[i])
	}
	if !differs {
		return n
	}
	copied.changed()
	return copied
}

// Sort sorts the members; equal ones keep their order.
func (n *Node) Sort(compare func(a, b Member) int) {
	if !slices.IsSortedFunc(n.members, compare) {
		slices.SortStableFunc(n.members, compare)
		n.changed()
	}
}

// manyMembers is the number of members from which a map is used for lookups.
const manyMembers = 8

// open splits the node into its parts. Of two members with one name the last counts, as in encoding/json.
func (n *Node) open() {
	if n.raw == nil {
		return
	}
	n.cut.Do(func() {
		for m := range rawjson.Each(n.raw) {
			n.members = append(n.members, Member{m.Name, m.Key, &Node{doc: n.doc, raw: m.Value}})
		}
		count := len(n.members)
		if count > manyMembers {
			n.index()
		} else {
			n.members = once(n.members)
		}
		n.repeats = len(n.members) < count
		for element := range rawjson.EachElement(n.raw) {
			n.elements = append(n.elements, &Node{doc: n.doc, raw: element})
		}
		n.elements = slices.Clip(n.elements)
	})
}

// once removes all members of a name but the last, which takes the place of the first.
func once(members []Member) []Member {
	kept := members[:0]
	for _, m := range members {
		if at := slices.IndexFunc(kept, func(k Member) bool { return k.Name == m.Name }); at >= 0 {
			kept[at] = m
			continue
		}
		kept = append(kept, m)
	}
	return kept
}

// index makes the map for many members and removes repeated names.
func (n *Node) index() {
	n.byName = make(map[string]*Node, len(n.members))
	for _, m := range n.members {
		n.byName[m.Name] = m.Node
	}
	if len(n.byName) == len(n.members) {
		return
	}
	seen := make(map[string]bool, len(n.byName))
	n.members = slices.DeleteFunc(n.members, func(m Member) bool {
		twice := seen[m.Name]
		seen[m.Name] = true
		return twice
	})
	for i := range n.members {
		n.members[i].Node = n.byName[n.members[i].Name]
	}
}

// Get returns a member's value, nil if there is none.
func (n *Node) Get(name string) *Node {
	members := n.Members()
	if n != nil && n.byName != nil {
		return n.byName[name]
	}
	for _, m := range members {
		if m.Name == name {
			return m.Node
		}
	}
	return nil
}

// Members returns an object's members in their order.
func (n *Node) Members() []Member {
	if n == nil {
		return nil
	}
	n.open()
	return n.members
}

// Elements returns an array's elements.
func (n *Node) Elements() []*Node {
	if n == nil {
		return nil
	}
	n.open()
	return n.elements
}

// Raw returns the value as written; nil for a node made of others.
func (n *Node) Raw() json.RawMessage {
	if n == nil {
		return nil
	}
	return n.raw
}

// Bytes is like Raw, but also encodes a node made of others. Such a node is for one goroutine.
func (n *Node) Bytes() json.RawMessage {
	switch {
	case n == nil || n.raw != nil:
	case n.members != nil:
		members := make([]rawjson.Member, len(n.members))
		for i, m := range n.members {
			members[i] = rawjson.Member{Name: m.Name, Key: m.Key, Value: m.Node.Bytes()}
		}
		n.raw = rawjson.Object(members)
	case n.elements != nil:
		elements := make([]json.RawMessage, len(n.elements))
		for i, element := range n.elements {
			elements[i] = element.Bytes()
		}
		n.raw = rawjson.Array(elements)
	}
	return n.Raw()
}

// Equal reports whether two values have the same text.
func (n *Node) Equal(other *Node) bool { return n == other || bytes.Equal(n.Bytes(), other.Bytes()) }

// Same reports whether two values are equal except for spaces.
func (n *Node) Same(other *Node) bool { return n == other || rawjson.Same(n.Bytes(), other.Bytes()) }

// Text returns the text of a string, empty for every other value.
func (n *Node) Text() string {
	if !n.IsString() {
		return ""
	}
	return rawjson.Unquote(n.raw)
}

// IsString reports whether the node is a string.
func (n *Node) IsString() bool { return n != nil && rawjson.IsString(n.raw) }

// Is reports whether the node is exactly this word or number.
func (n *Node) Is(word string) bool {
	return n != nil && string(bytes.TrimSpace(n.raw)) == word
}

// IsObject reports whether the node is an object.
func (n *Node) IsObject() bool {
	return n != nil && (n.raw == nil && n.members != nil || begins(n.raw, '{'))
}

// IsArray reports whether the node is an array.
func (n *Node) IsArray() bool {
	return n != nil && (n.raw == nil && n.elements != nil || begins(n.raw, '['))
}

func begins(text []byte, sign byte) bool {
	at := rawjson.SpaceEnd(text, 0)
	return at < len(text) && text[at] == sign
}

// present reports whether there is a value that is not null.
func (n *Node) present() bool { return n != nil && !n.Is("null") }

// Value returns a member's value, nil if it is missing or null.
func (n *Node) Value(name string) *Node {
	if value := n.Get(name); value.present() {
		return value
	}
	return nil
}

// value decodes the node, with all digits of its numbers.
func (n *Node) value() any {
	value, _ := rawjson.Decode(n.Raw())
	return value
}

// Texts returns the texts of the strings in a list.
func (n *Node) Texts() []string {
	var list []string
	for _, element := range n.Elements() {
		if element.IsString() {
			list = append(list, element.Text())
		}
	}
	return list
}

// without returns the same object without some members; the others are the same nodes.
func (n *Node) without(names ...string) *Node {
	rest := &Node{doc: n.doc, members: []Member{}}
	for _, m := range n.Members() {
		if !slices.Contains(names, m.Name) {
			rest.members = append(rest.members, m)
		}
	}
	return rest
}

// join combines several schemas into one.
func join(keyword string, schemas []*Node) *Node {
	if len(schemas) == 1 {
		return schemas[0]
	}
	return &Node{members: []Member{{Name: keyword, Node: &Node{elements: schemas}}}}
}
