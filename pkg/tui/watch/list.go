package watch

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/tui/jsontree"
	"toolx/pkg/tui/pane"
)

// tab is one of the tabs of the pane.
type tab interface {
	pane.Pane
	name() string
	// count returns how many rows there are, -1 if the tab has no rows to count.
	count() int
}

// list is a tab that shows the rows of a journal. Its functions are what differs between tabs.
type list[T entry] struct {
	*look
	label string
	// draw returns a row without the cursor.
	draw func(row T, width int) string
	// open returns what a row shows when it is opened.
	open func(row T) opened
	// note returns more text for the last line; nil or empty for none.
	note func() string

	journal    journal[T]
	view       view[T]
	allServers bool // rows of all servers, not only of the selected one

	filter pane.Search // its Query leaves rows out while it is typed
	search pane.Search
	detail *detail
	height int // of the visible rows
}

func newList[T entry](l *look, label string) list[T] {
	return list[T]{look: l, label: label, filter: pane.NewSearch("filter: "), search: pane.NewSearch("search: ")}
}

func (t *list[T]) name() string { return t.label }

// Editing reports whether letters are text now.
func (t *list[T]) Editing() bool {
	return t.filter.Typing || t.search.Typing || t.detail != nil && t.detail.Editing()
}

// Focus sets whether the opened row has the focus.
func (t *list[T]) Focus(on bool) {
	if t.detail != nil {
		t.detail.Focus(on)
	}
}

// showsAllServers reports whether the rows of all servers are shown, as they are while no server is selected.
func (t *list[T]) showsAllServers() bool { return t.allServers || !t.selected }

// refresh updates the view from the rest of the state.
func (t *list[T]) refresh() {
	rows := &t.journal.all
	if !t.showsAllServers() {
		rows = t.journal.of(t.server)
	}
	t.view.show(rows, choice{t.filter.Query, t.from, t.to})
}

func (t *list[T]) count() int {
	t.refresh()
	return t.view.count()
}

// Bindings returns what the keys do now. While text is typed, no binding may take a letter, even to say
// that it does nothing now.
func (t *list[T]) Bindings() []pane.Binding {
	switch {
	case t.detail != nil:
		return t.detail.Bindings()
	case t.search.Typing:
		return t.search.TypingKeys(func() { t.find(-1, true) })
	case t.filter.Typing:
		return []pane.Binding{
			{Keys: []string{"enter"}, Help: "filter", Do: pane.Do(t.filter.Stop)},
			{Keys: []string{"esc"}, Help: "stop typing", Do: pane.Do(func() { t.filter.Stop(); t.filter.Forget() })},
		}
	}
	t.refresh()
	none, noServer := pane.Off(t.view.count() == 0, "there are no rows"), pane.Off(!t.selected, "no server is selected")
	turn := pane.Do(func() { t.allServers = !t.allServers })
	noSearch := pane.Off(t.search.Query == "", "no search yet; / starts one")
	bindings := append(pane.Moves(t.view.move, max(1, t.height))[:4], []pane.Binding{
		{Keys: []string{"home", "g"}, Help: "oldest", Do: pane.Do(func() { t.view.move(-t.view.count()) })},
		{Keys: []string{"end", "G"}, Help: "newest, and follow", Do: pane.Do(func() { t.view.stopped = false })},
		{Keys: []string{"f"}, Help: "follow, or stop", Do: pane.Do(func() { t.view.stopped = !t.view.stopped })},
		{Keys: []string{"enter", "space"}, Help: "open the row", Off: none, Do: pane.Do(t.openRow)},
		{Keys: []string{"&"}, Help: "filter", Do: func() tea.Cmd { return t.filter.Start(t.filter.Query) }},
		{Keys: []string{"/", "ctrl+f"}, Help: "search", Off: none, Do: func() tea.Cmd { return t.search.Start("") }},
		{Keys: []string{"n"}, Help: "next match", Off: noSearch, Do: pane.Do(func() { t.find(1, false) })},
		{Keys: []string{"N"}, Help: "previous match", Off: noSearch, Do: pane.Do(func() { t.find(-1, false) })},
		{Keys: []string{"A"}, Help: "this server, or all", Off: noServer, Do: turn},
		{Keys: []string{"c"}, Help: "copy the row", Off: none, Do: t.copyRow},
	}...)
	if t.filter.Query != "" || t.search.Query != "" || t.call != "" {
		forget := pane.Do(func() { t.filter.Forget(); t.search.Forget(); t.unfollow() })
		bindings = append(bindings, pane.Binding{Keys: []string{"esc"}, Help: "clear filter and search", Do: forget})
	}
	return bindings
}

// find moves to the next row in a direction (1 or -1) that contains the query. It looks at the row under
// the cursor first if here is set, else last.
func (t *list[T]) find(by int, here bool) {
	t.refresh()
	n, from := t.view.count(), t.view.list.Cursor
	if here {
		from -= by
	}
	holds := func(i int) bool { return t.view.row(i).contains(t.search.Query) }
	if i, ok := t.search.Find(n, from, by, holds); ok {
		t.view.move(i - t.view.list.Cursor)
	}
}

