package tui

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/tui/pane"
	"toolx/pkg/tui/timeline"
)

// panel is a pane with what its frame shows.
type panel interface {
	pane.Pane
	pane.Scrolling
	// Title returns the title for a number of cells.
	Title(room int) string
	// ClickTitle handles a click at a column of that title.
	ClickTitle(x, room int)
	// Hint returns what is in the bottom border; empty for the position.
	Hint() string
}

// panes are the panes, their places on the screen, and which of them has the focus. What is under the cursor of the
// tree is on the page.
type panes struct {
	*shared
	tree     *tree
	page     *page
	calls    *calls
	timeline *timeline.Timeline

	width, height int
	focus         area
	zoomed        bool
	grown         sizes
	dragged       area // whose border the mouse moves, areas if it moves none
	watching      bool // the user wants to see the timeline
}

// panel returns a pane.
func (p *panes) panel(a area) panel { return [areas]panel{p.tree, p.page, p.calls, p.timeline}[a] }

func (p *panes) focused() panel { return p.panel(p.focus) }

func (p *panes) layout() layout {
	return arrange(p.width, p.height, arrangement{
		focus: p.focus, zoomed: p.zoomed, result: p.calls.shown != nil, recorded: p.showsRecording(),
		watch: p.watching, names: p.tree.wants(), form: p.page.wants(p.width), timeline: p.timeline.Rows(),
		grown: p.grown,
	})
}

// setFocus moves the focus to a pane.
func (p *panes) setFocus(to area) {
	if p.hidden(to) != "" {
		return
	}
	p.focused().Focus(false)
	p.focus = to
	p.watching = p.watching || to == areaTimeline
	p.focused().Focus(true)
}

// hidden returns why a pane cannot have the focus.
func (p *panes) hidden(a area) string {
	if a == areaResult && p.showsRecording() {
		return "a recording has no results"
	}
	return pane.Off(a == areaResult && p.calls.shown == nil, "no calls yet")
}

// moveFocus moves the focus to the next pane that can have it.
func (p *panes) moveFocus(by int) {
	to := p.focus
	for range areas {
		to = (to + area(by) + areas) % areas
		if p.hidden(to) == "" {
			break
		}
	}
	p.setFocus(to)
}

// backTo returns where esc leads: from a call's result or the timeline to the tool, where letters become commands, and
// from there to the tree.
func (p *panes) backTo() area {
	if p.focus == areaPage || p.page.item.none() {
		return areaTree
	}
	return areaPage
}

// backKey returns the key that leaves a pane, also while letters are text if the pane does not use it to end that.
func (p *panes) backKey() pane.Binding {
	help, off := "back to the tools", ""
	switch {
	case p.focus == areaTree:
		help, off = "back", "there is nothing to leave; q quits"
	case p.backTo() == areaPage:
		help = "back to the " + p.page.item.kind.String()
	}
	back := pane.Do(func() {
		if p.setFocus(p.backTo()); p.focus == areaPage {
			p.page.form.StopTyping()
		}
	})
	leaves := pane.Find(p.focused().Bindings(), "esc") == nil
	return pane.Binding{Keys: []string{"esc"}, Help: help, Off: off, Do: back, Typing: leaves}
}

// focusKeys returns the keys that go to panes.
func (p *panes) focusKeys() []pane.Binding {
	keys := []pane.Binding{
		{Keys: []string{"tab"}, Help: "next pane", Do: pane.Do(func() { p.moveFocus(1) })},
		{Keys: []string{"shift+tab"}, Help: "previous pane", Do: pane.Do(func() { p.moveFocus(-1) })},
		p.backKey(),
	}
	for a := range areas {
		number := strconv.Itoa(int(a) + 1)
		keys = append(keys, pane.Binding{
			Keys: []string{number, "alt+" + number}, Help: "go to " + p.nameOf(a), Off: p.hidden(a), Typing: true,
			Do: pane.Do(func() { p.setFocus(a) }),
		})
	}
	return keys
}

// sizeKeys returns the keys that change how much of the screen a pane has.
func (p *panes) sizeKeys() []pane.Binding {
	alone := pane.Off(p.zoomed || p.width < mediumWidth, "it fills the screen")
	resize := func(by int) func() tea.Cmd { return pane.Do(func() { p.resize(by) }) }
	return []pane.Binding{
		{Keys: []string{"W"}, Help: "show or hide the timeline", Do: pane.Do(p.toggleTimeline)},
		{Keys: []string{"{"}, Help: "make this pane smaller", Off: alone, Do: resize(-1)},
		{Keys: []string{"}"}, Help: "make this pane larger", Off: alone, Do: resize(1)},
		{Keys: []string{"z"}, Help: "zoom this pane, or restore it", Do: pane.Do(func() { p.zoomed = !p.zoomed })},
	}
}

func (p *panes) toggleTimeline() {
	p.watching = !p.watching
	if !p.watching && p.focus == areaTimeline {
		p.setFocus(areaTree)
	}
}

