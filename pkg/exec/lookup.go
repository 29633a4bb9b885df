package exec

import (
	"encoding/json"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"toolx/pkg/rawjson"
)

// document is a schema as data: what toolx asks it when it types arguments,
// explains problems and makes examples. The questions are about names, types and
// words, and have useful answers even where the schema as a whole is broken, so
// none of this needs the schema compiled. It keeps what it found out, and is not safe
// for concurrent use.
type document struct {
	root any // its references are JSON pointers from here (see LocalReferences)
	// matcher holds the patterns of patternProperties; made when first needed.
	matcher *matcher
}

// branchLimit bounds how many parts of a schema one question looks at.
const branchLimit = 2000

// newDocument reads a schema leniently: what is not one answers every question
// with "anything".
func newDocument(raw json.RawMessage) *document {
	if len(raw) > maxSchemaSize || checkJSON(raw) != nil {
		return &document{}
	}
	root, err := decode(raw)
	if err != nil {
		return &document{}
	}
	localize(root)
	return &document{root: root}
}

// facets returns the schemas that a value must fit together with schema: itself,
// what it refers to, and its allOf, all the way down, each once.
func (d *document) facets(schema any) []map[string]any {
	return d.collect(schema, d.conjuncts)
}

// branches returns the facets of schema and those of all its alternatives:
// anyOf, oneOf, then, else, and what depends on a property. A name that any of
// them knows is a name that the tool knows.
func (d *document) branches(schema any) []map[string]any {
	return d.collect(schema, func(part map[string]any) []any {
		return append(d.conjuncts(part), alternatives(part)...)
	})
}

// collect follows next from schema and returns every object on the way once.
func (d *document) collect(schema any, next func(map[string]any) []any) []map[string]any {
	var found []map[string]any
	seen := make(map[uintptr]bool)
	queue := []any{schema}
	for len(queue) > 0 && len(found) < branchLimit {
		part, ok := queue[0].(map[string]any)
		queue = queue[1:]
		if !ok || seen[identity(part)] {
			continue
		}
		seen[identity(part)] = true
		found = append(found, part)
		queue = append(queue, next(part)...)
	}
	return found
}

// identity tells objects apart that have the same content.
func identity(object map[string]any) uintptr { return reflect.ValueOf(object).Pointer() }

func (d *document) conjuncts(part map[string]any) []any {
	var parts []any
	for _, keyword := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		if ref, ok := part[keyword].(string); ok {
			if target, ok := d.resolve(ref); ok {
				parts = append(parts, target)
			}
		}
	}
	all, _ := part["allOf"].([]any)
	return append(parts, all...)
}

func alternatives(part map[string]any) []any {
	var parts []any
	for _, keyword := range []string{"anyOf", "oneOf"} {
		list, _ := part[keyword].([]any)
		parts = append(parts, list...)
	}
	for _, keyword := range []string{"then", "else"} {
		if branch, ok := part[keyword]; ok {
			parts = append(parts, branch)
		}
	}
	for _, keyword := range []string{"dependentSchemas", "dependencies"} {
		schemas, _ := part[keyword].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(schemas)) {
			parts = append(parts, schemas[name])
		}
	}
	return parts
}

// resolve follows a reference inside the document.
func (d *document) resolve(ref string) (any, bool) {
	pointer, local := strings.CutPrefix(ref, "#")
	if text, err := url.PathUnescape(pointer); err == nil {
		pointer = text
	}
	if !local || pointer != "" && pointer[0] != '/' {
		return nil, false
	}
	return rawjson.At(d.root, pointer)
}

// names returns the names of all properties that any branch of schema knows, sorted.
func (d *document) names(schema any) []string {
	return slices.Sorted(maps.Keys(d.nameSet(schema)))
}

// nameSet is names as a set. A name that a schema only requires, always or because of
// another, is known as well (NORM-1).
func (d *document) nameSet(schema any) map[string]bool {
	known := make(map[string]bool)
	for _, part := range d.branches(schema) {
		properties, _ := part["properties"].(map[string]any)
		for name := range properties {
			known[name] = true
		}
		addNames(known, part["required"])
		for _, keyword := range []string{"dependentRequired", "dependencies"} {
			lists, _ := part[keyword].(map[string]any)
			for name, list := range lists {
				known[name] = true
				addNames(known, list)
			}
		}
	}
	return known
}