// Extent returns the visible part of the rows, or of the one that is open.
func (t *list[T]) Extent() pane.Extent {
	if t.detail != nil {
		return t.detail.Extent()
	}
	return t.view.list.Extent()
}

func (t *list[T]) openRow() {
	t.refresh()
	row, ok := t.view.current()
	if !ok {
		return
	}
	t.view.stopped = true // the row is still there on the way back
	t.detail = newDetail(t.look, t.open(row), func() { t.detail = nil })
}

func (t *list[T]) copyRow() tea.Cmd {
	row, ok := t.view.current()
	if !ok {
		return nil
	}
	return jsontree.Copied(t.masked(t.open(row).text), "the row")
}

// Update handles typed text, and the mouse in the tab's own coordinates. A filter applies while it is
// typed, a search on enter.
func (t *list[T]) Update(msg tea.Msg) tea.Cmd {
	t.refresh()
	switch {
	case t.detail != nil:
		return t.detail.Update(msg)
	case t.search.Typing:
		return t.search.Update(msg)
	case t.filter.Typing:
		cmd := t.filter.Update(msg)
		t.filter.Query = t.filter.Text()
		return cmd
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
func (t *list[T]) click(y int) {
	at := t.view.list.Top() + y
	switch {
	case y < 0 || y >= t.height || at >= t.view.count():
	case at == t.view.list.Cursor && t.view.stopped:
		t.openRow()
	default:
		t.view.move(at - t.view.list.Cursor)
		t.view.stopped = true
	}
}

// Render draws the rows around the cursor, and a description of them in the last line.
func (t *list[T]) Render(width, height int) string {
	if t.detail != nil {
		return t.detail.Render(width, height)
	}
	t.refresh()
	t.height = max(1, height-1)
	from, to := t.view.window(t.height)
	var lines []string
	for at := from; at < to; at++ {
		lines = append(lines, t.drawRow(at, width))
	}
	if from == to {
		lines = append(lines, t.theme.Paint(pane.Dim, t.emptyText()))
	}
	if height < 2 && !t.Editing() {
		return t.theme.Block(lines, width, height)
	}
	rows := t.theme.Block(lines, width, height-1)
	return strings.TrimPrefix(rows+"\n"+t.theme.Fit(t.lastLine(width), width), "\n")
}

func (t *list[T]) drawRow(at, width int) string {
	line := t.draw(t.view.row(at), width)
	if at == t.view.list.Cursor && t.focus {
		return t.theme.UnderCursor(line, true, width)
	}
	return t.search.Mark(t.theme, line, false)
}

// serverColumn returns the server of a row as a column, if rows of several servers are shown and are at least least
// wide.
func (t *list[T]) serverColumn(server string, width, least int) []string {
	const column = 12
	if width < least || !t.showsAllServers() || len(t.journal.byServer) < 2 {
		return nil
	}
	return []string{t.theme.Paint(pane.Name, t.theme.Fit(t.safe(server, column), column))}
}

// emptyText returns why there are no rows.
func (t *list[T]) emptyText() string {
	switch {
	case t.filter.Query != "":
		return "nothing matches the filter"
	case t.showsAllServers():
		return "nothing yet"
	case t.server == "":
		return "no rows of toolx's own tools; press A for all servers"
	}
	return "no rows of " + t.safe(t.server, 40) + " yet; press A for all servers"
}

// lastLine returns the last line: the position of the cursor, the filter, and the servers whose rows are shown.
func (t *list[T]) lastLine(width int) string {
	if t.filter.Typing {
		return t.filter.Line(t.theme, width)
	}
	if line := t.search.Line(t.theme, width); line != "" && (t.search.Typing || t.search.Missed) {
		return line
	}
	var facts []string
	add := func(holds bool, fact string) {
		if holds {
			facts = append(facts, fact)
		}
	}
	if t.note != nil {
		note := t.note()
		add(note != "", note)
	}
	n := t.view.count()
	add(t.call != "", "during "+t.safe(t.call, width))
	add(!t.view.stopped, "following")
	add(t.view.stopped, fmt.Sprintf("row %d of %d", min(t.view.list.Cursor+1, n), n))
	counted := t.search.Counted()
	add(counted != "", "match "+counted)
	add(t.filter.Query != "", `filter "`+t.safe(t.filter.Query, width)+`"`)
	add(t.showsAllServers(), "all servers")
	add(!t.showsAllServers() && t.server == "", "toolx's own tools")
	add(!t.showsAllServers() && t.server != "", t.safe(t.server, width))
	add(t.view.ring.first > 0, fmt.Sprintf("%d older dropped", t.view.ring.first))
	return t.theme.Paint(pane.Dim, strings.Join(facts, ", "))
}
