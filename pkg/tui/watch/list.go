package watch

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
)

// tab is one of the tabs of the pane.
type tab interface {
	name() string
	// count returns how many rows there are, -1 if the tab has no rows to count.
	count() int
	bindings() []pane.Binding
	update(msg tea.Msg) tea.Cmd
	editing() bool
	setTheme(theme *pane.Theme)
	setFocus(on bool)
	// render draws exactly width by height cells.
	render(width, height int) string
}

// typing is what text is being typed for.
type typing int

const (
	typingNothing typing = iota
	typingFilter
	typingSearch
)

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
	everything bool // rows of all servers, not only of the selected one

	input  textinput.Model
	typing typing
	filter string // in lower case, as search
	search string
	missed bool // the last search found nothing
	detail *detail
	height int // of the rows that are seen
}

func newList[T entry](l *look, label string) list[T] {
	return list[T]{look: l, label: label, input: textinput.New()}
}

func (t *list[T]) name() string { return t.label }

func (t *list[T]) editing() bool {
	return t.typing != typingNothing || t.detail != nil && t.detail.editing()
}

func (t *list[T]) setTheme(theme *pane.Theme) {
	if t.detail != nil && t.detail.tree != nil {
		t.detail.tree.SetTheme(theme)
	}
}

func (t *list[T]) setFocus(on bool) {
	if t.detail != nil && t.detail.tree != nil {
		t.detail.tree.Focus(on)
	}
}

// ofAll reports whether the rows of all servers are shown, which is also so while no server is
// selected.
func (t *list[T]) ofAll() bool { return t.everything || !t.selected }

// refresh updates the view from the rest of the state.
func (t *list[T]) refresh() {
	rows := &t.journal.all
	if !t.ofAll() {
		rows = t.journal.of(t.server)
	}
	t.view.show(rows, t.filter)
}

func (t *list[T]) count() int {
	t.refresh()
	first, end := t.view.bounds()
	return end - first
}

func (t *list[T]) bindings() []pane.Binding {
	if t.detail != nil {
		return t.detail.bindings()
	}
	if t.typing != typingNothing {
		return t.typingBindings()
	}
	t.refresh()
	none := ""
	if first, end := t.view.bounds(); first == end {
		none = "there are no rows"
	}
	move := func(by int) func() tea.Cmd { return do(func() { t.view.move(by) }) }
	bindings := []pane.Binding{
		{Keys: []string{"down", "j"}, Help: "down", Do: move(1)},
		{Keys: []string{"up", "k"}, Help: "up", Do: move(-1)},
		{Keys: []string{"pgdown", "ctrl+d"}, Help: "a page down", Do: move(max(1, t.height))},
		{Keys: []string{"pgup", "ctrl+u"}, Help: "a page up", Do: move(-max(1, t.height))},
		{Keys: []string{"home", "g"}, Help: "oldest", Do: do(func() { t.view.set(0) })},
		{Keys: []string{"end", "G"}, Help: "newest, and follow", Do: do(t.follow)},
		{Keys: []string{"f"}, Help: "follow, or stop", Do: do(t.toggleFollow)},
		{Keys: []string{"enter", "space"}, Help: "open the row", Off: none, Do: do(t.openRow)},
		{Keys: []string{"/"}, Help: "filter", Do: func() tea.Cmd { return t.startTyping(typingFilter, "filter: ", t.filter) }},
		{Keys: []string{"s", "ctrl+f"}, Help: "search", Off: none, Do: func() tea.Cmd { return t.startTyping(typingSearch, "search: ", "") }},
		{Keys: []string{"n"}, Help: "next match", Off: t.noSearch(), Do: do(func() { t.find(1, false) })},
		{Keys: []string{"N"}, Help: "previous match", Off: t.noSearch(), Do: do(func() { t.find(-1, false) })},
		{Keys: []string{"a"}, Help: "this server, or all", Off: t.noServer(), Do: do(func() { t.everything = !t.everything })},
		{Keys: []string{"v"}, Help: "copy the row", Off: none, Do: t.copyRow},
	}
	if t.filter != "" || t.search != "" {
		bindings = append(bindings, pane.Binding{Keys: []string{"esc"}, Help: "clear filter and search", Do: do(t.clear)})
	}
	return bindings
}

// typingBindings returns the keys that are not text while text is typed. No other binding may take a
// letter, even to say that it does nothing now.
func (t *list[T]) typingBindings() []pane.Binding {
	enter := "filter"
	if t.typing == typingSearch {
		enter = "search"
	}
	return []pane.Binding{
		{Keys: []string{"enter"}, Help: enter, Do: do(func() { t.stopTyping(true) })},
		{Keys: []string{"esc"}, Help: "stop typing", Do: do(func() { t.stopTyping(false) })},
	}
}

func (t *list[T]) noSearch() string {
	if t.search == "" {
		return "nothing is searched for; s starts"
	}
	return ""
}

func (t *list[T]) noServer() string {
	if !t.selected {
		return "no server is selected"
	}
	return ""
}

func (t *list[T]) follow() { t.view.stopped = false }

func (t *list[T]) toggleFollow() { t.view.stopped = !t.view.stopped }

