package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// member is one member of a JSON object.
type member struct {
	name  string
	value json.RawMessage
}

// members gives the members of a JSON object in their order, which a Go map would
// lose; none where raw is no object.
func members(raw json.RawMessage) []member {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil
	}
	var all []member
	for decoder.More() {
		token, err := decoder.Token()
		name, ok := token.(string)
		if err != nil || !ok {
			return all
		}
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			return all
		}
		all = append(all, member{name, value})
	}
	return all
}

// escapedJSON writes JSON for a terminal: what Safe would show is written as \uXXXX
// inside strings, so that it is still the same JSON.
func escapedJSON(out io.Writer, text []byte) error {
	done := 0
	for at := 0; at < len(text); {
		if b := text[at]; b < utf8.RuneSelf && b != 0x7f {
			at++
			continue
		}
		r, size := utf8.DecodeRune(text[at:])
		if !escapedInJSON(r) && (r != utf8.RuneError || size != 1) {
			at += size
			continue
		}
		if _, err := out.Write(text[done:at]); err != nil {
			return err
		}
		if _, err := io.WriteString(out, jsonEscape(r)); err != nil {
			return err
		}
		at += size
		done = at
	}
	_, err := out.Write(text[done:])
	return err
}

// escapedInJSON is stricter than Safe: JSON is for reading values exactly, so no
// joiner or selector passes unseen.
func escapedInJSON(r rune) bool {
	return invisible(r) || r == 0x7f || isTag(r) || unicode.Is(unicode.Variation_Selector, r)
}

// jsonEscape writes r as JSON does, with a surrogate pair beyond the basic plane.
func jsonEscape(r rune) string {
	if r > 0xffff {
		r -= 0x10000
		return fmt.Sprintf(`\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// unquote writes what a JSON string says, without making a copy of it in memory: a
// result may be tens of megabytes. quoted is a valid JSON string with its quotes.
func unquote(out io.Writer, quoted []byte) error {
	inside := quoted[1 : len(quoted)-1]
	for len(inside) > 0 {
		plain := bytes.IndexByte(inside, '\\')
		if plain < 0 {
			plain = len(inside)
		}
		if _, err := out.Write(inside[:plain]); err != nil {
			return err
		}
		if inside = inside[plain:]; len(inside) == 0 {
			break
		}
		n, err := unescape(out, inside)
		if err != nil {
			return err
		}
		inside = inside[n:]
	}
	return nil
}

// unescape writes what the escape says that text begins with, and gives its length.
func unescape(out io.Writer, text []byte) (n int, err error) {
	const signs, meanings = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if i := strings.IndexByte(signs, text[1]); i >= 0 {
		_, err = io.WriteString(out, meanings[i:i+1])
		return 2, err
	}
	r, size := rune(hex(text[2:6])), 6
	// Two \u escapes in a row may be one character.
	if len(text) >= 12 && text[6] == '\\' && text[7] == 'u' && utf16.IsSurrogate(r) {
		if pair := utf16.DecodeRune(r, rune(hex(text[8:12]))); pair != utf8.RuneError {
			r, size = pair, 12
		}
	}
	_, err = io.WriteString(out, string(r)) // a lone surrogate becomes U+FFFD
	return size, err
}

// hex reads four digits, which a valid JSON text has there.
func hex(digits []byte) uint64 {
	value, err := strconv.ParseUint(string(digits), 16, 32)
	if err != nil {
		return utf8.RuneError
	}
	return value
}

// isString says whether raw is a JSON string.
func isString(raw json.RawMessage) bool {
	return len(raw) > 1 && raw[0] == '"'
}

// indent gives JSON over several lines; order and digits stay.
func indent(raw json.RawMessage) []byte {
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil {
		return raw
	}
	return out.Bytes()
}

// encode is JSON without the escaping of <, > and &.
func encode(value any) (json.RawMessage, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// firstLine gives the first line of a text that has any, without the spaces around.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}
