package jsonschema

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"sync"

	"toolx/pkg/rawjson"
)

// Node is one value in a schema. It is cut into its parts when somebody asks for them, and each part exists once, so
// that a node can be told from another. The methods of a nil Node answer as one that is not there.
type Node struct {
	doc      *Document
	raw      json.RawMessage // nil where the node was made of others
	cut      sync.Once
	members  []Member
	byName   map[string]*Node // of many members
	elements []*Node
}

// Member is one name of an object in a schema, with its value.
type Member struct {
	Name string
	Key  json.RawMessage // the name as it is written
	Node *Node
}

// newNode returns a schema without references that no document holds.
func newNode(text string) *Node { return &Node{raw: json.RawMessage(text)} }

// manyMembers is from how many on a name is looked up in a map.
const manyMembers = 8

// open cuts the node into its parts. Of two members of one name the last counts, as in encoding/json.
func (n *Node) open() {
	if n.raw == nil {
		return
	}
	n.cut.Do(func() {
		for m := range rawjson.Each(n.raw) {
			n.members = append(n.members, Member{m.Name, m.Key, &Node{doc: n.doc, raw: m.Value}})
		}
		if len(n.members) > manyMembers {
			n.index()
		} else {
			n.members = once(n.members)
		}
		for element := range rawjson.EachElement(n.raw) {
			n.elements = append(n.elements, &Node{doc: n.doc, raw: element})
		}
	})
}

// once drops all members of a name but the last, which takes the place of the first.
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

// index makes the map of many members, and drops those whose name stands again.
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

// Get returns a member's value, nil where there is none.
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

// Raw returns the value as it is written; nil for one that is made of others.
func (n *Node) Raw() json.RawMessage {
	if n == nil {
		return nil
	}
	return n.raw
}

// Text returns what a string says, empty for every other value.
func (n *Node) Text() string {
	if n == nil || !rawjson.IsString(n.raw) {
		return ""
	}
	return rawjson.Unquote(n.raw)
}

// Is reports whether the node is exactly this word or number.
func (n *Node) Is(word string) bool {
	return n != nil && string(bytes.TrimSpace(n.raw)) == word
}

// IsObject reports whether the node is an object.
func (n *Node) IsObject() bool {
	return n != nil && (n.raw == nil && n.members != nil || n.begins('{'))
}

// IsArray reports whether the node is an array.
func (n *Node) IsArray() bool {
	return n != nil && (n.raw == nil && n.elements != nil || n.begins('['))
}

func (n *Node) begins(sign byte) bool {
	at := rawjson.SpaceEnd(n.raw, 0)
	return at < len(n.raw) && n.raw[at] == sign
}

// present reports whether there is a value other than null.
func (n *Node) present() bool { return n != nil && !n.Is("null") }

// value decodes the node, with every digit of its numbers.
func (n *Node) value() any {
	value, _ := rawjson.Decode(n.Raw())
	return value
}

// Texts returns what the strings of a list say.
func (n *Node) Texts() []string {
	var list []string
	for _, element := range n.Elements() {
		if rawjson.IsString(element.raw) {
			list = append(list, element.Text())
		}
	}
	return list
}

// names returns the names of an object's members, sorted.
func (n *Node) names() []string {
	names := make([]string, 0, len(n.Members()))
	for _, m := range n.Members() {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return names
}

// without returns the same object with members left out; the others stay the very same nodes.
func (n *Node) without(names ...string) *Node {
	rest := &Node{doc: n.doc, members: []Member{}}
	for _, m := range n.Members() {
		if !slices.Contains(names, m.Name) {
			rest.members = append(rest.members, m)
		}
	}
	return rest
}

// join makes one schema of several.
func join(keyword string, schemas []*Node) *Node {
	if len(schemas) == 1 {
		return schemas[0]
	}
	return &Node{members: []Member{{Name: keyword, Node: &Node{elements: schemas}}}}
}

// child is one step of a JSON pointer.
func (n *Node) child(token string) *Node {
	if !n.IsArray() {
		return n.Get(token)
	}
	elements := n.Elements()
	i, err := strconv.Atoi(token)
	if err != nil || i < 0 || i >= len(elements) || token != strconv.Itoa(i) {
		return nil
	}
	return elements[i]
}

// firstOf returns a keyword's value in the first of several schemas that has it.
func firstOf(parts []*Node, keyword string) *Node {
	for _, part := range parts {
		if value := part.Get(keyword); value != nil {
			return value
		}
	}
	return nil
}
