package cli

import (
	"strings"
	"unicode/utf8"
)

// helpColumns is the width of help texts.
const helpColumns = 88

// WrapHelp breaks a help text into lines, at spaces.
func WrapHelp(text string) string {
	var lines []string
	for _, word := range strings.Fields(text) {
		last := len(lines) - 1
		if last >= 0 && utf8.RuneCountInString(lines[last])+1+utf8.RuneCountInString(word) <= helpColumns {
			lines[last] += " " + word
			continue
		}
		lines = append(lines, word)
	}
	return strings.Join(lines, "\n")
}
