package listing

import (
	"bytes"
	"encoding/json"
	"maps"
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

// SchemaTree is a schema cut into its subschemas, for checks of how it is written: by which keywords, in which places,
// with which references. A jsonschema.Shape, which says what a value may be, merges all of that away. The tree knows
// positions of schemas from positions of names: a property that is called "$ref" is none.
type SchemaTree struct {
	Raw   json.RawMessage
	Root  *SchemaNode
	Nodes []*SchemaNode // each once, parents first
	Cut   bool          // bounds were met: nodes are not all there are
	Deep  bool          // nested so deep that nothing was read

	byObject map[uintptr]*SchemaNode // by the identity of their objects
}

// SchemaNode is one subschema.
type SchemaNode struct {
	Object  map[string]any // nil for true and false; local references are pointers (see jsonschema.LocalReferences)
	Parent  *SchemaNode
	suffix  string // the JSON pointer from the parent; at the root, from the definition
	depth   int
	Keyword string // that it stands under in its parent; empty at the root
	Name    string // of the property or definition
	Below   []*SchemaNode

	RefKind RefKind
	Target  *SchemaNode // of $ref, where that leads to an object in the document
}

// Pointer is the JSON pointer from the tool's definition. It is made when it is
// asked for: names may be long, and nodes many.
func (n *SchemaNode) Pointer() string {
	if n.Parent == nil {
		return n.suffix
	}
	return n.Parent.Pointer() + n.suffix
}

// InPlace says that a value is held against the node together with its parent, rather than a part of the value.
func (n *SchemaNode) InPlace() bool {
	switch n.Keyword {
	case "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies":
		return true
	}
	return false
}

// IsDefinition says that the node only stands there to be referred to.
func (n *SchemaNode) IsDefinition() bool { return n.Keyword == "$defs" || n.Keyword == "definitions" }

// Has reports whether any of the keywords is there.
func (n *SchemaNode) Has(keywords ...string) bool {
	return slices.ContainsFunc(keywords, func(keyword string) bool {
		_, ok := n.Object[keyword]
		return ok
	})
}

// readSchema reads a schema that stands at pointer; nil where raw is no object.
func readSchema(pointer string, raw json.RawMessage) *SchemaTree {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || trimmed[0] != '{' {
		return nil
	}
	tree := &SchemaTree{Raw: raw, byObject: make(map[uintptr]*SchemaNode)}
	tree.Root = &SchemaNode{suffix: pointer}
	// What is too large, or refused for its depth, stays an empty root.
	tree.Cut = len(raw) > maxTreeBytes
	tree.Deep = !tree.Cut && !tree.Root.decode(raw)
	if tree.Cut = tree.Cut || tree.Deep; tree.Cut {
		tree.Root.Object = map[string]any{}
	}
	tree.take(tree.Root)
	for i := 0; i < len(tree.Nodes); i++ { //nolint:intrange // references add nodes while the loop runs
		if node := tree.Nodes[i]; node.Reference() != "" {
			node.Target, node.RefKind = tree.resolve(node)
		}
	}
	return tree
}

// decode reads the node's object; it fails where the text is no object, or too deep.
func (n *SchemaNode) decode(raw json.RawMessage) bool {
	object, err := rawjson.Decode(jsonschema.LocalReferences(raw))
	n.Object, _ = object.(map[string]any)
	return err == nil && n.Object != nil
}

// take adds a node and everything below it.
func (t *SchemaTree) take(node *SchemaNode) {
	t.Nodes = append(t.Nodes, node)
	if node.Object == nil {
		return
	}
	t.byObject[IdentityOf(node.Object)] = node
	for _, keyword := range slices.Sorted(maps.Keys(node.Object)) {
		t.takeKeyword(node, keyword, node.Object[keyword])
	}
}

// IdentityOf distinguishes objects that have the same content.
func IdentityOf(object map[string]any) uintptr { return reflect.ValueOf(object).Pointer() }

// takeKeyword adds the subschemas under one keyword.
func (t *SchemaTree) takeKeyword(node *SchemaNode, keyword string, value any) {
	holds := jsonschema.Holds(keyword)
	switch value := value.(type) {
	case []any:
		if holds&jsonschema.HoldsList == 0 {
			return
		}
		for i, part := range value {
			t.child(node, keyword, "", part, keyword, strconv.Itoa(i))
		}
		return
	case map[string]any:
		if holds&jsonschema.HoldsNamed != 0 {
			for _, name := range slices.Sorted(maps.Keys(value)) {
				t.child(node, keyword, name, value[name], keyword, name)
			}
			return
		}
	}
	if holds&jsonschema.HoldsSchema != 0 {
		t.child(node, keyword, "", value, keyword)
	}
}

// child adds one subschema: an object, true or false. Other values are skipped.
func (t *SchemaTree) child(parent *SchemaNode, keyword, name string, value any, path ...string) {
	if len(t.Nodes) >= maxTreeNodes || parent.depth >= maxTreeDepth {
		t.Cut = true
		return
	}
	object, isObject := value.(map[string]any)
	if _, isBool := value.(bool); !isObject && !isBool {
		return
	}
	node := &SchemaNode{
		Object: object, Parent: parent, suffix: rawjson.Pointer(path...),
		depth: parent.depth + 1, Keyword: keyword, Name: name,
	}
	parent.Below = append(parent.Below, node)
	t.take(node)
}

// RefKind says where a reference leads.
type RefKind int

// The kinds.
const (
	refLocal    RefKind = iota // to a schema in the document
	RefDangling                // into the document, where nothing is
	RefExternal                // to another document
	refKnown                   // to a meta-schema that every validator has
)

// resolve follows the reference of a node. target is nil where it leads to true, to false, or beyond what was read.
func (t *SchemaTree) resolve(node *SchemaNode) (target *SchemaNode, kind RefKind) {
	document, _, _ := strings.Cut(node.Reference(), "#")
	pointer, local := jsonschema.LocalPointer(node.Reference())
	switch {
	case document != "" && dialectOf(document) != DialectUnknown:
		return nil, refKnown
	case document != "":
		return nil, RefExternal
	case !local:
		return nil, t.missing()
	case pointer == "":
		return t.Root, refLocal
	}
	return t.pointed(pointer)
}

// missing is what a reference to nothing is: where the schema was not read to its
// end, it may lead to what was left out.
func (t *SchemaTree) missing() RefKind {
	if t.Cut {
		return refLocal
	}
	return RefDangling
}

// pointed follows a JSON pointer from the root. It may lead to an object that is no subschema by its position, such as
// "#/properties/a/x-shared": a schema all the same, from then on.
func (t *SchemaTree) pointed(pointer string) (*SchemaNode, RefKind) {
	value, ok := rawjson.At(t.Root.Object, pointer)
	if !ok {
		return nil, t.missing()
	}
	switch value := value.(type) {
	case map[string]any:
		if node := t.byObject[IdentityOf(value)]; node != nil {
			return node, refLocal
		}
		if len(t.Nodes) >= maxTreeNodes {
			t.Cut = true
			return nil, refLocal
		}
		node := &SchemaNode{Object: value, Parent: t.Root, suffix: pointer, depth: 1, Keyword: "$defs"}
		t.take(node)
		return node, refLocal
	case bool:
		return nil, refLocal
	}
	return nil, RefDangling
}

// Reference is the $ref of a node, empty where it has none.
func (n *SchemaNode) Reference() string {
	text, _ := n.Object["$ref"].(string)
	return text
}

// Levels is the depth of subschemas, and whether it is only a lower bound.
func (t *SchemaTree) Levels() (deepest int, more bool) {
	for _, node := range t.Nodes {
		deepest = max(deepest, node.depth)
	}
	return deepest, t.Cut
}

// PropertyPath names a property as arguments have it: "options.mode", "items[].id".
func (n *SchemaNode) PropertyPath() string {
	if n.Parent == nil {
		return ""
	}
	above := n.Parent.PropertyPath()
	switch {
	case n.Keyword == "properties" && above != "":
		return above + "." + n.Name
	case n.Keyword == "properties":
		return n.Name
	case n.Keyword == "items" || n.Keyword == "prefixItems":
		return above + "[]"
	case n.IsDefinition():
		return "(" + n.Name + ")"
	}
	return above
}

// Dialect is a draft of JSON Schema.
type Dialect string

// The dialects that validators know.
const (
	Dialect2020    Dialect = "2020-12"
	DialectUnknown Dialect = ""
)

// dialectOf names the dialect of a $schema.
func dialectOf(uri string) Dialect {
	uri = strings.TrimSuffix(uri, "#")
	uri = strings.TrimPrefix(strings.TrimPrefix(uri, "https://"), "http://")
	return map[string]Dialect{
		"json-schema.org/draft/2020-12/schema": Dialect2020,
		"json-schema.org/draft/2019-09/schema": "2019-09",
		"json-schema.org/draft-07/schema":      "draft-07",
		"json-schema.org/schema":               "draft-07",
		"json-schema.org/draft-06/schema":      "draft-06",
		"json-schema.org/draft-04/schema":      "draft-04",
	}[uri]
}

// Dialect is the one that the schema names, and 2020-12 where it names none (MCP
// 2025-11-25, basic/index: JSON Schema usage).
func (t *SchemaTree) Dialect() (found Dialect, uri string) {
	uri, ok := t.Root.Object["$schema"].(string)
	if !ok {
		return Dialect2020, ""
	}
	return dialectOf(uri), uri
}
