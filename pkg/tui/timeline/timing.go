package timeline

import (
	"slices"
	"strings"
	"time"

	"toolx/pkg/fault"
	"toolx/pkg/tui/pane"
)

// leastCalls is how many calls of a tool there must be to compare with.
const leastCalls = 10

// stats are the times of one tool's calls, in order.
type stats struct {
	server, tool string
	calls        int // how many calls were added when they were computed
	times        []time.Duration
}

// ran reports whether a call reached the tool: calls that were refused earlier have no latency. A call that timed out
// did reach it.
func ran(c *record) bool {
	return c.Success || c.Kind == fault.KindTool || c.Kind == fault.KindTimeout || c.Kind == fault.KindProtocol
}

// percentile returns the p-th percentile of sorted values by the nearest-rank method.
func percentile(sorted []time.Duration, p int) time.Duration {
	rank := (len(sorted)*p + 99) / 100
	return sorted[max(0, rank-1)]
}

// timesOf returns how long the calls of a tool took, in order. It computes them only once.
func (s *store) timesOf(server, tool string) []time.Duration {
	now := stats{server: server, tool: tool, calls: s.added}
	if old := s.stats; old.times != nil && old.server == server && old.tool == tool && old.calls == now.calls {
		return old.times
	}
	now.times = []time.Duration{}
	for r := range s.calls().backward() {
		if r.call.Tool == tool && r.server == server && ran(r.call) {
			now.times = append(now.times, r.call.Duration())
		}
	}
	slices.Sort(now.times)
	s.stats = now
	return now.times
}

// timing compares the followed call with earlier calls of its tool; empty if there are too few. On a scale from zero to
// the slowest call, half of the calls are in the bar, and the followed one is marked.
func (t *Timeline) timing(width int) string {
	if t.subject == nil || t.subject.Tool == "" || t.shown() != scopeSubject {
		return ""
	}
	times := t.rows.timesOf(t.subject.Server, t.subject.Tool)
	if len(times) < leastCalls {
		return ""
	}
	median, p95 := percentile(times, 50), percentile(times, 95)
	text := "median " + pane.Duration(median)
	if width >= 50 {
		text += ", p95 " + pane.Duration(p95)
	}
	text = " " + text
	theme := t.theme
	cells := min(40, width-theme.Width(text)-2)
	if cells < 5 {
		return theme.Paint(pane.Dim, strings.TrimSpace(text))
	}
	took := t.subject.Took
	most := max(times[len(times)-1], took, 1)
	cell := func(d time.Duration) int {
		return min(cells-1, int(int64(cells)*d.Microseconds()/max(1, most.Microseconds())))
	}
	from, to, at := cell(percentile(times, 25)), cell(percentile(times, 75)), -1
	if took > 0 {
		at = cell(took)
	}
	var bar strings.Builder
	for i := range cells {
		switch {
		case i == at && took >= p95 && took > median:
			bar.WriteString(theme.Paint(pane.Warn, theme.Signs("◆")))
		case i == at:
			bar.WriteString(theme.Paint(pane.Strong, theme.Signs("◆")))
		case i >= from && i <= to:
			bar.WriteString(theme.Paint(pane.Dim, theme.Signs("■")))
		default:
			bar.WriteString(theme.Paint(pane.Dim, theme.Glyphs.Horizontal))
		}
	}
	return theme.Paint(pane.Dim, theme.Signs("├")) + bar.String() + theme.Paint(pane.Dim, theme.Signs("┤")+text)
}
