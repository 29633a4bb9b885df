package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// EscapeJSON writes JSON for a terminal: what Safe would show is written as \uXXXX
// inside strings, so that it is still the same JSON.
func EscapeJSON(out io.Writer, text []byte) error {
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

// indent gives JSON over several lines; order and digits stay.
func indent(raw json.RawMessage) []byte {
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil {
		return raw
	}
	return out.Bytes()
}
