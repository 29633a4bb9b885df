package exec

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// value returns the typed value of one key. ok is false if it has a problem.
func (p *argParser) value(s *setting) (value json.RawMessage, ok bool) {
	if len(s.given) > 1 {
		return p.repeated(s)
	}
	return p.typed(s, s.given[0], s.schema)
}

// repeated returns an array of the values of a repeated key. If the schema has no array, that is a problem, since one
// value would be lost.
func (p *argParser) repeated(s *setting) (json.RawMessage, bool) {
	if !s.schema.Kinds().Has(jsonschema.Array) {
		values := words.Texts(s.given, func(a argument) string { return jsonschema.GivenText(a.text) })
		p.problem(jsonschema.Problem{
			Path: s.key, Reason: jsonschema.ReasonConflict, Expected: "be given once",
			Given: words.Shorten(strings.Join(values, " and "), words.MaxGiven), Description: s.schema.Description(),
		})
		return nil, false
	}
	elements := make([]json.RawMessage, len(s.given))
	for i, a := range s.given {
		schema, _ := s.schema.Element(i)
		element, ok := p.typed(s, a, schema)
		if !ok {
			return nil, false
		}
		elements[i] = element
	}
	return rawjson.Array(elements), true
}

// typed converts one argument's text to JSON by its schema.
func (p *argParser) typed(s *setting, a argument, schema *jsonschema.Node) (json.RawMessage, bool) {
	if at := rawjson.InvalidUTF8(a.text); at >= 0 {
		p.problem(jsonschema.Problem{
			Path: s.key, Reason: jsonschema.ReasonSyntax, Expected: "text in UTF-8",
			Detail: fmt.Sprintf("%s is not UTF-8 at byte %d; pass bytes as base64 if the tool accepts that",
				cmp.Or(a.origin, "the value"), at+1),
		})
		return nil, false
	}
	if a.json {
		return p.asJSON(s, a, "JSON")
	}
	switch allowed := schema.Kinds(); {
	case allowed == jsonschema.String:
		return rawjson.Quote(string(a.text)), true
	case allowed == jsonschema.String|jsonschema.Null:
		// Only the word null is null; everything else could be text.
		if string(a.text) == "null" {
			return json.RawMessage("null"), true
		}
		return rawjson.Quote(string(a.text)), true
	case allowed.Has(jsonschema.String):
		return p.asUnion(s, a, schema, allowed)
	default:
		return p.asKind(s, a, schema, allowed)
	}
}

// asUnion reads the text as JSON if the schema allows its type, or else as text. Text that looks like another type
// needs k:=JSON. An ambiguous object or array (with a duplicate name) is an error, as with k:=JSON.
func (p *argParser) asUnion(
	s *setting, a argument, schema *jsonschema.Node, allowed jsonschema.Kinds,
) (json.RawMessage, bool) {
	text := json.RawMessage(a.text)
	if !a.literal {
		text = bytes.TrimSpace(trimBOM(text))
	}
	asText := rawjson.Quote(string(a.text))
	if len(text) == 0 || len(bytes.TrimSpace(text)) != len(text) || !json.Valid(text) {
		return asText, true
	}
	if rawjson.Check(text) != nil {
		if text[0] == '{' && allowed.Has(jsonschema.Object) || text[0] == '[' && allowed.Has(jsonschema.Array) {
			return p.asJSON(s, a, "JSON")
		}
		return asText, true
	}
	value, err := rawjson.Decode(text)
	if err != nil || !allowed.Has(jsonschema.KindOf(value)) {
		return asText, true
	}
	// enum: [1, "2"] has the text 2, not the number.
	if values, ok := schema.Options(); ok {
		listed := jsonschema.OptionTexts(values)
		if !slices.Contains(listed, string(text)) && slices.Contains(listed, string(asText)) {
			return asText, true
		}
	}
	return text, true
}

