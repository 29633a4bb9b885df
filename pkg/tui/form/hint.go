package form

import (
	"encoding/json"
	"fmt"
	"strings"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// maxHinted is how many options, and how many cells of a value, a hint shows.
const maxHinted = 40

// hint describes allowed values in a few words: the type, its bounds, the default, an example. It is
// safe for a terminal.
func hint(s *jsonschema.Shape) string {
	words := []string{typeHint(s)}
	words = append(words, bounds(s)...)
	if s.Format != "" {
		words = append(words, safe(s.Format, maxHinted))
	}
	if s.Nullable && s.Kind != jsonschema.ShapeJSON {
		words = append(words, "or null")
	}
	if s.Default != nil {
		words = append(words, "default "+shown(s.Default))
	}
	if len(s.Examples) > 0 {
		words = append(words, "e.g. "+shown(s.Examples[0]))
	}
	return strings.Join(words, ", ")
}

// shown returns a value of the schema as a hint shows it.
func shown(n *jsonschema.Node) string { return shownText(n.Raw()) }

func shownText(raw json.RawMessage) string {
	if len(raw) < 10*maxHinted { // longer values are cut anyway
		raw = rawjson.Compact(raw)
	}
	text := safe(string(raw), maxHinted)
	if runes := []rune(text); len(runes) > maxHinted {
		return string(runes[:maxHinted]) + "..."
	}
	return text
}

func typeHint(s *jsonschema.Shape) string {
	switch s.Kind {
	case jsonschema.ShapeNumber:
		if s.Whole {
			return "integer"
		}
	case jsonschema.ShapeEnum:
		all := fmt.Sprintf("... %d in all", len(s.Options))
		return joined(s.Options, 5, all, func(o jsonschema.Option) string { return shownText([]byte(optionText(o))) })
	case jsonschema.ShapeObject:
		if s.IsMap && len(s.Properties) == 0 {
			return "map"
		}
	case jsonschema.ShapeVariant:
		label := func(a jsonschema.Alternative) string { return safe(a.Label, maxHinted) }
		return joined(s.Alternatives, 4, "...", label)
	case jsonschema.ShapeJSON:
		if s.Why == jsonschema.AnyValue {
			return "any value, JSON or words"
		}
		return "JSON: " + s.Why
	}
	return s.Kind.String()
}

// joined returns the labels of the first of all, and more if there are others.
func joined[T any](all []T, most int, more string, label func(T) string) string {
	var labels []string
	for _, one := range all[:min(len(all), most)] {
		labels = append(labels, label(one))
	}
	if len(all) > most {
		labels = append(labels, more)
	}
	return strings.Join(labels, " | ")
}

// bounds returns the limits of numbers, texts and rows.
func bounds(s *jsonschema.Shape) []string {
	limits := s.Limits()
	var list []string
	add := func(before string, limit *jsonschema.Node) {
		if limit != nil {
			list = append(list, before+shown(limit))
		}
	}
	switch s.Kind {
	case jsonschema.ShapeNumber:
		list = between(limits.Minimum, limits.Maximum, "")
		add("above ", limits.Above)
		add("below ", limits.Below)
		add("in steps of ", limits.Step)
	case jsonschema.ShapeText:
		list = between(limits.Shortest, limits.Longest, " character")
		if limits.Pattern != nil {
			list = append(list, "matches "+safe(limits.Pattern.Text(), maxHinted))
		}
	case jsonschema.ShapeArray:
		list = between(limits.Fewest, limits.Most, " row")
	}
	return list
}

// between returns a range of what noun names, whose plural ends in s; noun is empty for a range of numbers.
func between(low, high *jsonschema.Node, noun string) []string {
	unit := func(n *jsonschema.Node) string {
		if noun == "" || shown(n) == "1" {
			return shown(n) + noun
		}
		return shown(n) + noun + "s"
	}
	switch {
	case low != nil && high != nil && shown(low) == shown(high):
		return []string{"exactly " + unit(low)}
	case low != nil && high != nil:
		return []string{shown(low) + " to " + unit(high)}
	case low != nil:
		return []string{"at least " + unit(low)}
	case high != nil:
		return []string{"at most " + unit(high)}
	}
	return nil
}
