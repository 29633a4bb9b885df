package jsonschema

import (
	"slices"
	"strconv"
	"strings"

	"toolx/pkg/rawjson"
)

// The bounds of a Tree made by Document.Tree: subschemas, and levels of them. Anything beyond is not read.
const (
	maxTreeNodes  = 20_000
	maxTreeLevels = 1000
)

// Tree is a schema split into its subschemas, for questions about its text: which keywords it uses, where, and with
// which references. A Shape, which describes the values, merges all of that. The tree
// distinguishes keywords from names: a property named "$ref" is not a reference.
type Tree struct {
	Document *Document
	Root     *Subschema
	All      []*Subschema // each once, parents first
	Cut      bool         // a bound was reached: there are further subschemas

	byNode    map[*Node]*Subschema
	maxNodes  int
	maxLevels int
}

// Subschema is a schema at its place: an object, true or false.
type Subschema struct {
	*Node
	Parent  *Subschema // nil at the root
	Keyword string     // of its place in the parent
	Name    string     // of the property or definition
	Below   []*Subschema

	RefKind RefKind
	Target  *Subschema // of $ref, where that leads to an object in the document

	suffix string // the JSON pointer from the parent; at the root, from the schema's owner
	level  int
}

// RefKind is where a $ref leads.
type RefKind int

// The kinds.
const (
	refLocal    RefKind = iota // to a schema in the document
	RefDangling                // into the document, but to nothing
	RefExternal                // to another document
	refKnown                   // to a meta-schema that every validator includes
)

// Tree splits the document into its subschemas, within bounds, and follows their references. pointer is the place of
// the schema in its owner; the pointers of subschemas begin with it. A document that is too large, too deep, or not a
// JSON object has a single, empty subschema, and is Cut.
func (d *Document) Tree(pointer string) *Tree {
	t := newTree(d.root, pointer, maxTreeNodes, maxTreeLevels)
	t.Document, t.Cut = d, t.Cut || !d.root.IsObject()
	for i := 0; i < len(t.All); i++ { //nolint:intrange // references add subschemas while the loop runs
		if s := t.All[i]; s.Reference() != "" {
			s.Target, s.RefKind = t.resolve(s.Reference())
		}
	}
	return t
}

// newTree splits a schema into its subschemas, without following references.
func newTree(root *Node, pointer string, maxNodes, maxLevels int) *Tree {
	t := &Tree{byNode: make(map[*Node]*Subschema), maxNodes: maxNodes, maxLevels: maxLevels}
	t.Root = &Subschema{Node: root, suffix: pointer}
	t.add(t.Root)
	return t
}

// add adds a subschema and everything below it.
func (t *Tree) add(s *Subschema) {
	t.All = append(t.All, s)
	t.byNode[s.Node] = s
	for _, m := range s.Members() {
		holds := Holds(m.Name)
		if holds&HoldsSchema != 0 {
			t.addBelow(s, m.Name, "", m.Node, m.Name)
		}
		if holds&HoldsList != 0 {
			for i, element := range m.Node.Elements() {
				t.addBelow(s, m.Name, "", element, m.Name, strconv.Itoa(i))
			}
		}
		if holds&HoldsNamed != 0 {
			for _, named := range m.Node.Members() {
				t.addBelow(s, m.Name, named.Name, named.Node, m.Name, named.Name)
			}
		}
	}
}

// addBelow adds a subschema of another. Other values are skipped.
func (t *Tree) addBelow(parent *Subschema, keyword, name string, node *Node, path ...string) {
	switch {
	case !isSchema(node):
		return
	case len(t.All) >= t.maxNodes || parent.level >= t.maxLevels:
		t.Cut = true
		return
	}
	below := &Subschema{
		Node: node, Parent: parent, Keyword: keyword, Name: name,
		suffix: rawjson.Pointer(path...), level: parent.level + 1,
	}
	parent.Below = append(parent.Below, below)
	t.add(below)
}

// resolve follows a $ref. target is nil if it leads to true, to false, or beyond the bounds.
func (t *Tree) resolve(reference string) (target *Subschema, kind RefKind) {
	document, _, _ := strings.Cut(reference, "#")
	pointer, local := LocalPointer(reference)
	switch {
	case document != "" && dialectOf(document) != DialectUnknown:
		return nil, refKnown
	case document != "":
		return nil, RefExternal
	case local:
		if node := t.Root.at(pointer); isSchema(node) {
			return t.from(t.Root, pointer), refLocal
		} else if node != nil {
			return nil, RefDangling
		}
	}
	if t.Cut { // it may lead beyond the bounds
		return nil, refLocal
	}
	return nil, RefDangling
}

