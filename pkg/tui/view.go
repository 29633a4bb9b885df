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
	lines, boxes := m.compose(), m.boxes()
	if len(boxes) > 0 {
		backdrop(m.theme, lines)
	}
	lines = append(lines, m.renderStatus(m.width))
	for _, one := range boxes {
		text, x, y := one.render(m.width, m.height)
		over(m.theme, lines, text, x, y)
	}
	return strings.Join(lines, "\n")
}

// backdrop makes lines dim, as what is behind a box.
func backdrop(theme *pane.Theme, lines []string) {
	for i, line := range lines {
		lines[i] = theme.Paint(pane.Behind, ansi.Strip(line))
	}
}

// over draws a box over lines.
func over(theme *pane.Theme, lines []string, box string, x, y int) {
	for i, line := range strings.Split(box, "\n") {
		under := lines[y+i]
		right := ansi.TruncateLeft(under, x+theme.Width(line), "")
		missing := theme.Width(under) - x - theme.Width(line) - theme.Width(right) // half of a wide character
		left := ansi.Truncate(under, x, "")
		left += ansi.ResetStyle + strings.Repeat(" ", x-theme.Width(left))
		lines[y+i] = left + line + strings.Repeat(" ", missing) + right
	}
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
