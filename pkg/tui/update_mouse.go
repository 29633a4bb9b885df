package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/tui/pane"
)

// updateMouse scrolls the pane under the pointer, and handles clicks: on tabs, on key hints, and
// inside the panes.
func (m *model) updateMouse(msg tea.MouseMsg) tea.Cmd {
	at := msg.Mouse()
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		if m.dialog != nil {
			m.dialog.top = max(0, m.dialog.top+pane.Wheel(msg))
			return nil
		}
		if a, inside := m.paneAt(at.X, at.Y); a < areas {
			return m.parts[a].update(tea.MouseWheelMsg(inside.mouse(at)))
		}
	case tea.MouseClickMsg:
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

// paneAt returns the pane at a place of the screen, and the rectangle within its border; areas if
// there is none.
func (m *model) paneAt(x, y int) (area, rect) {
	for i, r := range m.layout().panes {
		if r.contains(x, y) {
			return area(i), rect{r.x + 1, r.y + 1, r.w - 2, r.h - 2}
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
		return m.clickTab(at.X - l.tabs.x)
	}
	a, inside := m.paneAt(at.X, at.Y)
	if a == areas {
		return nil
	}
	focus := m.setFocus(a)
	local := inside.mouse(at)
	switch {
	case local.Y == -1:
		const left = 2 // cells of the border before the title, from the pane's inside on
		m.clickTitle(a, local.X-left)
		return focus
	case local.X < 0 || local.X >= inside.w || local.Y >= inside.h:
		return focus // the border
	case a == areaResult && m.clickRunning(local, inside.w):
		return m.cancelCall()
	case a == areaResult:
		local.Y-- // the headline
	case a == areaPage && m.onCallLine(local, inside):
		return m.do(pane.Find(m.always(), "ctrl+r"))
	case a == areaPage && m.onSuggestions(local, inside):
		return m.takeSuggestion()
	}
	return tea.Batch(focus, m.parts[a].update(tea.MouseClickMsg(local)))
}

// clickTab goes to the pane of a tab, on a screen that shows one pane at a time.
func (m *model) clickTab(x int) tea.Cmd {
	left := 0
	for a := range areas {
		if left += ansi.StringWidth(a.tab()); x < left {
			return m.setFocus(a)
		}
	}
	return nil
}

// clickTitle goes to the tab at a column of a pane's title.
func (m *model) clickTitle(a area, x int) {
	switch {
	case a == areaWatch:
		m.watch.ClickTitle(x)
	case a == areaPage && !m.page.item.none():
		title := ansi.Strip(m.page.title())
		for _, one := range m.page.tabs() {
			name := one.String()
			at := strings.LastIndex(title, name)
			left := ansi.StringWidth(title[:max(0, at)])
			if at >= 0 && (pane.Span{From: left, To: left + len(name)}).Holds(x) {
				m.page.show(one)
			}
		}
	}
}

// onCallLine reports whether a click is on the words below the form that say how to call the tool.
func (m *model) onCallLine(at tea.Mouse, inside rect) bool {
	if !m.page.runnable() || at.Y != inside.h-1 {
		return false
	}
	return m.cannotCall() == "" && at.X < ansi.StringWidth(m.page.callLine(""))
}

// onSuggestions reports whether a click is on the line of suggestions above the call line.
func (m *model) onSuggestions(at tea.Mouse, inside rect) bool {
	if !m.page.runnable() || len(m.suggested.values) == 0 || inside.h < 3 || at.Y != inside.h-2 {
		return false
	}
	return at.X < ansi.StringWidth(m.suggestionLine(inside.w))
}

// clickRunning reports whether a click is on the words that say how to cancel the call.
func (m *model) clickRunning(at tea.Mouse, width int) bool {
	if m.shown == nil || !m.shown.running() {
		return false
	}
	lines := m.runningLines(m.shown, width)
	return at.Y == len(lines) && at.X < ansi.StringWidth(lines[len(lines)-1]) // below the headline
}

// clickHint runs the key whose hint is at a column of the status line.
func (m *model) clickHint(x int) tea.Cmd {
	if m.note.text != "" {
		return nil
	}
	for _, hint := range m.placedHints(m.width) {
		if hint.Holds(x) {
			return m.do(hint.binding)
		}
	}
	return nil
}