func (t *list[T]) clear() { t.filter, t.search, t.missed = "", "", false }

func (t *list[T]) find(by int, here bool) {
	t.refresh()
	t.missed = !t.view.find(t.search, by, here)
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
	return copied(t.masked(t.open(row).text), "the row")()
}

// update handles keys while text is typed, and the mouse in the tab's own coordinates.
func (t *list[T]) update(msg tea.Msg) tea.Cmd {
	t.refresh()
	switch {
	case t.detail != nil:
		return t.detail.update(msg)
	case t.typing != typingNothing:
		return t.typed(msg)
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
	at := t.view.top + y
	_, end := t.view.bounds()
	switch {
	case y < 0 || y >= t.height || at >= end:
	case at == t.view.cursor && t.view.stopped:
		t.openRow()
	default:
		t.view.set(at)
		t.view.stopped = true
	}
}

func (t *list[T]) startTyping(what typing, prompt, value string) tea.Cmd {
	t.typing, t.missed = what, false
	t.input.Prompt = prompt
	t.input.SetValue(value)
	t.input.CursorEnd()
	return t.input.Focus()
}

// typed handles a message while text is typed. A filter applies at once, a search on enter; esc
// cancels both.
func (t *list[T]) typed(msg tea.Msg) tea.Cmd {
	if key, ok := msg.(tea.KeyPressMsg); ok {
		switch key.String() {
		case "esc", "enter":
			t.stopTyping(key.String() == "enter")
			return nil
		}
	}
	var cmd tea.Cmd
	t.input, cmd = t.input.Update(msg)
	if safe := render.Safe(t.input.Value()); safe != t.input.Value() { // it was pasted
		t.input.SetValue(safe)
	}
	if t.typing == typingFilter {
		t.filter = strings.ToLower(t.input.Value())
	}
	return cmd
}

func (t *list[T]) stopTyping(take bool) {
	what := t.typing
	t.typing = typingNothing
	t.input.Blur()
	switch {
	case what == typingFilter && !take:
		t.filter = ""
	case what == typingSearch && take:
		if t.search = strings.ToLower(t.input.Value()); t.search != "" {
			t.find(-1, true)
		}
	}
}

func (t *list[T]) render(width, height int) string {
	if t.detail != nil {
		return t.detail.render(width, height)
	}
	t.refresh()
	t.height = max(1, height-1)
	from, to := t.view.window(t.height)
	lines := make([]string, 0, max(0, height))
	for at := from; at < to; at++ {
		lines = append(lines, t.drawRow(at, width))
	}
	if from == to {
		lines = append(lines, t.theme.Paint(pane.Dim, t.nothing()))
	}
	if height < 2 && t.typing == typingNothing {
		return t.theme.Block(lines, width, height)
	}
	rows := t.theme.Block(lines, width, height-1)
	return strings.TrimPrefix(rows+"\n"+t.theme.Fit(t.lastLine(width), width), "\n")
}

func (t *list[T]) drawRow(at, width int) string {
	line := t.draw(t.view.row(at), width)
	switch {
	case at == t.view.cursor && t.focus:
		return t.theme.Paint(pane.Selected, t.theme.Fit(ansi.Strip(line), width))
	case t.search != "" && holds(ansi.Strip(line), t.search):
		return t.emphasize(ansi.Strip(line), t.search)
	}
	return line
}

// serverColumn returns the server of a row, if rows of several servers are shown.
func (t *list[T]) serverColumn(server string) []string {
	const width = 12
	if !t.ofAll() || len(t.journal.byServer) < 2 {
		return nil
	}
	return []string{t.theme.Paint(pane.Name, t.theme.Fit(t.safe(server, width), width))}
}

// nothing says why there are no rows.
func (t *list[T]) nothing() string {
	switch {
	case t.filter != "":
		return "nothing matches the filter"
	case t.ofAll():
		return "nothing yet"
	case t.server == "":
		return "nothing of toolx's own tools; a shows all servers"
	}
	return "nothing of " + t.safe(t.server, 40) + " yet; a shows all servers"
}

// lastLine says what is shown and what is not.
func (t *list[T]) lastLine(width int) string {
	if t.typing != typingNothing {
		t.input.SetWidth(max(1, width-len(t.input.Prompt)-1))
		return t.input.View()
	}
	if t.missed {
		return t.theme.Paint(pane.Warn, "not found: "+t.safe(t.search, width))
	}
	return t.theme.Paint(pane.Dim, strings.Join(t.facts(width), ", "))
}

func (t *list[T]) facts(width int) []string {
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
	first, end := t.view.bounds()
	add(!t.view.stopped, "following")
	add(t.view.stopped, fmt.Sprintf("row %d of %d", min(t.view.cursor-first+1, end-first), end-first))
	add(t.filter != "", `filter "`+t.safe(t.filter, width)+`"`)
	add(t.ofAll(), "all servers")
	add(!t.ofAll(), t.scope(width))
	add(t.view.ring.first > 0, fmt.Sprintf("%d older dropped", t.view.ring.first))
	return facts
}

func (t *list[T]) scope(width int) string {
	if t.server == "" {
		return "toolx's own tools"
	}
	return t.safe(t.server, width)
}
