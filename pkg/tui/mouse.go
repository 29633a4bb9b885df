package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/tui/pane"
)

// updateMouse scrolls the pane under the pointer, moves borders, and handles clicks: on tabs, on key hints, and inside
// the panes.
func (m *model) updateMouse(msg tea.MouseMsg) tea.Cmd {
	at := msg.Mouse()
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		if m.dialog != nil {
			m.dialog.list.Scroll(pane.Wheel(msg))
			return nil
		}
		if a, inside := m.paneAt(at.X, at.Y); a < areas {
			return m.parts[a].update(tea.MouseWheelMsg(inside.mouse(at)))
		}
	case tea.MouseMotionMsg:
		if m.dragged < areas {
			l := m.layout()
			m.grow(m.dragged, l.beyond(m.dragged, at.X, at.Y))
		}
	case tea.MouseReleaseMsg:
		m.dragged = areas
	case tea.MouseClickMsg:
		m.dragged = areas
		switch {
		case at.Button != tea.MouseLeft:
		case m.dialog != nil:
			return m.clickDialog(at.X, at.Y)
		default:
			return m.click(at)
		}
	}
	return nil
}

// paneAt returns the pane at a place of the screen, and the rectangle of its content; areas if there is none. A border
// that panes share belongs to the pane whose title it may contain.
func (m *model) paneAt(x, y int) (area, rect) {
	l := m.layout()
	for i, r := range slices.Backward(l.panes[:]) {
		if r.contains(x, y) {
			return area(i), l.inside(area(i))
		}
	}
	return areas, rect{}
}

// mouse translates a place on the screen into one within a rectangle.
func (r rect) mouse(at tea.Mouse) tea.Mouse {
	at.X, at.Y = at.X-r.x, at.Y-r.y
	return at
}

// click handles a click on the screen.
func (m *model) click(at tea.Mouse) tea.Cmd {
	l := m.layout()
	if l.status.contains(at.X, at.Y) {
		return m.clickHint(at.X - l.status.x)
	}
	if l.tabs.contains(at.X, at.Y) {
		m.clickTab(at.X - l.tabs.x)
		return nil
	}
	a, inside := m.paneAt(at.X, at.Y)
	if a == areas {
		return nil
	}
	m.dragged = l.borderAt(at.X, at.Y)
	local := inside.mouse(at)
	if m.dragged < areas && local.Y != -1 {
		return nil // a border without a title
	}
	m.setFocus(a)
	switch {
	case local.Y == -1:
		border := l.panes[a]
		m.clickTitle(a, at.X-border.x-pane.TitleLeft-1, border.w)
		return nil
	case local.X < 0 || local.X >= inside.w || local.Y >= inside.h:
		return nil // the border
	case a == areaResult && m.calls.isOnCancelHint(local, inside.w):
		m.calls.shown.cancelRunning()
		return nil
	case a == areaResult:
		local.Y-- // the headline
	case a == areaPage:
		if do := m.footAt(local, inside); do != nil {
			return do()
		}
	}
	return m.parts[a].update(tea.MouseClickMsg(local))
}

// clickTab goes to the pane of a tab, on a screen that shows one pane at a time.
func (m *model) clickTab(x int) {
	if at := pane.At(pane.Spans(m.tabs(), ""), x); at >= 0 {
		m.setFocus(area(at))
	}
}

// clickTitle goes to the tab at a column of the title of a pane, for a border of a width.
func (m *model) clickTitle(a area, x, width int) {
	switch a {
	case areaWatch:
		m.watch.ClickTitle(x, width)
	case areaPage:
		m.page.clickTitle(x, width)
	}
}

// footAt returns what a click on the last lines of the page does, nil for a click elsewhere.
func (m *model) footAt(at tea.Mouse, inside rect) func() tea.Cmd {
	foot := m.foot(inside.w)
	line := at.Y - (inside.h - len(foot))
	switch {
	case line < 0 || line >= len(foot) || at.X >= ansi.StringWidth(foot[line]):
	case line == len(foot)-1 && m.page.cannotRun() == "":
		return func() tea.Cmd { return m.do(pane.Find(m.always(), "ctrl+r")) }
	case line == len(foot)-2 && len(m.suggested.values) > 0:
		return pane.Do(m.suggested.take)
	}
	return nil
}

// clickHint runs the key whose hint is at a column of the status line.
func (m *model) clickHint(x int) tea.Cmd {
	if m.note.text != "" {
		return nil
	}
	_, spans := m.placedHints(m.width)
	if at := pane.At(spans, x); at >= 0 {
		return m.do(&m.hints()[at])
	}
	return nil
}