// addNames adds the names of a list such as required.
func addNames(known map[string]bool, list any) {
	entries, _ := list.([]any)
	for _, entry := range entries {
		if name, ok := entry.(string); ok {
			known[name] = true
		}
	}
}

// property returns the schema of one property: what all facets say together, or,
// where none of them knows the name, what the alternatives that do say.
func (d *document) property(schema any, name string) (any, bool) {
	if all := propertiesNamed(d.facets(schema), name); len(all) > 0 {
		return join("allOf", all), true
	}
	branches := d.branches(schema)
	if some := propertiesNamed(branches, name); len(some) > 0 {
		return join("anyOf", some), true
	}
	var free []any
	for _, part := range branches {
		free = append(free, d.patternProperties(part, name)...)
	}
	if len(free) == 0 {
		for _, part := range branches {
			if additional, ok := part["additionalProperties"].(map[string]any); ok {
				free = append(free, additional)
			}
		}
	}
	if len(free) == 0 {
		return nil, false
	}
	return join("allOf", free), true
}

func propertiesNamed(parts []map[string]any, name string) []any {
	var found []any
	for _, part := range parts {
		properties, _ := part["properties"].(map[string]any)
		if schema, ok := properties[name]; ok {
			found = append(found, schema)
		}
	}
	return found
}

// patternProperties returns the schemas whose pattern the name matches.
func (d *document) patternProperties(part map[string]any, name string) []any {
	schemas, _ := part["patternProperties"].(map[string]any)
	if len(schemas) == 0 {
		return nil
	}
	if d.matcher == nil {
		d.matcher = newMatcher()
	}
	var found []any
	for _, pattern := range slices.Sorted(maps.Keys(schemas)) {
		if d.matcher.match(pattern, name) {
			found = append(found, schemas[pattern])
		}
	}
	return found
}

// join makes one schema of several.
func join(keyword string, schemas []any) any {
	if len(schemas) == 1 {
		return schemas[0]
	}
	return map[string]any{keyword: schemas}
}

// element returns the schema of the element at index of an array.
func (d *document) element(schema any, index int) (any, bool) {
	var found []any
	for _, part := range d.branches(schema) {
		tuple, ok := part["prefixItems"].([]any)
		if !ok {
			tuple, _ = part["items"].([]any)
		}
		switch {
		case index < len(tuple):
			found = append(found, tuple[index])
		case part["items"] != nil:
			if _, isTuple := part["items"].([]any); !isTuple {
				found = append(found, part["items"])
			} else if rest, ok := part["additionalItems"]; ok {
				found = append(found, rest)
			}
		}
	}
	if len(found) == 0 {
		return nil, false
	}
	return join("anyOf", found), true
}

// at follows the path of a value (names and, in arrays, indexes) to its schema.
func (d *document) at(path []string) (any, bool) {
	schema, ok := d.root, true
	for _, token := range path {
		var next any
		if next, ok = d.property(schema, token); !ok {
			index, err := strconv.Atoi(token)
			if err != nil {
				return nil, false
			}
			if next, ok = d.element(schema, index); !ok {
				return nil, false
			}
		}
		schema = next
	}
	return schema, ok
}

// required returns the names that every value of schema must have, in order.
func (d *document) required(schema any) []string {
	var names []string
	seen := make(map[string]bool)
	for _, part := range d.facets(schema) {
		list, _ := part["required"].([]any)
		for _, entry := range list {
			if name, ok := entry.(string); ok && !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	return names
}

// description returns the words that the schema's author wrote about it.
func (d *document) description(schema any) string {
	for _, parts := range [][]map[string]any{d.facets(schema), d.branches(schema)} {
		for _, part := range parts {
			if text, ok := part["description"].(string); ok && strings.TrimSpace(text) != "" {
				return strings.TrimSpace(text)
			}
		}
	}
	return ""
}
