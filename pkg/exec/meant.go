package exec

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"toolx/pkg/rawjson"
)

// What a person probably meant by arguments that are refused: for the command of a hint
// alone. Nothing of it is ever sent before the person has run that command.

// attempt makes arguments of those that were given: the right ones, the wrong ones as
// they were probably meant where mend is set, and examples for what is missing.
func (e *InvalidArgumentsError) attempt(examples []rawjson.Member, mend bool) json.RawMessage {
	given, _ := rawjson.Members(e.Arguments)
	wrong := e.wrong(placesOf(given))
	schema := newDocument(e.Tool.InputSchema)
	names := documentNaming(e.Tool, schema)
	var list []rawjson.Member
	taken := make(map[string]bool)
	take := func(given []rawjson.Member, wrong func(name string) bool) {
		for _, m := range given {
			name := names.target(m.Name)
			if _, known := schema.property(schema.root, name); mend && !known {
				if near := nearest(name, slices.Sorted(maps.Keys(names.known))); near != "" {
					name = near
				}
			}
			m = rawjson.NewMember(name, m.Value)
			ok := !taken[name]
			if ok && wrong(name) {
				m, ok = schema.meant(m)
				ok = ok && mend
			}
			if ok {
				taken[name] = true
				list = append(list, m)
			}
		}
	}
	take(given, func(name string) bool { return wrong[name] })
	take(e.Refused, func(string) bool { return true })
	for _, m := range examples {
		if !taken[m.Name] {
			list = append(list, m)
		}
	}
	return rawjson.Object(e.completed(list, examples))
}

// meant is a parameter with a value that the schema refuses, as it was probably meant;
// ok is false where nobody can tell.
func (d *document) meant(m rawjson.Member) (rawjson.Member, bool) {
	c := coercer{schema: d, budget: maxCoerced, guesses: true}
	schema, known := d.property(d.root, m.Name)
	if !known || checkJSON(m.Value) != nil {
		return m, false
	}
	m.Value = c.value(m.Value, schema, m.Name)
	return m, len(c.done) > 0
}

// listed is the only one of the schema's options that a value could be a spelling of.
func (c *coercer) listed(raw json.RawMessage, schema any) (json.RawMessage, bool) {
	values, ok := c.schema.options(schema)
	if !ok {
		return nil, false
	}
	texts := optionTexts(values)
	if slices.Contains(texts, string(raw)) {
		return nil, false
	}
	var found []string
	for _, option := range texts {
		if fold(argumentText(json.RawMessage(option))) == fold(argumentText(raw)) {
			found = append(found, option)
		}
	}
	if len(found) != 1 {
		return nil, false
	}
	return json.RawMessage(found[0]), true
}

// guessed is the value that a person meant by a text: yes for true, a,b for two
// elements.
func (c *coercer) guessed(text string, schema any, allowed kinds) (json.RawMessage, bool) {
	text = strings.TrimSpace(text)
	switch word := strings.ToLower(text); {
	case allowed.has(kindBoolean) && slices.Contains([]string{"yes", "y", "on", "1", "t"}, word):
		return json.RawMessage("true"), true
	case allowed.has(kindBoolean) && slices.Contains([]string{"no", "n", "off", "0", "f"}, word):
		return json.RawMessage("false"), true
	case allowed.has(anyNumber) && isNumber(strings.TrimPrefix(text, "+")):
		return json.RawMessage(strings.TrimPrefix(text, "+")), true
	case allowed.has(kindArray):
		return c.elements(text, schema)
	}
	return nil, false
}

// elements are those of a list that is written without quotes.
func (c *coercer) elements(text string, schema any) (json.RawMessage, bool) {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	parts := strings.Split(text, ",")
	elements := make([]json.RawMessage, len(parts))
	for i, part := range parts {
		part = strings.Trim(strings.TrimSpace(part), `"'`)
		items, _ := c.schema.element(schema, i)
		element := c.value(rawjson.Quote(part), items, "")
		value, err := decode(element)
		if part == "" || err != nil || !c.schema.kinds(items).has(kindOf(value)) {
			return nil, false
		}
		elements[i] = element
	}
	return array(elements), true
}
