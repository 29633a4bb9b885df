package form

import (
	"fmt"
	"slices"
	"strings"
)

// combination finds the first anyOf or oneOf.
func combination(parts []*node) (at int, keyword string) {
	for i, part := range parts {
		for _, keyword := range []string{"oneOf", "anyOf"} {
			if len(part.get(keyword).list()) > 0 {
				return i, keyword
			}
		}
	}
	return -1, ""
}

// alternatives returns the alternatives of one combination, without null and what
// can never be.
func (r *reader) alternatives(parts []*node, at int, keyword string) (list []alternative, null bool) {
	base := allowed(parts)
	for _, entry := range parts[at].get(keyword).list() {
		own, target, known := r.parts(entry)
		switch types := allowed(own); {
		case types == typeNull || constant(entry).is("null"):
			null = true
		case types&base == 0 || entry.is("false"):
		default:
			list = append(list, alternative{parts: own, target: target, known: known, label: labelOf(entry, own)})
			null = null || types != anyType && types&typeNull != 0
		}
	}
	number(list)
	return list, null
}

// number tells alternatives apart whose labels are equal.
func number(list []alternative) {
	count, seen := make(map[string]int), make(map[string]int)
	for _, entry := range list {
		count[entry.label]++
	}
	for i := range list {
		label := list[i].label
		if count[label] > 1 {
			seen[label]++
			list[i].label = fmt.Sprintf("%s (%d)", label, seen[label])
		}
	}
}

// constants makes options of alternatives that are one value each.
func constants(list []alternative) []option {
	options := make([]option, 0, len(list))
	for _, entry := range list {
		value := constantOf(entry.parts)
		if value == nil {
			return nil
		}
		options = append(options, option{raw: compact(value.raw), label: first(entry.parts, "title").text()})
	}
	return options
}

// constant is the only value that a schema allows by itself: its const, or an enum of
// one; nil where there are several.
func constant(schema *node) *node {
	if value := schema.get("const"); value != nil {
		return value
	}
	if list := schema.get("enum").list(); len(list) == 1 {
		return list[0]
	}
	return nil
}

// constantOf is the first constant among schemas that apply together.
func constantOf(parts []*node) *node {
	for _, part := range parts {
		if value := constant(part); value != nil {
			return value
		}
	}
	return nil
}

// shaping are the keywords that make an alternative more than a condition.
func shaping() []string {
	return []string{"properties", "items", "prefixItems", "enum", "const", "anyOf", "oneOf", "additionalProperties"}
}

// redundant says whether alternatives add nothing to a shape whose type is known:
// {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}.
func redundant(parts []*node, list []alternative) bool {
	base := allowed(parts)
	if base == anyType {
		base = implied(parts)
	}
	if base == anyType {
		return false
	}
	return !slices.ContainsFunc(list, func(a alternative) bool {
		own := allowed(a.parts)
		return !a.known || own != anyType && own != base || slices.ContainsFunc(shaping(), func(keyword string) bool {
			return first(a.parts, keyword) != nil
		})
	})
}

// sameScalar says whether all alternatives are one scalar type, however bounded.
func sameScalar(list []alternative) (name string, same bool) {
	var all types
	for _, a := range list {
		all |= allowed(a.parts)
		for _, keyword := range shaping() {
			if first(a.parts, keyword) != nil {
				return "", false
			}
		}
	}
	switch all &^ typeNull {
	case typeString:
		return "string", true
	case typeInteger:
		return "integer", true
	case typeNumber, typeNumber | typeInteger:
		return "number", true
	case typeBoolean:
		return "boolean", true
	}
	return "", false
}

// labelOf names an alternative for the picker.
func labelOf(entry *node, parts []*node) string {
	if title := first(parts, "title").text(); title != "" {
		return title
	}
	if reference := entry.get("$ref").text(); reference != "" {
		return reference[strings.LastIndexAny(reference, "/#")+1:]
	}
	for _, part := range parts {
		for _, m := range part.get("properties").all() {
			if value := constant(m.node); value != nil {
				return m.name + " " + string(value.raw)
			}
		}
	}
	if value := constantOf(parts); value != nil {
		return string(value.raw)
	}
	names, members := allowed(parts).names(), membersOf(parts)
	switch {
	case len(names) == 1 && names[0] == "object" && members != "":
		return "object with " + members
	case len(names) == 1 && names[0] == "array":
		if element := allowed([]*node{first(parts, "items")}).names(); len(element) == 1 {
			return "array of " + element[0]
		}
	case len(names) > 0 && len(names) <= 2:
	case members != "":
		return "with " + members
	default:
		return "any value"
	}
	return strings.Join(names, " or ")
}

// membersOf names what tells an object from others: the members that it must have, or
// the first that it may have; empty where there are none.
func membersOf(parts []*node) string {
	const most = 3
	var names []string
	for _, part := range parts {
		for _, entry := range part.get("required").list() {
			if name := entry.text(); name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) > most {
		names = append(names[:most], "...")
	}
	if len(names) > 0 {
		return strings.Join(names, ", ")
	}
	for _, part := range parts {
		if list := part.get("properties").all(); len(list) > 0 {
			return list[0].name
		}
	}
	return ""
}
