package jsonschema

import (
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/rawjson"
)

// combination finds the first anyOf or oneOf.
func combination(parts Parts) (at int, keyword string) {
	for i, part := range parts {
		for _, keyword := range combinations() {
			if len(part.Get(keyword).Elements()) > 0 {
				return i, keyword
			}
		}
	}
	return -1, ""
}

// listAlternatives returns the alternatives of one combination, except null and those that no value fits.
func (s *Shape) listAlternatives(at int, keyword string) (list []Alternative, null bool) {
	base := s.Parts.types()
	for _, entry := range s.Parts[at].Get(keyword).Elements() {
		if s.budget < 0 {
			break
		}
		own := entry.Apply()
		s.budget -= 1 + len(own.Parts)
		switch kinds := own.Parts.types(); {
		case kinds == Null || Constant(entry).Is("null"):
			null = true
		case kinds&base == 0 || entry.Is("false"):
		default:
			list = append(list, Alternative{labelOf(entry, own.Parts), own})
			null = null || kinds != AnyKind && kinds&Null != 0
		}
	}
	number(list)
	return list, null
}

// number distinguishes alternatives with equal labels.
func number(list []Alternative) {
	count, seen := make(map[string]int), make(map[string]int)
	for _, entry := range list {
		count[entry.Label]++
	}
	for i := range list {
		label := list[i].Label
		if count[label] > 1 {
			seen[label]++
			list[i].Label = fmt.Sprintf("%s (%d)", label, seen[label])
		}
	}
}

// constants returns the options if each alternative is a single value.
func constants(list []Alternative) []Option {
	options := make([]Option, 0, len(list))
	for _, entry := range list {
		value := constantOf(entry.Parts)
		if value == nil {
			return nil
		}
		options = append(options, Option{Raw: rawjson.Compact(value.raw), Label: entry.Parts.first("title").Text()})
	}
	return options
}

// Constant returns the only value that a schema allows: its const, or an enum of one; nil if there are several.
func Constant(schema *Node) *Node {
	if values := ownOptions(schema); len(values) == 1 {
		return values[0]
	}
	return nil
}

// constantOf returns the first constant among schemas that apply together.
func constantOf(parts Parts) *Node {
	for _, part := range parts {
		if value := Constant(part); value != nil {
			return value
		}
	}
	return nil
}

// shaping returns the keywords with which an alternative is more than a condition.
func shaping() []string {
	return []string{"properties", "items", "prefixItems", "enum", "const", "anyOf", "oneOf", "additionalProperties"}
}

// redundant reports whether alternatives add nothing to a shape of known type: {"anyOf": [{"required": ["a"]},
// {"required": ["b"]}]}.
func redundant(parts Parts, list []Alternative) bool {
	base := parts.types()
	if base == AnyKind {
		base = parts.impliedKinds()
	}
	if base == AnyKind {
		return false
	}
	return !slices.ContainsFunc(list, func(a Alternative) bool {
		own := a.Parts.types()
		return !a.Known || own != AnyKind && own != base || slices.ContainsFunc(shaping(), func(keyword string) bool {
			return a.Parts.first(keyword) != nil
		})
	})
}

// sameScalar reports whether all alternatives have the same scalar type, with any bounds.
func sameScalar(list []Alternative) (name string, same bool) {
	var all Kinds
	for _, a := range list {
		all |= a.Parts.types()
		for _, keyword := range shaping() {
			if a.Parts.first(keyword) != nil {
				return "", false
			}
		}
	}
	names := (all &^ Null).Names()
	if len(names) != 1 || all.Has(Object|Array) {
		return "", false
	}
	return names[0], true
}

// labelOf names an alternative for the picker.
func labelOf(entry *Node, parts Parts) string {
	if title := parts.first("title").Text(); title != "" {
		return title
	}
	if reference := entry.Get("$ref").Text(); reference != "" {
		return referenceName(reference)
	}
	for _, part := range parts {
		for _, m := range part.Get("properties").Members() {
			if value := Constant(m.Node); value != nil {
				return m.Name + " " + string(value.raw)
			}
		}
	}
	if value := constantOf(parts); value != nil {
		return string(value.raw)
	}
	names, members := parts.types().Names(), membersOf(parts)
	switch {
	case len(names) == 1 && names[0] == "object" && members != "":
		return "object with " + members
	case len(names) == 1 && names[0] == "array":
		if element := typeKinds(parts.first("items")).Names(); len(element) == 1 {
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

// membersOf names what distinguishes an object from others: the members that it requires, or the first that it allows;
// empty if there are none.
func membersOf(parts Parts) string {
	const most = 3
	var names []string
	for _, part := range parts {
		names = append(names, part.Get("required").Texts()...)
	}
	names = unique(names)
	if len(names) > most {
		names = append(names[:most], "...")
	}
	if len(names) > 0 {
		return strings.Join(names, ", ")
	}
	for _, part := range parts {
		if list := part.Get("properties").Members(); len(list) > 0 {
			return list[0].Name
		}
	}
	return ""
}
