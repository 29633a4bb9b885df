package jsonschema

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// branchLimit bounds the parts of a schema that are read for one question.
const branchLimit = 2000

// Parts are schemas for one value.
type Parts []*Node

// Facets returns the schemas that a value must fit together with n: itself, what it refers to, and its allOf,
// recursively, each once.
func (n *Node) Facets() Parts { return collect(n, conjuncts) }

// Branches returns the facets of n and those of all its alternatives: anyOf, oneOf, then, else, and those that depend
// on a property. The tool knows every name in any of them.
func (n *Node) Branches() Parts {
	return collect(n, func(part *Node) []*Node { return append(conjuncts(part), alternatives(part)...) })
}

// collect follows next from a schema and returns each object that it reaches once, and the schema false.
func collect(n *Node, next func(*Node) []*Node) Parts {
	if !restricts(n) {
		return nil
	}
	found := Parts{n}
	queue := next(n)
	if len(queue) == 0 {
		return found
	}
	seen := map[*Node]bool{n: true}
	for len(queue) > 0 && len(found) < branchLimit {
		part := queue[0]
		queue = queue[1:]
		if !restricts(part) || seen[part] {
			continue
		}
		seen[part] = true
		found = append(found, part)
		queue = append(queue, next(part)...)
	}
	return found
}

// restricts reports whether a schema restricts anything: true does not, and other values count as true.
func restricts(n *Node) bool { return n.IsObject() || n.Is("false") }

// conjuncts returns the schemas that apply together with one.
func conjuncts(part *Node) []*Node {
	var parts Parts
	for _, keyword := range referenceKeywords() {
		if reference := part.Get(keyword).Text(); reference != "" {
			if target := part.doc.Resolve(reference); target != nil {
				parts = append(parts, target)
			}
		}
	}
	return append(parts, part.Get("allOf").Elements()...)
}

// alternatives returns the schemas that apply with one in some cases.
func alternatives(part *Node) []*Node {
	parts := append(slices.Clone(part.Get("anyOf").Elements()), part.Get("oneOf").Elements()...)
	return append(parts, conditions(part)...)
}

// conditions returns the schemas that apply with one if a condition holds, or does not.
func conditions(part *Node) []*Node {
	var parts Parts
	for _, keyword := range []string{"then", "else"} {
		if branch := part.Get(keyword); branch != nil {
			parts = append(parts, branch)
		}
	}
	for _, keyword := range []string{"dependentSchemas", "dependencies"} {
		for _, m := range part.Get(keyword).Members() {
			if m.Node.IsObject() {
				parts = append(parts, m.Node)
			}
		}
	}
	return parts
}

// Names returns the names of all properties in any of the parts, including those that are only required, always or
// because of another property (NORM-1).
func (parts Parts) Names() map[string]bool {
	known := make(map[string]bool)
	add := func(names []string) {
		for _, name := range names {
			known[name] = true
		}
	}
	for _, part := range parts {
		for _, m := range part.Get("properties").Members() {
			known[m.Name] = true
		}
		add(part.Get("required").Texts())
		for _, keyword := range []string{"dependentRequired", "dependencies"} {
			for _, m := range part.Get(keyword).Members() {
				known[m.Name] = true
				add(m.Node.Texts())
			}
		}
	}
	return known
}

// Properties returns the properties that the parts declare, each once, in their order.
func (parts Parts) Properties() []Property {
	required, known := setOf(parts.Required()), make(map[string]bool)
	var all []Property
	for _, part := range parts {
		for _, m := range part.Get("properties").Members() {
			if !known[m.Name] {
				known[m.Name] = true
				all = append(all, Property{Member: m, Required: required[m.Name]})
			}
		}
	}
	return all
}

