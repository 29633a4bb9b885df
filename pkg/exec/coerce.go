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

// Models know what a parameter means better than how JSON writes it: small ones send "3" for an integer, some send null
// for what they leave out, and the calls of some hold nothing but text. For calls that come from a model
// (Call.FromModel), and for no others, a value that the schema refuses is written as a kind that the schema wants,
// where that says the same:
//
//   - text that is a number, true or false, an array or an object becomes it;
//   - a number becomes its text where only text will do;
//   - null is taken out where the parameter is optional and null is refused;
//   - nothing else is changed: "3.5" for an integer stays, and fails validation.
//
// Arguments that are valid as they are stay as they are.

// Coercion is one value that was written as another kind.
type Coercion struct {
	// Path leads to the value, as in Problem.
	Path string
	// From and To are the value as JSON, cut at 60 characters. To is empty where a null was taken out.
	From, To string
}

// String returns the change as the log shows it: "count from "3" to 3".
func (c Coercion) String() string {
	if c.To == "" {
		return c.Path + ", which was " + c.From + ", taken out"
	}
	return c.Path + " from " + c.From + " to " + c.To
}

// ArgumentsCoerced says which values of a call that is about to run were written as another kind.
type ArgumentsCoerced struct {
	Time
	Tool    string
	Changes []Coercion
}

// String returns the event as the log shows it: "coerced parameters of t: count from "3" to 3".
func (e ArgumentsCoerced) String() string {
	return "coerced parameters of " + e.Tool + ": " +
		strings.Join(words.FirstTexts(e.Changes, "values", Coercion.String), ", ")
}

// coerce makes a model's arguments fit the schema of the prepared call's tool.
func (p *Prepared) coerce(ctx context.Context, schema *jsonschema.Schema, untyped bool) {
	if rawjson.Check(p.Arguments) != nil {
		return // for validation to report
	}
	c := coercer{ctx: ctx, schema: p.Tool.Input().Root(), budget: maxCoerced}
	if untyped {
		p.Arguments = c.typed(p.Arguments)
	}
	// Text that should be something else can be valid where the schema is broken.
	if problems, _ := schema.Validate(ctx, p.Arguments); untyped || len(problems) > 0 {
		p.Arguments = c.value(bytes.TrimSpace(p.Arguments), c.schema, "")
	}
	p.Coerced = c.done
}

// decoded returns the object in arguments that are a string, as a model writes them that has its JSON encoded once too
// often; else the arguments themselves.
func decoded(arguments json.RawMessage) json.RawMessage {
	if !rawjson.IsString(arguments) || rawjson.Check(arguments) != nil {
		return arguments
	}
	text := bytes.TrimSpace([]byte(rawjson.Unquote(bytes.TrimSpace(arguments))))
	if _, isObject := rawjson.Members(text); !isObject || rawjson.Check(text) != nil {
		return arguments
	}
	return text
}

// maxCoerced bounds how many values of one call are looked at.
const maxCoerced = 20_000

// coercer writes values as the kinds that a schema wants.
type coercer struct {
	ctx    context.Context
	schema *jsonschema.Node
	budget int
	done   []Coercion
	// guesses reports whether values may be what a person probably meant (see meant.go).
	guesses bool
}

// typed gives the parameters of an untyped call their kinds where text is one of several that the schema allows: JSON
// where it is some of a kind that fits, else text, as for arguments on the command line.
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

// note notes a change and gives its outcome; nil stands for a value taken out.
func (c *coercer) note(path string, from, to json.RawMessage) json.RawMessage {
	change := Coercion{Path: words.Shorten(path, jsonschema.MaxPath), From: jsonschema.GivenText(from)}
	if to != nil {
		change.To = jsonschema.GivenText(to)
	}
	c.done = append(c.done, change)
	return to
}

// value makes one value fit a schema, as far as nothing is lost.
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

// meant returns the value of some allowed kind that a text is.
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

// object makes the members of an object fit.
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

// refusesNull reports whether a value is a null that its schema does not want; the words for it count where text is not
// wanted either.
func (c *coercer) refusesNull(value json.RawMessage, schema *jsonschema.Node) bool {
	switch allowed := schema.Kinds(); string(value) {
	case "null":
		return !allowed.Has(jsonschema.Null)
	case `"null"`, `"None"`:
		return !allowed.Has(jsonschema.Null | jsonschema.String)
	}
	return false
}

// array makes the elements of an array fit.
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
