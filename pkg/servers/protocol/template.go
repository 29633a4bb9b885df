package protocol

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// variable is one variable in an expression of a URI template (RFC 6570).
type variable struct {
	name     string
	operator byte // of its expression, 0 for none
	explode  bool // each element of a list, or name and value, stands apart
	prefix   int  // only so many characters of it; 0 for all
}

// named reports whether the variable's name stands before its value in the URI.
func (v variable) named() bool { return v.operator == '?' || v.operator == '&' || v.operator == ';' }

// cutTemplate cuts a template into its literal parts and the variables of the expressions between them: literals has
// one more element than expressions. ok is false where a brace is not closed.
func cutTemplate(template string) (literals []string, expressions [][]variable, ok bool) {
	for {
		before, after, found := strings.Cut(template, "{")
		literals = append(literals, before)
		if !found {
			return literals, expressions, true
		}
		expression, rest, closed := strings.Cut(after, "}")
		if !closed {
			return nil, nil, false
		}
		expressions = append(expressions, variablesOf(expression))
		template = rest
	}
}

// variablesOf reads what is between braces: an operator and variables.
func variablesOf(expression string) []variable {
	var operator byte
	if expression != "" && strings.IndexByte("+#/?&.;", expression[0]) >= 0 {
		operator, expression = expression[0], expression[1:]
	}
	var list []variable
	for spec := range strings.SplitSeq(expression, ",") {
		v := variable{operator: operator}
		spec, v.explode = strings.CutSuffix(spec, "*")
		name, digits, _ := strings.Cut(spec, ":")
		v.name = name
		v.prefix, _ = strconv.Atoi(digits) // the prefix of an invalid number is 0
		list = append(list, v)
	}
	return list
}

// TemplateMatches reports whether a URI template (RFC 6570) may stand for a URI: a variable for anything without a
// slash, one of the forms with an operator for anything.
func TemplateMatches(template, uri string) bool {
	literals, expressions, ok := cutTemplate(template)
	if !ok {
		return template == uri
	}
	var pattern strings.Builder
	pattern.WriteString("^" + regexp.QuoteMeta(literals[0]))
	for i, list := range expressions {
		last := list[len(list)-1]
		if last.operator != 0 || last.explode {
			pattern.WriteString(".*")
		} else {
			pattern.WriteString("[^/]+")
		}
		pattern.WriteString(regexp.QuoteMeta(literals[i+1]))
	}
	matches, err := regexp.MatchString(pattern.String()+"$", uri)
	return err == nil && matches
}

// templateSchema returns a JSON Schema of a template's variables, for a form: texts, lists of texts, or objects of
// texts. Those without which a part of the path would be empty are required.
func templateSchema(template string) json.RawMessage {
	_, expressions, _ := cutTemplate(template)
	var properties []rawjson.Member
	required := []string{}
	seen := make(map[string]bool)
	for _, list := range expressions {
		for _, v := range list {
			if v.name == "" || seen[v.name] {
				continue
			}
			seen[v.name] = true
			properties = append(properties, rawjson.NewMember(v.name, v.schema()))
			if v.operator == 0 || v.operator == '+' {
				required = append(required, v.name)
			}
		}
	}
	return objectSchema(properties, required, rawjson.NewMember("additionalProperties", json.RawMessage("false")))
}

func (v variable) schema() json.RawMessage {
	switch {
	case v.explode && v.named():
		return json.RawMessage(`{"type":"object","additionalProperties":{"type":"string"}}`)
	case v.explode:
		return json.RawMessage(`{"type":"array","items":{"type":"string"}}`)
	}
	return json.RawMessage(`{"type":"string"}`)
}

// objectSchema returns a JSON Schema of an object.
func objectSchema(properties []rawjson.Member, required []string, more ...rawjson.Member) json.RawMessage {
	schema := []rawjson.Member{
		rawjson.NewMember("type", rawjson.Quote("object")),
		rawjson.NewMember("properties", rawjson.Object(properties)),
	}
	if names, err := rawjson.Marshal(required); err == nil && len(required) > 0 {
		schema = append(schema, rawjson.NewMember("required", names))
	}
	return rawjson.Object(append(schema, more...))
}

