// Package watch is the pane that shows what happens between toolx and its servers: stderr, the frames
// on the wire, logs and notices, past calls, and the latency of tools. It receives events, keeps a
// bounded number of them, and draws only the rows on the screen, so that a server that never stops printing
// costs no more than a quiet one. It counts dropped events and shows the count.
package watch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/exec"
	"toolx/pkg/tui/pane"
)

// Options configure the pane.
type Options struct {
	// History is the path of the execution log, empty if there is none.
	History string
	// Program is the command line or the address of a server on the command line, whose name is AdHoc; both are empty
	// if there is none.
	Program, AdHoc string
	// Here reports whether a tool of a server, or of toolx itself if server is empty, can be called in this run; nil
	// means that all can. It is called from another goroutine.
	Here func(server, tool string) bool
	// Hide masks secrets on the screen; nil shows everything.
	Hide func(string) string
	// Now is the clock, in the zone that times are shown in; nil means time.Now.
	Now func() time.Time
}

// Watch is the pane. It belongs to one goroutine.
type Watch struct {
	look    *look
	options Options
	begun   time.Time

	tabs    []tab
	active  int
	stderr  *stderrTab
	wire    *wireTab
	log     *logTab
	history *historyTab
	timing  *timingTab

	dropped int // events that the feed dropped
}

// New returns the pane.
func New(theme *pane.Theme, options Options) *Watch {
	if options.Now == nil {
		options.Now = time.Now
	}
	l := &look{theme: theme, hide: options.Hide, now: options.Now}
	w := &Watch{
		look: l, options: options, begun: options.Now(),
		stderr: newStderrTab(l), wire: newWireTab(l), log: newLogTab(l), history: newHistoryTab(l),
	}
	w.timing = newTimingTab(l, w.history)
	w.tabs = []tab{w.stderr, w.wire, w.log, w.history, w.timing}
	return w
}

// Init reads the history. Its HistoryMsg goes to Update.
func (w *Watch) Init() tea.Cmd { return readHistory(w.options, w.begun) }

// Take records an event. It is cheap, and keeps no more of the event than the bounds allow.
func (w *Watch) Take(event exec.Event) {
	w.stderr.take(event)
	w.wire.take(event)
	w.log.take(event)
	w.history.take(event)
}

// Dropped records that n events were lost before Take.
func (w *Watch) Dropped(n int) {
	if n <= 0 {
		return
	}
	w.dropped += n
	w.wire.doubt()
}

// Select sets the selected server, empty for toolx's own tools, and the selected tool, empty for none.
func (w *Watch) Select(server, tool string) {
	if w.look.tool != tool {
		w.timing.list = pane.List{}
	}
	w.look.selected, w.look.server, w.look.tool = true, server, tool
}

// Follow shows only what happened during a call, its frames first, until the user clears that. to is zero while the
// call runs.
func (w *Watch) Follow(server, call string, from, to time.Time) {
	w.look.selected, w.look.server = true, server
	w.look.call, w.look.from, w.look.to = call, from, to
	w.active = slices.Index(w.tabs, tab(w.wire))
}

// unfollow shows everything again.
func (l *look) unfollow() { l.call, l.from, l.to = "", time.Time{}, time.Time{} }

// Focus sets whether the pane has the focus.
func (w *Watch) Focus(on bool) {
	w.look.focus = on
	for _, t := range w.tabs {
		t.Focus(on)
	}
}

// Editing reports whether letters are text now.
func (w *Watch) Editing() bool { return w.tabs[w.active].Editing() }

// Title returns the tabs, for a number of cells, and how many events were lost. If there is no room, the count is
// dropped first, then all tabs but the active one.
func (w *Watch) Title(room int) string {
	title, _ := w.title(room)
	return title
}

// ClickTitle goes to the tab whose name is at a column of the title, for a number of cells, or to the next one if
// only the active tab fits. It reports whether a tab was clicked.
func (w *Watch) ClickTitle(x, room int) bool {
	title, spans := w.title(room)
	tab := pane.At(spans, x)
	switch {
	case tab >= 0:
		w.active = tab
	case spans == nil && x >= 0 && x < ansi.StringWidth(title):
		w.turn(1)
	default:
		return false
	}
	return true
}

