package form

import (
	"encoding/json"
	"slices"
	"strconv"
)

// kind is how a value is shown and edited.
type kind int

const (
	kindJSON    kind = iota // what no other kind can express
	kindText                // a string, of one line or several
	kindNumber              // its digits, as they are typed
	kindBool                // true or false
	kindEnum                // one of several values; of one for a const
	kindObject              // named fields, and rows of key and value
	kindArray               // rows
	kindVariant             // one of several shapes
)

// String names the kind as the form shows it.
func (k kind) String() string {
	return [...]string{"JSON", "text", "number", "boolean", "choice", "object", "array", "variant"}[k]
}

// shape is what a schema says about one value, as far as a form can show it. What
// it cannot show is still checked: validation goes by the schema itself.
type shape struct {
	kind     kind
	whole    bool // of a number: no fraction
	nullable bool
	why      string // of JSON: why it is no other kind

	title, description, format string
	// parts are the schema objects that all apply to the value, aside the alternatives
	// that only set conditions: what they name is offered.
	parts    []*node
	aside    []*node
	fallback *node   // the default: a hint, never sent by itself
	examples []*node // offered

	options []option // of an enum

	properties   []property // of an object, in the schema's order
	additional   *node      // the schema of members that have no name here; may be nil
	isMap        bool       // members with free names are what it is for
	bare         bool       // it is a map only because it says nothing at all
	items        *node      // of an array; nil where anything goes
	alternatives []alternative
}

// option is one value of an enum.
type option struct {
	raw   json.RawMessage
	label string
}

// property is a named field of an object.
type property struct {
	member
	required bool
}

// alternative is one shape of a variant.
type alternative struct {
	label  string
	parts  []*node
	target *node
	known  bool // its references lead somewhere
}

// reader makes shapes of one schema document.
type reader struct {
	root *node // whose references are pointers
}

// Limits of one shape: a schema comes from a server and may be hostile.
const (
	maxParts        = 200  // schema objects that apply to one value
	maxMentioning   = 5000 // schema objects that are asked for names
	maxRounds       = 8    // combinations merged into one shape
	maxAlternatives = 200  // of one variant; more are left to JSON
	maxRecursion    = 3    // the same $ref within itself, then JSON
	maxNesting      = 16   // fields within fields, then JSON
)

// parts returns the schema objects that apply together with n: those that it
// refers to, and those of allOf. target is what its own $ref means. known is false
// where a reference leads out of the document or nowhere.
func (r *reader) parts(n *node) (parts []*node, target *node, known bool) {
	known = true
	seen := make(map[*node]bool)
	queue := []*node{n}
	for len(queue) > 0 && len(parts) < maxParts {
		part := queue[0]
		queue = queue[1:]
		if part == nil || seen[part] {
			continue
		}
		seen[part] = true
		parts = append(parts, part)
		for _, keyword := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
			if reference := part.get(keyword); reference != nil {
				found := r.root.at(reference.text())
				known = known && found != nil
				if target == nil {
					target = found
				}
				queue = append(queue, found)
			}
		}
		queue = append(queue, part.get("allOf").list()...)
	}
	return parts, target, known
}

