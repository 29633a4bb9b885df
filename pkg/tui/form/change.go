package form

import (
	"encoding/json"
	"slices"
	"strings"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// activate does what enter does while no text is typed.
func (f *entry) activate() {
	at := f.cursor.field
	switch {
	case f.cursor.noEnter() != "":
	case f.cursor.add:
		f.addRow()
	case f.cursor.takesText(f.onKey), at.kind == jsonschema.ShapeEnum && len(at.shape.Options) > fewOptions:
		f.edit()
	case at.kind == jsonschema.ShapeVariant && at.choice < 0 && !at.required && !at.row() && at.parent != nil:
		f.look()
	case at.switches() && (at.kind != jsonschema.ShapeVariant || at.choice < 0):
		f.cycle(1)
	default:
		f.toggle(!at.open || at.state == nullness)
	}
}

// look opens the first alternative of an optional field. It stays unset until something in it is filled in, or an
// alternative is chosen.
func (f *entry) look() {
	at := f.cursor.field
	at.state, at.open = unset, true
	at.choose(0)
	f.changed()
}

// fewOptions is the most options that are stepped through one by one; more are searched.
const fewOptions = 5

// toggle opens or closes a group.
func (f *entry) toggle(open bool) {
	at := f.cursor.field
	if open && at.state == nullness {
		at.enter()
		at.state = unset
	}
	at.open = open
	if open {
		at.grow()
	}
	f.changed()
}

// sideways does what left and right do: it steps through options, or closes and opens groups.
func (f *entry) sideways(by int) {
	switch at := f.cursor.field; {
	case f.cursor.add:
	case at.holdsFields():
		f.toggle(by > 0)
	case at.switches():
		f.cycle(by)
	}
}

// cycle selects the next of the values that a field can have. Leaving the field out is one of them, if
// that is possible.
func (f *entry) cycle(by int) {
	at := f.cursor.field
	count, now := at.turn()
	least := -1
	if at.required || at.row() || at.parent == nil {
		least = 0
	}
	next := now + by
	switch {
	case next >= count:
		next = least
	case next < least:
		next = count - 1
	}
	at.enter()
	at.takeTurn(next)
	f.changed()
}

// turn returns how many values a field can be switched between, and which one it has.
func (f *field) turn() (count, now int) {
	switch {
	case f.kind == jsonschema.ShapeVariant:
		return len(f.shape.Alternatives), f.choice
	case f.state != valued && f.kind == jsonschema.ShapeBool:
		return 2, -1
	case f.state != valued:
		return len(f.shape.Options), -1
	case f.kind == jsonschema.ShapeBool && string(f.raw) == "true":
		return 2, 0
	case f.kind == jsonschema.ShapeBool:
		return 2, 1
	}
	return len(f.shape.Options), f.option()
}

func (f *field) takeTurn(turn int) {
	switch {
	case f.kind == jsonschema.ShapeVariant:
		f.pick(turn)
	case turn < 0:
		f.clear()
	case f.kind == jsonschema.ShapeBool:
		f.state, f.raw = valued, json.RawMessage([]string{"true", "false"}[turn])
	default:
		f.state, f.raw = valued, f.shape.Options[turn].Raw
	}
}

// pick selects one of a variant's alternatives, or none.
func (f *field) pick(choice int) {
	f.state, f.choice, f.open = unset, choice, true
	if choice < 0 {
		return
	}
	inner := f.choose(choice)
	constant := inner.kind == jsonschema.ShapeEnum && len(inner.shape.Options) == 1
	if !inner.present() && (f.row() || inner.group() || constant) {
		inner.begin()
	}
}

// setEmpty gives an unset group an empty value; for other fields it does what enter does.
func (f *entry) setEmpty() {
	at := f.cursor.field
	if !at.holdsFields() || at.state == valued {
		f.activate()
		return
	}
	at.enter()
	at.begin()
	f.changed()
}

func (f *entry) setNull() {
	at := f.cursor.field
	at.enter()
	at.clear()
	at.state = nullness
	f.replaced()
}

func (f *entry) unset() {
	f.cursor.field.clear()
	f.replaced()
}

// replaced takes a value that was not typed; typing continues after it, since a suggestion may be only a beginning.
func (f *entry) replaced() {
	f.changed()
	f.startEditing()
	f.keepText()
}

// offered returns the values that a schema suggests: its examples and its default.
func offered(s *jsonschema.Shape) []*jsonschema.Node {
	if s.Default == nil {
		return s.Examples
	}
	return append(slices.Clone(s.Examples), s.Default)
}

// offer gives the field the next of the values that the schema suggests.
func (f *entry) offer() {
	at := f.cursor.field
	list, next := offered(at.shape), 0
	if at.present() {
		now := write(at).out
		next = 1 + slices.IndexFunc(list, func(n *jsonschema.Node) bool { return rawjson.Same(n.Raw(), now) })
	}
	at.enter()
	at.put(list[next%len(list)].Raw())
	f.replaced()
}

// words returns the texts by which each value of a choice can be searched, in the order of turn; nil
// for any other field.
func (f *field) words() [][]string {
	var words [][]string
	switch f.kind {
	case jsonschema.ShapeBool:
		return [][]string{{"true", "yes", "on", "1"}, {"false", "no", "off", "0"}}
	case jsonschema.ShapeEnum:
		for _, o := range f.shape.Options {
			words = append(words, []string{optionText(o)})
		}
	case jsonschema.ShapeVariant:
		for _, a := range f.shape.Alternatives {
			words = append(words, []string{a.Label})
		}
	}
	return words
}

// search returns the turn of the value that a text means: the first that begins with it, else the
// first that contains it; -1 for none. A text that begins both "on" and "off" matches neither.
func (f *field) search(text string) (turn int) {
	text = strings.ToLower(text)
	if text == "" || f.kind == jsonschema.ShapeBool && text == "o" {
		return -1
	}
	fits := []func(s, part string) bool{strings.HasPrefix}
	if f.kind != jsonschema.ShapeBool {
		fits = append(fits, strings.Contains)
	}
	for _, fits := range fits {
		turn := slices.IndexFunc(f.words(), func(words []string) bool {
			return slices.ContainsFunc(words, func(word string) bool { return fits(strings.ToLower(word), text) })
		})
		if turn >= 0 {
			return turn
		}
	}
	return -1
}
