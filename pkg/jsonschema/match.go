package jsonschema

import (
	"encoding/json"
	"slices"
	"strings"

	"toolx/pkg/rawjson"
)

// Alternative returns the alternative of a variant that a value fits best, -1 if it fits none.
func (s *Shape) Alternative(raw json.RawMessage) int {
	best, choice := 0, -1
	for i, a := range s.Alternatives {
		if !takes(a.Parts, raw) {
			continue
		}
		if points := score(a.Parts, raw); choice < 0 || points > best {
			best, choice = points, i
		}
	}
	return choice
}

// takes reports whether an alternative can show a value at all: it has the right type, and is one of the options if
// there are any.
func takes(parts Parts, raw json.RawMessage) bool {
	if parts.types()&KindsOf(raw) == 0 {
		return false
	}
	choices := parts.options()
	return choices == nil || slices.ContainsFunc(choices, func(o Option) bool { return rawjson.Same(o.Raw, raw) })
}

// score measures how well a value of the right type fits an alternative: constants count most, then required names,
// then known names.
func score(parts Parts, raw json.RawMessage) int {
	points := 0
	if len(parts.options()) > 0 {
		points += 100 // it is one of them, or it would not fit
	}
	if KindsOf(raw)&Fraction != 0 && strings.ContainsAny(string(raw), ".eE") && parts.types()&Fraction == 0 {
		points -= 50
	}
	if KindsOf(raw) == Array {
		return points + scoreElement(parts, raw)
	}
	return points + scoreMembers(parts, raw)
}

func scoreElement(parts Parts, raw json.RawMessage) int {
	elements, _ := rawjson.Elements(raw)
	items := parts.first("items")
	if len(elements) > 0 && items != nil && typeKinds(items)&KindsOf(elements[0]) == 0 {
		return -50
	}
	return 0
}

func scoreMembers(parts Parts, raw json.RawMessage) int {
	given := make(map[string]json.RawMessage)
	for m := range rawjson.Each(raw) {
		given[m.Name] = m.Value
	}
	points := 0
	required := make(map[string]bool)
	for _, part := range parts {
		for _, name := range part.Get("required").Texts() {
			if _, ok := given[name]; !ok && !required[name] {
				required[name] = true
				points -= 10
			}
		}
		for _, m := range part.Get("properties").Members() {
			value, ok := given[m.Name]
			if !ok {
				continue
			}
			points++
			if only := Constant(m.Node); only != nil {
				points += 50
				if !rawjson.Same(only.raw, value) {
					points -= 150
				}
			}
			if typeKinds(m.Node)&KindsOf(value) == 0 {
				points -= 5
			}
		}
	}
	return points
}
