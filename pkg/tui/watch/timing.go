package watch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/fault"
	"toolx/pkg/tui/pane"
)

// toolOf identifies a tool by its server too, because servers often have tools of the same name.
type toolOf struct{ server, tool string }

// stats are the times of one tool's calls.
type stats struct {
	of                       toolOf
	calls                    []*record // oldest first
	least, median, p95, most time.Duration
	slow                     []*record // newest first
}

// ran reports whether a call reached the tool: calls that were refused earlier have no latency. A call that timed out
// did reach it.
func ran(r *record) bool {
	return r.success || r.kind == fault.KindTool || r.kind == fault.KindTimeout || r.kind == fault.KindProtocol
}

// statsOf computes the times of calls that reached the tool; there is at least one.
func statsOf(of toolOf, calls []*record) *stats {
	times := make([]time.Duration, 0, len(calls))
	for _, r := range calls {
		times = append(times, r.took)
	}
	slices.Sort(times)
	s := &stats{
		of: of, calls: calls, least: times[0], median: percentile(times, 50), p95: percentile(times, 95),
		most: times[len(times)-1],
	}
	for _, r := range slices.Backward(calls) {
		if s.isSlow(r) {
			s.slow = append(s.slow, r)
		}
	}
	return s
}

// percentile returns the p-th percentile of sorted values by the nearest-rank method.
func percentile(sorted []time.Duration, p int) time.Duration {
	rank := (len(sorted)*p + 99) / 100
	return sorted[max(0, rank-1)]
}

// isSlow reports whether a call is among the slowest of this tool: it took as long as the 95th percentile or longer. If
// all calls take the same time, none is slow.
func (s *stats) isSlow(r *record) bool { return r.took >= s.p95 && r.took > s.median }

// timingTab shows how long the selected tool takes, or all tools.
type timingTab struct {
	*look
	history *historyTab

	allTools bool
	all      []*stats // by tool, the slowest first
	computed int      // history.changed when all was computed
	list     pane.List
}

func newTimingTab(l *look, history *historyTab) *timingTab {
	return &timingTab{look: l, history: history, computed: -1}
}

func (t *timingTab) name() string { return "timing" }
func (t *timingTab) count() int   { return -1 }

// Extent returns the visible part of the rows.
func (t *timingTab) Extent() pane.Extent { return t.list.Extent() }

// Editing returns false: this tab has no text field.
func (t *timingTab) Editing() bool { return false }

// Focus does nothing: no row is selected.
func (t *timingTab) Focus(bool) {}

func (t *timingTab) showsAllTools() bool { return t.allTools || t.tool == "" }

// Bindings returns what the keys do now.
func (t *timingTab) Bindings() []pane.Binding {
	return append(t.list.ScrollKeys(), pane.Binding{
		Keys: []string{"A"}, Help: "this tool, or all tools", Off: pane.Off(t.tool == "", "no tool is selected"),
		Do: pane.Do(func() { t.allTools, t.list = !t.allTools, pane.List{} }),
	})
}

// Update handles the wheel.
func (t *timingTab) Update(msg tea.Msg) tea.Cmd {
	if wheel, ok := msg.(tea.MouseWheelMsg); ok {
		t.list.Scroll(pane.Wheel(wheel))
	}
	return nil
}

// compute updates the numbers if calls were added.
func (t *timingTab) compute() {
	if t.computed == t.history.changed {
		return
	}
	t.computed = t.history.changed
	byTool := make(map[toolOf][]*record)
	rows := &t.history.journal.all
	for number := rows.first; number < rows.end(); number++ {
		if r := rows.at(number); ran(r) {
			of := toolOf{r.subject(), r.tool}
			byTool[of] = append(byTool[of], r)
		}
	}
	t.all = t.all[:0]
	for of, calls := range byTool {
		t.all = append(t.all, statsOf(of, calls))
	}
	slices.SortFunc(t.all, func(a, b *stats) int {
		names := cmp.Or(cmp.Compare(a.of.tool, b.of.tool), cmp.Compare(a.of.server, b.of.server))
		return cmp.Or(cmp.Compare(b.p95, a.p95), names)
	})
}

// Render draws the numbers of the selected tool, with its slow calls below them, or a row for each tool.
func (t *timingTab) Render(width, height int) string {
	t.compute()
	at := slices.IndexFunc(t.all, func(s *stats) bool { return s.of == toolOf{t.server, t.tool} })
	head, n, row := []string{t.theme.Paint(pane.Dim, "no calls yet")}, 0, func(int) string { return "" }
	switch {
	case t.showsAllTools() && len(t.all) == 0:
	case t.showsAllTools():
		head[0] = t.theme.Paint(pane.Dim, t.tableRow(width, "tool", "median", "p95", "slow", "max", "calls"))
		n, row = len(t.all), func(i int) string { return t.statsRow(t.all[i], width) }
	case at < 0:
		head[0] = t.theme.Paint(pane.Dim, t.safe(t.tool, width)+" has not been called; a shows all tools")
	default:
		s := t.all[at]
		head = t.head(s, width, height)
		n, row = len(s.slow), func(i int) string { return t.slowLine(s.slow[i], width) }
	}
	var lines []string
	from, to := t.list.Window(len(head)+n, height)
	for i := from; i < to; i++ {
		if i < len(head) {
			lines = append(lines, head[i])
		} else {
			lines = append(lines, row(i-len(head)))
		}
	}
	return t.theme.Block(lines, width, height)
}

// head returns one tool's numbers and the chart; the slow calls follow.
func (t *timingTab) head(s *stats, width, height int) []string {
	lines := []string{t.theme.Paint(pane.Strong, t.safe(s.of.tool, width))}
	summary := fmt.Sprintf("calls %d, min %s, median %s, p95 %s, max %s, slow %d", len(s.calls),
		pane.Duration(s.least), pane.Duration(s.median), pane.Duration(s.p95), pane.Duration(s.most), len(s.slow))
	lines = append(lines, pane.Wrap(summary, max(1, width))...)
	tall := max(1, min(4, height-len(lines)-2))
	return append(lines, t.chart(s, width, tall)...)
}

func (t *timingTab) slowLine(r *record, width int) string {
	text := t.theme.Glyphs.Warn + " " + t.clock(r.at) + " " + pane.Duration(r.took)
	if !r.success {
		text += " " + string(r.kind)
	}
	return t.theme.Paint(pane.Warn, text) + " " + t.theme.Paint(pane.Dim, t.safe(r.arguments, width))
}

// statsRow draws a tool's row in the table of all tools.
func (t *timingTab) statsRow(s *stats, width int) string {
	slow := ""
	if len(s.slow) > 0 {
		slow = fmt.Sprintf("%s %d", t.theme.Glyphs.Warn, len(s.slow))
	}
	return t.tableRow(width, t.safe(s.of.tool, width),
		pane.Duration(s.median), pane.Duration(s.p95), slow, pane.Duration(s.most), fmt.Sprint(len(s.calls)))
}

// tableRow draws as many columns as fit; the last ones are dropped first.
func (t *timingTab) tableRow(width int, tool string, columns ...string) string {
	const column = 9
	name := max(8, min(30, width/3))
	text := t.theme.Fit(tool, name)
	for _, cell := range columns[:max(0, min(len(columns), (width-name)/column))] {
		text += fmt.Sprintf(" %*s", column-1, cell)
	}
	return text
}

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