// grow makes a pane larger by cells, as far as there is room; smaller if by is negative.
func (p *panes) grow(a area, by int) {
	p.grown[a] = p.layout().grown[a] + by
	p.grown[a] = p.layout().grown[a] // as far as there was room
}

// resize makes the pane with focus larger, or smaller if by is -1.
func (p *panes) resize(by int) {
	const columns, rows = 4, 2 // of one step
	l, a := p.layout(), p.focus
	if a == areaPage { // the others take from it
		by, a = -by, areaTree
		switch {
		case !l.panes[areaResult].empty():
			a = areaResult
		case l.panes[areaTimeline].h > 1:
			a = areaTimeline
		}
	}
	if a == areaTree || a == areaTimeline && l.column() {
		p.grow(a, by*columns)
		return
	}
	p.grow(a, by*rows)
}

// showSelected shows the row under the tree's cursor.
func (p *panes) showSelected() {
	at := p.tree.selected()
	switch {
	case !at.item.none():
		if p.page.showItem(at.item) {
			p.calls.showItem()
		}
	case at.group != nil && at.group.server != nil:
		p.page.showServer(at.group.server, at.serverList)
	default:
		p.page.showNothing()
	}
	if p.page.item.none() {
		p.calls.display(nil)
	}
	if p.hidden(p.focus) != "" { // the item is gone
		p.setFocus(areaTree)
	}
}

// goTo shows an item with arguments in its form, and moves the focus there.
func (p *panes) goTo(wanted item, arguments json.RawMessage) {
	if !p.tree.reveal(wanted.key()) {
		return
	}
	p.showSelected()
	p.page.tab = tabForm
	if len(arguments) > 0 {
		if err := p.page.form.SetArguments(arguments); err != nil {
			p.notify(err.Error(), true)
		}
	}
	p.setFocus(areaPage)
}

// goToServer moves the cursor to a server, and shows its page, which has the focus if only one pane is visible.
func (p *panes) goToServer(s *server) {
	p.tree.find(row{group: p.tree.groupOf(s.name)})
	p.setFocus(areaTree)
	p.showSelected()
	if l := p.layout(); l.panes[areaPage].empty() {
		p.setFocus(areaPage)
	}
}

// toProblem goes to the field that prevents the call.
func (p *panes) toProblem() {
	if !p.page.item.none() && len(p.page.form.Problems()) > 0 {
		p.page.show(tabForm)
		p.setFocus(areaPage)
		p.page.form.ToProblem()
	}
}

// compose joins the rows of the screen from its panes, all but the last one.
func (p *panes) compose() []string {
	l := p.layout()
	rows := make([]string, p.height-1)
	place := func(r rect, text string) {
		for i, line := range strings.Split(text, "\n") {
			rows[r.y+i] += line
		}
	}
	if !l.tabs.empty() {
		place(l.tabs, p.theme.Fit(strings.Join(p.tabs(), ""), l.tabs.w))
	}
	for a := range areas { // from left to right
		r, inside, shown := l.panes[a], l.inside(a), p.panel(a)
		if r.empty() {
			continue
		}
		title := fmt.Sprintf("%d %s", a+1, shown.Title(titleRoom(r)))
		block := shown.Render(inside.w, inside.h)
		if l.margin > 0 {
			block = " " + strings.ReplaceAll(block, "\n", "\n ")
		}
		frame := pane.Frame{Title: title, Role: p.border(a), Filled: a == p.focus, Extent: shown.Extent()}
		if frame.Hint = shown.Hint(); frame.Hint == "" {
			frame.Hint = p.theme.Paint(pane.Dim, frame.Extent.String())
		}
		place(r, p.theme.Framed(frame, block, r.w, r.h))
	}
	return rows
}

// border returns the role of a pane's border: a warning for a tool that needs confirmation.
func (p *panes) border(a area) pane.Role {
	switch {
	case a == areaPage && confirmed(p.page.item) != "":
		return pane.Warn
	case a == p.focus:
		return pane.Accent
	}
	return pane.Dim
}

// numberWidth is how many cells the number of a pane takes in its title.
const numberWidth = 2

// titleRoom returns how many cells the title of a pane can take, besides its number.
func titleRoom(border rect) int { return border.w - pane.AroundTitle - numberWidth }

// tabs returns the tabs of the panes on a screen that shows one at a time.
func (p *panes) tabs() []string {
	var tabs []string
	for a := range areas {
		role := pane.Plain
		switch {
		case a == p.focus:
			role = pane.Inverse
		case p.hidden(a) != "":
			role = pane.Dim
		}
		tabs = append(tabs, p.theme.Paint(role, fmt.Sprintf(" %d %s ", a+1, p.nameOf(a))))
	}
	return tabs
}

// at returns the pane at a place of the screen, and the rectangle of its content; areas if there is none.
func (p *panes) at(x, y int) (area, rect) {
	l := p.layout()
	for i, r := range l.panes {
		if r.contains(x, y) {
			return area(i), l.inside(area(i))
		}
	}
	return areas, rect{}
}
