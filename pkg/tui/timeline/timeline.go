// Package timeline is the pane that shows what happens between toolx and its servers as one list on one clock: frames,
// stderr, unexpected lines of stdout, log messages, process events, and past calls. It follows the call or the server
// that is selected. It keeps a bounded number of rows and draws only the visible ones, so that a server that never
// stops printing costs no more than a quiet one. It counts dropped events and shows the count.
package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/exec"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/jsontree"
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
	// Recorded reports whether the events are those of a recording: calls cannot be repeated, and a request waits no
	// longer.
	Recorded bool
}

// Subject is what the timeline follows: a call, else a server.
type Subject struct {
	Server string // empty: toolx's own tools
	Tool   string // empty: none
	// Call is the name of the followed call, empty if there is none. It began at From; To is zero while it runs.
	Call     string
	From, To time.Time
	Took     time.Duration // by the tool; zero while it runs
}

// scope is how much of the subject is shown.
type scope int

const (
	scopeSubject scope = iota // the call, else the server
	scopeServer
	scopeAll
)

// Timeline is the pane. It belongs to one goroutine.
type Timeline struct {
	look
	options Options
	begun   time.Time
	unread  error // why calls of earlier runs are missing
	dropped int   // events that were lost before Take

	subject *Subject // nil while nothing is selected
	scope   scope
	only    filter
	view    view
	typed   pane.Search // its Query leaves rows out while it is typed
	search  pane.Search
	detail  *detail
	height  int // of the visible rows
}

// New returns the pane.
func New(theme *pane.Theme, options Options) *Timeline {
	if options.Now == nil {
		options.Now = time.Now
	}
	rows := &store{peers: make(map[wire.Head]*peer), recorded: options.Recorded}
	return &Timeline{
		look:    look{theme: theme, hide: options.Hide, now: options.Now, rows: rows},
		options: options, begun: options.Now(),
		typed: pane.NewSearch("filter: "), search: pane.NewSearch("search: "),
	}
}

// Init reads the history. Its HistoryMsg goes to Update.
func (t *Timeline) Init() tea.Cmd { return readHistory(t.options, t.begun) }

// Take records an event. It is cheap, and keeps no more of the event than the bounds allow.
func (t *Timeline) Take(event exec.Event) { t.rows.take(event) }

// Dropped records that n events were lost before Take. One of them may have been the response to a request.
func (t *Timeline) Dropped(n int) {
	if n <= 0 {
		return
	}
	t.dropped += n
	for _, p := range t.rows.peers {
		p.mark(stateUnsure)
	}
}

// Follow sets what the timeline shows; nil means everything.
func (t *Timeline) Follow(subject *Subject) { t.subject = subject }

// Focus sets whether the pane has the focus.
func (t *Timeline) Focus(on bool) {
	t.focus = on
	if t.detail != nil {
		t.detail.Focus(on)
	}
}

// Editing reports whether letters are text now.
func (t *Timeline) Editing() bool {
	return t.typed.Typing || t.search.Typing || t.detail != nil && t.detail.Editing()
}

// choice returns which rows are shown now.
func (t *Timeline) choice() choice {
	c := choice{shows: t.only.shows(), text: t.typed.Query, all: t.shown() == scopeAll}
	if s := t.subject; !c.all {
		c.server = s.Server
		switch {
		case t.shown() == scopeServer:
		case t.only == filterCalls:
			c.tool = s.Tool
		default:
			c.during(s)
		}
	}
	return c
}

// shown returns the scope of the rows that are shown.
func (t *Timeline) shown() scope {
	narrow := t.subject != nil && (t.subject.Call != "" || t.only == filterCalls && t.subject.Tool != "")
	switch {
	case t.subject == nil:
		return scopeAll
	case t.scope == scopeSubject && !narrow:
		return scopeServer
	}
	return t.scope
}

// refresh updates the view from the rest of the state.
func (t *Timeline) refresh() { t.view.show(t.rows, t.choice()) }