// asKind reads a value of kinds that are not text.
func (p *argParser) asKind(
	s *setting, a argument, schema *jsonschema.Node, allowed jsonschema.Kinds,
) (json.RawMessage, bool) {
	if !a.literal {
		a.text = bytes.TrimSpace(trimBOM(a.text)) // a file ends in a newline
	}
	if len(a.text) == 0 {
		return p.refuse(s, a, schema, "leave it out to send nothing")
	}
	text, first := string(a.text), a.text[0]
	structured := first == '{' || first == '['
	switch {
	case structured && allowed.Has(jsonschema.Array|jsonschema.Object):
		return p.asStructure(s, a, schema, allowed)
	case text == "null" && allowed.Has(jsonschema.Null),
		(text == "true" || text == "false") && allowed.Has(jsonschema.Boolean):
		return json.RawMessage(a.text), true
	case allowed.Has(jsonschema.AnyNumber) && rawjson.IsNumber(text):
		if !allowed.Has(jsonschema.Fraction) && !rawjson.IsWhole(text) {
			return p.refuse(s, a, schema, "")
		}
		if err := checkFinite(text); err != nil {
			return p.refuse(s, a, schema, err.Error())
		}
		return json.RawMessage(a.text), true
	case allowed.Has(jsonschema.Array):
		// A single element is written like one of several.
		return p.asElement(s, a, schema)
	}
	return p.refuse(s, a, schema, "")
}

// asStructure reads an array or an object.
func (p *argParser) asStructure(
	s *setting, a argument, schema *jsonschema.Node, allowed jsonschema.Kinds,
) (json.RawMessage, bool) {
	if err := rawjson.Check(a.text); err != nil {
		detail := err.Error()
		if strippedQuotes(a.text) {
			detail += fmt.Sprintf(`; if the shell removed the quotes, write \" for each or use %s=@FILE`, s.key)
		}
		return p.refuse(s, a, schema, detail)
	}
	value := jsonschema.Array
	if a.text[0] == '{' {
		value = jsonschema.Object
	}
	if !allowed.Has(value) {
		if value == jsonschema.Object {
			return p.asElement(s, a, schema)
		}
		return p.refuse(s, a, schema, "")
	}
	return json.RawMessage(a.text), true
}

// asElement makes an array of one element.
func (p *argParser) asElement(s *setting, a argument, schema *jsonschema.Node) (json.RawMessage, bool) {
	items, _ := schema.Element(0)
	if items.Kinds().Has(jsonschema.Array) && !items.Kinds().Has(jsonschema.String) {
		return p.refuse(s, a, schema, "")
	}
	before := len(p.problems)
	element, ok := p.typed(s, a, items)
	if !ok {
		p.problems = p.problems[:before]
		return p.refuse(s, a, schema, "")
	}
	return rawjson.Array([]json.RawMessage{element}), true
}

// asJSON reads what was given with :=.
func (p *argParser) asJSON(s *setting, a argument, expected string) (json.RawMessage, bool) {
	text := bytes.TrimSpace(trimBOM(a.text))
	err := rawjson.Check(text)
	if err == nil {
		return text, true
	}
	detail := strings.TrimPrefix(err.Error(), "not JSON: ")
	if strippedQuotes(text) {
		detail += fmt.Sprintf(`; if the shell removed the quotes, write \" for each or use %s:=@FILE`, s.key)
	}
	p.problem(jsonschema.Problem{
		Path: s.key, Reason: jsonschema.ReasonSyntax, Expected: expected, Given: jsonschema.GivenText(a.text),
		Detail: detail,
	})
	return nil, false
}

// refuse records a value of the wrong type.
func (p *argParser) refuse(s *setting, a argument, schema *jsonschema.Node, detail string) (json.RawMessage, bool) {
	problem := jsonschema.Problem{
		Path: s.key, Reason: jsonschema.ReasonType, Expected: p.expected(schema),
		Given: words.Shorten(string(rawjson.Quote(string(a.text[:min(len(a.text), words.MaxGiven*utf8.UTFMax)]))),
			words.MaxGiven),
		Detail: detail,
	}
	problem.Expect(schema)
	p.problem(problem)
	return nil, false
}

// expected names the types that a schema allows; for booleans the two words, since yes and 1 are not accepted.
func (p *argParser) expected(schema *jsonschema.Node) string {
	if schema.Kinds() == jsonschema.Boolean {
		return "true or false"
	}
	return schema.TypeName()
}

// checkFinite rejects a number beyond float64. Whole numbers without an exponent keep all their digits, whatever their
// size.
func checkFinite(text string) error {
	if err := rawjson.CheckNumber(text); err != nil {
		return err
	}
	if !strings.ContainsAny(text, ".eE") {
		return nil
	}
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		return fmt.Errorf("%s is out of range", words.Shorten(text, words.MaxGiven))
	}
	return nil
}
