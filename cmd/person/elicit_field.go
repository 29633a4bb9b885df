package person

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/servers"
	"toolx/pkg/words"
)

// formField is a field of an elicitation's form (MCP schema, PrimitiveSchemaDefinition).
type formField struct {
	jsonschema.Property
	asked   *servers.Elicitation
	shape   *jsonschema.Shape
	options []jsonschema.Option // of a choice, or of several
}

// optionText returns an option's title, with its value where that is another text.
func optionText(o jsonschema.Option) string {
	text := typedText(o.Raw)
	if o.Label != "" && o.Label != text {
		return o.Label + " (" + text + ")"
	}
	return text
}

// formFields returns the fields that a server asks for, in the order of its schema.
func formFields(asked *servers.Elicitation) []formField {
	properties := asked.Form().Root().Facets().Properties()
	fields := make([]formField, len(properties))
	for i, property := range properties {
		shape := property.Node.Shape()
		fields[i] = formField{Property: property, asked: asked, shape: shape, options: shape.Options}
		if shape.Kind == jsonschema.ShapeArray {
			fields[i].options = shape.Items.Shape().Options
		}
	}
	return fields
}

// heading returns what the server says of a field.
func (f formField) heading() string {
	text := cmp.Or(f.shape.Title, f.Name)
	if f.shape.Description != "" {
		text += ": " + f.shape.Description
	}
	return text
}

// label returns the name of a field for lines of toolx's own. It is in quotes where it is more than a word, since it
// could read like one of toolx's questions.
func (f formField) label() string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
	name := words.Clip(f.Name, 40)
	if strings.Trim(f.Name, plain) != "" {
		name = strconv.Quote(name)
	}
	return render.Safe(name)
}

// takes returns what the user types into a field, in words of toolx's own.
func (f formField) takes() string {
	takes := []string{f.kindText()}
	if f.shape.Nullable && f.shape.Kind != jsonschema.ShapeJSON {
		takes[0] += " or null"
	}
	if f.Required {
		takes = append(takes, "required")
	}
	limits := f.shape.Limits()
	for _, bound := range []struct {
		value *jsonschema.Node
		text  string
	}{
		{limits.Minimum, "at least "},
		{limits.Maximum, "at most "},
		{limits.Shortest, "characters: at least "},
		{limits.Longest, "characters: at most "},
		{limits.Fewest, "choices: at least "},
		{limits.Most, "choices: at most "},
	} {
		var limit float64
		if bound.value != nil && json.Unmarshal(bound.value.Raw(), &limit) == nil {
			takes = append(takes, bound.text+strconv.FormatFloat(limit, 'g', -1, 64))
		}
	}
	return strings.Join(takes, ", ")
}

// kindText says what kind of value a field takes. Forms of MCP have no objects and no lists
// but those of choices; a server that asks for them all the same gets them as JSON.
func (f formField) kindText() string {
	switch kind := f.shape.Kind; {
	case kind == jsonschema.ShapeArray && len(f.options) > 0:
		return "several, with commas between them"
	case len(f.options) > 0:
		return "one of these"
	case kind == jsonschema.ShapeArray:
		return "several texts, with commas between them, or a JSON array"
	case kind == jsonschema.ShapeObject:
		return "a JSON object, since MCP's forms have no fields for one"
	case kind == jsonschema.ShapeText && slices.Contains([]string{"email", "uri", "date", "date-time"}, f.shape.Format):
		return f.shape.Format
	case kind == jsonschema.ShapeText:
		return "string"
	case kind == jsonschema.ShapeNumber && f.shape.Whole:
		return "integer"
	case kind == jsonschema.ShapeNumber || kind == jsonschema.ShapeBool:
		return kind.String()
	}
	return "JSON, or text"
}

// prompt returns what stands before the cursor.
func (f formField) prompt(offered json.RawMessage) string {
	text := "  " + f.label()
	if offered != nil {
		text += " [" + render.Safe(words.Clip(typedText(offered), 60)) + "]"
	}
	return text + ": "
}

// read turns what was typed into a value, and checks it against the schema.
func (f formField) read(typed string) (json.RawMessage, error) {
	value, err := f.parse(typed)
	if err == nil {
		err = f.asked.CheckField(f.Name, value)
	}
	return value, err
}

func (f formField) parse(typed string) (json.RawMessage, error) {
	switch kind := f.shape.Kind; {
	case f.shape.Nullable && strings.TrimSpace(typed) == "null":
		return json.RawMessage("null"), nil
	case kind == jsonschema.ShapeArray && len(f.options) > 0:
		return f.several(typed)
	case len(f.options) > 0:
		return f.choice(typed)
	case kind == jsonschema.ShapeBool:
		switch strings.ToLower(strings.TrimSpace(typed)) {
		case "y", "yes", "true", "1":
			return json.RawMessage("true"), nil
		case "n", "no", "false", "0":
			return json.RawMessage("false"), nil
		}
		return nil, errors.New("type yes or no")
	case kind == jsonschema.ShapeNumber:
		return readNumber(typed)
	case kind == jsonschema.ShapeObject:
		if _, ok := rawjson.Members([]byte(typed)); !ok || !json.Valid([]byte(typed)) {
			return nil, errors.New(`that is not a JSON object, such as {"name":"value"}`)
		}
		return json.RawMessage(typed), nil
	case kind == jsonschema.ShapeArray:
		if _, ok := rawjson.Elements([]byte(typed)); ok && json.Valid([]byte(typed)) {
			return json.RawMessage(typed), nil
		}
		parts := strings.Split(typed, ",")
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		return rawjson.Marshal(parts)
	case kind != jsonschema.ShapeText && json.Valid([]byte(typed)):
		return json.RawMessage(typed), nil // of several kinds, or of none that MCP knows
	}
	return rawjson.Quote(typed), nil
}

// readNumber reads a number as people write it: JSON wants a digit before the point, and no plus.
func readNumber(typed string) (json.RawMessage, error) {
	number := strings.TrimSpace(typed)
	_, err := strconv.ParseFloat(number, 64)
	number = strings.TrimPrefix(number, "+")
	if digits := strings.TrimPrefix(number, "-"); strings.HasPrefix(digits, ".") {
		number = strings.TrimSuffix(number, digits) + "0" + digits
	}
	if err != nil || !json.Valid([]byte(number)) {
		return nil, errors.New("that is not a number")
	}
	return json.RawMessage(number), nil
}

// choice finds an option by its number, its value or its title.
func (f formField) choice(typed string) (json.RawMessage, error) {
	typed = strings.TrimSpace(typed)
	for _, option := range f.options {
		if typed == typedText(option.Raw) {
			return option.Raw, nil
		}
	}
	for _, option := range f.options {
		if strings.EqualFold(typed, typedText(option.Raw)) || strings.EqualFold(typed, option.Label) {
			return option.Raw, nil
		}
	}
	if n, err := strconv.Atoi(typed); err == nil && n >= 1 && n <= len(f.options) {
		return f.options[n-1].Raw, nil
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
