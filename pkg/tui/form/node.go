package form

import (
	"encoding/json"
	"net/url"
	"strings"

	"toolx/pkg/rawjson"
)

// node is one value in a schema. It is cut into its parts when somebody asks for
// them, and each part exists once, so that a node can be told from another.
type node struct {
	raw      json.RawMessage
	cut      bool
	members  []member
	byName   map[string]*node
	elements []*node
}

// member is one name of an object in a schema, with its value.
type member struct {
	name string
	key  json.RawMessage // the name as it is written
	node *node
}

func newNode(text string) *node { return &node{raw: json.RawMessage(text)} }

// open cuts the node into its parts.
func (n *node) open() {
	if n.cut {
		return
	}
	n.cut, n.byName = true, make(map[string]*node)
	for m := range rawjson.Each(n.raw) {
		part := &node{raw: m.Value}
		if _, twice := n.byName[m.Name]; twice {
			continue
		}
		n.byName[m.Name] = part
		n.members = append(n.members, member{m.Name, m.Key, part})
	}
	elements, _ := rawjson.Elements(n.raw)
	for _, element := range elements {
		n.elements = append(n.elements, &node{raw: element})
	}
}

// get returns a member's value, nil where there is none.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	n.open()
	return n.byName[name]
}

// all returns an object's members in their order.
func (n *node) all() []member {
	if n == nil {
		return nil
	}
	n.open()
	return n.members
}

// list returns an array's elements.
func (n *node) list() []*node {
	if n == nil {
		return nil
	}
	n.open()
	return n.elements
}

// text returns what a string says, empty for every other value.
func (n *node) text() string {
	if n == nil || !rawjson.IsString(n.raw) {
		return ""
	}
	return rawjson.Unquote(n.raw)
}

// is says whether the node is exactly this word or number.
func (n *node) is(word string) bool {
	return n != nil && strings.TrimSpace(string(n.raw)) == word
}

// opens says whether the node begins with a sign: { of objects, [ of arrays.
func (n *node) opens(sign string) bool {
	return n != nil && strings.HasPrefix(strings.TrimSpace(string(n.raw)), sign)
}

// without is the same object with one member left out; the others stay the very
// same nodes.
func (n *node) without(name string) *node {
	rest := &node{raw: n.raw, cut: true, byName: make(map[string]*node)}
	for _, m := range n.all() {
		if m.name != name {
			rest.byName[m.name] = m.node
			rest.members = append(rest.members, m)
		}
	}
	return rest
}

// at follows a reference inside the document (RFC 6901, as a URI fragment); nil
// where it leads nowhere.
func (n *node) at(reference string) *node {
	pointer, local := strings.CutPrefix(reference, "#")
	if !local {
		return nil
	}
	pointer, err := url.PathUnescape(pointer)
	if err != nil || pointer != "" && pointer[0] != '/' {
		return nil
	}
	for n != nil && pointer != "" {
		var token string
		token, pointer, _ = strings.Cut(pointer[1:], "/")
		if pointer != "" || strings.HasSuffix(token, "/") {
			pointer = "/" + pointer
		}
		n = n.child(strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
	}
	return n
}

// child is one step of a JSON pointer.
func (n *node) child(token string) *node {
	if !n.opens("[") {
		return n.get(token)
	}
	for i, element := range n.list() {
		if token == decimal(i) {
			return element
		}
	}
	return nil
}
