package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/tui/pane"
)

// View draws the screen.
func (m *model) View() tea.View {
	view := tea.NewView(m.screen())
	view.AltScreen = true
	view.MouseMode = tea.MouseModeCellMotion
	view.WindowTitle = "toolx"
	if m.options.Config != nil {
		view.WindowTitle = strings.TrimSpace("toolx " + m.safe(m.options.Config()))
	}
	return view
}

// screen returns the whole screen as text.
func (m *model) screen() string {
	if m.width < minWidth || m.height < minHeight {
		text := fmt.Sprintf("toolx needs %d×%d cells, this terminal has %d×%d", minWidth, minHeight, m.width, m.height)
		text = m.theme.Signs(text)
		return m.theme.Block(pane.Wrap(text, max(1, m.width)), m.width, m.height)
	}
	screen := m.compose(m.layout())
	q := m.questions.first()
	if q != nil || m.dialog != nil {
		screen = backdrop(m.theme, screen)
	}
	if q != nil {
		box, x, y := m.questions.render(q, m.width, m.height)
		screen = over(m.theme, screen, box, x, y)
	}
	if m.dialog != nil {
		box, x, y := m.dialog.render(m.theme, m.width, m.height)
		screen = over(m.theme, screen, box, x, y)
	}
	if m.palette.open && m.dialog == nil && q == nil {
		lines := strings.Split(backdrop(m.theme, screen), "\n")
		lines[m.height-1] = m.renderStatus(m.width) // why a key does nothing
		box, x, y := m.palette.render(m.width, m.height)
		screen = over(m.theme, strings.Join(lines, "\n"), box, x, y)
	}
	return screen
}

// backdrop draws a screen as what is behind a dialog: all of it dim.
func backdrop(theme *pane.Theme, screen string) string {
	lines := strings.Split(ansi.Strip(screen), "\n")
	for i, line := range lines {
		lines[i] = theme.Paint(pane.Behind, line)
	}
	return strings.Join(lines, "\n")
}

// over draws a box over a screen.
func over(theme *pane.Theme, screen, box string, x, y int) string {
	lines := strings.Split(screen, "\n")
	for i, line := range strings.Split(box, "\n") {
		under := lines[y+i]
		right := ansi.TruncateLeft(under, x+theme.Width(line), "")
		missing := theme.Width(under) - x - theme.Width(line) - theme.Width(right) // half of a wide character
		left := ansi.Truncate(under, x, "")
		left += ansi.ResetStyle + strings.Repeat(" ", x-theme.Width(left))
		lines[y+i] = left + line + strings.Repeat(" ", missing) + right
	}
	return strings.Join(lines, "\n")
}

func (m *model) layout() layout {
	return arrange(m.width, m.height, arrangement{
		focus: m.focus, zoomed: m.zoomed, result: m.calls.shown != nil, watch: m.watching,
		names: m.tree.wants(), form: m.page.wants(len(m.foot(m.width))), timeline: m.timeline.Rows(), grown: m.grown,
	})
}

// compose joins the rows of the screen from its panes.
func (m *model) compose(l layout) string {
	rows := make([]strings.Builder, m.height)
	place := func(r rect, text string) {
		if r.empty() {
			return
		}
		for i, line := range strings.Split(text, "\n") {
			rows[r.y+i].WriteString(line)
		}
	}
	place(l.tabs, m.theme.Fit(strings.Join(m.tabs(), ""), l.tabs.w))
	for a := range areas { // from left to right
		r, inside := l.panes[a], l.inside(a)
		if r.empty() {
			continue
		}
		frame, block := m.renderPane(a, inside, titleRoom(r))
		if l.margin > 0 {
			block = " " + strings.ReplaceAll(block, "\n", "\n ")
		}
		place(r, m.theme.Framed(frame, block, r.w, r.h))
	}
	place(l.status, m.renderStatus(l.status.w))
	lines := make([]string, m.height)
	for y := range rows {
		lines[y] = rows[y].String()
	}
	return strings.Join(lines, "\n")
}

