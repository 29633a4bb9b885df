package cmd

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

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

// describe is the line above a field: what it is, and what it takes.
func (f formField) describe() string {
	takes := []string{cmp.Or(f.format, map[string]string{"array": "several, with commas between them"}[f.kind], f.kind)}
	if len(f.options) > 0 && f.kind != "array" {
		takes[0] = "one of these"
	}
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
		if value := member(f.schema, bound.name); value != nil {
			takes = append(takes, bound.text+string(value))
		}
	}
	text := render.Safe(cmp.Or(f.title, f.name))
	if f.description != "" {
		text += ": " + render.Safe(f.description)
	}
	return text + " (" + render.Safe(strings.Join(takes, ", ")) + ")"
}

// prompt is what stands before the cursor.
func (f formField) prompt(offered json.RawMessage) string {
	text := "  " + render.Safe(f.name)
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
	if err == nil && f.kind == "string" {
		err = checkFormat(f.format, typed)
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
		number := strings.TrimSpace(typed)
		if _, err := strconv.ParseFloat(number, 64); err != nil || !json.Valid([]byte(number)) {
			return nil, errors.New("that is no number")
		}
		return json.RawMessage(number), nil
	case f.kind == "array":
		parts := strings.Split(typed, ",")
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		return rawjson.Marshal(parts)
	}
	return rawjson.Quote(typed), nil
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

// checkFormat holds a text against the formats that MCP's forms have.
func checkFormat(format, text string) error {
	var err error
	switch format {
	case "email":
		var address *mail.Address
		if address, err = mail.ParseAddress(text); err == nil && address.Address != text {
			err = errors.New("a name stands beside it")
		}
		if err != nil {
			return errors.New("that is no email address, such as ada@example.com")
		}
	case "uri":
		if parsed, parseErr := url.Parse(text); parseErr != nil || !parsed.IsAbs() {
			return errors.New("that is no URI, such as https://example.com")
		}
	case "date":
		if _, err = time.Parse(time.DateOnly, text); err != nil {
			return errors.New("that is no date, such as 2026-07-28")
		}
	case "date-time":
		if _, err = time.Parse(time.RFC3339, text); err != nil {
			return errors.New("that is no date and time, such as 2026-07-28T09:00:00Z")
		}
	}
	return nil
}
