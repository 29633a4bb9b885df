package convert

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"toolx/pkg/rawjson"
)

// repairJSON reads a nearly valid JSON value. It repairs unambiguous mistakes of small models: trailing commas, line
// breaks in strings, unquoted names, and Python syntax ('text', True, None). ok is false for anything else, such as
// truncated text. end is the offset after the value.
func repairJSON(text string) (value json.RawMessage, end int, ok bool) {
	r := repairer{text: text}
	if !r.value(0) {
		return nil, 0, false
	}
	value = r.out.Bytes()
	return value, r.at, json.Valid(value)
}

// maxRepairDepth limits the nesting of values to repair.
const maxRepairDepth = 200

type repairer struct {
	text string
	at   int
	out  bytes.Buffer
}

func (r *repairer) space() {
	r.at += len(r.text[r.at:]) - len(strings.TrimLeft(r.text[r.at:], " \t\r\n"))
}

// next skips space and the given character, and reports whether it was there.
func (r *repairer) next(sign byte) bool {
	r.space()
	if r.at == len(r.text) || r.text[r.at] != sign {
		return false
	}
	r.at++
	return true
}

func (r *repairer) value(depth int) bool {
	r.space()
	if depth > maxRepairDepth || r.at == len(r.text) {
		return false
	}
	switch r.text[r.at] {
	case '{':
		return r.list('}', depth, r.member)
	case '[':
		return r.list(']', depth, r.value)
	case '"', '\'':
		return r.quoted()
	}
	return r.valueOf()
}

// list reads an object or an array up to its closing bracket.
func (r *repairer) list(closing byte, depth int, element func(depth int) bool) bool {
	r.out.WriteByte(r.text[r.at])
	r.at++
	for first := true; !r.next(closing); first = false {
		if !first {
			r.out.WriteByte(',')
		}
		if !element(depth + 1) {
			return false
		}
		if !r.next(',') {
			if !r.next(closing) {
				return false
			}
			break
		}
	}
	r.out.WriteByte(closing)
	return true
}

func (r *repairer) member(depth int) bool {
	r.space()
	if !r.memberName() || !r.next(':') {
		return false
	}
	r.out.WriteByte(':')
	return r.value(depth)
}

// memberName reads the name of a member, which may lack its quotes if it is an identifier.
func (r *repairer) memberName() bool {
	if r.at < len(r.text) && (r.text[r.at] == '"' || r.text[r.at] == '\'') {
		return r.quoted()
	}
	start := r.at
	for r.at < len(r.text) && strings.IndexByte(alphanumeric+"_", r.text[r.at]) >= 0 {
		r.at++
	}
	name := r.text[start:r.at]
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	r.out.Write(rawjson.Quote(name))
	return true
}

// quoted reads a string in double or single quotes.
func (r *repairer) quoted() bool {
	quote := r.text[r.at]
	var said strings.Builder
	for r.at++; r.at < len(r.text); {
		switch char := r.text[r.at]; char {
		case quote:
			r.at++
			r.out.Write(rawjson.Quote(said.String()))
			return true
		case '\\':
			if !r.escape(&said) {
				return false
			}
		default:
			said.WriteByte(char)
			r.at++
		}
	}
	return false
}

// escape reads an escape that is valid in JSON and Python, or \'.
func (r *repairer) escape(said *strings.Builder) bool {
	rest := r.text[r.at:]
	if len(rest) < 2 {
		return false
	}
	if rest[1] == '\'' {
		said.WriteByte('\'')
		r.at += 2
		return true
	}
	size := 2
	if rest[1] == 'u' {
		size = 6
		if len(rest) >= 12 && strings.ContainsRune("dD", rune(rest[2])) && rest[6] == '\\' {
			size = 12 // a surrogate pair
		}
	}
	var text string
	if size > len(rest) || json.Unmarshal([]byte(`"`+rest[:size]+`"`), &text) != nil {
		return false
	}
	said.WriteString(text)
	r.at += size
	return true
}

// valueOf reads a number or a literal.
func (r *repairer) valueOf() bool {
	end := r.at
	for end < len(r.text) && strings.IndexByte(alphanumeric+"+-.", r.text[end]) >= 0 {
		end++
	}
	word := r.text[r.at:end]
	r.at = end
	switch word {
	case "True", "False":
		word = strings.ToLower(word)
	case "None":
		word = "null"
	}
	r.out.WriteString(word)
	return json.Valid([]byte(word))
}

// namedIn returns the tool name in a call with invalid JSON, or nothing.
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
