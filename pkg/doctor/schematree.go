package doctor

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// The bounds of reading one schema. What lies beyond is counted by its size and
// depth (schema-large, schema-deep), not read.
const (
	maxTreeBytes = 4 << 20
	maxTreeDepth = 1000
	maxTreeNodes = 20_000
)

// schemaTree is a schema cut into its subschemas. It knows positions of schemas
// from positions of names: a property that is called "$ref" is none.
type schemaTree struct {
	raw   json.RawMessage
	root  *schemaNode
	nodes []*schemaNode // each once, parents first
	cut   bool          // bounds were met: nodes are not all there are
	deep  bool          // nested so deep that nothing was read

	byObject map[uintptr]*schemaNode // by the identity of their objects
}

// schemaNode is one subschema.
type schemaNode struct {
	object  map[string]any // nil for true and false
	local   map[string]any // the same with references as pointers (see jsonschema.LocalReferences)
	truth   bool           // which of the two
	parent  *schemaNode
	suffix  string // the JSON pointer from the parent; at the root, from the definition
	depth   int
	keyword string // that it stands under in its parent; empty at the root
	name    string // of the property or definition
	below   []*schemaNode

	refKind refKind
	target  *schemaNode // of $ref, where that leads to an object in the document
}

// pointer is the JSON pointer from the tool's definition. It is made when it is
// asked for: names may be long, and nodes many.
func (n *schemaNode) pointer() string {
	if n.parent == nil {
		return n.suffix
	}
	return n.parent.pointer() + n.suffix
}

// inPlace says that a value is held against the node together with its parent,
// rather than a part of the value.
func (n *schemaNode) inPlace() bool {
	switch n.keyword {
	case "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies":
		return true
	}
	return false
}

// isDefinition says that the node only stands there to be referred to.
func (n *schemaNode) isDefinition() bool { return n.keyword == "$defs" || n.keyword == "definitions" }

// has says whether any of the keywords is there.
func (n *schemaNode) has(keywords ...string) bool {
	return slices.ContainsFunc(keywords, func(keyword string) bool {
		_, ok := n.object[keyword]
		return ok
	})
}

// readSchema reads a schema that stands at pointer; nil where raw is no object.
func readSchema(pointer string, raw json.RawMessage) *schemaTree {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || trimmed[0] != '{' {
		return nil
	}
	tree := &schemaTree{raw: raw, byObject: make(map[uintptr]*schemaNode)}
	tree.root = &schemaNode{suffix: pointer}
	// What is too large, or refused for its depth, stays an empty root.
	tree.cut = len(raw) > maxTreeBytes
	tree.deep = !tree.cut && !tree.root.decode(raw)
	if tree.cut = tree.cut || tree.deep; tree.cut {
		tree.root.object = map[string]any{}
	}
	tree.take(tree.root)
	for i := 0; i < len(tree.nodes); i++ { //nolint:intrange // references add nodes while the loop runs
		if node := tree.nodes[i]; node.reference() != "" {
			node.target, node.refKind = tree.resolve(node)
		}
	}
	return tree
}

// decode reads the node's object; it fails where the text is no object, or too deep.
func (n *schemaNode) decode(raw json.RawMessage) bool {
	object, err := rawjson.Decode(raw)
	if err != nil {
		return false
	}
	n.object, _ = object.(map[string]any)
	n.local = n.object
	if local := jsonschema.LocalReferences(raw); !bytes.Equal(local, raw) {
		object, _ = rawjson.Decode(local)
		n.local, _ = object.(map[string]any)
	}
	return n.object != nil
}

// take adds a node and everything below it.
func (t *schemaTree) take(node *schemaNode) {
	t.nodes = append(t.nodes, node)
	if node.object == nil {
		return
	}
	t.byObject[identityOf(node.object)] = node
	for _, keyword := range slices.Sorted(maps.Keys(node.object)) {
		t.takeKeyword(node, keyword, node.object[keyword], node.local[keyword])
	}
}

// identityOf tells objects apart that have the same content.
func identityOf(object map[string]any) uintptr { return reflect.ValueOf(object).Pointer() }

