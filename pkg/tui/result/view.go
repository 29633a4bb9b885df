package result

import (
	"fmt"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/tui/pane"
)

// minBody is the lines of the body before there is room for lines above it.
const minBody = 3

// Render draws the view into exactly width by height cells.
func (v *View) Render(width, height int) string {
	if width <= 0 || height <= 0 {
		return ""
	}
	b := v.body()
	if b == nil {
		return v.theme.Block([]string{v.theme.Paint(pane.Dim, "there is no result")}, width, height)
	}
	remarks := v.remarkLines(width, height)
	v.headHeight = 0
	if height > minBody {
		v.headHeight = 1 + len(remarks)
	}
	block := b.Render(width, height-v.headHeight)
	if v.headHeight > 0 {
		head := append([]string{v.title(width)}, remarks...)
		block = v.theme.Block(head, width, len(head)) + "\n" + block
	}
	return block
}

// title shows the tabs, marks the current one, and describes its display. It records the position of each name, or none
// if only the current one fits.
func (v *View) title(width int) string {
	names := make([]string, len(v.tabs))
	for i, l := range v.tabs {
		names[i] = l.name
	}
	var line string
	line, v.names = v.theme.Tabs(pane.Dim, names, v.current)
	if ansi.StringWidth(line) > width {
		line = fmt.Sprintf("%s %d/%d", v.theme.Paint(pane.Strong, "["+names[v.current]+"]"), v.current+1, len(names))
		v.names = nil
	}
	if d, ok := v.body().(described); ok {
		line += "  " + v.theme.Paint(pane.Dim, d.About())
	}
	return v.theme.Cut(line, width)
}

// clickTitle goes to the tab whose name is at a column of the title, or to the next one if only one is named.
func (v *View) clickTitle(x int) {
	if v.names == nil {
		v.turn()
		return
	}
	if tab := pane.At(v.names, x); tab >= 0 {
		v.goTo(tab)
	}
}

// remarkLines returns the remarks for which the body leaves room.
func (v *View) remarkLines(width, height int) []string {
	var lines []string
	for _, r := range v.remarks {
		lines = append(lines, v.theme.Paragraph(r.role, r.sign(v.theme)+" "+r.text, width)...)
	}
	room := max(0, height-minBody-1)
	if len(lines) <= room || room == 0 {
		return lines[:min(len(lines), room)]
	}
	lines = lines[:room]
	lines[room-1] = v.theme.Paint(pane.Warn, v.theme.Glyphs.More+" more remarks do not fit")
	return lines
}
