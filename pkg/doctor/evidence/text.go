package evidence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// The bounds of what findings show.
const (
	MaxExcerpt = 80  // bytes of a text from the server
	MaxLabel   = 40  // bytes of a name inside a sentence
	MaxPointer = 400 // bytes: names come from the server, and all below repeats them
	MaxAlike   = 10  // findings of one check, before the rest is only counted
)

// Excerpt cuts text to at most limit bytes, at a character's border; what is left
// out is marked.
func Excerpt(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	const mark = "…"
	end := max(limit-len(mark), 0)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}

// ExcerptJSON is a value on one line, cut.
func ExcerptJSON(value []byte) string {
	if len(value) > 4*MaxExcerpt {
		value = value[:4*MaxExcerpt]
	}
	return Excerpt(string(bytes.Join(bytes.Fields(value), []byte(" "))), MaxExcerpt)
}

// Listed joins the first of n things for a sentence: "a, b, c and 4 more".
func Listed(n int, name func(int) string) string {
	const shown = 5
	var names []string
	for i := range min(n, shown) {
		names = append(names, name(i))
	}
	text := strings.Join(names, ", ")
	if n > shown {
		text += fmt.Sprintf(" and %d more", n-shown)
	}
	return text
}

// Cut shortens text to what a report shows of it, at a boundary of characters.
func Cut(text string) string {
	const limit = 80
	if len(text) <= limit {
		return text
	}
	end := limit
	for end > 0 && text[end]&0xC0 == 0x80 {
		end--
	}
	return text[:end] + "…"
}

// Words joins what a sentence lists: "a, b and c".
func Words(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}

// CutJSON is a value on one line, as findings show it.
func CutJSON(value json.RawMessage) string {
	return Cut(strings.Join(strings.Fields(string(value)), " "))
}

// OneLine is a text from a server as evidence has it.
func OneLine(text string) string {
	return Excerpt(strings.Join(strings.Fields(text), " "), 2*MaxExcerpt)
}

// CodePoint writes a character as Unicode does, with itself where it can be seen.
func CodePoint(r rune) string {
	if r > ' ' && r < 0x7f {
		return fmt.Sprintf("'%c' (U+%04X)", r, r)
	}
	return fmt.Sprintf("U+%04X", r)
}
