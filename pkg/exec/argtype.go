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

// value types what was given for one key. ok is false where it has a problem.
func (p *argParser) value(s *setting) (value json.RawMessage, ok bool) {
	if len(s.given) > 1 {
		return p.repeated(s)
	}
	return p.typed(s, s.given[0], s.schema)
}

// repeated makes an array of a key that was given several times, one element
// each. Where the schema has no array there, one value would be lost.
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

// typed makes JSON of one argument's text, by its schema.
func (p *argParser) typed(s *setting, a argument, schema *jsonschema.Node) (json.RawMessage, bool) {
	if at := rawjson.InvalidUTF8(a.text); at >= 0 {
		p.problem(jsonschema.Problem{
			Path: s.key, Reason: jsonschema.ReasonSyntax, Expected: "text in UTF-8",
			Detail: fmt.Sprintf("%s has another encoding, or bytes, at %d; bytes go as base64 where the tool takes it",
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
		// The word null, and nothing else that could be meant as text.
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

// asUnion reads JSON where the text is some of a kind that the schema allows, and takes it as text else. So nothing
// that was meant as text is lost, and the spelling k:=JSON is there for text that looks like something else. An object
// or array that no two programs read alike (a name twice) is refused, as k:=JSON does: it was not meant as text.
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
	// enum: [1, "2"]: the text 2 is the listed one, the number is not.
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
		// One element of an array is written like each of several.
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
			detail += fmt.Sprintf(`; if the shell took the quotes away, write \" for each or use %s=@FILE`, s.key)
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
	detail := err.Error()
	if strippedQuotes(text) {
		detail += fmt.Sprintf(`; if the shell took the quotes away, write \" for each or use %s:=@FILE`, s.key)
	}
	p.problem(jsonschema.Problem{
		Path: s.key, Reason: jsonschema.ReasonSyntax, Expected: expected, Given: jsonschema.GivenText(a.text),
		Detail: detail,
	})
	return nil, false
}

// refuse reports a text that is not of the kind it should be.
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

// expected names the kinds that a schema allows; booleans by their spelling, since yes and 1 are refused.
func (p *argParser) expected(schema *jsonschema.Node) string {
	if schema.Kinds() == jsonschema.Boolean {
		return "true or false"
	}
	return schema.TypeName()
}

// checkFinite refuses a number that no float64 can hold. Whole numbers written
// out keep all their digits, whatever their size.
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