// Property returns the schema of one property: what all facets require together, or, if none of them knows the name,
// the alternatives that do.
func (n *Node) Property(name string) (*Node, bool) {
	if all := n.Facets().named(name); len(all) > 0 {
		return join("allOf", all), true
	}
	branches := n.Branches()
	if some := branches.named(name); len(some) > 0 {
		return join("anyOf", some), true
	}
	free, _ := branches.matching(name)
	if len(free) == 0 {
		for _, part := range branches {
			if additional := part.Get("additionalProperties"); additional.IsObject() {
				free = append(free, additional)
			}
		}
	}
	if len(free) == 0 {
		return nil, false
	}
	return join("allOf", free), true
}

func (parts Parts) named(name string) []*Node {
	var found []*Node
	for _, part := range parts {
		if schema := part.Get("properties").Get(name); schema != nil {
			found = append(found, schema)
		}
	}
	return found
}

// maxMatching bounds the steps for matching one name against the patterns of one schema.
const maxMatching = 20_000

// first returns a keyword's value in the first of the parts that has it.
func (parts Parts) first(keyword string) *Node {
	for _, part := range parts {
		if value := part.Get(keyword); value != nil {
			return value
		}
	}
	return nil
}

// matching returns the schemas whose pattern matches the name. all is false if trying all patterns would take too long.
func (parts Parts) matching(name string) (found []*Node, all bool) {
	budget := newBudget(context.Background(), maxMatching)
	for _, part := range parts {
		for _, m := range part.Get("patternProperties").Members() {
			matched := part.doc.matches(budget, m.Name, name)
			if budget.err != nil {
				return found, false
			}
			if matched {
				found = append(found, m.Node)
			}
		}
	}
	return found, true
}

// HasPattern reports whether a pattern of the parts matches a property name, or whether the search would take too long.
func (parts Parts) HasPattern(name string) bool {
	found, all := parts.matching(name)
	return len(found) > 0 || !all
}

// AcceptsOthers reports whether any of the parts explicitly accepts properties that it does not name.
func (parts Parts) AcceptsOthers() bool {
	return slices.ContainsFunc(parts, func(part *Node) bool { return accepts(part, "additionalProperties") })
}

// accepts reports whether a keyword is present and not false.
func accepts(part *Node, keyword string) bool {
	value := part.Get(keyword)
	return value != nil && !value.Is("false")
}

// Element returns the schema of the element at index of an array.
func (n *Node) Element(index int) (*Node, bool) {
	var found []*Node
	for _, part := range n.Branches() {
		items, tuple := part.Get("items"), part.Get("prefixItems").Elements()
		if part.Get("prefixItems") == nil {
			tuple = items.Elements()
		}
		switch {
		case index < len(tuple):
			found = append(found, tuple[index])
		case items.IsArray():
			if rest := part.Get("additionalItems"); rest != nil {
				found = append(found, rest)
			}
		case items.present():
			found = append(found, items)
		}
	}
	if len(found) == 0 {
		return nil, false
	}
	return join("anyOf", found), true
}

// at follows the path of a value (names and, in arrays, indexes) to its schema.
func (d *Document) at(path []string) (*Node, bool) {
	schema := d.root
	for _, token := range path {
		next, ok := schema.Property(token)
		if !ok {
			index, err := strconv.Atoi(token)
			if err != nil {
				return nil, false
			}
			if next, ok = schema.Element(index); !ok {
				return nil, false
			}
		}
		schema = next
	}
	return schema, true
}

// Required returns the names that the parts require, in order.
func (parts Parts) Required() []string {
	var names []string
	for _, part := range parts {
		names = append(names, part.Get("required").Texts()...)
	}
	return unique(names)
}

// Description returns the author's description.
func (n *Node) Description() string {
	for _, parts := range []Parts{n.Facets(), n.Branches()} {
		for _, part := range parts {
			if text := strings.TrimSpace(part.Get("description").Text()); text != "" {
				return text
			}
		}
	}
	return ""
}

func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// unique removes repetitions and keeps the order.
func unique(texts []string) []string {
	var kept []string
	seen := make(map[string]bool)
	for _, text := range texts {
		if !seen[text] {
			seen[text] = true
			kept = append(kept, text)
		}
	}
	return kept
}