// Rows returns how many rows the pane can use; 0 if it has nothing to show.
func (t *Timeline) Rows() int {
	t.refresh()
	rows := len(t.view.hits)
	switch {
	case t.detail != nil:
		return t.detail.rows()
	case rows == 0 && !t.Editing() && t.typed.Query == "":
		return 0
	case t.lastLine(80) != "":
		rows++
	}
	return rows
}

// Hint returns nothing: the bottom border has the position.
func (t *Timeline) Hint() string { return "" }

// Extent returns the visible part of the rows, or of the one that is open.
func (t *Timeline) Extent() pane.Extent {
	if t.detail != nil {
		return pane.ExtentOf(t.detail.Pane)
	}
	return t.view.list.Extent()
}

// Title returns what is followed and the filters, for a number of cells. If there is no room, all filters but the
// current one are left out, or how many events were lost.
func (t *Timeline) Title(room int) string {
	title, _ := t.title(room)
	return title
}

// ClickTitle selects the filter at a column of the title, or the next one if only the current one fits.
func (t *Timeline) ClickTitle(x, room int) {
	_, at := t.title(room)
	if i := at(x); i >= 0 {
		t.turn(i - int(t.only))
	}
}

// title also returns the filter at a column, or -1.
func (t *Timeline) title(room int) (title string, at func(x int) int) {
	theme := t.theme
	what := theme.Paint(pane.Strong, t.subjectText())
	if t.typed.Query != "" {
		what += " " + theme.Paint(pane.Warn, "&"+t.safe(t.typed.Query, 20))
	}
	lost := ""
	if t.dropped > 0 {
		lost = " " + theme.Paint(pane.Warn, theme.Glyphs.Warn+roughly(t.dropped)+" lost")
	}
	filters, tab := theme.Tabs(t.filters(), int(t.only), room-2-theme.Width(what))
	if theme.Width(what+lost)+2+theme.Width(filters) > room {
		lost = ""
	}
	what = theme.Cut(what, room-theme.Width(filters)-2) + lost
	gap := max(1, room-theme.Width(what)-theme.Width(filters))
	line := strings.Repeat(" ", gap)
	if gap > 2 && !t.focus {
		line = " " + theme.Paint(pane.Dim, strings.Repeat(theme.Glyphs.Horizontal, gap-2)) + " "
	}
	left := theme.Width(what) + gap
	return theme.Cut(what+line+filters, room), func(x int) int { return tab(x - left) }
}

// subjectText names what is followed.
func (t *Timeline) subjectText() string {
	of := "timeline of "
	if t.only == filterCalls {
		of = "calls of "
	}
	switch {
	case t.subject == nil && len(t.rows.servers()) == 0:
		return "timeline"
	case t.shown() == scopeAll:
		return of + "all servers"
	case t.shown() == scopeServer:
		return of + cmp.Or(t.safe(t.subject.Server, 30), "toolx")
	case t.only == filterCalls:
		return of + t.safe(plainName(t.subject.Tool, t.subject.Server), 30)
	}
	return "during " + t.safe(plainName(t.subject.Call, t.subject.Server), 40)
}

// plainName returns a tool's name without its server's.
func plainName(name, server string) string { return strings.TrimPrefix(name, server+exec.Separator) }

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

// filters returns the names of the filters. A recording has messages, but no calls.
func (t *Timeline) filters() []string {
	if t.options.Recorded {
		return filterNames()[:filterCalls]
	}
	return filterNames()
}

// turn goes to another filter.
func (t *Timeline) turn(by int) {
	n := len(t.filters())
	t.only, t.detail = filter((int(t.only)+by+n)%n), nil
}

// widen shows more, or after everything the subject alone.
func (t *Timeline) widen() {
	t.scope = (t.shown() + 1) % (scopeAll + 1)
}

// Recent returns the names of the tools, resources and prompts that were used, the latest first.
func (t *Timeline) Recent() []string {
	var names []string
	for r := range t.rows.calls().backward() {
		if len(names) == maxRecent {
			break
		}
		if !slices.Contains(names, r.call.Tool) {
			names = append(names, r.call.Tool)
		}
	}
	return names
}

