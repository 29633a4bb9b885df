package watch

import (
	"fmt"
	"slices"
	"sort"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/fault"
	"toolx/pkg/tui/pane"
)

// A call is slow if it takes this long, or this many times the median.
const (
	slowTime   = time.Second
	slowFactor = 3
)

// stats are the times of one tool's calls.
type stats struct {
	tool                     string
	calls                    []*record // oldest first
	least, median, p95, most time.Duration
	slow                     []*record // newest first
}

// ran reports whether a call reached the tool: an earlier refusal says nothing about the tool's
// latency. A call that timed out did reach it.
func ran(r *record) bool {
	return r.success || r.kind == fault.KindTool || r.kind == fault.KindTimeout || r.kind == fault.KindProtocol
}

// statsOf computes the times of calls that reached the tool; there is at least one.
func statsOf(tool string, calls []*record) *stats {
	times := make([]time.Duration, 0, len(calls))
	for _, r := range calls {
		times = append(times, r.took)
	}
	slices.Sort(times)
	s := &stats{
		tool: tool, calls: calls, least: times[0], median: percentile(times, 50), p95: percentile(times, 95),
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

// isSlow reports whether a call took much longer than it should.
func (s *stats) isSlow(r *record) bool {
	return r.took > slowTime || r.took > slowFactor*s.median
}

// timingTab shows how long the selected tool takes, or all tools.
type timingTab struct {
	*look
	history *historyTab

	everything bool
	all        []*stats // by tool, the slowest first
	computed   int      // history.changed when all was computed
	top        int      // the first row that is seen
}

func newTimingTab(l *look, history *historyTab) *timingTab {
	return &timingTab{look: l, history: history, computed: -1}
}

func (t *timingTab) name() string         { return "timing" }
func (t *timingTab) count() int           { return -1 }
func (t *timingTab) editing() bool        { return false }
func (t *timingTab) setTheme(*pane.Theme) {}
func (t *timingTab) setFocus(bool)        {}

func (t *timingTab) ofAll() bool { return t.everything || t.tool == "" }

func (t *timingTab) bindings() []pane.Binding {
	none := ""
	if t.tool == "" {
		none = "no tool is selected"
	}
	scroll := func(by int) func() tea.Cmd { return do(func() { t.top = max(0, t.top+by) }) }
	return []pane.Binding{
		{Keys: []string{"down", "j"}, Help: "down", Do: scroll(1)},
		{Keys: []string{"up", "k"}, Help: "up", Do: scroll(-1)},
		{Keys: []string{"pgdown", "ctrl+d"}, Help: "a page down", Do: scroll(10)},
		{Keys: []string{"pgup", "ctrl+u"}, Help: "a page up", Do: scroll(-10)},
		{Keys: []string{"a"}, Help: "this tool, or all", Off: none, Do: do(func() { t.everything, t.top = !t.everything, 0 })},
	}
}

func (t *timingTab) update(msg tea.Msg) tea.Cmd {
	if wheel, ok := msg.(tea.MouseWheelMsg); ok {
		t.top = max(0, t.top+pane.Wheel(wheel))
	}
	return nil
}

// compute updates the numbers if calls were added.
func (t *timingTab) compute() {
	if t.computed == t.history.changed {
		return
	}
	t.computed = t.history.changed
	byTool := make(map[string][]*record)
	rows := &t.history.journal.all
	for number := rows.first; number < rows.end(); number++ {
		if r := rows.at(number); ran(r) {
			byTool[r.tool] = append(byTool[r.tool], r)
		}
	}
	t.all = t.all[:0]
	for tool, calls := range byTool {
		t.all = append(t.all, statsOf(tool, calls))
	}
	sort.Slice(t.all, func(i, j int) bool {
		a, b := t.all[i], t.all[j]
		if a.p95 != b.p95 {
			return a.p95 > b.p95
		}
		return a.tool < b.tool
	})
}

// statsOfTool returns the selected tool's numbers, nil if it was never called.
func (t *timingTab) statsOfTool() *stats {
	for _, s := range t.all {
		if s.tool == t.tool {
			return s
		}
	}
	return nil
}

func (t *timingTab) render(width, height int) string {
	t.compute()
	s := t.statsOfTool()
	switch {
	case t.ofAll() && len(t.all) == 0:
		return t.scrolled([]string{t.theme.Paint(pane.Dim, "nothing was called yet")}, 0, nil, width, height)
	case t.ofAll():
		head := []string{t.theme.Paint(pane.Dim, t.tableRow(width, "tool", "median", "p95", "slow", "max", "calls"))}
		return t.scrolled(head, len(t.all), func(i int) string { return t.statsRow(t.all[i], width) }, width, height)
	case s == nil:
		head := []string{t.theme.Paint(pane.Dim, t.safe(t.tool, width)+" was never called; a shows all tools")}
		return t.scrolled(head, 0, nil, width, height)
	}
	return t.scrolled(t.head(s, width, height), len(s.slow), func(i int) string { return t.slowLine(s.slow[i], width) }, width, height)
}

// scrolled draws the visible part of some lines and n rows below them, and calls row only for those.
func (t *timingTab) scrolled(head []string, n int, row func(int) string, width, height int) string {
	t.top = max(0, min(t.top, len(head)+n-height))
	var lines []string
	for i := t.top; i < min(len(head)+n, t.top+height); i++ {
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
	lines := []string{t.theme.Paint(pane.Strong, t.safe(s.tool, width))}
	lines = append(lines, pane.Wrap(s.summary(), max(1, width))...)
	tall := max(1, min(4, height-len(lines)-2))
	return append(lines, t.chart(s, width, tall)...)
}

func (s *stats) summary() string {
	return fmt.Sprintf("calls %d, min %s, median %s, p95 %s, max %s, slow %d",
		len(s.calls), duration(s.least), duration(s.median), duration(s.p95), duration(s.most), len(s.slow))
}

func (t *timingTab) slowLine(r *record, width int) string {
	text := t.theme.Glyphs.Warn + " " + t.clock(r.at) + " " + duration(r.took)
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
	return t.tableRow(width, t.safe(s.tool, width),
		duration(s.median), duration(s.p95), slow, duration(s.most), fmt.Sprint(len(s.calls)))
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
