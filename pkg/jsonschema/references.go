package jsonschema

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"toolx/pkg/rawjson"
)

// LocalReferences returns a schema whose references to places in the same document are JSON pointers from its root (RFC
// 6901, "#/$defs/level"), however the schema writes them: by $anchor, by $id, counted from an embedded schema with an
// $id of its own, by $dynamicRef or $recursiveRef (JSON Schema 2020-12, sections 8.2 and 9.2). A dynamic reference
// leads where it does for who starts at the root. References that lead elsewhere stay as they are, and so does every
// other byte; those to an anchor that is missing count from the root ("#missing"). What is no schema, or too large for
// one, is returned as it is.
//
// Every Document begins with it, so that its references come to the same places as validation does.
func LocalReferences(schema json.RawMessage) json.RawMessage {
	text := string(schema)
	if len(schema) > MaxSize || !strings.Contains(text, `ef"`) ||
		!strings.Contains(text, `id"`) && !strings.Contains(text, `nchor"`) || rawjson.Check(schema) != nil {
		return schema
	}
	found := newReferences(&Node{raw: schema}).rewritten()
	if len(found) == 0 {
		return schema
	}
	edits := &refEdits{}
	for _, one := range found {
		edits.at(one.place).set(one)
	}
	return edits.apply(schema)
}

// The bounds of what a hostile schema can ask for: addresses that are longer than
// addresses are, and pointers that are much longer than the references they replace.
const (
	maxBase    = 2000
	maxRewrite = MaxSize
)

// references are the names and the references of one schema document.
type references struct {
	idKeyword string
	ids       map[string]*schemaPlace // by URI, and by URI#anchor
	dynamic   map[string]bool         // URI#anchor of $dynamicAnchor
	root      *schemaPlace
	seen      map[*Node]bool
	all       []reference
}

// schemaPlace is where a schema stands in its document.
type schemaPlace struct {
	up    *schemaPlace
	token string
	node  *Node
	base  string // the URI that its references count from
}

// reference is one keyword that refers to a schema.
type reference struct {
	place   *schemaPlace
	keyword string
	text    string
}

func newReferences(root *Node) *references {
	r := &references{
		idKeyword: "$id", ids: make(map[string]*schemaPlace), dynamic: make(map[string]bool),
		seen: make(map[*Node]bool),
		root: &schemaPlace{node: root, base: schemaURL},
	}
	if strings.Contains(root.Get("$schema").Text(), "draft-04") {
		r.idKeyword = "id"
	}
	r.ids[schemaURL] = r.root
	r.read(r.root)
	return r
}

// read takes the names and references of a schema and of those below it.
func (r *references) read(place *schemaPlace) {
	node := place.node
	if !node.IsObject() || r.seen[node] {
		return
	}
	r.seen[node] = true
	r.takeNames(place)
	for _, keyword := range referenceKeywords() {
		if written := node.Get(keyword); written != nil && rawjson.IsString(written.raw) {
			r.all = append(r.all, reference{place, keyword, written.Text()})
		}
	}
	for _, m := range node.Members() {
		at, holds := place.child(m.Name, m.Node), Holds(m.Name)
		if holds&HoldsSchema != 0 {
			r.read(at)
		}
		if holds&HoldsList != 0 {
			for i, part := range m.Node.Elements() {
				r.read(at.child(strconv.Itoa(i), part))
			}
		}
		if holds&HoldsNamed != 0 {
			for _, named := range m.Node.Members() {
				r.read(at.child(named.Name, named.Node))
			}
		}
	}
}

// takeNames notes by which names a schema can be referred to.
func (r *references) takeNames(place *schemaPlace) {
	if id := place.node.Get(r.idKeyword); id != nil && rawjson.IsString(id.raw) {
		id := id.Text()
		base, fragment, _ := strings.Cut(resolveURI(place.base, id), "#")
		if !strings.HasPrefix(id, "#") {
			place.base = base
			r.ids[base] = place
		}
		if fragment != "" { // as draft 4 to 7 write anchors
			r.ids[base+"#"+fragment] = place
		}
	}
	for _, keyword := range []string{"$anchor", "$dynamicAnchor"} {
		if anchor := place.node.Get(keyword).Text(); anchor != "" {
			name := place.base + "#" + anchor
			r.ids[name] = place
			r.dynamic[name] = r.dynamic[name] || keyword == "$dynamicAnchor"
		}
	}
}

