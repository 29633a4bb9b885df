package exec

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// Corrections of invalid arguments are only used for the command in a hint, and never sent unless the user runs that
// command.

// attempt returns corrected arguments: the valid ones, with keep also the wrong ones as probably intended, and examples
// for missing ones.
func (e *InvalidArgumentsError) attempt(examples []rawjson.Member, keep bool) json.RawMessage {
	given, _ := rawjson.Members(e.Arguments)
	wrong := e.wrong(placesOf(given))
	schema := e.Tool.Input().Root()
	names := newNaming(e.Tool)
	names.read()
	var list []rawjson.Member
	taken := make(map[string]bool)
	for _, m := range given {
		name := names.target(m.Name)
		_, known := schema.Property(name)
		if keep && !known {
			if near := words.Nearest(name, slices.Sorted(maps.Keys(names.known))); near != "" {
				name = near
				_, known = schema.Property(name)
			}
		}
		if m = rawjson.NewMember(name, m.Value); wrong[name] {
			if !keep || !known {
				continue
			}
			m = guessValue(schema, m)
		}
		if !taken[name] {
			taken[name] = true
			list = append(list, m)
		}
	}
	for _, m := range examples {
		if !taken[m.Name] {
			list = append(list, m)
		}
	}
	return rawjson.Object(list)
}

// guessValue returns a parameter with the probably intended value for an invalid one; unchanged if that is unclear.
func guessValue(schema *jsonschema.Node, m rawjson.Member) rawjson.Member {
	c := coercer{ctx: context.Background(), schema: schema, budget: maxCoerced, guesses: true}
	if property, known := schema.Property(m.Name); known && rawjson.Check(m.Value) == nil {
		m.Value = c.value(m.Value, property, m.Name)
	}
	return m
}

// listed returns the schema's option for a value that differs only in spelling, if there is exactly one.
func (c *coercer) listed(raw json.RawMessage, schema *jsonschema.Node) (json.RawMessage, bool) {
	values, ok := schema.Options()
	if !ok {
		return nil, false
	}
	texts := jsonschema.OptionTexts(values)
	if slices.Contains(texts, string(raw)) {
		return nil, false
	}
	var found []string
	for _, option := range texts {
		if words.Fold(argumentText(json.RawMessage(option))) == words.Fold(argumentText(raw)) {
			found = append(found, option)
		}
	}
	if len(found) != 1 {
		return nil, false
	}
	return json.RawMessage(found[0]), true
}

// guessed returns the value for a text: true for yes, two elements for a,b.
func (c *coercer) guessed(text string, schema *jsonschema.Node, allowed jsonschema.Kinds) (json.RawMessage, bool) {
	text = strings.TrimSpace(text)
	switch word := strings.ToLower(text); {
	case allowed.Has(jsonschema.Boolean) && slices.Contains([]string{"yes", "y", "on", "1", "t"}, word):
		return json.RawMessage("true"), true
	case allowed.Has(jsonschema.Boolean) && slices.Contains([]string{"no", "n", "off", "0", "f"}, word):
		return json.RawMessage("false"), true
	case allowed.Has(jsonschema.AnyNumber) && rawjson.IsNumber(plainNumber(word)):
		return json.RawMessage(plainNumber(word)), true
	case allowed.Has(jsonschema.Object) && strings.HasPrefix(text, "{"):
		return c.members(text, schema)
	case allowed.Has(jsonschema.Array):
		return c.elements(text, schema)
	}
	return nil, false
}

// plainNumber converts a number with a plus, as a word, with thousands separators or with a decimal comma to JSON; it
// returns other text unchanged.
func plainNumber(text string) string {
	text = strings.TrimPrefix(text, "+")
	small := []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"}
	if i := slices.Index(small, text); i >= 0 {
		return strconv.Itoa(i)
	}
	groups := strings.FieldsFunc(text, func(char rune) bool { return strings.ContainsRune(",_ '", char) })
	thousands := len(groups) > 1
	for _, group := range groups[min(1, len(groups)):] {
		whole, _, _ := strings.Cut(group, ".")
		thousands = thousands && len(whole) == len("000")
	}
	if thousands {
		return strings.Join(groups, "")
	}
	return strings.Replace(text, ",", ".", 1)
}

// members reads an object without quotes.
func (c *coercer) members(text string, schema *jsonschema.Node) (json.RawMessage, bool) {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}")
	var members []rawjson.Member
	for part := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(part, ":")
		name, value = strings.Trim(strings.TrimSpace(name), `"'`), strings.Trim(strings.TrimSpace(value), `"'`)
		property, known := schema.Property(name)
		if !ok || !known || value == "" {
			return nil, false
		}
		members = append(members, rawjson.NewMember(name, c.value(rawjson.Quote(value), property, "")))
	}
	return rawjson.Object(members), true
}

// elements reads a list without quotes.
func (c *coercer) elements(text string, schema *jsonschema.Node) (json.RawMessage, bool) {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	parts := strings.Split(text, ",")
	elements := make([]json.RawMessage, len(parts))
	for i, part := range parts {
		part = strings.Trim(strings.TrimSpace(part), `"'`)
		items, _ := schema.Element(i)
		element := c.value(rawjson.Quote(part), items, "")
		value, err := rawjson.Decode(element)
		if part == "" || err != nil || !items.Kinds().Has(jsonschema.KindOf(value)) {
			return nil, false
		}
		elements[i] = element
	}
	return rawjson.Array(elements), true
}