// maxRecent is how many names Recent returns.
const maxRecent = 30

// Bindings returns what the keys do now. While text is typed, no binding may take a letter, even to say that it does
// nothing now.
func (t *Timeline) Bindings() []pane.Binding {
	switch {
	case t.search.Typing:
		return t.search.TypingKeys(func() { t.find(-1, true) })
	case t.typed.Typing:
		return []pane.Binding{
			{Keys: []string{"enter"}, Help: "filter", Do: pane.Do(t.typed.Stop)},
			{Keys: []string{"esc"}, Help: "stop typing", Do: pane.Do(func() { t.typed.Stop(); t.typed.Forget() })},
		}
	case t.detail != nil && t.detail.Editing():
		return t.detail.Bindings()
	}
	turn := func(by int) func() tea.Cmd { return pane.Do(func() { t.turn(by) }) }
	next := pane.Binding{
		Keys: []string{"]"}, Help: "next of " + strings.Join(t.filters(), ", "), Short: "filter", Do: turn(1),
	}
	previous := pane.Binding{Keys: []string{"["}, Help: "previous filter", Do: turn(-1)}
	if t.detail != nil {
		return append([]pane.Binding{next, previous}, t.detail.Bindings()...)
	}
	next.Keys = append(next.Keys, "right", "l")
	previous.Keys = append(previous.Keys, "left", "h")
	return slices.Concat([]pane.Binding{next, previous}, t.callKeys(), t.rowKeys())
}

// rowKeys returns the keys of the list.
func (t *Timeline) rowKeys() []pane.Binding {
	t.refresh()
	none := pane.Off(len(t.view.hits) == 0, "there are no rows")
	noSearch := pane.Off(t.search.Query == "", "no search yet; / starts one")
	bindings := append(pane.Moves(t.view.move, max(1, t.height)), []pane.Binding{
		{Keys: []string{"f"}, Help: "follow, or stop", Do: pane.Do(func() { t.view.stopped = !t.view.stopped })},
		{Keys: []string{"enter", "space"}, Help: "open the row", Off: none, Do: pane.Do(t.openRow)},
		{Keys: []string{"&"}, Help: "filter by text", Do: func() tea.Cmd { return t.typed.Start(t.typed.Query) }},
		{Keys: []string{"/", "ctrl+f"}, Help: "search", Off: none, Do: func() tea.Cmd { return t.search.Start("") }},
		{Keys: []string{"n"}, Help: "next match", Off: noSearch, Do: pane.Do(func() { t.find(1, false) })},
		{Keys: []string{"N"}, Help: "previous match", Off: noSearch, Do: pane.Do(func() { t.find(-1, false) })},
		{
			Keys: []string{"A"}, Help: "show this call, its server, or all servers",
			Off: pane.Off(t.subject == nil, "no server is selected"), Do: pane.Do(t.widen),
		},
		{Keys: []string{"y", "c"}, Help: "copy the row", Off: none, Do: t.copyRow},
	}...)
	if t.typed.Query != "" || t.search.Query != "" {
		forget := pane.Do(func() { t.typed.Forget(); t.search.Forget() })
		bindings = append(bindings, pane.Binding{Keys: []string{"esc"}, Help: "clear filter and search", Do: forget})
	}
	return bindings
}

// find moves to the next row in a direction (1 or -1) that contains the query. It looks at the row under
// the cursor first if here is set, else last.
func (t *Timeline) find(by int, here bool) {
	t.refresh()
	from := t.view.list.Cursor
	if here {
		from -= by
	}
	holds := func(i int) bool { return t.view.hits[i].contains(t.search.Query) }
	if i, ok := t.search.Find(len(t.view.hits), from, by, holds); ok {
		t.view.move(i - t.view.list.Cursor)
	}
}