// title also returns the position of each tab; nil if only the active one is named.
func (w *Watch) title(room int) (title string, spans []pane.Span) {
	theme := w.look.theme
	names := w.names()
	for i, t := range w.tabs {
		if n := t.count(); n >= 0 {
			names[i] += fmt.Sprintf(" %d", n)
		}
	}
	lost := ""
	if w.dropped > 0 {
		lost = " " + theme.Paint(pane.Warn, theme.Glyphs.Warn+roughly(w.dropped)+" lost")
	}
	tabs, spans := theme.Tabs(pane.Dim, names, w.active)
	short := theme.Paint(pane.Strong, "["+names[w.active]+"]") + fmt.Sprintf(" %d/%d", w.active+1, len(w.tabs))
	fits := func(title string) bool { return ansi.StringWidth(title) <= room }
	switch {
	case fits(tabs + lost):
		return tabs + lost, spans
	case fits(tabs):
		return tabs, spans
	case fits(short + lost):
		return short + lost, nil
	}
	return short, nil
}

// roughly formats a count in few cells: 9999, 932k, 1.2M.
func roughly(n int) string {
	switch {
	case n < 10_000:
		return strconv.Itoa(n)
	case n < 999_500:
		return fmt.Sprintf("%.0fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// Bindings returns what the keys do now.
func (w *Watch) Bindings() []pane.Binding {
	turn := func(by int) func() tea.Cmd { return pane.Do(func() { w.turn(by) }) }
	names := strings.Join(w.names(), ", ")
	next := pane.Binding{Keys: []string{"]"}, Help: "next of " + names, Short: "tabs", Do: turn(1)}
	previous := pane.Binding{Keys: []string{"["}, Help: "previous", Do: turn(-1)}
	own := w.tabs[w.active].Bindings()
	if w.Editing() {
		return own
	}
	if pane.Find(own, "right") == nil { // an opened tree has another use for the arrows
		next.Keys = append(next.Keys, "right", "l")
		previous.Keys = append(previous.Keys, "left", "h")
	}
	return append([]pane.Binding{next, previous}, own...)
}

// Rows returns how many rows the active tab can use.
func (w *Watch) Rows() int {
	if w.Empty() {
		return 0
	}
	return max(w.tabs[w.active].count(), w.Extent().Rows) + 1
}

// Extent returns the visible part of the active tab.
func (w *Watch) Extent() pane.Extent { return pane.ExtentOf(w.tabs[w.active]) }

// Recent returns the names of the tools, resources and prompts that were used, the latest first.
func (w *Watch) Recent() []string {
	var names []string
	all := &w.history.journal.all
	for number := all.end() - 1; number >= all.first && len(names) < maxRecent; number-- {
		if name := all.at(number).tool; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// maxRecent is how many names Recent returns.
const maxRecent = 30

// Empty reports whether the active tab has nothing to show: no rows, or only that a process was started.
func (w *Watch) Empty() bool {
	active := w.tabs[w.active]
	return active.count() == 0 || active == tab(w.stderr) && w.stderr.silent()
}

func (w *Watch) names() []string {
	names := make([]string, 0, len(w.tabs))
	for _, t := range w.tabs {
		names = append(names, t.name())
	}
	return names
}

func (w *Watch) turn(by int) { w.active = (w.active + by + len(w.tabs)) % len(w.tabs) }

// Update handles keys, as Bindings or as text, the mouse in the pane's own coordinates, and HistoryMsg.
func (w *Watch) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case HistoryMsg:
		w.history.load(msg)
		return nil
	case tea.KeyPressMsg:
		if cmd, ok := pane.Press(w.Bindings(), msg); ok {
			return cmd
		}
	}
	return w.tabs[w.active].Update(msg)
}

// Render draws exactly width by height cells.
func (w *Watch) Render(width, height int) string {
	if width <= 0 || height <= 0 {
		return w.look.theme.Block(nil, width, height)
	}
	return w.tabs[w.active].Render(width, height)
}
