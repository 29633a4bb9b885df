package cmd

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"toolx/pkg/rawjson"
	"toolx/pkg/render"
)

// formField is a field of an elicitation's form (MCP schema, PrimitiveSchemaDefinition).
type formField struct {
	name, title, description string
	kind                     string // "string", "integer", "number", "boolean", "array"
	format                   string
	required                 bool
	fallback                 json.RawMessage // the default; nil where there is none
	options                  []formOption    // of a choice, or of several
	schema                   json.RawMessage
}

// formOption is one that can be chosen.
type formOption struct {
	value json.RawMessage
	title string // empty where the value says it all
}

func (o formOption) String() string {
	if text := typedText(o.value); o.title != "" && o.title != text {
		return o.title + " (" + text + ")"
	}
	return typedText(o.value)
}

// formFields are the fields that a schema asks for, in its order.
func formFields(schema json.RawMessage) []formField {
	var required []string
	// A malformed list leaves every field optional; the server judges.
	_ = json.Unmarshal(member(schema, "required"), &required)
	properties, _ := rawjson.Members(member(schema, "properties"))
	fields := make([]formField, len(properties))
	for i, property := range properties {
		fields[i] = formField{
			name: property.Name, title: textMember(property.Value, "title"),
			description: textMember(property.Value, "description"),
			kind:        textMember(property.Value, "type"), format: textMember(property.Value, "format"),
			required: slices.Contains(required, property.Name),
			fallback: member(property.Value, "default"), schema: property.Value,
		}
		if fields[i].options = formOptions(property.Value); fields[i].kind == "array" {
			fields[i].options = formOptions(member(property.Value, "items"))
		}
	}
	return fields
}

// formOptions are the options of a choice, in any of the forms that MCP has had.
func formOptions(schema json.RawMessage) []formOption {
	for _, name := range []string{"oneOf", "anyOf"} {
		if elements, ok := rawjson.Elements(member(schema, name)); ok {
			var options []formOption
			for _, element := range elements {
				if value := member(element, "const"); value != nil {
					options = append(options, formOption{value, textMember(element, "title")})
				}
			}
			return options
		}
	}
	values, _ := rawjson.Elements(member(schema, "enum"))
	titles, _ := rawjson.Elements(member(schema, "enumNames"))
	options := make([]formOption, len(values))
	for i, value := range values {
		options[i].value = value
		if i < len(titles) {
			options[i].title = typedText(titles[i])
		}
	}
	return options
}

// heading is what the server says of a field.
func (f formField) heading() string {
	text := cmp.Or(f.title, f.name)
	if f.description != "" {
		text += ": " + f.description
	}
	return text
}

// label is the name of a field as it stands in lines of toolx's own: in quotes where it is
// more than a word, since it could read like one of toolx's questions.
func (f formField) label() string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.", r)
	}
	name := shorten(f.name, 40)
	if strings.ContainsFunc(f.name, func(r rune) bool { return !plain(r) }) {
		name = quote(name)
	}
	return render.Safe(name)
}

// takes says what is to be typed into a field, in words of toolx's own.
func (f formField) takes() string {
	takes := []string{f.kindText()}
	if f.required {
		takes = append(takes, "required")
	}
	for _, bound := range []struct{ name, text string }{
		{"minimum", "at least "},
		{"maximum", "at most "},
		{"minLength", "characters: at least "},
		{"maxLength", "characters: at most "},
		{"minItems", "choices: at least "},
		{"maxItems", "choices: at most "},
	} {
		var limit float64
		if value := member(f.schema, bound.name); value != nil && json.Unmarshal(value, &limit) == nil {
			takes = append(takes, bound.text+strconv.FormatFloat(limit, 'g', -1, 64))
		}
	}
	return strings.Join(takes, ", ")
}

