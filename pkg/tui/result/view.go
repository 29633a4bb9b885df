package result

import (
	"toolx/pkg/tui/pane"
	"toolx/pkg/words"
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

// title shows the tabs, marks the current one, and describes its display.
func (v *View) title(width int) string {
	names := words.Texts(v.tabs, func(l *tab) string { return l.name })
	line, at := v.theme.Tabs(names, v.current, width)
	v.tabAt = at
	if d, ok := v.body().(described); ok {
		line += "  " + v.theme.Paint(pane.Dim, d.About())
	}
	return v.theme.Cut(line, width)
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