// rewritten returns the references that are not written as they should be, with the text that they should have.
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
	document, fragment, _ := strings.Cut(resolveURI(one.place.base, one.text), "#")
	start := r.ids[document]
	if start == nil {
		return "", false
	}
	if fragment != "" && !strings.HasPrefix(fragment, "/") {
		target := r.anchor(one.keyword, document, fragment)
		if target == nil { // no pointer either, so it stays one that leads nowhere in this document
			return "#" + fragment, true
		}
		return "#" + target.pointer(), true
	}
	if one.keyword == "$recursiveRef" && recursive(start) && recursive(r.root) {
		start = r.root
	}
	r.follow(start, fragment)
	return "#" + start.pointer() + fragment, true
}

// anchor finds the schema of an anchor. A dynamic one is that of the outermost schema, where that has one of the name.
func (r *references) anchor(keyword, document, fragment string) *schemaPlace {
	if name, err := url.PathUnescape(fragment); err == nil {
		fragment = name
	}
	name := document + "#" + fragment
	if outer := r.root.base + "#" + fragment; keyword == "$dynamicRef" && r.dynamic[name] && r.dynamic[outer] {
		name = outer
	}
	return r.ids[name]
}

func recursive(place *schemaPlace) bool {
	return place.node.Get("$recursiveAnchor").Is("true")
}

// follow reads what a pointer leads to. That may be an object which is no schema by its
// position: it is one from then on.
func (r *references) follow(start *schemaPlace, fragment string) {
	decoded, err := url.PathUnescape(fragment)
	if err != nil {
		return
	}
	at := start
	for _, token := range rawjson.Tokens(decoded) {
		at = at.child(token, at.node.child(token))
	}
	r.read(at)
}

func (p *schemaPlace) child(token string, node *Node) *schemaPlace {
	return &schemaPlace{up: p, token: token, node: node, base: p.base}
}

// pointer returns the JSON pointer to the place, as a URI's fragment has it.
func (p *schemaPlace) pointer() string {
	if p.up == nil {
		return ""
	}
	return p.up.pointer() + "/" + escapePointer(p.token)
}

// resolveURI resolves a reference against a base; what cannot be read, or comes out
// longer than an address is, stays as it is.
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

// refEdits are what is to be changed in a schema's text, by the tokens that lead there.
type refEdits struct {
	texts map[string]string // of references, by keyword
	below map[string]*refEdits
}

// at returns where the edits of a place are kept.
func (e *refEdits) at(place *schemaPlace) *refEdits {
	if place.up == nil {
		return e
	}
	above := e.at(place.up)
	if above.below == nil {
		above.below = make(map[string]*refEdits)
	}
	if above.below[place.token] == nil {
		above.below[place.token] = &refEdits{}
	}
	return above.below[place.token]
}

func (e *refEdits) set(one reference) {
	if e.texts == nil {
		e.texts = make(map[string]string)
	}
	e.texts[one.keyword] = one.text
}

// apply returns text with the edits made.
func (e *refEdits) apply(text json.RawMessage) json.RawMessage {
	if elements, isArray := rawjson.Elements(text); isArray {
		for i, element := range elements {
			if below := e.below[strconv.Itoa(i)]; below != nil {
				elements[i] = below.apply(element)
			}
		}
		return rawjson.Array(elements)
	}
	members, isObject := rawjson.Members(text)
	if !isObject {
		return text
	}
	for i, m := range members {
		if below := e.below[m.Name]; below != nil {
			members[i].Value = below.apply(m.Value)
		}
		if to, ok := e.texts[m.Name]; ok {
			members[i].Value = rawjson.Quote(to)
		}
	}
	return rawjson.Object(members)
}