// shape makes the shape of schema objects that apply together. It merges what can
// be merged: nullable wrappers, lists of constants, alternatives that only add
// conditions. What is left of alternatives is a variant.
func (r *reader) shape(parts []*node) *shape {
	nullable := false
	var aside []*node
	for range maxRounds {
		at, keyword := combination(parts)
		if at < 0 {
			s := r.plain(parts, aside)
			s.nullable = s.nullable || nullable
			return s
		}
		base := allowed(parts)
		list, null := r.alternatives(parts, at, keyword)
		nullable = nullable || null && base&typeNull != 0
		rest := slices.Clone(parts)
		rest[at] = parts[at].without(keyword)
		switch same, merged := sameScalar(list); {
		case len(list) == 1 && !list[0].known:
			return (&shape{kind: kindJSON, why: nowhere, nullable: true}).describe(parts)
		case len(list) == 1:
			parts = append(rest, list[0].parts...)
		case len(list) == 0 || redundant(parts, list):
			aside = append(aside, parts[at].get(keyword).list()...)
			parts = rest
		case len(list) > maxAlternatives:
			return (&shape{kind: kindJSON, why: "too many alternatives", nullable: true}).describe(parts)
		case constants(list) != nil:
			return (&shape{kind: kindEnum, nullable: nullable, options: constants(list)}).describe(rest)
		case merged:
			parts = append(rest, newNode(`{"type":"`+same+`"}`))
		default:
			for i := range list {
				list[i].parts = append(slices.Clone(rest), list[i].parts...)
			}
			return (&shape{kind: kindVariant, nullable: nullable, alternatives: list}).describe(rest)
		}
	}
	return (&shape{kind: kindJSON, why: "combined too deeply", nullable: true}).describe(parts)
}

// loose is the shape of an object of which parts say too much for a form, or what no
// object can be: it has the members that they name.
func (r *reader) loose(parts []*node) *shape {
	rest, aside := []*node{newNode(`{"type":"object"}`)}, []*node(nil)
	for _, part := range parts {
		for _, keyword := range []string{"oneOf", "anyOf"} {
			aside = append(aside, part.get(keyword).list()...)
		}
		for _, keyword := range []string{"oneOf", "anyOf", "type", "enum", "const"} {
			part = part.without(keyword)
		}
		rest = append(rest, part)
	}
	return r.plain(rest, aside)
}

// anyValue is why a field is JSON whose schema says nothing of its type.
const anyValue = "any value"

// nowhere is why a field is JSON whose schema cannot be found.
const nowhere = "a reference that leads nowhere"

// plain is the shape of parts without alternatives; those that only set conditions
// stand aside.
func (r *reader) plain(parts, aside []*node) *shape {
	s := (&shape{aside: aside}).describe(parts)
	if s.options = options(parts); s.options != nil {
		s.kind = kindEnum
		return s.withoutNull()
	}
	types := allowed(parts)
	untyped := types == anyType
	if untyped {
		types = implied(parts)
	}
	s.nullable = types&typeNull != 0
	switch names := (types &^ typeNull).names(); {
	case types == typeNull:
		s.kind, s.options, s.nullable = kindEnum, []option{{raw: json.RawMessage("null")}}, false
	case untyped && types == anyType || len(names) > 4:
		s.kind, s.why, s.nullable = kindJSON, anyValue, true
	case len(names) == 0:
		s.kind, s.why = kindJSON, "no value fits"
	case len(names) > 1:
		s.kind = kindVariant
		for _, name := range names {
			typed := append(slices.Clone(parts), newNode(`{"type":"`+name+`"}`))
			s.alternatives = append(s.alternatives, alternative{label: name, parts: typed, known: true})
		}
	default:
		s.typed(r, names[0])
	}
	return s
}

// typed fills in the shape of a value of one type.
func (s *shape) typed(r *reader, name string) {
	switch name {
	case "string":
		s.kind = kindText
	case "integer", "number":
		s.kind, s.whole = kindNumber, name == "integer"
	case "boolean":
		s.kind = kindBool
	case "array":
		s.array()
	case "object":
		s.kind = kindObject
		s.object(r)
	}
}

// array: rows of one shape. A tuple gives each place its own, which no list of rows
// can show.
func (s *shape) array() {
	s.kind, s.items = kindArray, first(s.parts, "items")
	if s.items.opens("[") || len(first(s.parts, "prefixItems").list()) > 0 {
		s.kind, s.items, s.why = kindJSON, nil, "a tuple"
	}
}

