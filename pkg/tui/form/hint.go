package form

import (
	"fmt"
	"strings"
)

// maxHinted is how many options, and how many cells of a value, a hint shows.
const maxHinted = 40

// hint says in a few words what fits: the type, its bounds, the default, an example.
// It is safe for a terminal.
func (s *shape) hint() string {
	words := []string{s.typeHint()}
	words = append(words, s.bounds()...)
	if s.format != "" {
		words = append(words, safe(s.format, maxHinted))
	}
	if s.nullable && s.kind != kindJSON {
		words = append(words, "or null")
	}
	if s.fallback != nil {
		words = append(words, "default "+shown(s.fallback))
	}
	if len(s.examples) > 0 {
		words = append(words, "e.g. "+shown(s.examples[0]))
	}
	return strings.Join(words, ", ")
}

// shown is a value of the schema in a hint.
func shown(n *node) string {
	raw := n.raw
	if len(raw) < 10*maxHinted { // more is not worth compacting for so few cells
		raw = compact(raw)
	}
	text := safe(string(raw), maxHinted)
	if runes := []rune(text); len(runes) > maxHinted {
		return string(runes[:maxHinted]) + "..."
	}
	return text
}

func (s *shape) typeHint() string {
	switch s.kind {
	case kindNumber:
		if s.whole {
			return "integer"
		}
	case kindEnum:
		return s.optionHint()
	case kindObject:
		if s.isMap && len(s.properties) == 0 {
			return "map"
		}
	case kindVariant:
		labels := make([]string, 0, len(s.alternatives))
		for _, a := range s.alternatives[:min(len(s.alternatives), 4)] {
			labels = append(labels, safe(a.label, maxHinted))
		}
		if len(s.alternatives) > len(labels) {
			labels = append(labels, "...")
		}
		return strings.Join(labels, " | ")
	case kindJSON:
		if s.why == anyValue {
			return "any value, JSON or words"
		}
		return "JSON: " + s.why
	}
	return s.kind.String()
}

func (s *shape) optionHint() string {
	const most = 5
	labels := make([]string, 0, most+1)
	for _, o := range s.options[:min(len(s.options), most)] {
		labels = append(labels, shown(&node{raw: []byte(o.String())}))
	}
	if len(s.options) > most {
		labels = append(labels, fmt.Sprintf("... %d in all", len(s.options)))
	}
	return strings.Join(labels, " | ")
}

// bounds are the limits of numbers, texts and rows.
func (s *shape) bounds() []string {
	switch s.kind {
	case kindNumber:
		list := s.between("minimum", "maximum", "")
		for _, open := range []struct{ keyword, word string }{{"exclusiveMinimum", "above "}, {"exclusiveMaximum", "below "}} {
			if n := first(s.parts, open.keyword); n != nil && !n.is("true") && !n.is("false") {
				list = append(list, open.word+shown(n))
			}
		}
		if n := first(s.parts, "multipleOf"); n != nil {
			list = append(list, "in steps of "+shown(n))
		}
		return list
	case kindText:
		list := s.between("minLength", "maxLength", " characters")
		if pattern := first(s.parts, "pattern"); pattern != nil {
			list = append(list, "matches "+safe(pattern.text(), maxHinted))
		}
		return list
	case kindArray:
		return s.between("minItems", "maxItems", " rows")
	}
	return nil
}

// between says from what to what something goes.
func (s *shape) between(least, most, unit string) []string {
	low, high := first(s.parts, least), first(s.parts, most)
	switch {
	case low != nil && high != nil:
		return []string{shown(low) + " to " + shown(high) + unit}
	case low != nil:
		return []string{"at least " + shown(low) + unit}
	case high != nil:
		return []string{"at most " + shown(high) + unit}
	}
	return nil
}
