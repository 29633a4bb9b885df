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

// Box draws a border with a title around a block of exactly width-2 by height-2
// cells. The box with focus is marked by colour and by a sign.
func (t *Theme) Box(title, block string, width, height int, focus bool) string {
	glyphs := t.Glyphs
	role, sign := Dim, glyphs.Horizontal
	if focus {
		role, sign = Accent, glyphs.Cursor
	}
	title = t.Cut(title, max(0, width-6))
	fill := max(0, width-5-ansi.StringWidth(title))
	rows := make([]string, 0, height)
	rows = append(rows, t.Paint(role, glyphs.Corners[0]+sign)+" "+title+" "+
		t.Paint(role, strings.Repeat(glyphs.Horizontal, fill)+glyphs.Corners[1]))
	side := t.Paint(role, glyphs.Vertical)
	for _, line := range strings.Split(block, "\n") {
		rows = append(rows, side+line+side)
	}
	rows = append(rows, t.Paint(role, glyphs.Corners[2]+strings.Repeat(glyphs.Horizontal, max(0, width-2))+glyphs.Corners[3]))
	return strings.Join(rows, "\n")
}
