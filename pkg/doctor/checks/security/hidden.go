package security

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolx/pkg/doctor/evidence"
)

// maxSigns bounds how many code points are kept of one text: a few prove it.
const maxSigns = 50

// Controls are the control characters of a text but for newline and tab, as code
// points; CR before LF is how Windows ends lines.
func Controls(text string) []string {
	var found []string
	for i, r := range text {
		if len(found) == maxSigns {
			break
		}
		if r == '\n' || r == '\t' || r == '\r' && strings.HasPrefix(text[i:], "\r\n") {
			continue
		}
		if r < ' ' || r >= 0x7f && r <= 0x9f {
			found = append(found, evidence.CodePoint(r))
		}
	}
	return found
}

// bidis are the characters of a text that turn the direction of writing, as code
// points (Unicode, UAX 9).
func bidis(text string) []string {
	var found []string
	for _, r := range text {
		if len(found) == maxSigns {
			break
		}
		switch {
		case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c:
			found = append(found, evidence.CodePoint(r))
		}
	}
	return found
}

// hidden is what of a text nobody sees.
type hidden struct {
	count int      // of characters
	signs []string // code points, the first maxSigns of them
	tags  string   // what tag characters say
	bytes []byte   // what a row of variation selectors carries
}

// invisibles finds the characters that show nothing. Those that writing needs are
// left out: joiners in emoji and in scripts that join, the tags of a flag, one
// selector of a Han character's form.
func invisibles(text string) hidden {
	var h hidden
	previous := rune(0)
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		next, _ := utf8.DecodeRuneInString(text[at+size:])
		switch {
		case isTagRune(r):
			at += h.takeTags(text[at:], previous)
			previous = 0
			continue
		case isSelector(r):
			at += h.takeSelectors(text[at:], previous)
			previous = r
			continue
		case showsNothing(r) && !joinsWriting(r, previous, next):
			h.add(r)
		}
		previous = r
		at += size
	}
	return h
}

// add counts one character that nobody sees.
func (h *hidden) add(r rune) {
	if h.count++; h.count <= maxSigns {
		h.signs = append(h.signs, evidence.CodePoint(r))
	}
}

// isTagRune reports whether r is a tag character: an invisible copy of ASCII.
func isTagRune(r rune) bool { return r >= 0xe0000 && r <= 0xe007f }

// takeTags reads a run of tag characters and gives its length in bytes. Behind a
// black flag a short one makes the flag of a region (UTS 51, emoji tag sequences).
func (h *hidden) takeTags(text string, previous rune) int {
	var run []rune
	size := 0
	for _, r := range text {
		if !isTagRune(r) {
			break
		}
		run = append(run, r)
		size += utf8.RuneLen(r)
	}
	const blackFlag, longestFlag = 0x1f3f4, 7
	if previous == blackFlag && len(run) <= longestFlag {
		return size
	}
	var said strings.Builder
	for _, r := range run {
		h.add(r)
		if mirrored := r - 0xe0000; mirrored >= ' ' && mirrored < 0x7f {
			said.WriteRune(mirrored)
		}
	}
	h.tags += said.String()
	return size
}

// isSelector reports whether r chooses the form of the character before it.
func isSelector(r rune) bool {
	return r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef
}

// takeSelectors reads a run of variation selectors and gives its length in bytes.
// One alone is writing, where it may stand; a row carries bytes.
func (h *hidden) takeSelectors(text string, previous rune) int {
	var run []rune
	size := 0
	for _, r := range text {
		if !isSelector(r) {
			break
		}
		run = append(run, r)
		size += utf8.RuneLen(r)
	}
	if len(run) == 1 && (run[0] <= 0xfe0f || unicode.Is(unicode.Han, previous)) {
		return size
	}
	for _, r := range run {
		h.add(r)
		if r <= 0xfe0f {
			h.bytes = append(h.bytes, byte(r-0xfe00))
		} else {
			h.bytes = append(h.bytes, byte(r-0xe0100+16))
		}
	}
	return size
}

// showsNothing reports whether r takes no room, or looks like a space and is a letter.
// Characters that turn the direction of writing are bidis.
func showsNothing(r rune) bool {
	switch {
	case r >= 0x200b && r <= 0x200d, r >= 0x2060 && r <= 0x2064, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return true
	case r == 0x00ad, r == 0x034f, r == 0x180e: // soft hyphen, grapheme joiner, Mongolian separator
		return true
	case r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0: // Hangul fillers
		return true
	}
	return false
}

// joinsWriting reports whether a joiner stands where writing needs it: between the
// parts of an emoji, or in a word of a script that joins its letters.
func joinsWriting(r, previous, next rune) bool {
	const zwnj, zwj = 0x200c, 0x200d
	if r == zwj && pictograph(next) && (pictograph(previous) || isSelector(previous) || previous >= 0x1f3fb && previous <= 0x1f3ff) {
		return true
	}
	return (r == zwj || r == zwnj) && inJoinedScript(previous) && (inJoinedScript(next) || unicode.In(previous, unicode.Mn, unicode.Mc))
}

func pictograph(r rune) bool {
	return r == '↔' || r != utf8.RuneError && unicode.Is(unicode.So, r)
}

func inJoinedScript(r rune) bool {
	return unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko,
		unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
		unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
}

// scriptsOf are the scripts of a name's letters, sorted; those that all scripts share
// are none.
func scriptsOf(name string) []string {
	var scripts []string
	for _, r := range name {
		script := scriptOf(r)
		if script != "" && !slices.Contains(scripts, script) {
			scripts = append(scripts, script)
		}
	}
	slices.Sort(scripts)
	return scripts
}

func scriptOf(r rune) string {
	if r < utf8.RuneSelf {
		if unicode.IsLetter(r) {
			return "Latin"
		}
		return ""
	}
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			if name == "Common" || name == "Inherited" {
				return ""
			}
			return name
		}
	}
	return ""
}

// writtenTogether reports whether scripts are mixed in ordinary writing: Latin beside
// those of Chinese, Japanese and Korean (UTS 39, highly restrictive).
func writtenTogether(scripts []string) bool {
	if len(scripts) < 2 {
		return true
	}
	for _, allowed := range [][]string{
		{"Latin", "Han", "Hiragana", "Katakana"}, {"Latin", "Han", "Bopomofo"}, {"Latin", "Han", "Hangul"},
	} {
		if !slices.ContainsFunc(scripts, func(s string) bool { return !slices.Contains(allowed, s) }) {
			return true
		}
	}
	return false
}

// foreignLetters are the letters of a name that are not of its first letter's script.
func foreignLetters(name string) []string {
	first := ""
	var found []string
	for _, r := range name {
		script := scriptOf(r)
		switch {
		case script == "":
		case first == "":
			first = script
		case script != first:
			found = append(found, fmt.Sprintf("%c U+%04X %s", r, r, script))
		}
	}
	return found
}
