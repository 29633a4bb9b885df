package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
	"toolx/pkg/tui/result"
)

// maxCalls is how many ended calls are kept with their results.
const maxCalls = 32

// calls are the calls of this run, and which of them is on the screen: one of the item on the page, if it has one.
type calls struct {
	*shared
	list  []*call
	shown *call
	last  int
	view  *result.View
	page  *page
	// comparing reports whether the result marks its differences: from that of against, else from the previous one.
	comparing bool
	against   *call
	hintRow   int // of the words that say how to cancel the call, as drawn last
	// limits are the time limits that the user has set.
	limits map[itemKey]timeLimit
	// server returns a server by its name, or nil.
	server func(name string) *server
}

// start runs an item in the background. arguments are those of the tool or prompt, or hold the URI of a resource;
// filled are the values of the form that they are made of.
func (cs *calls) start(one item, arguments, filled json.RawMessage) tea.Cmd {
	ctx, cancel := context.WithCancel(cs.ctx)
	cs.last++
	c := &call{
		id: "tui-" + strconv.Itoa(cs.last), item: one, name: one.Name, number: 1, arguments: arguments, filled: filled,
		limit: cs.limits[one.key()].limit, started: cs.now(), cancel: cancel, done: make(chan struct{}),
	}
	if one.kind == kindTemplate {
		c.name = one.Server + exec.Separator + uriOf(arguments)
	}
	if before := cs.latest(one); before != nil {
		c.number = before.number + 1
	}
	cs.list = append(cs.list, c)
	cs.forget()
	cs.showNew(c)
	up := make(chan time.Time, 1)
	type outcome struct {
		result *exec.Result
		at     time.Time // before the interface takes it, which waits while $PAGER or $EDITOR runs
	}
	run := func() outcome {
		defer close(up)
		defer close(c.done)
		result := c.connectAndRun(context.WithValue(ctx, callKey{}, c.id), cs.options, func() { up <- cs.now() })
		return outcome{result, cs.now()}
	}
	ended := func(o outcome) tea.Cmd {
		c.result, c.ended = o.result, o.at
		cancel()
		if c == cs.shown {
			cs.display(c)
		}
		return nil
	}
	asked := func(at time.Time) tea.Cmd {
		c.sent = at
		return nil
	}
	return tea.Batch(after(run, ended), after(func() time.Time { return <-up }, asked))
}

// showNew shows a call that was started, if its item is on the page. Values that are typed and not sent stay.
func (cs *calls) showNew(c *call) {
	switch {
	case c.item.key() != cs.page.item.key():
	case !cs.page.differs(c):
		cs.page.handOver(c)
		cs.show(c)
	case !cs.page.differs(cs.shown):
		cs.show(c)
	case cs.page.of == nil:
		cs.display(c)
	}
}

// show puts a call on the screen: its result, and its arguments in the form.
func (cs *calls) show(c *call) {
	cs.display(c)
	cs.page.showCall(c)
}

// display shows a call's result.
func (cs *calls) display(c *call) {
	if cs.shown = c; c == nil || c.running() {
		return
	}
	cs.view.Show(c.result, c.item.Tool)
	if base := cs.base(); base != nil {
		cs.view.Compare(base.result)
	}
}

// showItem shows the latest call of the item on the page. Values that are typed and not sent stay in the form.
func (cs *calls) showItem() {
	switch latest := cs.latest(cs.page.item); {
	case latest == nil || cs.page.unsent(cs.page.item):
		cs.display(latest)
	default:
		cs.show(latest)
	}
}

// forget drops the oldest ended calls and their results.
func (cs *calls) forget() {
	for i := 0; len(cs.list) > maxCalls && i < len(cs.list); {
		if cs.list[i].running() || cs.list[i] == cs.shown {
			i++
			continue
		}
		cs.list = slices.Delete(cs.list, i, i+1)
	}
}

// byID returns the calls with an id: one, or none if it was dropped.
func (cs *calls) byID(id string) []*call { return cs.filter(func(c *call) bool { return c.id == id }) }

// running returns the calls that have not ended.
func (cs *calls) running() []*call { return cs.filter((*call).running) }

func (cs *calls) filter(fits func(*call) bool) []*call {
	return slices.DeleteFunc(slices.Clone(cs.list), func(c *call) bool { return !fits(c) })
}

// isRunning reports whether a call of an item is running.
func (cs *calls) isRunning(one item) bool {
	return slices.ContainsFunc(cs.list, func(c *call) bool { return c.running() && c.item.key() == one.key() })
}

// latest returns the newest call of an item, or nil.
func (cs *calls) latest(one item) *call {
	for _, c := range slices.Backward(cs.list) {
		if c.item.key() == one.key() {
			return c
		}
	}
	return nil
}

// Focus sets whether the pane has the focus.
func (cs *calls) Focus(on bool) { cs.view.Focus(on) }

