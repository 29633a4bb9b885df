package form

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
)

// fewOptions is the most options that are stepped through one by one; more are searched.
const fewOptions = 5

// choice is a field that has one of several values: a switch, an enum, or a variant with its alternatives.
type choice struct{ *field }

// switches reports whether the field is a choice.
func (f *field) switches() bool {
	return f.kind == jsonschema.ShapeBool || f.kind == jsonschema.ShapeEnum || f.kind == jsonschema.ShapeVariant
}

// options returns the values of a switch or an enum.
func (c choice) options() []jsonschema.Option {
	if c.kind == jsonschema.ShapeBool {
		return []jsonschema.Option{{Raw: json.RawMessage("true")}, {Raw: json.RawMessage("false")}}
	}
	return c.shape.Options
}

// chosen returns which of its values the field has, and of how many; -1 for none.
func (c choice) chosen() (at, count int) {
	if c.kind == jsonschema.ShapeVariant {
		return c.alternative, len(c.shape.Alternatives)
	}
	options := c.options()
	same := func(o jsonschema.Option) bool { return bytes.Equal(o.Raw, c.raw) }
	return slices.IndexFunc(options, same), len(options)
}

// turns reports whether left and right change the value, which is marked.
func (c choice) turns() bool {
	if c.kind == jsonschema.ShapeEnum {
		return c.raw != nil && len(c.shape.Options) > 1
	}
	return c.kind == jsonschema.ShapeVariant && c.alternative >= 0 && len(c.shape.Alternatives) > 1
}

// searched reports whether enter searches the values, because they are too many to step through.
func (c choice) searched() bool {
	return c.kind == jsonschema.ShapeEnum && len(c.shape.Options) > fewOptions
}

// cycle selects the next of the values, or the previous one. Leaving the field out is one of them, if that is possible.
func (c choice) cycle(by int) {
	now, count := c.chosen()
	least := -1
	if c.required || c.row() || c.parent == nil {
		least = 0
	}
	next := now + by
	switch {
	case next >= count:
		next = least
	case next < least:
		next = count - 1
	}
	c.pick(next)
}

// pick selects one of the values, or none.
func (c choice) pick(at int) {
	c.enter()
	switch {
	case c.kind == jsonschema.ShapeVariant:
		c.pickAlternative(at)
	case at < 0:
		c.clear()
	default:
		c.raw = c.options()[at].Raw
	}
}

func (c choice) pickAlternative(at int) {
	c.raw, c.alternative, c.open = nil, at, true
	if at < 0 {
		return
	}
	inner := c.choose(at)
	constant := inner.kind == jsonschema.ShapeEnum && len(inner.shape.Options) == 1
	if !inner.present() && (c.row() || inner.group() || constant) {
		inner.begin()
	}
}

// choose shows an alternative of a variant. What was typed into another one is kept for when it is chosen again.
func (c choice) choose(at int) *field {
	if c.children == nil {
		c.children = make([]*field, len(c.shape.Alternatives))
	}
	if c.alternative = at; c.children[at] == nil {
		c.children[at] = newField(c.field, c.depth, c.shape.Alternatives[at].Shape())
		c.children[at].open = true
	}
	return c.children[at]
}

// look opens the first alternative of an optional variant. It stays unset until something in it is filled in, or an
// alternative is chosen.
func (c choice) look() {
	c.raw, c.open = nil, true
	c.choose(0)
}

// words returns the texts by which each value can be found.
func (c choice) words() [][]string {
	var words [][]string
	switch c.kind {
	case jsonschema.ShapeBool:
		return [][]string{{"true", "yes", "on", "1"}, {"false", "no", "off", "0"}}
	case jsonschema.ShapeEnum:
		for _, o := range c.shape.Options {
			words = append(words, []string{optionText(o)})
		}
	default:
		for _, a := range c.shape.Alternatives {
			words = append(words, []string{a.Label})
		}
	}
	return words
}

// search returns the value that a text means: the first that begins with it, else the first that contains it; -1 for
// none. A text that begins both "on" and "off" matches neither.
func (c choice) search(text string) (at int) {
	text = strings.ToLower(text)
	if text == "" || c.kind == jsonschema.ShapeBool && text == "o" {
		return -1
	}
	find := func(fits func(s, part string) bool) int {
		return slices.IndexFunc(c.words(), func(words []string) bool {
			return slices.ContainsFunc(words, func(word string) bool { return fits(strings.ToLower(word), text) })
		})
	}
	if at = find(strings.HasPrefix); at < 0 && c.kind != jsonschema.ShapeBool {
		at = find(strings.Contains)
	}
	return at
}

// optionText returns an option as it is shown: its label, or its value. Text is unquoted if it cannot
// be mistaken for another value.
func optionText(o jsonschema.Option) string {
	if o.Label != "" {
		return render.Safe(o.Label)
	}
	text := string(o.Raw)
	if rawjson.IsString(o.Raw) {
		if plain := rawjson.Unquote(o.Raw); plain != "" && !json.Valid([]byte(plain)) {
			text = plain
		}
	}
	return render.Safe(text)
}
