package exec

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// Models often send values of the wrong JSON type: small ones send "3" for an integer, some send null for omitted
// parameters, and some send only text. Only for calls from a model (Call.FromModel), toolx converts a value that the
// schema rejects to a type that it accepts, if nothing is lost:
//
//   - text that is a number, true or false, an array or an object becomes that value;
//   - a number becomes text if the schema only accepts text;
//   - null is removed if the parameter is optional and must not be null;
//   - nothing else changes: "3.5" for an integer remains, and fails validation.
//
// Valid arguments do not change.

// Coercion is one value that was converted to another type.
type Coercion struct {
	// Path leads to the value, as in Problem.
	Path string
	// From and To are the value as JSON, cut at 60 characters. To is empty for a null that was removed.
	From, To string
}

// String returns the change for the log: "count from "3" to 3".
func (c Coercion) String() string {
	if c.To == "" {
		return c.Path + ", which was " + c.From + ", taken out"
	}
	return c.Path + " from " + c.From + " to " + c.To
}

// ArgumentsCoerced reports the converted values of a call that is about to run.
type ArgumentsCoerced struct {
	Time
	Tool    string
	Changes []Coercion
}

// String returns the event for the log: "coerced parameters of t: count from "3" to 3".
func (e ArgumentsCoerced) String() string {
	return "coerced parameters of " + e.Tool + ": " +
		strings.Join(words.FirstTexts(e.Changes, "values", Coercion.String), ", ")
}

// coerce converts a model's arguments to fit the tool's schema.
func (p *Prepared) coerce(ctx context.Context, schema *jsonschema.Schema, untyped bool) {
	if rawjson.Check(p.Arguments) != nil {
		return // validation reports it
	}
	c := coercer{ctx: ctx, schema: p.Tool.Input().Root(), budget: maxCoerced}
	if untyped {
		p.Arguments = c.typed(p.Arguments)
	}
	// With a broken schema, text of the wrong type can pass validation.
	if problems, _ := schema.Validate(ctx, p.Arguments); untyped || len(problems) > 0 {
		p.Arguments = c.value(bytes.TrimSpace(p.Arguments), c.schema, "")
	}
	p.Coerced = c.done
}

// unwrapArguments returns the object in arguments that are a string, as from a model that encodes JSON twice; else the
// arguments themselves.
func unwrapArguments(arguments json.RawMessage) json.RawMessage {
	if !rawjson.IsString(arguments) || rawjson.Check(arguments) != nil {
		return arguments
	}
	text := bytes.TrimSpace([]byte(rawjson.Unquote(bytes.TrimSpace(arguments))))
	if !rawjson.IsObject(text) || rawjson.Check(text) != nil {
		return arguments
	}
	return text
}

// maxCoerced limits the values of one call that are examined.
const maxCoerced = 20_000

// coercer converts values to the types that a schema accepts.
type coercer struct {
	ctx    context.Context
	schema *jsonschema.Node
	budget int
	done   []Coercion
	// guesses allows values that a person probably meant (see guess.go).
	guesses bool
}

// typed converts the parameters of an untyped call whose schema allows text and other types: to JSON if it is valid, or
// else to text, like arguments on the command line.
func (c *coercer) typed(arguments json.RawMessage) json.RawMessage {
	members, ok := rawjson.Members(arguments)
	if !ok {
		return arguments
	}
	parser := argParser{schema: c.schema}
	before := len(c.done)
	for i, m := range members {
		schema, known := c.schema.Property(m.Name)
		allowed := schema.Kinds()
		if !known || !rawjson.IsString(m.Value) || !allowed.Has(jsonschema.String) || allowed == jsonschema.String {
			continue
		}
		given := argument{text: []byte(rawjson.Unquote(m.Value)), literal: true}
		value, ok := parser.asUnion(&setting{key: m.Name}, given, schema, allowed)
		if ok && !bytes.Equal(value, m.Value) && !rawjson.IsString(value) {
			members[i].Value = c.note(m.Name, m.Value, value)
		}
	}
	if len(c.done) == before {
		return arguments
	}
	return rawjson.Object(members)
}

// note records a change and returns the new value; nil means that the value was removed.
func (c *coercer) note(path string, from, to json.RawMessage) json.RawMessage {
	change := Coercion{Path: words.Shorten(path, jsonschema.MaxPath), From: jsonschema.GivenText(from)}
	if to != nil {
		change.To = jsonschema.GivenText(to)
	}
	c.done = append(c.done, change)
	return to
}

