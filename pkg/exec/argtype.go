package exec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"toolx/pkg/rawjson"
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
	if !p.schema.kinds(s.schema).has(kindArray) {
		values := make([]string, len(s.given))
		for i, a := range s.given {
			values[i] = givenText(a.text)
		}
		p.problem(Problem{
			Path: s.key, Reason: ReasonConflict, Expected: "be given once",
			Given: shorten(strings.Join(values, " and "), maxGiven), Description: p.schema.description(s.schema),
		})
		return nil, false
	}
	elements := make([]json.RawMessage, len(s.given))
	for i, a := range s.given {
		schema, _ := p.schema.element(s.schema, i)
		element, ok := p.typed(s, a, schema)
		if !ok {
			return nil, false
		}
		elements[i] = element
	}
	return array(elements), true
}

func array(elements []json.RawMessage) json.RawMessage {
	return slices.Concat(json.RawMessage("["), bytes.Join(rawSlices(elements), []byte(",")), json.RawMessage("]"))
}

func rawSlices(elements []json.RawMessage) [][]byte {
	slices := make([][]byte, len(elements))
	for i, element := range elements {
		slices[i] = element
	}
	return slices
}

// typed makes JSON of one argument's text, by its schema.
func (p *argParser) typed(s *setting, a argument, schema any) (json.RawMessage, bool) {
	if at := invalidUTF8(a.text); at >= 0 {
		p.problem(Problem{
			Path: s.key, Reason: ReasonSyntax, Expected: "text in UTF-8",
			Detail: fmt.Sprintf("%s has another encoding, or bytes, at %d; bytes are sent as base64 where the tool takes that",
				orValue(a.origin), at+1),
		})
		return nil, false
	}
	if a.json {
		return p.asJSON(s, a, "JSON")
	}
	switch allowed := p.schema.kinds(schema); {
	case allowed == kindString:
		return rawjson.Quote(string(a.text)), true
	case allowed == kindString|kindNull:
		// The word null, and nothing else that could be meant as text.
		if string(a.text) == "null" {
			return json.RawMessage("null"), true
		}
		return rawjson.Quote(string(a.text)), true
	case allowed.has(kindString):
		return p.asUnion(s, a, schema, allowed)
	default:
		return p.asKind(s, a, schema, allowed)
	}
}

func orValue(origin string) string {
	if origin == "" {
		return "the value"
	}
	return origin
}

// asUnion reads JSON where the text is some of a kind that the schema allows, and
// takes it as text else. So nothing that was meant as text is lost, and the
// spelling k:=JSON is there for text that looks like something else. An object or
// array that no two programs read alike (a name twice) is refused, as k:=JSON does:
// it was not meant as text.
func (p *argParser) asUnion(s *setting, a argument, schema any, allowed kinds) (json.RawMessage, bool) {
	text := json.RawMessage(a.text)
	if !a.literal {
		text = bytes.TrimSpace(trimBOM(text))
	}
	asText := rawjson.Quote(string(a.text))
	if len(text) == 0 || len(bytes.TrimSpace(text)) != len(text) || !json.Valid(text) {
		return asText, true
	}
	if checkJSON(text) != nil {
		if text[0] == '{' && allowed.has(kindObject) || text[0] == '[' && allowed.has(kindArray) {
			return p.asJSON(s, a, "JSON")
		}
		return asText, true
	}
	value, err := decode(text)
	if err != nil || !allowed.has(kindOf(value)) {
		return asText, true
	}
	// enum: [1, "2"]: the text 2 is the listed one, the number is not.
	if values, ok := p.schema.options(schema); ok {
		listed := optionTexts(values)
		if !slices.Contains(listed, string(text)) && slices.Contains(listed, string(asText)) {
			return asText, true
		}
	}
	return text, true
}

