package rawjson

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Unquote decodes a string, with U+FFFD for bytes that are not UTF-8. It returns text that is not a string as it is.
func Unquote(text json.RawMessage) string {
	if len(text) >= 2 && text[0] == '"' && bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text) {
		return string(text[1 : len(text)-1])
	}
	var decoded string
	if json.Unmarshal(text, &decoded) != nil {
		return string(text)
	}
	return decoded
}

// UnquoteHead decodes the beginning of a string: its first limit bytes as they are written, or a few more if a character
// ends after them. It decodes nothing else of a text of tens of megabytes. quoted is a valid JSON string with its quotes.
func UnquoteHead(quoted json.RawMessage, limit int) string {
	if len(quoted) <= limit {
		return Unquote(quoted)
	}
	end := pieceEnd(quoted[:len(quoted)-1], limit)
	return Unquote(append(quoted[:end:end], '"'))
}

// pieceEnd returns the first offset from limit on that is not within a character or an escape, nor between the two
// escapes of one character.
func pieceEnd(text []byte, limit int) int {
	end, half := 0, false
	for end < len(text) && (end < limit || half || !utf8.RuneStart(text[end])) {
		size := 1
		half = false
		if text[end] == '\\' {
			size = 2
			if text[end+1] == 'u' {
				size = 6
				half = text[end+2]|0x20 == 'd' && strings.IndexByte("89abAB", text[end+3]) >= 0
			}
		}
		end += size
	}
	return end
}

// Quote encodes text as a string; bytes that are not UTF-8 become U+FFFD.
func Quote(text string) json.RawMessage {
	if isPlain(text) {
		quoted := append(make([]byte, 0, len(text)+2), '"')
		return append(append(quoted, text...), '"')
	}
	quoted, err := Marshal(text)
	if err != nil {
		return json.RawMessage(strconv.Quote(text))
	}
	return quoted
}

// isPlain reports whether a text stands between quotes as it is. Names and most other short texts do.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// WriteText writes the decoded text of a JSON string without a copy of it in memory, because a result
// may be tens of megabytes. quoted is a valid JSON string with its quotes.
func WriteText(out io.Writer, quoted []byte) error {
	const piece = 64 << 10
	for inside := quoted[1 : len(quoted)-1]; len(inside) > 0; {
		end := pieceEnd(inside, piece)
		text := Unquote(slices.Concat([]byte{'"'}, inside[:end], []byte{'"'}))
		if _, err := io.WriteString(out, text); err != nil {
			return err
		}
		inside = inside[end:]
	}
	return nil
}