// border returns the role of a pane's border: a warning for a tool that needs confirmation.
func (m *model) border(a area) pane.Role {
	switch {
	case a == areaPage && confirmed(m.page.item) != "":
		return pane.Warn
	case a == m.focus:
		return pane.Accent
	}
	return pane.Dim
}

// numberWidth is how many cells the number of a pane takes in its title.
const numberWidth = 2

// resultTitle is before the calls in the title of the result.
const resultTitle = "result  "

// titleRoom returns how many cells the title of a pane can take, besides its number.
func titleRoom(border rect) int { return border.w - pane.AroundTitle - numberWidth }

// renderPane draws the content of a pane, and returns its frame.
func (m *model) renderPane(a area, inside rect, room int) (frame pane.Frame, block string) {
	width, height := inside.w, inside.h
	frame = pane.Frame{Role: m.border(a), Filled: a == m.focus}
	var title string
	switch a {
	case areaTree:
		block, frame.Extent, frame.Hint = m.tree.render(width, height), m.tree.list.Extent(), m.tree.position()
		title = m.tree.title(room)
	case areaPage:
		title, _ = m.page.title(room)
		block, frame.Extent = m.page.render(width, height, m.foot(width)), m.page.extent()
		frame.Hint = m.page.callLine()
	case areaResult:
		chips, _, _ := m.calls.title(room - len(resultTitle))
		title = m.theme.Paint(pane.Dim, resultTitle) + chips
		block, frame.Extent, frame.Hint = m.calls.render(width, height), m.calls.extent(), m.calls.hint()
	default:
		title = m.timeline.Title(room)
		block, frame.Extent = m.timeline.Render(width, height), m.timeline.Extent()
	}
	if frame.Hint == "" {
		frame.Hint = m.theme.Paint(pane.Dim, frame.Extent.String())
	}
	frame.Title = fmt.Sprintf("%d %s", a+1, title)
	return frame, block
}

// foot returns the last lines of the page: the subscription's state, and the server's suggestions.
func (m *model) foot(width int) []string {
	if !m.page.runnable() {
		return nil
	}
	var lines []string
	if state := m.subscriptions.state(); state != "" {
		lines = append(lines, m.theme.Cut(m.theme.Paint(pane.Accent, m.theme.Glyphs.On+" "+state), width))
	}
	if line := m.suggested.line(width); line != "" {
		lines = append(lines, line)
	}
	return lines
}

// tabs returns the tabs of the panes on a screen that shows one at a time.
func (m *model) tabs() []string {
	var tabs []string
	for a := range areas {
		role := pane.Plain
		switch {
		case a == m.focus:
			role = pane.Inverse
		case m.hidden(a) != "":
			role = pane.Dim
		}
		tabs = append(tabs, m.theme.Paint(role, fmt.Sprintf(" %d %s ", a+1, a)))
	}
	return tabs
}

// renderStatus draws the status line: the last message, or the most useful keys.
func (m *model) renderStatus(width int) string {
	if m.note.text != "" {
		role := pane.Good
		if m.note.bad {
			role = pane.Warn
		}
		return m.theme.Fit(m.theme.Paint(role, m.safe(m.note.text)), width)
	}
	texts, _ := m.placedHints(width)
	return m.theme.Fit(strings.Join(texts, hintGap), width)
}

// hintGap separates two hints.
const hintGap = "  "

// placedHints returns the hints that fit, and their positions.
func (m *model) placedHints(width int) (texts []string, spans []pane.Span) {
	for _, binding := range m.hints() {
		texts = append(texts, m.theme.ShortHint(binding))
	}
	spans = pane.Spans(texts, hintGap)
	for len(spans) > 0 && spans[len(spans)-1].To+len(hintGap) > width {
		spans = spans[:len(spans)-1]
	}
	return texts[:len(spans)], spans
}