// takeKeyword adds the subschemas under one keyword; local is its value with references
// as pointers.
func (t *schemaTree) takeKeyword(node *schemaNode, keyword string, value, local any) {
	switch holds := jsonschema.Holds(keyword); value := value.(type) {
	case bool:
		if holds&jsonschema.HoldsSchema != 0 {
			t.child(node, keyword, "", value, local, keyword)
		}
	case []any:
		if holds&jsonschema.HoldsList == 0 {
			return
		}
		for i, part := range value {
			t.child(node, keyword, "", part, local.([]any)[i], keyword, strconv.Itoa(i))
		}
	case map[string]any:
		switch {
		case holds&jsonschema.HoldsNamed != 0:
			for _, name := range slices.Sorted(maps.Keys(value)) {
				t.child(node, keyword, name, value[name], local.(map[string]any)[name], keyword, name)
			}
		case holds&jsonschema.HoldsSchema != 0:
			t.child(node, keyword, "", value, local, keyword)
		}
	}
}

// child adds one subschema; a value that is no schema is none.
func (t *schemaTree) child(parent *schemaNode, keyword, name string, value, local any, path ...string) {
	if len(t.nodes) >= maxTreeNodes || parent.depth >= maxTreeDepth {
		t.cut = true
		return
	}
	node := &schemaNode{parent: parent, suffix: rawjson.Pointer(path...), depth: parent.depth + 1, keyword: keyword, name: name}
	switch value := value.(type) {
	case map[string]any:
		node.object = value
		node.local, _ = local.(map[string]any)
	case bool:
		node.truth = value
	default:
		return
	}
	parent.below = append(parent.below, node)
	t.take(node)
}

// refKind says where a reference leads.
type refKind int

// The kinds.
const (
	refLocal    refKind = iota // to a schema in the document
	refDangling                // into the document, where nothing is
	refExternal                // to another document
	refKnown                   // to a meta-schema that every validator has
)

// resolve follows the reference of a node. target is nil where it leads to true,
// to false, or beyond what was read.
func (t *schemaTree) resolve(node *schemaNode) (target *schemaNode, kind refKind) {
	reference, _ := node.local["$ref"].(string)
	document, fragment, _ := strings.Cut(reference, "#")
	switch {
	case document != "" && dialectOf(document) != dialectUnknown:
		return nil, refKnown
	case document != "":
		return nil, refExternal
	case fragment == "":
		return t.root, refLocal
	}
	if text, err := url.PathUnescape(fragment); err == nil {
		fragment = text
	}
	if strings.HasPrefix(fragment, "/") {
		return t.pointed(fragment)
	}
	return nil, t.missing()
}

// missing is what a reference to nothing is: where the schema was not read to its
// end, it may lead to what was left out.
func (t *schemaTree) missing() refKind {
	if t.cut {
		return refLocal
	}
	return refDangling
}

// pointed follows a JSON pointer from the root. It may lead to an object that is no
// subschema by its position, such as "#/properties/a/x-shared": a schema all the
// same, from then on.
func (t *schemaTree) pointed(pointer string) (*schemaNode, refKind) {
	value, ok := rawjson.At(t.root.object, pointer)
	if !ok {
		return nil, t.missing()
	}
	switch value := value.(type) {
	case map[string]any:
		if node := t.byObject[identityOf(value)]; node != nil {
			return node, refLocal
		}
		if len(t.nodes) >= maxTreeNodes {
			t.cut = true
			return nil, refLocal
		}
		local, _ := rawjson.At(t.root.local, pointer)
		node := &schemaNode{object: value, parent: t.root, suffix: pointer, depth: 1, keyword: "$defs"}
		node.local, _ = local.(map[string]any)
		t.take(node)
		return node, refLocal
	case bool:
		return nil, refLocal
	}
	return nil, refDangling
}

// reference is the $ref of a node, empty where it has none.
func (n *schemaNode) reference() string {
	text, _ := n.object["$ref"].(string)
	return text
}

// levels is the depth of subschemas, and whether it is only a lower bound.
func (t *schemaTree) levels() (deepest int, more bool) {
	for _, node := range t.nodes {
		deepest = max(deepest, node.depth)
	}
	return deepest, t.cut
}

// propertyPath names a property as arguments have it: "options.mode", "items[].id".
func (n *schemaNode) propertyPath() string {
	if n.parent == nil {
		return ""
	}
	above := n.parent.propertyPath()
	switch {
	case n.keyword == "properties" && above != "":
		return above + "." + n.name
	case n.keyword == "properties":
		return n.name
	case n.keyword == "items" || n.keyword == "prefixItems":
		return above + "[]"
	case n.isDefinition():
		return "(" + n.name + ")"
	}
	return above
}
