package form

import (
	"encoding/json"
	"slices"
	"strings"

	"toolx/pkg/rawjson"
)

// takes says whether an alternative can show a value at all: it is of its type, and
// one of its options where it has some.
func takes(parts []*node, raw json.RawMessage) bool {
	if allowed(parts)&typeOf(raw) == 0 {
		return false
	}
	choices := options(parts)
	return choices == nil || slices.ContainsFunc(choices, func(o option) bool { return sameJSON(o.raw, raw) })
}

// score says how well a value of the right type fits an alternative: constants count
// most, then what is required, then names that are known.
func score(parts []*node, raw json.RawMessage) int {
	points := 0
	if len(options(parts)) > 0 {
		points += 100 // it is one of them, or it would not fit
	}
	if typeOf(raw)&typeNumber != 0 && strings.ContainsAny(string(raw), ".eE") && allowed(parts)&typeNumber == 0 {
		points -= 50
	}
	if typeOf(raw) == typeArray {
		return points + scoreElement(parts, raw)
	}
	return points + scoreMembers(parts, raw)
}

func scoreElement(parts []*node, raw json.RawMessage) int {
	elements, _ := rawjson.Elements(raw)
	items := first(parts, "items")
	if len(elements) > 0 && items != nil && own(items)&typeOf(elements[0]) == 0 {
		return -50
	}
	return 0
}

func scoreMembers(parts []*node, raw json.RawMessage) int {
	given := make(map[string]json.RawMessage)
	for m := range rawjson.Each(raw) {
		given[m.Name] = m.Value
	}
	points := 0
	for name := range requiredNames(parts) {
		if _, ok := given[name]; !ok {
			points -= 10
		}
	}
	for _, part := range parts {
		for _, m := range part.get("properties").all() {
			value, ok := given[m.name]
			if !ok {
				continue
			}
			points++
			if only := constant(m.node); only != nil {
				points += 50
				if !sameJSON(only.raw, value) {
					points -= 150
				}
			}
			if own(m.node)&typeOf(value) == 0 {
				points -= 5
			}
		}
	}
	return points
}
