package render

import (
	"io"
	"strings"
)

// Aside writes one line about what is going on, dim where there is colour, in one
// write. The text may be anyone's; it is made safe.
func Aside(out io.Writer, text string, screen Screen) error {
	_, err := io.WriteString(out, screen.Paint(RoleMuted, Safe(text))+"\n")
	return err
}

// quoteMark stands before each line of a text that Quote shows.
const quoteMark = "  | "

// Quote returns an untrusted text as lines behind a bar, so that no part of it can pass for
// toolx's own words. Lines are broken to fit into so many columns: what a terminal breaks
// goes on without the bar. 0 means that nothing has to fit.
func Quote(text string, columns int) []string {
	if columns > 0 {
		columns = max(columns-len(quoteMark), len(quoteMark))
	}
	lines := Wrap(strings.TrimRight(SafeBlock(text), "\n"), columns)
	for i := range lines {
		lines[i] = quoteMark + lines[i]
	}
	return lines
}
