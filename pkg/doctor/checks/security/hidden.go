package security

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolx/pkg/doctor/evidence"
	"toolx/pkg/words"
)

// maxSigns limits the code points that are kept of one text.
const maxSigns = 50

// Controls returns the control characters of a text as code points, except newline, tab, and CR before LF.
func Controls(text string) []string {
	var found []string
	for i, r := range text {
		space := r == '\n' || r == '\t' || r == '\r' && strings.HasPrefix(text[i:], "\r\n")
		if !space && unicode.IsControl(r) && len(found) < maxSigns {
			found = append(found, evidence.CodePoint(r))
		}
	}
	return found
}

// bidis returns the bidi control characters of a text as code points (UAX 9).
func bidis(text string) []string {
	var found []string
	for _, r := range text {
		if unicode.Is(unicode.Bidi_Control, r) && len(found) < maxSigns {
			found = append(found, evidence.CodePoint(r))
		}
	}
	return found
}

// hidden describes the invisible characters of a text.
type hidden struct {
	count int      // of characters
	signs []string // code points, the first maxSigns of them
	tags  string   // the text in tag characters
	bytes []byte   // the bytes in variation selectors
	row   int      // the longest sequence
}

// pasted reports whether the characters are few and isolated, as in text copied from a page or editor. Sequences and
// mixtures of several kinds may encode something.
func (h *hidden) pasted() bool {
	const few, fewOfSeveral = 50, 4
	if h.row > 1 || h.tags != "" || len(h.bytes) > 0 || h.count >= few {
		return false
	}
	kinds := slices.Compact(slices.Sorted(slices.Values(h.signs)))
	return len(kinds) == 1 || h.count <= fewOfSeveral
}

// invisibles finds invisible characters, except those with a function: joiners in emoji and joining scripts, tags in
// flags, and single variation selectors.
func invisibles(text string) hidden {
	var h hidden
	previous := rune(0)
	row, counted := 0, 0
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		next, _ := utf8.DecodeRuneInString(text[at+size:])
		switch {
		case words.IsTag(r):
			run := runOf(text[at:], words.IsTag)
			h.readTags(run, previous)
			size, r = len(run), 0
		case isSelector(r):
			run := runOf(text[at:], isSelector)
			h.readSelectors([]rune(run), previous)
			size = len(run)
		case isInvisible(r) && !joinsWriting(r, previous, next):
			h.add(r)
		}
		if row++; h.count == counted {
			row = 0
		}
		h.row, counted = max(h.row, row), h.count
		previous = r
		at += size
	}
	return h
}

// runOf returns the leading characters of a text for which is returns true.
func runOf(text string, is func(rune) bool) string {
	end := strings.IndexFunc(text, func(r rune) bool { return !is(r) })
	if end < 0 {
		return text
	}
	return text[:end]
}

// add counts an invisible character.
func (h *hidden) add(r rune) {
	if h.count++; h.count <= maxSigns {
		h.signs = append(h.signs, evidence.CodePoint(r))
	}
}

// readTags reads a run of tag characters. A short one after a black flag is the flag of a region (UTS 51, emoji tag
// sequences).
func (h *hidden) readTags(run string, previous rune) {
	const blackFlag, longestFlag = 0x1f3f4, 7
	if previous == blackFlag && utf8.RuneCountInString(run) <= longestFlag {
		return
	}
	var said strings.Builder
	for _, r := range run {
		h.add(r)
		if mirrored := r - 0xe0000; mirrored >= ' ' && mirrored < 0x7f {
			said.WriteRune(mirrored)
		}
	}
	h.tags += said.String()
}

// isSelector reports whether r is a variation selector.
func isSelector(r rune) bool { return r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef }

// readSelectors reads a run of variation selectors. A single one is normal; a sequence encodes bytes.
func (h *hidden) readSelectors(run []rune, previous rune) {
	if len(run) == 1 && (run[0] <= 0xfe0f || unicode.Is(unicode.Han, previous)) {
		return
	}
	for _, r := range run {
		h.add(r)
		if r <= 0xfe0f {
			h.bytes = append(h.bytes, byte(r-0xfe00))
		} else {
			h.bytes = append(h.bytes, byte(r-0xe0100+16))
		}
	}
}

// isInvisible reports whether r has no width, or is a letter that looks like a space. Function bidis finds bidi
// controls.
func isInvisible(r rune) bool {
	switch {
	case r >= 0x200b && r <= 0x200d, r >= 0x2060 && r <= 0x2064, r >= 0x206a && r <= 0x206f, r == 0xfeff,
		r == 0x00ad, r == 0x034f, r == 0x180e, // soft hyphen, grapheme joiner, Mongolian separator
		r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0: // Hangul fillers
		return true
	}
	return false
}

// joinsWriting reports whether a joiner has a function: between the parts of an emoji, or in a word of a joining
// script.
func joinsWriting(r, previous, next rune) bool {
	const zwnj, zwj = 0x200c, 0x200d
	skinTone := previous >= 0x1f3fb && previous <= 0x1f3ff
	if r == zwj && pictograph(next) && (pictograph(previous) || isSelector(previous) || skinTone) {
		return true
	}
	followed := inJoinedScript(next) || unicode.In(previous, unicode.Mn, unicode.Mc)
	return (r == zwj || r == zwnj) && inJoinedScript(previous) && followed
}

func pictograph(r rune) bool {
	return r == '↔' || r != utf8.RuneError && unicode.Is(unicode.So, r)
}

func inJoinedScript(r rune) bool {
	return unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko,
		unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
		unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
		unicode.Tibetan)
}

// scriptOf returns the script of a letter, or nothing for common characters.
func scriptOf(r rune) string {
	if r < utf8.RuneSelf && !unicode.IsLetter(r) {
		return ""
	}
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) && name != "Common" && name != "Inherited" {
			return name
		}
	}
	return ""
}

// mixesScripts returns the sorted scripts of a name and the letters outside its first letter's script. It returns
// nothing for common mixtures: Latin with Chinese, Japanese or Korean (UTS 39, highly restrictive).
func mixesScripts(name string) (scripts, foreign []string) {
	first := ""
	for _, r := range name {
		script := scriptOf(r)
		if script == "" {
			continue
		}
		if first = cmp.Or(first, script); script != first {
			foreign = append(foreign, fmt.Sprintf("%c U+%04X %s", r, r, script))
		}
		if !slices.Contains(scripts, script) {
			scripts = append(scripts, script)
		}
	}
	slices.Sort(scripts)
	for _, allowed := range [][]string{
		{"Latin", "Han", "Hiragana", "Katakana"}, {"Latin", "Han", "Bopomofo"}, {"Latin", "Han", "Hangul"},
	} {
		if !slices.ContainsFunc(scripts, func(s string) bool { return !slices.Contains(allowed, s) }) {
			return nil, nil
		}
	}
	return scripts, foreign
}
