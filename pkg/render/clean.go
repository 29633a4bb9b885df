package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolx/pkg/words"
)

// Safe makes untrusted text safe for one line of a terminal: it escapes characters that control the terminal or make
// text misleading. It drops nothing, so that attacks are visible.
//
//   - control characters (C0, DEL) and bytes that are not UTF-8: \n, \t, \x1b, \xff
//   - C1 controls, bidirectional overrides and isolates, zero-width and other invisible characters, line
//     and paragraph separators: \u{9b}, \u{202e}
//   - tag characters, which hide text from people but not from models: \tags{hidden}
//   - a ninth combining mark in a row, and those after it: \u{301}
//
// Output to a pipe is the same, since it may end up on a terminal: only JSON has the exact text of a name.
//
// It keeps joiners where writing needs them: between the parts of an emoji and inside words of scripts that join
// (Arabic, Indic). Text without any of this is unchanged, so the function is idempotent.
func Safe(text string) string { return clean(text, false) }

// SafeBlock is Safe for text of several lines: it keeps line feeds and tabs, and CR LF becomes a line feed.
func SafeBlock(text string) string { return clean(text, true) }

// maxMarks limits consecutive combining marks; more would cover the lines around them.
const maxMarks = 8

func clean(text string, block bool) string {
	c := cleaner{text: text, block: block}
	for c.at < len(text) {
		if b := text[c.at]; b >= ' ' && b < 0x7f {
			c.keep(rune(b), 1)
			continue
		}
		c.step()
	}
	return c.finish()
}

// cleaner scans text. If anything was changed, out has everything before done.
type cleaner struct {
	text  string
	block bool

	at, done int
	out      strings.Builder
	previous rune // the last one that was kept; 0 after one that was not
	marks    int  // consecutive combining marks before at
}

func (c *cleaner) step() {
	r, size := utf8.DecodeRuneInString(c.text[c.at:])
	switch {
	case r == utf8.RuneError && size == 1:
		c.replace(fmt.Sprintf(`\x%02x`, c.text[c.at]), 1)
	case r == '\n' && c.block, r == '\t' && c.block:
		c.keep(r, size)
	case r == '\r' && c.block && strings.HasPrefix(c.text[c.at:], "\r\n"):
		c.replace("\n", len("\r\n"))
	case r < ' ' || r == 0x7f:
		c.replace(control(r), size)
	case words.IsTag(r):
		c.tags()
	case c.shown(r, size):
		c.keep(r, size)
	default:
		c.replace(fmt.Sprintf(`\u{%x}`, r), size)
	}
}

// keep passes the rune at c.at unchanged.
func (c *cleaner) keep(r rune, size int) {
	if unicode.In(r, unicode.Mn, unicode.Me) {
		c.marks++
	} else {
		c.marks = 0
	}
	c.previous = r
	c.at += size
}

// replace replaces the next size bytes by text.
func (c *cleaner) replace(text string, size int) {
	c.out.WriteString(c.text[c.done:c.at])
	c.out.WriteString(text)
	c.at += size
	c.done = c.at
	c.previous, c.marks = 0, 0
	if c.block && text == "\n" {
		c.previous = '\n'
	}
}

func (c *cleaner) finish() string {
	if c.done == 0 {
		return c.text
	}
	c.out.WriteString(c.text[c.done:])
	return c.out.String()
}

func control(r rune) string {
	switch r {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	return fmt.Sprintf(`\x%02x`, r)
}

// shown reports whether r, of size bytes at c.at, may reach the terminal in its context.
func (c *cleaner) shown(r rune, size int) bool {
	const zwnj, zwj = '\u200c', '\u200d'
	switch {
	case r == zwj || r == zwnj:
		next, _ := utf8.DecodeRuneInString(c.text[c.at+size:])
		return joins(c.previous, next) || r == zwj && joinsEmoji(c.previous, next)
	case unicode.Is(unicode.Variation_Selector, r):
		return c.selects(r)
	case unicode.In(r, unicode.Mn, unicode.Me):
		return c.marks < maxMarks && !words.Invisible(r)
	}
	return !words.Invisible(r)
}

// joins reports whether a joiner between these two belongs to the spelling of a word, for example in
// Persian, or in Malayalam, where it may also end a word after a virama.
func joins(previous, next rune) bool {
	return inJoiningScript(previous) && (inJoiningScript(next) || unicode.In(previous, unicode.Mn, unicode.Mc))
}

func inJoiningScript(r rune) bool {
	return unicode.In(r, unicode.L, unicode.Mn, unicode.Mc) && !words.Invisible(r) && unicode.In(r,
		unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko,
		unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
		unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala,
		unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
}

// joinsEmoji reports whether a joiner between these two combines them to one emoji. Pictographs are of category So,
// except the arrow; a skin tone or the selector of the emoji form may precede the joiner.
func joinsEmoji(previous, next rune) bool {
	pictograph := func(r rune) bool {
		return r == '↔' || unicode.Is(unicode.So, r) && r != utf8.RuneError // which also represents an invalid byte
	}
	modifier := previous == '\ufe0f' || previous >= 0x1f3fb && previous <= 0x1f3ff
	return (pictograph(previous) || modifier) && pictograph(next)
}

// selects reports whether the variation selector r has an effect here. Only those for text and emoji form, and
// Mongolian's, are allowed, once and after a character that they affect, because sequences of selectors can carry
// hidden bytes.
func (c *cleaner) selects(r rune) bool {
	if r == '\ufe0e' || r == '\ufe0f' {
		return unicode.In(c.previous, unicode.S, unicode.P, unicode.N)
	}
	return r <= '\u180f' && unicode.Is(unicode.Mongolian, c.previous) && unicode.IsLetter(c.previous)
}

// tags replaces consecutive tag characters by the ASCII text that they represent.
func (c *cleaner) tags() {
	var shown strings.Builder
	size := 0
	for at := c.at; at < len(c.text); {
		r, n := utf8.DecodeRuneInString(c.text[at:])
		if !words.IsTag(r) {
			break
		}
		if mirrored := r - 0xe0000; mirrored >= ' ' && mirrored < 0x7f {
			shown.WriteRune(mirrored)
		} else {
			fmt.Fprintf(&shown, `\u{%x}`, r)
		}
		at += n
		size += n
	}
	c.replace(`\tags{`+shown.String()+`}`, size)
}
