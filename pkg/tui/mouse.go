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
		if a, inside := m.at(at.X, at.Y); a < areas {
			return m.panel(a).Update(tea.MouseWheelMsg(inside.mouse(at)))
		}
	case tea.MouseMotionMsg:
		if m.dragged < areas {
			l := m.layout()
			m.grow(m.dragged, l.beyond(m.dragged, at.X, at.Y))
		}
	case tea.MouseReleaseMsg:
		m.dragged = areas
	case tea.MouseClickMsg:
		if m.dragged = areas; msg.Button == tea.MouseLeft {
			return m.click(at)
		}
	}
	return nil
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
		if to := pane.At(pane.Spans(m.tabs(), ""), at.X-l.tabs.x); to >= 0 {
			m.setFocus(area(to))
		}
		return nil
	}
	a, inside := m.at(at.X, at.Y)
	if a == areas {
		return nil
	}
	m.dragged = l.borderAt(at.X, at.Y)
	local := inside.mouse(at)
	if m.dragged < areas && local.Y != -1 {
		return nil // a border without a title
	}
	m.setFocus(a)
	switch border := l.panes[a]; {
	case local.Y == -1:
		m.panel(a).ClickTitle(at.X-border.x-pane.TitleLeft-numberWidth, titleRoom(border))
		return nil
	case a == areaPage && local.Y == inside.h:
		return m.clickCallLine(at.X-border.x, border.w)
	case local.X < 0 || local.X >= inside.w || local.Y >= inside.h:
		return nil // the border
	case a == areaPage && local.Y == inside.h-1 && m.page.runnable() && len(m.suggested.values) > 0:
		m.suggested.take()
		return nil
	}
	return m.panel(a).Update(tea.MouseClickMsg(local))
}

// clickCallLine runs the item on the page if a column of the bottom border is on the words that say how.
func (m *model) clickCallLine(x, width int) tea.Cmd {
	if hint := m.page.Hint(); m.page.cannotRun() != "" || !m.theme.HintSpan(hint, width).Holds(x) {
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
