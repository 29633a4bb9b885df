package convert

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"toolx/pkg/rawjson"
)

// mendJSON reads a value that is nearly JSON, and writes it as JSON. It mends mistakes of small models that have only
// one meaning: a comma after the last element, line breaks in strings, names without quotes, and Python's spelling
// ('text', True, None). ok is false for anything else, such as text that ends too early. end is the offset after the
// value.
func mendJSON(text string) (value json.RawMessage, end int, ok bool) {
	m := mender{text: text}
	if !m.value(0) {
		return nil, 0, false
	}
	value = m.out.Bytes()
	return value, m.at, json.Valid(value)
}

// maxMendDepth bounds the nesting of what is mended.
const maxMendDepth = 200

type mender struct {
	text string
	at   int
	out  bytes.Buffer
}

func (m *mender) space() {
	m.at += len(m.text[m.at:]) - len(strings.TrimLeft(m.text[m.at:], " \t\r\n"))
}

// next reports whether the next sign, behind space, is that one, and passes it.
func (m *mender) next(sign byte) bool {
	m.space()
	if m.at == len(m.text) || m.text[m.at] != sign {
		return false
	}
	m.at++
	return true
}

func (m *mender) value(depth int) bool {
	m.space()
	if depth > maxMendDepth || m.at == len(m.text) {
		return false
	}
	switch m.text[m.at] {
	case '{':
		return m.list('}', depth, m.member)
	case '[':
		return m.list(']', depth, m.value)
	case '"', '\'':
		return m.quoted()
	}
	return m.word()
}

// list reads an object or an array up to its closing sign.
func (m *mender) list(closing byte, depth int, element func(depth int) bool) bool {
	m.out.WriteByte(m.text[m.at])
	m.at++
	for first := true; !m.next(closing); first = false {
		if !first {
			m.out.WriteByte(',')
		}
		if !element(depth + 1) {
			return false
		}
		if !m.next(',') {
			if !m.next(closing) {
				return false
			}
			break
		}
	}
	m.out.WriteByte(closing)
	return true
}

func (m *mender) member(depth int) bool {
	m.space()
	if !m.memberName() || !m.next(':') {
		return false
	}
	m.out.WriteByte(':')
	return m.value(depth)
}

// memberName reads the name of a member, which may lack its quotes where it is a name in any programming language.
func (m *mender) memberName() bool {
	if m.at < len(m.text) && (m.text[m.at] == '"' || m.text[m.at] == '\'') {
		return m.quoted()
	}
	start := m.at
	for m.at < len(m.text) && strings.IndexByte(alphanumeric+"_", m.text[m.at]) >= 0 {
		m.at++
	}
	name := m.text[start:m.at]
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	m.out.Write(rawjson.Quote(name))
	return true
}

// quoted reads a string with the quotes of JSON or of Python.
func (m *mender) quoted() bool {
	quote := m.text[m.at]
	var said strings.Builder
	for m.at++; m.at < len(m.text); {
		switch char := m.text[m.at]; char {
		case quote:
			m.at++
			m.out.Write(rawjson.Quote(said.String()))
			return true
		case '\\':
			if !m.escape(&said) {
				return false
			}
		default:
			said.WriteByte(char)
			m.at++
		}
	}
	return false
}

// escape reads what JSON and Python both have behind a backslash, and \'.
func (m *mender) escape(said *strings.Builder) bool {
	rest := m.text[m.at:]
	if len(rest) < 2 {
		return false
	}
	if rest[1] == '\'' {
		said.WriteByte('\'')
		m.at += 2
		return true
	}
	size := 2
	if rest[1] == 'u' {
		size = 6
		if len(rest) >= 12 && strings.ContainsRune("dD", rune(rest[2])) && rest[6] == '\\' {
			size = 12 // the halves of one character
		}
	}
	var text string
	if size > len(rest) || json.Unmarshal([]byte(`"`+rest[:size]+`"`), &text) != nil {
		return false
	}
	said.WriteString(text)
	m.at += size
	return true
}

// word reads a number, or a name for a value.
func (m *mender) word() bool {
	end := m.at
	for end < len(m.text) && strings.IndexByte(alphanumeric+"+-.", m.text[end]) >= 0 {
		end++
	}
	word := m.text[m.at:end]
	m.at = end
	switch word {
	case "True", "False":
		word = strings.ToLower(word)
	case "None":
		word = "null"
	}
	m.out.WriteString(word)
	return json.Valid([]byte(word))
}

// namedIn returns the name of a call whose JSON is broken, for its error; empty if there is none.
func namedIn(text string) string {
	_, rest, ok := strings.Cut(text, `"name"`)
	if !ok {
		return ""
	}
	rest = strings.TrimLeft(rest, " \t\r\n:")
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil {
		return ""
	}
	name, err := strconv.Unquote(quoted)
	if err != nil {
		return ""
	}
	return name
}