// from returns the subschema at a JSON pointer from another; nil if there is no object. An object in a place for other
// values, such as "/properties/a/x-shared", becomes a subschema.
func (t *Tree) from(start *Subschema, pointer string) *Subschema {
	node := start.at(pointer)
	if !node.IsObject() {
		return nil
	}
	if known := t.byNode[node]; known != nil {
		return known
	}
	if len(t.All) >= t.maxNodes {
		t.Cut = true
		return nil
	}
	found := &Subschema{Node: node, Parent: start, suffix: pointer, level: 1, Keyword: "$defs"}
	t.add(found)
	return found
}

// Levels returns how deep subschemas are nested, and whether that is only a lower bound.
func (t *Tree) Levels() (deepest int, more bool) {
	for _, s := range t.All {
		deepest = max(deepest, s.level)
	}
	return deepest, t.Cut
}

// WithoutReferences returns the schema without the $ref of some of its subschemas.
func (t *Tree) WithoutReferences(of []*Subschema) *Document {
	if len(of) == 0 {
		return t.Document
	}
	edits := make(map[*Node]*Node)
	for _, s := range of {
		edits[s.Node] = s.Clone()
		edits[s.Node].Drop("$ref")
	}
	return Parse(replaced(t.Root.Node, edits).Bytes())
}

// Pointer returns the JSON pointer from the schema's owner. It is built on demand: there may be many subschemas with
// long names.
func (s *Subschema) Pointer() string {
	if s.Parent == nil {
		return s.suffix
	}
	return s.Parent.Pointer() + s.suffix
}

// Value returns the outermost subschema for the same value.
func (s *Subschema) Value() *Subschema {
	for s.InPlace() && s.Parent != nil {
		s = s.Parent
	}
	return s
}

// InPlace reports whether the subschema describes the same value as its parent, not a part of it.
func (s *Subschema) InPlace() bool {
	switch s.Keyword {
	case "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies":
		return true
	}
	return false
}

// IsDefinition reports whether the subschema is only used by reference.
func (s *Subschema) IsDefinition() bool { return s.Keyword == "$defs" || s.Keyword == "definitions" }

// Reference returns the $ref, empty if there is none.
func (s *Subschema) Reference() string { return s.Get("$ref").Text() }

// PropertyPath returns the path of a property in arguments: "options.mode", "items[].id".
func (s *Subschema) PropertyPath() string {
	if s.Parent == nil {
		return ""
	}
	above := s.Parent.PropertyPath()
	switch {
	case s.Keyword == "properties" && above != "":
		return above + "." + s.Name
	case s.Keyword == "properties":
		return s.Name
	case s.Keyword == "items" || s.Keyword == "prefixItems":
		return above + "[]"
	case s.IsDefinition():
		return "(" + s.Name + ")"
	}
	return above
}

// Has reports whether any of the members is there.
func (n *Node) Has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return n.Get(name) != nil })
}

// isSchema reports whether the node can be a schema: an object, true or false.
func isSchema(n *Node) bool { return n.IsObject() || n.Is("true") || n.Is("false") }

// at follows a JSON pointer; nil where it leads nowhere.
func (n *Node) at(pointer string) *Node {
	for _, token := range rawjson.Tokens(pointer) {
		if !n.IsArray() {
			n = n.Get(token)
			continue
		}
		elements := n.Elements()
		i, err := strconv.Atoi(token)
		if err != nil || i < 0 || i >= len(elements) || token != strconv.Itoa(i) {
			return nil
		}
		n = elements[i]
	}
	return n
}

// Dialect is a draft of JSON Schema.
type Dialect string

// The dialects that validators support.
const (
	Dialect2020    Dialect = "2020-12"
	DialectUnknown Dialect = ""
)

// dialectOf returns the dialect of a $schema.
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

// Dialect returns the schema's dialect and its URI; 2020-12 if it has none (MCP 2025-11-25, basic/index: JSON Schema
// usage).
func (t *Tree) Dialect() (found Dialect, uri string) {
	named := t.Root.Get("$schema")
	if named == nil || !rawjson.IsString(named.raw) {
		return Dialect2020, ""
	}
	return dialectOf(named.Text()), named.Text()
}
