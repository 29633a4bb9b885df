package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
	"toolx/pkg/tui/result"
	"toolx/pkg/tui/timeline"
)

// chips returns the calls of an item, the oldest first: each is a chip in the title of the result.
func (cs *calls) chips(one item) []*call {
	return cs.filter(func(c *call) bool { return c.item.key() == one.key() })
}

// place returns the index of the chip on the screen. What is typed and not sent has a place after the last one.
func (cs *calls) place(chips []*call) int {
	if cs.page.of == nil && cs.page.differs(cs.shown) {
		return len(chips)
	}
	return slices.Index(chips, cs.shown)
}

// moveKey returns the key that shows the call before or after the one on the screen, and after the last one what is
// typed.
func (cs *calls) moveKey(by int, help string, keys ...string) pane.Binding {
	chips := cs.chips(cs.page.item)
	to := cs.place(chips) + by
	last := len(chips) - 1
	if by > 0 && len(chips) > 0 && to > last && cs.page.isNew(cs.page.item) {
		last++
	}
	off := pane.Off(to < 0 || to > last, "there is none")
	return pane.Binding{Keys: keys, Help: help, Off: off, Do: func() tea.Cmd {
		cs.showChip(chips, to)
		return nil
	}}
}

// showChip shows a call of the item, or after the last one what is typed.
func (cs *calls) showChip(chips []*call, at int) {
	if at < len(chips) {
		cs.show(chips[at])
		return
	}
	cs.page.showCall(nil)
	cs.display(chips[len(chips)-1])
}

// resultTitle is before the calls in the title of the result.
const resultTitle = "result  "

// Title returns the chips for a border with room for some cells.
func (cs *calls) Title(room int) string {
	title, _, _ := cs.title(room - len(resultTitle))
	return cs.theme.Paint(pane.Dim, resultTitle) + title
}

// title returns the chips for a border with room for some cells: as many of the latest as fit around that on the
// screen. spans are their positions, and first is the index of the first one; what is typed comes after the last call.
func (cs *calls) title(room int) (title string, spans []pane.Span, first int) {
	chips := cs.chips(cs.page.item)
	at := cs.place(chips)
	texts := make([]string, 0, len(chips)+1)
	for i, c := range chips {
		texts = append(texts, cs.chip(c, i == at))
	}
	switch {
	case at == len(chips) && at > 0:
		texts = append(texts, cs.theme.Paint(pane.Strong, "[new]"))
	case len(chips) > 0 && cs.page.isNew(cs.page.item):
		texts = append(texts, cs.theme.Paint(pane.Dim, "new"))
	}
	const gap = "  "
	more := cs.theme.Glyphs.More
	from, to := max(0, at), max(0, at)
	width := 2 * (cs.theme.Width(more) + len(gap))
	if cs.theme.Width(strings.Join(texts, gap)) <= room {
		width = -len(gap) // nothing is left out
	}
	for to < len(texts) && (to == at || width+cs.theme.Width(texts[to])+len(gap) <= room) {
		width += cs.theme.Width(texts[to]) + len(gap)
		to++
	}
	for from > 0 && width+cs.theme.Width(texts[from-1])+len(gap) <= room {
		from--
		width += cs.theme.Width(texts[from]) + len(gap)
	}
	shown := slices.Clone(texts[from:to])
	if first = from; from > 0 {
		shown, first = slices.Insert(shown, 0, cs.theme.Paint(pane.Dim, more)), from-1
	}
	if to < len(texts) {
		shown = append(shown, cs.theme.Paint(pane.Dim, more))
	}
	for i, text := range shown {
		if i > 0 {
			title += gap
		}
		title += text
	}
	return cs.theme.Cut(title, room), pane.Spans(shown, gap), first
}

// ClickTitle shows the call whose chip is at a column of the title for a border with room for some cells.
func (cs *calls) ClickTitle(x, room int) {
	chips := cs.chips(cs.page.item)
	_, spans, first := cs.title(room - len(resultTitle))
	if at := pane.At(spans, x-len(resultTitle)); at >= 0 && first+at <= len(chips) && len(chips) > 0 {
		cs.showChip(chips, first+at)
	}
}

