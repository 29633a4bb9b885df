package evidence

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// Limits on the contents of findings.
const (
	MaxExcerpt = 80  // bytes of a text from the server
	MaxLabel   = 40  // bytes of a name inside a sentence
	MaxPointer = 400 // bytes of a JSON pointer, whose names the server chooses
	MaxAlike   = 10  // findings of one check; further ones are only counted
)

// Excerpt cuts text to at most limit bytes, at a character boundary, and marks the cut.
func Excerpt(text string, limit int) string {
	const mark = "…"
	if len(text) <= limit {
		return text
	}
	return words.Head(text, max(limit-len(mark), 0)) + mark
}

// Cut cuts text to MaxExcerpt.
func Cut(text string) string { return Excerpt(text, MaxExcerpt) }

// Label cuts a name to MaxLabel.
func Label(text string) string { return Excerpt(text, MaxLabel) }

// CutJSON joins the lines of a value and cuts it.
func CutJSON(value json.RawMessage) string {
	return Cut(strings.Join(strings.Fields(string(value[:min(len(value), 4*MaxExcerpt)])), " "))
}

// OneLine joins the lines of a message and cuts it.
func OneLine(text string) string {
	return Excerpt(strings.Join(strings.Fields(text), " "), 2*MaxExcerpt)
}

// Listed joins the first of several names for a sentence: "a, b, c and 4 more".
func Listed(names []string) string {
	const shown = 5
	text := strings.Join(names[:min(len(names), shown)], ", ")
	if more := len(names) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// ListedFunc is Listed of the names of items.
func ListedFunc[T any](items []T, name func(T) string) string {
	names := make([]string, len(items))
	for i, item := range items {
		names[i] = name(item)
	}
	return Listed(names)
}

// Words joins all names for a sentence: "a, b and c".
func Words(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}

// CodePoint writes a character as Unicode does, with the character itself if it is visible ASCII.
func CodePoint(r rune) string {
	if r > ' ' && r < 0x7f {
		return fmt.Sprintf("'%c' (U+%04X)", r, r)
	}
	return fmt.Sprintf("U+%04X", r)
}

// Milliseconds formats a duration for reports.
func Milliseconds(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d >= time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d >= 10*time.Millisecond:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.2g ms", float64(d)/float64(time.Millisecond))
}

// Rounded formats a duration in tenths of a second.
func Rounded(d time.Duration) string { return Milliseconds(d.Round(100 * time.Millisecond)) }

// MemberText returns a member's text, or its JSON if it is not a string.
func MemberText(value json.RawMessage) string {
	if rawjson.IsString(value) {
		return rawjson.Unquote(value)
	}
	return CutJSON(value)
}

// KindOfJSON returns the kind of a JSON value with its article.
func KindOfJSON(value json.RawMessage) string {
	text := strings.TrimSpace(string(value[:min(len(value), 64)]))
	switch {
	case text == "":
		return "missing"
	case text == "null":
		return "null"
	case text == "true" || text == "false":
		return "a boolean"
	case text[0] == '{':
		return "an object"
	case text[0] == '[':
		return "an array"
	case text[0] == '"':
		return "a string"
	}
	return "a number"
}