// ExpandTemplate puts values into a URI template (RFC 6570): an object of texts, lists of texts and objects of texts,
// by the names of variables. What it does not have is left out. The error says that the template is broken.
func ExpandTemplate(template string, values json.RawMessage) (string, error) {
	literals, expressions, ok := cutTemplate(template)
	if !ok {
		return "", fmt.Errorf("the template %q is broken: a brace is not closed", template)
	}
	var out strings.Builder
	out.WriteString(escaped(literals[0], true))
	for i, list := range expressions {
		var parts []string
		for _, v := range list {
			if !v.valid() {
				return "", fmt.Errorf("the template %q is broken: %q is not a variable name", template, v.name)
			}
			parts = append(parts, v.parts(rawjson.Get(values, v.name))...)
		}
		first, between := list[0].signs()
		if len(parts) > 0 {
			out.WriteString(first + strings.Join(parts, between))
		}
		out.WriteString(escaped(literals[i+1], true))
	}
	return out.String(), nil
}

// valid reports whether the name is one (RFC 6570, 2.3).
func (v variable) valid() bool {
	return v.name != "" && !strings.ContainsFunc(v.name, func(char rune) bool {
		return !unreserved(char) && char != '%' || char == '-' || char == '~'
	})
}

// signs returns what stands before all that an expression gives, and between its parts (RFC 6570, appendix A).
func (v variable) signs() (first, between string) {
	switch v.operator {
	case 0, '+':
		return "", ","
	case '#':
		return "#", ","
	case '?':
		return "?", "&"
	}
	return string(v.operator), string(v.operator)
}

// parts returns what a value gives; none where there is no value, and none for an empty list (RFC 6570, 3.2.1).
func (v variable) parts(value json.RawMessage) []string {
	if members, ok := rawjson.Members(value); ok {
		var pairs []string
		for _, member := range members {
			key, text := v.escape(member.Name), v.escape(rawjson.Unquote(member.Value))
			if v.explode {
				pairs = append(pairs, key+"="+text)
			} else {
				pairs = append(pairs, key, text)
			}
		}
		return v.joined(pairs, false)
	}
	if elements, ok := rawjson.Elements(value); ok {
		return v.joined(words.Texts(elements,
			func(element json.RawMessage) string { return v.escape(rawjson.Unquote(element)) }), true)
	}
	if value == nil || string(value) == "null" {
		return nil
	}
	text := rawjson.Unquote(value)
	if v.prefix > 0 && utf8.RuneCountInString(text) > v.prefix {
		text = string([]rune(text)[:v.prefix])
	}
	return []string{v.withName(v.escape(text))}
}

// joined returns the parts of a list: each apart where the variable explodes, else one. Those of an exploded list have
// the variable's name, where such a name is told.
func (v variable) joined(texts []string, list bool) []string {
	switch {
	case len(texts) == 0:
		return nil
	case !v.explode:
		return []string{v.withName(strings.Join(texts, ","))}
	case list:
		for i := range texts {
			texts[i] = v.withName(texts[i])
		}
	}
	return texts
}

// withName puts the variable's name before its value, where its operator wants that.
func (v variable) withName(text string) string {
	switch {
	case !v.named():
		return text
	case text == "" && v.operator == ';':
		return v.name
	}
	return v.name + "=" + text
}

func (v variable) escape(text string) string {
	return escaped(text, v.operator == '+' || v.operator == '#')
}

// escaped percent-encodes all but what is unreserved in URIs (RFC 3986, 2.3) and, where
// they are allowed, reserved characters and what is encoded already.
func escaped(text string, reserved bool) string {
	var out strings.Builder
	for i, char := range text {
		switch {
		case unreserved(char), reserved && strings.ContainsRune(":/?#[]@!$&'()*+,;=", char), reserved &&
			encoded(text[i:]):
			out.WriteRune(char)
		default:
			for _, octet := range []byte(string(char)) {
				fmt.Fprintf(&out, "%%%02X", octet)
			}
		}
	}
	return out.String()
}

func unreserved(char rune) bool {
	return char >= 'a' && char <= 'z' || char >= 'A' && char <= 'Z' || char >= '0' && char <= '9' ||
		strings.ContainsRune("-._~", char)
}

// encoded reports whether text begins with a percent-encoded byte.
func encoded(text string) bool {
	const hex = "0123456789abcdefABCDEF"
	return len(text) >= 3 && text[0] == '%' && strings.IndexByte(hex, text[1]) >= 0 &&
		strings.IndexByte(hex, text[2]) >= 0
}
