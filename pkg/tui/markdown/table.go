package markdown

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/tui/pane"
)

// tableGap is what stands between two columns.
const tableGap = "  "

// table is a table in GitHub's syntax (GitHub Flavored Markdown, 4.10), which CommonMark parses as a
// paragraph. goldmark's own table parser would cost half a millisecond at each start of toolx.
type table struct {
	aligns []byte     // of each column: l, r or c
	rows   [][]string // the first is the head
}

// tableOf parses the lines of a paragraph as a table; ok is false if they are not one. Rows may have fewer cells than
// the head but never more: more cells mean that a bar in a text was taken for the end of a cell.
func tableOf(lines []string) (t table, ok bool) {
	if len(lines) < 2 {
		return table{}, false
	}
	for _, cell := range cellsOf(lines[1]) {
		dashes := strings.TrimPrefix(strings.TrimSuffix(cell, ":"), ":")
		if dashes == "" || strings.Trim(dashes, "-") != "" {
			return table{}, false
		}
		align := byte('l')
		if strings.HasSuffix(cell, ":") {
			align = 'r'
			if strings.HasPrefix(cell, ":") {
				align = 'c'
			}
		}
		t.aligns = append(t.aligns, align)
	}
	for i, line := range lines {
		cells := cellsOf(line)
		if i == 0 && len(cells) != len(t.aligns) || len(cells) > len(t.aligns) || !strings.Contains(line, "|") {
			return table{}, false
		}
		if i != 1 {
			t.rows = append(t.rows, cells)
		}
	}
	return t, true
}

// cellsOf splits a line at its bars, ignoring those at its ends.
func cellsOf(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
	cells := strings.Split(line, "|")
	for i, cell := range cells {
		cells[i] = strings.TrimSpace(cell)
	}
	return cells
}

// widths returns how many cells of the screen each column needs.
func (t table) widths(theme *pane.Theme) []int {
	widths := make([]int, len(t.aligns))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], theme.Width(cell))
		}
	}
	return widths
}

// table draws a table in columns, and reports whether there is room for it.
func (w *writer) table(t table, margin string) bool {
	widths := t.widths(w.theme)
	total := ansi.StringWidth(margin) + len(tableGap)*(len(widths)-1)
	for _, width := range widths {
		total += width
	}
	if total > w.width {
		return false
	}
	for i, row := range t.rows {
		w.add(margin, strings.TrimRight(w.row(t, row, widths, i == 0), " "))
		if i > 0 {
			continue
		}
		rules := make([]string, len(widths))
		for j, width := range widths {
			rules[j] = strings.Repeat(w.theme.Glyphs.Horizontal, width)
		}
		w.add(margin, w.theme.Paint(pane.Dim, strings.Join(rules, tableGap)))
	}
	return true
}

// row draws the cells of one row.
func (w *writer) row(t table, cells []string, widths []int, head bool) string {
	out := make([]string, len(widths))
	for i, width := range widths {
		cell := ""
		if i < len(cells) {
			cell = cells[i]
		}
		room := width - w.theme.Width(cell)
		if head && cell != "" {
			cell = w.theme.Paint(pane.Strong, ansi.Strip(cell))
		}
		left := map[byte]int{'l': 0, 'r': room, 'c': room / 2}[t.aligns[i]]
		out[i] = strings.Repeat(" ", left) + cell + strings.Repeat(" ", room-left)
	}
	return strings.Join(out, tableGap)
}
