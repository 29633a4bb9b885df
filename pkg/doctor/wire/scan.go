package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"toolx/pkg/doctor/evidence"
	"toolx/pkg/rawjson"
)

// OddityKind is a kind of JSON that parsers interpret differently.
type OddityKind int

// The kinds.
const (
	DuplicateKey  OddityKind = iota // RFC 8259 §4
	BigNumber                       // RFC 8259 §6
	LoneSurrogate                   // RFC 8259 §8.2
)

// Oddity is one place in a JSON text that parsers interpret differently.
type Oddity struct {
	Kind    OddityKind
	Pointer string // RFC 6901
	Detail  string
}

// maxOddities limits the oddities of one text.
const maxOddities = 32

// jsonScan scans a JSON text once, without recursion, because it may be nested deeply.
type jsonScan struct {
	text   []byte
	at     int
	levels []level
	depth  int // the maximum
	found  []Oddity
	// visit, if not nil, receives every string, and no oddities are kept.
	visit func(raw json.RawMessage, isName bool)
}

// level is an enclosing object or array.
type level struct {
	object bool
	name   string                     // of the current member
	index  int                        // of the current element
	values map[string]json.RawMessage // by name, to find duplicates
}

// ScanJSON returns the oddities and the nesting depth of a JSON text. For invalid JSON, the result is partial.
func ScanJSON(text []byte) (depth int, found []Oddity) {
	s := &jsonScan{text: text}
	for s.at < len(s.text) {
		s.step()
	}
	return s.depth, s.found
}

// EachString calls visit with every string of a JSON text and its place until visit returns false. The name of a member
// is a string too (isName), at the member's place.
func EachString(text []byte, visit func(pointer, content string, isName bool) bool) {
	s, more := &jsonScan{text: text}, true
	s.visit = func(raw json.RawMessage, isName bool) { more = visit(s.pointer(), rawjson.Unquote(raw), isName) }
	for more && s.at < len(s.text) {
		s.step()
	}
}

// step reads the next token.
func (s *jsonScan) step() {
	switch c := s.text[s.at]; {
	case c == '{' || c == '[':
		s.levels = append(s.levels, level{object: c == '{'})
		s.depth = max(s.depth, len(s.levels))
		s.at++
	case c == '}' || c == ']':
		s.levels = s.levels[:max(0, len(s.levels)-1)]
		s.at++
	case c == ',':
		if top := s.top(); top != nil {
			top.index++
			top.name = ""
		}
		s.at++
	case c == '"':
		s.readString()
	case c == '-' || c >= '0' && c <= '9':
		s.readNumber()
	default: // space, colon, true, false, null
		s.at++
	}
}

func (s *jsonScan) top() *level {
	if len(s.levels) == 0 {
		return nil
	}
	return &s.levels[len(s.levels)-1]
}

// readString reads a string, which is a member's name if a colon follows.
func (s *jsonScan) readString() {
	start := s.at
	for s.at++; s.at < len(s.text) && s.text[s.at] != '"'; s.at++ {
		if s.text[s.at] == '\\' {
			s.at++
		}
	}
	s.at = min(s.at+1, len(s.text))
	raw := s.text[start:s.at]
	top := s.top()
	isName := top != nil && top.object && bytes.HasPrefix(bytes.TrimLeft(s.text[s.at:], " \t\r\n"), []byte(":"))
	if s.visit != nil {
		if isName {
			top.name = rawjson.Unquote(raw)
		}
		s.visit(raw, isName)
		return
	}
	if bytes.Contains(raw, []byte(`\u`)) {
		if half := surrogateIn(raw); half != "" {
			s.report(LoneSurrogate, half)
		}
	}
	if isName {
		s.readName(top, rawjson.Unquote(raw))
	}
}

// readName begins a member. A duplicate is reported with both values.
func (s *jsonScan) readName(top *level, name string) {
	if top.values == nil {
		top.values = make(map[string]json.RawMessage)
	}
	colon := bytes.IndexByte(s.text[s.at:], ':')
	value := s.text[s.at+colon+1:]
	top.name = name
	if earlier, twice := top.values[name]; twice {
		s.report(DuplicateKey, fmt.Sprintf("%s and then %s", glimpse(earlier), glimpse(value)))
	}
	top.values[name] = value
}

// glimpse returns the beginning of a value, without the text after it if the value is short.
func glimpse(value json.RawMessage) string {
	const longest = 32
	text := strings.TrimSpace(string(value[:min(len(value), longest)]))
	if strings.HasPrefix(text, `"`) {
		if end := strings.Index(text[1:], `"`); end >= 0 {
			return text[:end+2]
		}
	}
	if end := strings.IndexAny(text, ",}]"); end >= 0 && !strings.HasPrefix(text, "{") &&
		!strings.HasPrefix(text, "[") {
		return text[:end]
	}
	if len(value) > longest {
		text += "…"
	}
	return text
}

func (s *jsonScan) readNumber() {
	start := s.at
	for s.at < len(s.text) && strings.IndexByte("+-.eE0123456789", s.text[s.at]) >= 0 {
		s.at++
	}
	if literal := string(s.text[start:s.at]); beyondDoubles(literal) {
		s.report(BigNumber, literal)
	}
}

// beyondDoubles reports whether a double cannot represent a number: an integer above 2^53, or one that overflows.
func beyondDoubles(literal string) bool {
	const safe = 1 << 53
	if strings.ContainsAny(literal, ".eE") {
		_, err := strconv.ParseFloat(literal, 64)
		return err != nil
	}
	if len(literal) < 16 {
		return false
	}
	whole, err := strconv.ParseInt(literal, 10, 64)
	return err != nil || whole > safe || whole < -safe
}

// surrogateIn returns the first escape in a string that is a lone surrogate, or nothing.
func surrogateIn(raw []byte) string {
	for at := 0; at+6 <= len(raw); at++ {
		if raw[at] != '\\' {
			continue
		}
		unit, ok := unitAt(raw, at)
		switch {
		case !ok: // an escape of two characters
			at++
		case !utf16.IsSurrogate(unit):
			at += 5
		default:
			low, _ := unitAt(raw, at+6)
			if utf16.DecodeRune(unit, low) == utf8.RuneError {
				return string(raw[at : at+6])
			}
			at += 11
		}
	}
	return ""
}

// unitAt reads the escape \uXXXX at an offset.
func unitAt(raw []byte, at int) (unit rune, ok bool) {
	if at+6 > len(raw) || raw[at] != '\\' || raw[at+1] != 'u' {
		return 0, false
	}
	code, err := strconv.ParseUint(string(raw[at+2:at+6]), 16, 16)
	return rune(code), err == nil
}

// report records an oddity at the current place.
func (s *jsonScan) report(kind OddityKind, detail string) {
	if len(s.found) < maxOddities {
		s.found = append(s.found, Oddity{kind, s.pointer(), detail})
	}
}

// pointer returns the current place.
func (s *jsonScan) pointer() string {
	var pointer strings.Builder
	for _, one := range s.levels {
		token := one.name
		if !one.object {
			token = strconv.Itoa(one.index)
		}
		pointer.WriteString(rawjson.Pointer(token))
		if pointer.Len() > evidence.MaxPointer {
			return pointer.String() + "…"
		}
	}
	return pointer.String()
}