// kindText says what kind of value a field takes. Forms of MCP have no objects and no lists
// but those of choices; a server that asks for them all the same gets them as JSON.
func (f formField) kindText() string {
	switch {
	case f.kind == "array" && len(f.options) > 0:
		return "several, with commas between them"
	case len(f.options) > 0:
		return "one of these"
	case f.kind == "array":
		return "several texts, with commas between them, or a JSON array"
	case f.kind == "object":
		return "a JSON object, since MCP's forms have no fields for one"
	case f.kind == "string" && slices.Contains([]string{"email", "uri", "date", "date-time"}, f.format):
		return f.format
	case slices.Contains([]string{"string", "integer", "number", "boolean"}, f.kind):
		return f.kind
	}
	return "JSON, or text"
}

// prompt is what stands before the cursor.
func (f formField) prompt(offered json.RawMessage) string {
	text := "  " + f.label()
	if offered != nil {
		text += " [" + render.Safe(shorten(typedText(offered), 60)) + "]"
	}
	return text + ": "
}

// read makes a value of what was typed, and says what is wrong with it.
func (f formField) read(typed string) (json.RawMessage, error) {
	value, err := f.parse(typed)
	if err == nil {
		err = checkField(f.name, f.schema, value)
	}
	return value, err
}

func (f formField) parse(typed string) (json.RawMessage, error) {
	switch {
	case f.kind == "array" && len(f.options) > 0:
		return f.several(typed)
	case len(f.options) > 0:
		return f.choice(typed)
	case f.kind == "boolean":
		switch strings.ToLower(strings.TrimSpace(typed)) {
		case "y", "yes", "true", "1":
			return json.RawMessage("true"), nil
		case "n", "no", "false", "0":
			return json.RawMessage("false"), nil
		}
		return nil, errors.New("type yes or no")
	case f.kind == "integer", f.kind == "number":
		return readNumber(typed)
	case f.kind == "object":
		if _, ok := rawjson.Members([]byte(typed)); !ok || !json.Valid([]byte(typed)) {
			return nil, errors.New(`that is no JSON object, such as {"name":"value"}`)
		}
		return json.RawMessage(typed), nil
	case f.kind == "array":
		if _, ok := rawjson.Elements([]byte(typed)); ok && json.Valid([]byte(typed)) {
			return json.RawMessage(typed), nil
		}
		parts := strings.Split(typed, ",")
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		return rawjson.Marshal(parts)
	case f.kind != "string" && json.Valid([]byte(typed)):
		return json.RawMessage(typed), nil // of several kinds, or of none that MCP knows
	}
	return rawjson.Quote(typed), nil
}

// readNumber reads a number as people write it: JSON wants a digit before the point, and no
// plus.
func readNumber(typed string) (json.RawMessage, error) {
	number := strings.TrimSpace(typed)
	digits := strings.TrimLeft(number, "+-")
	sign := number[:len(number)-len(digits)]
	if sign == "+" {
		sign = ""
	}
	if strings.HasPrefix(digits, ".") {
		digits = "0" + digits
	}
	number = sign + digits
	if _, err := strconv.ParseFloat(number, 64); err != nil || !json.Valid([]byte(number)) {
		return nil, errors.New("that is no number")
	}
	return json.RawMessage(number), nil
}

// choice finds an option by its number, its value or its title.
func (f formField) choice(typed string) (json.RawMessage, error) {
	typed = strings.TrimSpace(typed)
	for _, option := range f.options {
		if typed == typedText(option.value) {
			return option.value, nil
		}
	}
	for _, option := range f.options {
		if strings.EqualFold(typed, typedText(option.value)) || strings.EqualFold(typed, option.title) {
			return option.value, nil
		}
	}
	if n, err := strconv.Atoi(typed); err == nil && n >= 1 && n <= len(f.options) {
		return f.options[n-1].value, nil
	}
	return nil, fmt.Errorf("type a number from 1 to %d, or one of the names", len(f.options))
}

func (f formField) several(typed string) (json.RawMessage, error) {
	chosen := []json.RawMessage{}
	for part := range strings.SplitSeq(typed, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		value, err := f.choice(part)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, value)
	}
	return rawjson.Marshal(chosen)
}