// Editing reports whether letters are text now.
func (cs *calls) Editing() bool { return cs.view.Editing() }

// Bindings returns what the keys do now. Left and right show other calls, unless the result needs them itself.
func (cs *calls) Bindings() []pane.Binding {
	own := cs.view.Bindings()
	if cs.view.Editing() || cs.view.Sideways() {
		return own
	}
	moves := []pane.Binding{{Keys: []string{"left"}}, {Keys: []string{"right"}}}
	own = pane.Without(own, moves)
	moves[0], moves[1] = cs.moveKey(-1, "previous call", "left"), cs.moveKey(1, "next call", "right")
	return append(moves, own...)
}

// Update handles text and the mouse; a click on the words that say how to cancel the call cancels it.
func (cs *calls) Update(msg tea.Msg) tea.Cmd {
	if click, ok := msg.(tea.MouseClickMsg); ok && cs.shown != nil && cs.shown.running() {
		if click.Y == cs.hintRow && click.X < len(cancelHint) {
			cs.shown.cancelRunning()
		}
		return nil
	}
	return cs.view.Update(msg)
}

// Render draws the call on the screen.
func (cs *calls) Render(width, height int) string {
	c := cs.shown
	switch {
	case c == nil:
		return cs.theme.Block([]string{cs.theme.Paint(pane.Dim, "no calls yet")}, width, height)
	case c.running():
		lines := cs.runningLines(c, width)
		cs.hintRow = len(lines) - 1
		return cs.theme.Block(lines, width, height)
	}
	return cs.view.Render(width, height)
}

// Extent returns how much of the result is visible.
func (cs *calls) Extent() pane.Extent {
	if cs.shown == nil || cs.shown.running() {
		return pane.Extent{}
	}
	return cs.view.Extent()
}

// cancelHint is the last line of a running call.
const cancelHint = "x cancels"

// runningLines returns what the result pane shows of a running call.
func (cs *calls) runningLines(c *call, width int) []string {
	var lines []string
	p := c.progress
	if p.Progress > 0 || p.Total > 0 || p.Status == "" && p.Message != "" {
		lines = append(lines, cs.progressBar(p, width))
	}
	if text := p.Text(); text != "" {
		lines = append(lines, pane.Wrap(render.Safe(text), width)...)
	}
	if c.item.Server != "" {
		if s := cs.server(c.item.Server); s != nil && s.status != statusReady {
			lines = append(lines, cs.theme.Paint(pane.Dim, render.Safe(s.name)+": "+cs.safe(s.detail(cs.now()))))
		}
	}
	return append(lines, "", cs.theme.Paint(pane.Dim, cancelHint))
}

// progressBar draws the progress of a call. A total of zero means that the server does not know it.
func (cs *calls) progressBar(p exec.Progress, width int) string {
	if p.Total <= 0 {
		return cs.theme.Paint(pane.Accent, fmt.Sprintf("%g done", p.Progress))
	}
	share := min(1, max(0, p.Progress/p.Total))
	label := fmt.Sprintf(" %3.0f %%  %g of %g", 100*share, p.Progress, p.Total)
	room := max(4, min(40, width-len(label)))
	filled := int(share * float64(room))
	glyphs := cs.theme.Glyphs
	done := cs.theme.Paint(pane.Accent, strings.Repeat(glyphs.Filled, filled))
	return done + strings.Repeat(glyphs.Hollow, room-filled) + label
}

// timeLimit is how long calls of an item may take without progress.
type timeLimit struct {
	typed string
	limit time.Duration // zero: the config decides
}

// limitKey returns the key that sets how long calls of an item may take.
func (cs *calls) limitKey(one item) pane.Binding {
	return pane.Binding{
		Keys: []string{"T"}, Help: "set a time limit", Off: cs.page.noItem(),
		Do: func() tea.Cmd { return cs.askLimit(one, cs.limits[one.key()].typed) },
	}
}

// askLimit asks how long calls of an item may take without progress; typed is what was typed before.
func (cs *calls) askLimit(one item, typed string) tea.Cmd {
	lines := []string{
		"Cancel calls of " + render.Safe(one.label()) + " after this time without progress, such as 5m or 500ms.",
		"none: no limit. Empty: the limit in the config.",
	}
	return cs.prompt("time limit", lines, typed, "set it", func(typed string) tea.Cmd {
		if typed == "" {
			delete(cs.limits, one.key())
			return nil
		}
		limit := config.Unlimited
		if typed != "none" {
			var err error
			if limit, err = config.ParseTime(typed); err != nil {
				return tea.Batch(cs.failWithHint(err), cs.askLimit(one, typed))
			}
			if limit <= 0 {
				cs.notify("the time limit must be more than 0", true)
				return cs.askLimit(one, typed)
			}
		}
		cs.limits[one.key()] = timeLimit{typed, limit}
		return nil
	})
}