// value converts one value to fit a schema, if nothing is lost.
func (c *coercer) value(raw json.RawMessage, schema *jsonschema.Node, path string) json.RawMessage {
	if c.budget--; c.budget < 0 || c.ctx.Err() != nil {
		return raw
	}
	if c.guesses {
		if value, ok := c.listed(raw, schema); ok {
			return c.note(path, raw, value)
		}
	}
	allowed := schema.Kinds()
	switch raw[0] {
	case '{':
		return c.object(raw, schema, path)
	case '[':
		return c.array(raw, schema, path)
	case '"':
		if allowed.Has(jsonschema.String) {
			return raw
		}
		value, ok := meant(rawjson.Unquote(raw), allowed)
		if !ok && c.guesses {
			value, ok = c.guessed(rawjson.Unquote(raw), schema, allowed)
		}
		if !ok {
			return raw
		}
		return c.value(c.note(path, raw, value), schema, path)
	}
	if rawjson.IsNumber(string(raw)) && !allowed.Has(jsonschema.AnyNumber) && allowed.Has(jsonschema.String) {
		return c.note(path, raw, rawjson.Quote(string(raw)))
	}
	return raw
}

// meant returns the value of an allowed type that a text contains.
func meant(text string, allowed jsonschema.Kinds) (value json.RawMessage, ok bool) {
	value = json.RawMessage(strings.TrimSpace(text))
	switch word := string(value); {
	case word == "":
		return nil, false
	case word == "null" || word == "None":
		return json.RawMessage("null"), allowed.Has(jsonschema.Null)
	case strings.EqualFold(word, "true") || strings.EqualFold(word, "false"):
		return json.RawMessage(strings.ToLower(word)), allowed.Has(jsonschema.Boolean)
	case rawjson.IsNumber(word):
		whole := allowed.Has(jsonschema.Fraction) || allowed.Has(jsonschema.Integer) && rawjson.IsWhole(word)
		return value, whole && checkFinite(word) == nil
	case word[0] == '{':
		return value, allowed.Has(jsonschema.Object) && rawjson.Check(value) == nil
	case word[0] == '[':
		return value, allowed.Has(jsonschema.Array) && rawjson.Check(value) == nil
	}
	return nil, false
}

// object converts the members of an object.
func (c *coercer) object(raw json.RawMessage, schema *jsonschema.Node, path string) json.RawMessage {
	members, _ := rawjson.Members(raw)
	required := schema.Facets().Required()
	before := len(c.done)
	kept := make([]rawjson.Member, 0, len(members))
	for _, m := range members {
		property, known := schema.Property(m.Name)
		inner := strings.TrimPrefix(path+"."+m.Name, ".")
		if !known {
			kept = append(kept, m)
			continue
		}
		if !slices.Contains(required, m.Name) && c.refusesNull(m.Value, property) {
			c.note(inner, m.Value, nil)
			continue
		}
		m.Value = c.value(m.Value, property, inner)
		kept = append(kept, m)
	}
	if len(c.done) == before {
		return raw
	}
	return rawjson.Object(kept)
}

// refusesNull reports whether a value is null and its schema does not accept that, or the text "null" if the schema
// does not accept text either.
func (c *coercer) refusesNull(value json.RawMessage, schema *jsonschema.Node) bool {
	switch allowed := schema.Kinds(); string(value) {
	case "null":
		return !allowed.Has(jsonschema.Null)
	case `"null"`, `"None"`:
		return !allowed.Has(jsonschema.Null | jsonschema.String)
	}
	return false
}

// array converts the elements of an array.
func (c *coercer) array(raw json.RawMessage, schema *jsonschema.Node, path string) json.RawMessage {
	elements, _ := rawjson.Elements(raw)
	before := len(c.done)
	for i, element := range elements {
		if items, ok := schema.Element(i); ok && c.budget > 0 {
			elements[i] = c.value(element, items, fmt.Sprintf("%s[%s]", path, strconv.Itoa(i)))
		}
	}
	if len(c.done) == before && c.guesses && len(elements) == 1 && rawjson.IsString(elements[0]) {
		if several, ok := c.elements(rawjson.Unquote(elements[0]), schema); ok {
			return c.note(path, raw, several)
		}
	}
	if len(c.done) == before {
		return raw
	}
	return rawjson.Array(elements)
}
