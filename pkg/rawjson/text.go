package rawjson

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
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

// UnquoteHead decodes the beginning of a string: its first limit bytes as they are written, or a few
// more if an escape ends after them. It decodes nothing else of a text of tens of megabytes. quoted is
// a valid JSON string with its quotes.
func UnquoteHead(quoted json.RawMessage, limit int) string {
	if len(quoted) <= limit {
		return Unquote(quoted)
	}
	end := 1
	for end < limit {
		size := 1
		if quoted[end] == '\\' {
			size = 2
			if quoted[end+1] == 'u' {
				size = 6
			}
		}
		end += size
	}
	text := Unquote(append(quoted[:end:end], '"'))
	return strings.TrimRight(text, "\ufffd") // a character that was cut in two
}

// Quote encodes text as a string; bytes that are not UTF-8 become U+FFFD.
func Quote(text string) json.RawMessage {
	return AppendQuote(make([]byte, 0, len(text)+2), text)
}

// AppendQuote appends what Quote returns.
func AppendQuote(out []byte, text string) []byte {
	if isPlain(text) {
		return append(append(append(out, '"'), text...), '"')
	}
	quoted, err := Marshal(text)
	if err != nil {
		return strconv.AppendQuote(out, text)
	}
	return append(out, quoted...)
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

// unescape decodes and writes the escape at the beginning of text, and returns its length.
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

// hex reads four hexadecimal digits, which valid JSON has there.
func hex(digits []byte) uint64 {
	value, err := strconv.ParseUint(string(digits), 16, 32)
	if err != nil {
		return utf8.RuneError
	}
	return value
}
