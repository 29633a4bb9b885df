package jsonschema

import (
	"encoding/json"
	"net/url"
	"strings"

	"toolx/pkg/rawjson"
)

// localReferences returns a schema whose references within the document are JSON pointers from its root (RFC 6901,
// "#/$defs/level"), however the schema writes them: by $anchor, by $id, relative to an embedded schema with its own
// $id, by $dynamicRef or $recursiveRef (JSON Schema 2020-12, sections 8.2 and 9.2). A dynamic reference is resolved
// from the root. Other references are unchanged, and so is every other byte; those to a missing anchor start at the
// root ("#missing"). Text that is not a schema, or too large for one, is returned unchanged.
//
// Every Document starts with it, so that its references lead to the same places as in validation.
func localReferences(schema json.RawMessage) json.RawMessage {
	text := string(schema)
	if len(schema) > MaxSize || !strings.Contains(text, `ef"`) ||
		!strings.Contains(text, `id"`) && !strings.Contains(text, `nchor"`) || rawjson.Check(schema) != nil {
		return schema
	}
	root := NewNode(schema)
	edits := make(map[*Node]*Node)
	for _, one := range newReferences(root).rewritten() {
		if edits[one.place.Node] == nil {
			edits[one.place.Node] = one.place.Clone()
		}
		edits[one.place.Node].Set(one.keyword, Quoted(one.text))
	}
	if len(edits) == 0 {
		return schema
	}
	return replaced(root, edits).Bytes()
}

// The bounds for hostile schemas: on the length of addresses, and on pointers that are much longer than the references
// they replace.
const (
	maxBase    = 2000
	maxRewrite = MaxSize
)

// references are the names and references of one schema document.
type references struct {
	tree      *Tree
	read      int // how many subschemas of the tree were read
	idKeyword string
	bases     map[*Subschema]string // the URIs that references are relative to
	ids       map[string]*Subschema // by URI, and by URI#anchor
	dynamic   map[string]bool       // URI#anchor of $dynamicAnchor
	all       []reference
}

// reference is one keyword that refers to a schema.
type reference struct {
	place   *Subschema
	keyword string
	text    string
}

func newReferences(root *Node) *references {
	r := &references{
		tree: newTree(root, "", MaxSize, MaxSize), idKeyword: "$id", bases: make(map[*Subschema]string),
		ids: make(map[string]*Subschema), dynamic: make(map[string]bool),
	}
	if strings.Contains(root.Get("$schema").Text(), "draft-04") {
		r.idKeyword = "id"
	}
	r.ids[schemaURL] = r.tree.Root
	r.readTree()
	return r
}

// readTree reads the names and references of the subschemas that were added to the tree since the last call.
func (r *references) readTree() {
	for ; r.read < len(r.tree.All); r.read++ {
		place := r.tree.All[r.read]
		r.bases[place] = schemaURL
		if place.Parent != nil {
			r.bases[place] = r.bases[place.Parent]
		}
		r.readNames(place)
		for _, keyword := range referenceKeywords() {
			if written := place.Get(keyword); written != nil && rawjson.IsString(written.raw) {
				r.all = append(r.all, reference{place, keyword, written.Text()})
			}
		}
	}
}

// readNames records the names by which references can reach a schema.
func (r *references) readNames(place *Subschema) {
	if id := place.Get(r.idKeyword); id != nil && rawjson.IsString(id.raw) {
		id := id.Text()
		base, fragment, _ := strings.Cut(resolveURI(r.bases[place], id), "#")
		if !strings.HasPrefix(id, "#") {
			r.bases[place] = base
			r.ids[base] = place
		}
		if fragment != "" { // as draft 4 to 7 write anchors
			r.ids[base+"#"+fragment] = place
		}
	}
	for _, keyword := range []string{"$anchor", "$dynamicAnchor"} {
		if anchor := place.Get(keyword).Text(); anchor != "" {
			name := r.bases[place] + "#" + anchor
			r.ids[name] = place
			r.dynamic[name] = r.dynamic[name] || keyword == "$dynamicAnchor"
		}
	}
}

// rewritten returns the references to rewrite, with their new text.
func (r *references) rewritten() []reference {
	var found []reference
	size := 0
	for i := 0; i < len(r.all); i++ { //nolint:intrange // references may lead to more of them
		one := r.all[i]
		text, ok := r.pointer(one)
		if !ok || text == one.text {
			continue
		}
		if size += len(text); size > maxRewrite {
			break
		}
		one.text = text
		found = append(found, one)
	}
	return found
}

// pointer returns a reference as a pointer from the document's root.
func (r *references) pointer(one reference) (string, bool) {
	document, fragment, _ := strings.Cut(resolveURI(r.bases[one.place], one.text), "#")
	start := r.ids[document]
	if start == nil {
		return "", false
	}
	if fragment != "" && !strings.HasPrefix(fragment, "/") {
		target := r.anchor(one.keyword, document, fragment)
		if target == nil { // not a pointer, so that it leads nowhere in this document
			return "#" + fragment, true
		}
		return "#" + fragmentOf(target), true
	}
	if one.keyword == "$recursiveRef" && recursive(start) && recursive(r.tree.Root) {
		start = r.tree.Root
	}
	r.follow(start, fragment)
	return "#" + fragmentOf(start) + fragment, true
}

// anchor finds the schema of an anchor. A dynamic anchor is that of the outermost schema with the name.
func (r *references) anchor(keyword, document, fragment string) *Subschema {
	if name, err := url.PathUnescape(fragment); err == nil {
		fragment = name
	}
	name := document + "#" + fragment
	if outer := r.bases[r.tree.Root] + "#" + fragment; keyword == "$dynamicRef" && r.dynamic[name] && r.dynamic[outer] {
		name = outer
	}
	return r.ids[name]
}

func recursive(place *Subschema) bool {
	return place.Get("$recursiveAnchor").Is("true")
}

// follow reads the target of a pointer, which may be an object where no schema is expected.
func (r *references) follow(start *Subschema, fragment string) {
	if pointer, err := url.PathUnescape(fragment); err == nil {
		r.tree.from(start, pointer)
		r.readTree()
	}
}

// fragmentOf returns the JSON pointer to a place as a URI's fragment (RFC 6901, section 6).
func fragmentOf(place *Subschema) string {
	var fragment strings.Builder
	for _, token := range rawjson.Tokens(place.Pointer()) {
		fragment.WriteString("/" + escapePointer(token))
	}
	return fragment.String()
}

// resolveURI resolves a reference against a base; it is unchanged if it is malformed or becomes too long.
func resolveURI(base, reference string) string {
	if strings.HasPrefix(reference, "#") {
		return base + reference
	}
	if len(reference) > maxBase {
		return reference
	}
	to, err := url.Parse(reference)
	if err != nil {
		return reference
	}
	from, err := url.Parse(base)
	if err != nil {
		return reference
	}
	if resolved := from.ResolveReference(to).String(); len(resolved) <= maxBase {
		return resolved
	}
	return reference
}

// replaced returns a value with some of its nodes replaced.
func replaced(n *Node, edits map[*Node]*Node) *Node {
	if other := edits[n]; other != nil {
		n = other
	}
	return n.Map(func(_ int, m Member) *Node { return replaced(m.Node, edits) })
}