// object collects the properties of all parts, then those that conditions name.
func (s *shape) object(r *reader) {
	required := requiredNames(s.parts)
	seen := make(map[string]bool)
	add := func(m member) {
		if !seen[m.name] {
			seen[m.name] = true
			s.properties = append(s.properties, property{m, required[m.name]})
		}
	}
	for _, part := range s.parts {
		for _, m := range part.get("properties").all() {
			add(m)
		}
	}
	for _, part := range s.parts {
		for _, condition := range conditional(part) {
			more, _, _ := r.parts(condition)
			for _, part := range more {
				for _, m := range part.get("properties").all() {
					add(m)
				}
			}
		}
	}
	for _, part := range s.parts {
		for _, m := range namesIn(part.get("required")) {
			add(m)
		}
	}
	for _, m := range r.mentioned(s.parts, s.aside) {
		add(m)
	}
	s.members()
}

// members finds out which members an object takes that have no name in its schema.
func (s *shape) members() {
	s.additional = first(s.parts, "additionalProperties")
	if s.additional == nil {
		s.additional = first(s.parts, "unevaluatedProperties")
	}
	patterns := first(s.parts, "patternProperties").all()
	closed := s.additional.is("false")
	open := s.additional != nil && !closed
	wanted := open || len(patterns) > 0 || first(s.parts, "propertyNames") != nil || first(s.parts, "minProperties") != nil
	s.bare = len(s.properties) == 0 && !wanted && !closed && !first(s.parts, "maxProperties").is("0")
	s.isMap = len(patterns) > 0 || wanted && !closed || s.bare
	switch {
	case len(patterns) == 1 && closed: // no other name is possible
		s.additional = patterns[0].node
	case len(patterns) > 0 || !s.additional.opens("{"):
		s.additional = nil
	}
}

// conditional returns the schemas that apply to an object in some cases only.
func conditional(part *node) []*node {
	list := []*node{part.get("then"), part.get("else")}
	for _, keyword := range []string{"dependentSchemas", "dependencies"} {
		for _, m := range part.get(keyword).all() {
			if m.node.opens("{") {
				list = append(list, m.node)
			}
		}
	}
	return slices.DeleteFunc(list, func(n *node) bool { return n == nil })
}

func requiredNames(parts []*node) map[string]bool {
	names := make(map[string]bool)
	for _, part := range parts {
		for _, entry := range part.get("required").list() {
			names[entry.text()] = true
		}
	}
	return names
}

// describe copies what the nearest part says about the value.
func (s *shape) describe(parts []*node) *shape {
	s.parts = parts
	s.title = first(parts, "title").text()
	s.description = first(parts, "description").text()
	s.format = first(parts, "format").text()
	s.fallback = first(parts, "default")
	if s.examples = first(parts, "examples").list(); s.examples == nil {
		if example := first(parts, "example"); example != nil {
			s.examples = []*node{example}
		}
	}
	return s
}

// options are the values of the first enum or const, nil where there is none.
func options(parts []*node) []option {
	if value := first(parts, "const"); value != nil {
		return []option{{raw: compact(value.raw)}}
	}
	var list []option
	names := first(parts, "enumNames").list()
	for i, entry := range first(parts, "enum").list() {
		choice := option{raw: compact(entry.raw)}
		if i < len(names) {
			choice.label = names[i].text()
		}
		list = append(list, choice)
	}
	return list
}

// withoutNull makes null a state of the field instead of one of several options.
func (s *shape) withoutNull() *shape {
	if len(s.options) < 2 {
		return s
	}
	rest := slices.DeleteFunc(slices.Clone(s.options), func(o option) bool { return string(o.raw) == "null" })
	if len(rest) > 0 {
		s.nullable, s.options = len(rest) < len(s.options) && allowed(s.parts)&typeNull != 0, rest
	}
	return s
}

// first returns a keyword's value in the first part that has it.
func first(parts []*node, keyword string) *node {
	for _, part := range parts {
		if value := part.get(keyword); value != nil {
			return value
		}
	}
	return nil
}

// decimal writes a number as a JSON pointer has it.
func decimal(i int) string { return strconv.Itoa(i) }
