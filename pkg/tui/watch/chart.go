package watch

import (
	"strings"
	"time"

	"toolx/pkg/tui/pane"
)

// chart draws the latest calls as bars, tall rows high, with the newest at the right, and a sign below
// each slow one. The highest bar is the slowest call shown.
func (t *timingTab) chart(s *stats, width, tall int) []string {
	calls := s.calls[max(0, len(s.calls)-max(1, width)):]
	var most time.Duration
	for _, r := range calls {
		most = max(most, r.took)
	}
	levels := len(t.theme.Glyphs.Bars)
	rows := make([]strings.Builder, tall)
	var marks strings.Builder
	for _, r := range calls {
		height := barHeight(r.took, most, tall*levels)
		role, mark := pane.Good, " "
		if s.isSlow(r) {
			role, mark = pane.Warn, t.theme.Glyphs.Warn
		}
		for i := range rows {
			rows[i].WriteString(t.theme.Paint(role, t.bar(height-(tall-1-i)*levels)))
		}
		marks.WriteString(mark)
	}
	lines := make([]string, 0, tall+1)
	for i := range rows {
		lines = append(lines, rows[i].String())
	}
	if strings.TrimSpace(marks.String()) == "" {
		return lines
	}
	return append(lines, t.theme.Paint(pane.Warn, marks.String()))
}

// barHeight returns the height of a bar in levels, at least one.
func barHeight(took, most time.Duration, levels int) int {
	if most <= 0 {
		return 1
	}
	return max(1, int((took*time.Duration(levels)+most-1)/most))
}

// bar returns the glyph for a height within one row.
func (t *timingTab) bar(height int) string {
	bars := t.theme.Glyphs.Bars
	if height <= 0 {
		return " "
	}
	return bars[min(height, len(bars))-1]
}