// chip draws a call in a few words: its number and its time. A failure is named if the call is on the screen.
func (cs *calls) chip(c *call, shown bool) string {
	text, role := fmt.Sprintf("#%d %s", c.number, pane.Duration(c.took(cs.now()))), pane.Plain
	if c == cs.against {
		text = "=" + text
	}
	switch {
	case c.running() && c.cancelled:
		text, role = text+" cancelling", pane.Warn
	case c.running():
		text, role = cs.spinner()+" "+text, pane.Accent
	case !c.result.Success:
		var sign string
		role, sign = result.Outcome(cs.theme, fault.KindOf(c.result.Err))
		if text = sign + " " + text; shown {
			text += " " + result.Failure(c.result.Err)
		}
	case shown:
		role = pane.Strong
	}
	if shown {
		text = "[" + text + "]"
	}
	return cs.theme.Paint(role, text)
}

// base returns the call that the one on the screen is compared with, nil if there is none.
func (cs *calls) base() *call {
	if !cs.comparing || cs.shown == nil || cs.shown.running() || cs.shown == cs.against {
		return nil
	}
	var last *call
	for _, c := range cs.chips(cs.shown.item) {
		switch {
		case c == cs.against && !c.running():
			return c
		case c.number < cs.shown.number && !c.running():
			last = c
		}
	}
	return last
}

// compareKeys returns the keys that mark the differences in the result: from the previous call, or from a marked one.
func (cs *calls) compareKeys() []pane.Binding {
	no := pane.Off(cs.shown == nil, "no calls yet")
	help, mark := "mark the differences from the previous call", "compare the others with this call"
	if cs.comparing {
		help = "stop marking differences"
	}
	if cs.against != nil && cs.against == cs.shown {
		mark = "compare with the previous call again"
	}
	return []pane.Binding{
		{Keys: []string{"D"}, Help: help, Short: "diff", Off: no, Do: pane.Do(cs.toggleDiff)},
		{Keys: []string{"="}, Help: mark, Off: no, Do: pane.Do(cs.markShown)},
	}
}

func (cs *calls) toggleDiff() {
	cs.comparing = !cs.comparing
	cs.compare()
}

// markShown makes the call on the screen the one that others are compared with; the second time it ends that.
func (cs *calls) markShown() {
	if cs.against == cs.shown {
		cs.against = nil
	} else {
		cs.against, cs.comparing = cs.shown, true
	}
	cs.compare()
}

// compare marks the differences of the result on the screen, or none.
func (cs *calls) compare() {
	var with *exec.Result
	if base := cs.base(); base != nil {
		with = base.result
	}
	cs.view.Compare(with)
}

// Hint explains the result on the bottom border: its differences, else how long its server took to start.
func (cs *calls) Hint() string {
	c, base := cs.shown, cs.base()
	switch {
	case c == nil:
		return ""
	case base != nil:
		text := fmt.Sprintf("D from #%d: %s", base.number, cs.view.Compared())
		if !rawjson.Same(c.arguments, base.arguments) {
			text += ", other arguments"
		}
		return cs.theme.Paint(pane.Accent, text)
	case cs.comparing && c == cs.against:
		return cs.theme.Paint(pane.Accent, fmt.Sprintf("D compares the others with #%d", c.number))
	case cs.comparing && !c.running():
		return cs.theme.Paint(pane.Accent, "D has no earlier call")
	case cs.page.differs(c):
		return cs.theme.Paint(pane.Dim, "the form has changed")
	}
	return cs.theme.Paint(pane.Dim, cs.phases(c))
}

// phases splits a call's time into starting the server and the call itself.
func (cs *calls) phases(c *call) string {
	if c.sent.IsZero() {
		if c.running() && c.item.Server != "" {
			return "starting " + render.Safe(c.item.Server)
		}
		return ""
	}
	start := c.sent.Sub(c.started)
	if start < 10*time.Millisecond { // it was running already
		return ""
	}
	s := cs.server(c.item.Server)
	if s == nil || s.status != statusReady {
		return "start " + pane.Duration(start)
	}
	t := s.timing
	return fmt.Sprintf("start %.0f · initialize %.0f · list %.0f ms", t.StartMS, t.InitializeMS, t.ListMS)
}

// subject returns what the timeline follows: the call on the screen, else the selected item or server; nil for nothing.
func (cs *calls) subject() *timeline.Subject {
	one, shown := cs.page.item, cs.shown
	switch {
	case one.none() && cs.page.server == nil:
		return nil
	case one.none():
		return &timeline.Subject{Server: cs.page.server.name}
	case shown == nil || shown.item.key() != one.key():
		return &timeline.Subject{Server: one.Server, Tool: one.Name}
	}
	s := &timeline.Subject{
		Server: one.Server, Tool: shown.name, Call: shown.name, From: shown.started, To: shown.ended,
	}
	if !shown.running() {
		s.Took = shown.result.Duration
	}
	return s
}
