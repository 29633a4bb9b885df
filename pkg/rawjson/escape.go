package rawjson

import (
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"

	"toolx/pkg/words"
)

// Escape writes JSON for a terminal: inside strings, it writes invisible characters as \uXXXX, so that the JSON has
// the same meaning.
func Escape(out io.Writer, text []byte) error {
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
		if _, err := fmt.Fprintf(out, "%s%s", text[done:at], jsonEscape(r)); err != nil {
			return err
		}
		at += size
		done = at
	}
	_, err := out.Write(text[done:])
	return err
}

// escapedInJSON includes joiners and selectors, which JSON shows exactly.
func escapedInJSON(r rune) bool {
	return words.Invisible(r) || r == 0x7f || words.IsTag(r) || unicode.Is(unicode.Variation_Selector, r)
}

// jsonEscape writes r as JSON does, with a surrogate pair beyond the basic plane.
func jsonEscape(r rune) string {
	if r > 0xffff {
		r -= 0x10000
		return fmt.Sprintf(`\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
	}
	return fmt.Sprintf(`\u%04x`, r)
}
