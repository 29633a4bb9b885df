package pane

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Cut shortens a line to width cells and marks that it did; what fits stays as it
// is. Styling is kept.
func (t *Theme) Cut(line string, width int) string {
	if width <= 0 {
		return ""
	}
	if ansi.StringWidth(line) <= width {
		return line
	}
	return ansi.Truncate(line, width, t.Glyphs.More)
}

// Fit makes a line exactly width cells wide: cut, or filled with spaces.
func (t *Theme) Fit(line string, width int) string {
	line = t.Cut(line, width)
	return line + strings.Repeat(" ", max(0, width-ansi.StringWidth(line)))
}

// Block makes lines fill a rectangle exactly: each fitted to the width, the list cut
// or filled with empty lines to the height.
func (t *Theme) Block(lines []string, width, height int) string {
	rows := make([]string, 0, max(0, height))
	for i := range height {
		line := ""
		if i < len(lines) {
			line = lines[i]
		}
		rows = append(rows, t.Fit(line, width))
	}
	return strings.Join(rows, "\n")
}

// Wrap breaks text into lines of at most width cells, at spaces where it can.
func Wrap(text string, width int) []string {
	if width <= 0 {
		return nil
	}
	return strings.Split(ansi.Wrap(text, width, ""), "\n")
}