// asKind reads a value of kinds that are not text.
func (p *argParser) asKind(s *setting, a argument, schema any, allowed kinds) (json.RawMessage, bool) {
	if !a.literal {
		a.text = bytes.TrimSpace(trimBOM(a.text)) // a file ends in a newline
	}
	if len(a.text) == 0 {
		return p.refuse(s, a, schema, "leave it out to send nothing")
	}
	text, first := string(a.text), a.text[0]
	structured := first == '{' || first == '['
	switch {
	case structured && allowed.has(kindArray|kindObject):
		return p.asStructure(s, a, schema, allowed)
	case text == "null" && allowed.has(kindNull),
		(text == "true" || text == "false") && allowed.has(kindBoolean):
		return json.RawMessage(a.text), true
	case allowed.has(anyNumber) && isNumber(text):
		if !allowed.has(kindNumber) && !isWhole(text) {
			return p.refuse(s, a, schema, "")
		}
		if err := checkFinite(text); err != nil {
			return p.refuse(s, a, schema, err.Error())
		}
		return json.RawMessage(a.text), true
	case allowed.has(kindArray):
		// One element of an array is written like each of several.
		return p.asElement(s, a, schema)
	}
	return p.refuse(s, a, schema, "")
}

// asStructure reads an array or an object.
func (p *argParser) asStructure(s *setting, a argument, schema any, allowed kinds) (json.RawMessage, bool) {
	if err := checkJSON(a.text); err != nil {
		detail := err.Error()
		if strippedQuotes(a.text) {
			detail += fmt.Sprintf(`; if the shell took the quotes away, write \" for each or use %s=@FILE`, s.key)
		}
		return p.refuse(s, a, schema, detail)
	}
	value := kindArray
	if a.text[0] == '{' {
		value = kindObject
	}
	if !allowed.has(value) {
		if value == kindObject {
			return p.asElement(s, a, schema)
		}
		return p.refuse(s, a, schema, "")
	}
	return json.RawMessage(a.text), true
}

// asElement makes an array of one element.
func (p *argParser) asElement(s *setting, a argument, schema any) (json.RawMessage, bool) {
	items, _ := p.schema.element(schema, 0)
	if p.schema.kinds(items).has(kindArray) && !p.schema.kinds(items).has(kindString) {
		return p.refuse(s, a, schema, "")
	}
	before := len(p.problems)
	element, ok := p.typed(s, a, items)
	if !ok {
		p.problems = p.problems[:before]
		return p.refuse(s, a, schema, "")
	}
	return array([]json.RawMessage{element}), true
}

// asJSON reads what was given with :=.
func (p *argParser) asJSON(s *setting, a argument, expected string) (json.RawMessage, bool) {
	text := bytes.TrimSpace(trimBOM(a.text))
	err := checkJSON(text)
	if err == nil {
		return text, true
	}
	detail := err.Error()
	if strippedQuotes(text) {
		detail += fmt.Sprintf(`; if the shell took the quotes away, write \" for each or use %s:=@FILE`, s.key)
	}
	p.problem(Problem{
		Path: s.key, Reason: ReasonSyntax, Expected: expected, Given: givenText(a.text), Detail: detail,
	})
	return nil, false
}

// refuse reports a text that is not of the kind it should be.
func (p *argParser) refuse(s *setting, a argument, schema any, detail string) (json.RawMessage, bool) {
	problem := Problem{
		Path: s.key, Reason: ReasonType, Expected: p.expected(schema),
		Given:  shorten(string(rawjson.Quote(string(a.text[:min(len(a.text), maxGiven*utf8.UTFMax)]))), maxGiven),
		Detail: detail, Description: p.schema.description(schema),
	}
	if values, ok := p.schema.options(schema); ok {
		problem.Reason, problem.Expected, problem.Options = ReasonEnum, oneOf(values), optionTexts(values)
	}
	p.problem(problem)
	return nil, false
}

// expected names the kinds that a schema allows; booleans by their spelling,
// since yes and 1 are refused.
func (p *argParser) expected(schema any) string {
	if p.schema.kinds(schema) == kindBoolean {
		return "true or false"
	}
	return p.schema.typeName(schema)
}

// isNumber says whether text is a number as JSON writes them: no plus sign, no
// leading zeros or spaces, no hexadecimal, no NaN.
func isNumber(text string) bool {
	if text == "" || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return false
	}
	last := text[len(text)-1]
	return last >= '0' && last <= '9' && json.Valid([]byte(text))
}

// checkFinite refuses a number that no float64 can hold. Whole numbers written
// out keep all their digits, whatever their size.
func checkFinite(text string) error {
	if err := checkNumber(text); err != nil {
		return err
	}
	if !strings.ContainsAny(text, ".eE") {
		return nil
	}
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		return fmt.Errorf("%s is out of range", shorten(text, maxGiven))
	}
	return nil
}