// openRow opens the row under the cursor.
func (t *Timeline) openRow() {
	t.refresh()
	if r := t.view.current(); r != nil {
		t.view.stopped = true // the row is still there on the way back
		t.detail = newDetail(t, r)
	}
}

func (t *Timeline) copyRow() tea.Cmd {
	r := t.view.current()
	if r == nil {
		return nil
	}
	return jsontree.Copied(t.masked(r.text), "the row")
}

// Update handles keys, as Bindings or as text, the mouse in the pane's own coordinates, and HistoryMsg. A filter
// applies while it is typed, a search on enter.
func (t *Timeline) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case HistoryMsg:
		t.load(msg)
		return nil
	case tea.KeyPressMsg:
		if cmd, ok := pane.Press(t.Bindings(), msg); ok {
			return cmd
		}
	}
	t.refresh()
	switch {
	case t.search.Typing:
		return t.search.Update(msg)
	case t.typed.Typing:
		cmd := t.typed.Update(msg)
		t.typed.Query = t.typed.Text()
		return cmd
	case t.detail != nil:
		return t.detail.Update(msg)
	}
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		t.view.scroll(pane.Wheel(msg), t.height)
	case tea.MouseClickMsg:
		t.click(msg.Y)
	}
	return nil
}

// click moves to a row; a second click there opens it.
func (t *Timeline) click(y int) {
	at := t.view.list.Top() + y
	switch {
	case y < 0 || y >= t.height || at >= len(t.view.hits):
	case at == t.view.list.Cursor && t.view.stopped:
		t.openRow()
	default:
		t.view.move(at - t.view.list.Cursor)
		t.view.stopped = true
	}
}

// Render draws exactly width by height cells: the rows around the cursor, and below them what there is to say.
func (t *Timeline) Render(width, height int) string {
	switch {
	case width <= 0 || height <= 0:
		return t.theme.Block(nil, width, height)
	case t.detail != nil:
		return t.detail.Render(width, height)
	}
	t.refresh()
	last := t.lastLine(width)
	if height < 2 && !t.Editing() {
		last = ""
	}
	t.height = height
	if last != "" {
		t.height = max(1, height-1)
	}
	from, to := t.view.window(t.height)
	var lines []string
	for at := from; at < to; at++ {
		lines = append(lines, t.rowLine(at, width))
	}
	if from == to {
		lines = append(lines, t.theme.Paint(pane.Dim, t.emptyText()))
	}
	if last == "" {
		return t.theme.Block(lines, width, height)
	}
	return strings.TrimPrefix(t.theme.Block(lines, width, height-1)+"\n"+t.theme.Fit(last, width), "\n")
}

func (t *Timeline) rowLine(at, width int) string {
	line := t.draw(t.view.hits[at], t.view.choice, width)
	if at == t.view.list.Cursor && t.focus {
		return t.theme.UnderCursor(line, true, width)
	}
	return t.search.Mark(t.theme, line, false)
}

// emptyText returns why there are no rows.
func (t *Timeline) emptyText() string {
	switch {
	case t.typed.Query != "":
		return "nothing matches the filter"
	case t.shown() == scopeAll:
		return "nothing yet"
	}
	return "nothing yet; press A to show more"
}

// lastLine returns the line below the rows, empty if there is nothing to say: what is typed, what is missing, or how
// long the tool usually takes.
func (t *Timeline) lastLine(width int) string {
	if t.typed.Typing {
		return t.typed.Line(t.theme, width)
	}
	if line := t.search.Line(t.theme, width); line != "" {
		return line
	}
	var facts []string
	if t.only == filterCalls && t.unread != nil {
		facts = append(facts, t.safe("earlier calls cannot be read: "+t.unread.Error(), 100))
	}
	if n := t.rows.dropped(t.view.choice); n > 0 {
		facts = append(facts, fmt.Sprintf("%d older rows dropped", n))
	}
	if len(facts) > 0 {
		return t.theme.Paint(pane.Dim, strings.Join(facts, ", "))
	}
	return t.timing(width)
}
