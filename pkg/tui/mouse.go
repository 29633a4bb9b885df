package tui

import (
	tea "charm.land/bubbletea/v2"

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

// paneAt returns the pane at a place of the screen, and the rectangle of its content; areas if there is none.
func (m *model) paneAt(x, y int) (area, rect) {
	l := m.layout()
	for i, r := range l.panes {
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
		m.clickTitle(a, at.X-border.x-pane.TitleLeft-numberWidth, titleRoom(border))
		return nil
	case a == areaPage && local.Y == inside.h:
		return m.clickCallLine(at.X-l.panes[a].x, l.panes[a].w)
	case local.X < 0 || local.X >= inside.w || local.Y >= inside.h:
		return nil // the border
	case a == areaResult && m.calls.isOnCancelHint(local, inside.w):
		m.calls.shown.cancelRunning()
		return nil
	case a == areaPage && local.Y == inside.h-1 && m.page.runnable() && len(m.suggested.values) > 0:
		m.suggested.take()
		return nil
	}
	return m.parts[a].update(tea.MouseClickMsg(local))
}

// clickTab goes to the pane of a tab, on a screen that shows one pane at a time.
func (m *model) clickTab(x int) {
	if at := pane.At(pane.Spans(m.tabs(), ""), x); at >= 0 {
		m.setFocus(area(at))
	}
}

// clickTitle goes to the tab at a column of the title of a pane.
func (m *model) clickTitle(a area, x, room int) {
	switch a {
	case areaTree:
		if failed := m.servers.nextFailed(m.tree.server()); failed != nil && x > len(areaTree.String()) {
			m.revealServer(failed)
		}
	case areaTimeline:
		m.timeline.ClickTitle(x, room)
	case areaPage:
		m.page.clickTitle(x, room)
	case areaResult:
		m.calls.clickTitle(x-len(resultTitle), room-len(resultTitle))
	}
}

// clickCallLine runs the item on the page if a column of the bottom border is on the words that say how.
func (m *model) clickCallLine(x, width int) tea.Cmd {
	if hint := m.page.callLine(); m.page.cannotRun() != "" || !m.theme.HintSpan(hint, width).Holds(x) {
		return nil
	}
	return m.do(pane.Find(m.usable(), "ctrl+r"))
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
