package convert

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf16"
)

// escapeLength is that of an escape with four hex digits, such as \ud83d.
const escapeLength = 6

// withoutHalves writes U+FFFD for each escape that is one half of a surrogate pair and
// stands without the other (RFC 8259, 8.2). Text without any comes back as it is; text
// has to be valid JSON.
func withoutHalves(text json.RawMessage) json.RawMessage {
	copied := false
	for at := 0; ; {
		next := bytes.IndexByte(text[at:], '\\')
		if next < 0 {
			return text
		}
		at += next
		first, is := escapedUnit(text[at:])
		switch {
		case !is:
			at += len(`\n`)
		case !utf16.IsSurrogate(first):
			at += escapeLength
		case isPair(first, text[at+escapeLength:]):
			at += 2 * escapeLength
		default:
			if !copied {
				text, copied = slices.Clone(text), true
			}
			at += copy(text[at:], `\ufffd`)
		}
	}
}

// isPair says that first, and the escape that rest begins with, are one character.
func isPair(first rune, rest []byte) bool {
	second, is := escapedUnit(rest)
	return is && utf16.DecodeRune(first, second) != '\ufffd'
}

// escapedUnit reads the escape that text begins with, where it has four hex digits.
func escapedUnit(text []byte) (unit rune, ok bool) {
	if len(text) < escapeLength || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	value, err := strconv.ParseUint(string(text[2:escapeLength]), 16, 16)
	return rune(value), err == nil
}
