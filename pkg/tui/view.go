package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"toolx/pkg/tui/pane"
)

// View draws the screen.
func (m *model) View() tea.View {
	view := tea.NewView(m.screen())
	view.AltScreen = true
	view.MouseMode = tea.MouseModeCellMotion
	view.WindowTitle = "toolx"
	return view
}

// screen returns the whole screen as text.
func (m *model) screen() string {
	if m.width < minWidth || m.height < minHeight {
		text := fmt.Sprintf("toolx needs %d×%d cells, here are %d×%d", minWidth, minHeight, m.width, m.height)
		return m.theme.Block(pane.Wrap(text, max(1, m.width)), m.width, m.height)
	}
	screen := m.compose(m.layout())
	if q := m.questions.first(); q != nil {
		box, x, y := m.questions.render(q, m.width, m.height)
		screen = over(m.theme, screen, box, x, y)
	}
	if m.dialog != nil {
		box, x, y := m.dialog.render(m.theme, m.width, m.height)
		screen = over(m.theme, screen, box, x, y)
	}
	return screen
}

// over draws a box over a screen.
func over(theme *pane.Theme, screen, box string, x, y int) string {
	width, height := lipgloss.Size(screen)
	layer := lipgloss.NewLayer(box).X(x).Y(y)
	both := lipgloss.NewCompositor(lipgloss.NewLayer(screen), layer).Render() // without spaces at the ends
	return theme.Block(strings.Split(both, "\n"), width, height)
}

func (m *model) layout() layout {
	return arrange(m.width, m.height, arrangement{
		focus: m.focus, zoomed: m.zoomed, result: m.calls.shown != nil, watch: m.watching, finds: m.tree.typing,
	})
}

// compose joins the panes row by row: they tile the screen, so a row is its panes from left to right.
func (m *model) compose(l layout) string {
	rows := make([]strings.Builder, m.height)
	place := func(r rect, text string) {
		for i, line := range strings.Split(text, "\n") {
			rows[r.y+i].WriteString(line)
		}
	}
	if !l.tabs.empty() {
		place(l.tabs, m.theme.Fit(strings.Join(m.tabs(), ""), l.tabs.w))
	}
	for _, a := range []area{areaTree, areaPage, areaResult, areaWatch} { // from left to right
		if r := l.panes[a]; !r.empty() {
			place(r, m.renderPane(a, r))
		}
	}
	place(l.status, m.renderStatus(l.status.w))
	lines := make([]string, m.height)
	for i := range rows {
		lines[i] = rows[i].String()
	}
	return strings.Join(lines, "\n")
}

// renderPane draws a pane in its border.
func (m *model) renderPane(a area, r rect) string {
	width, height := r.w-2, r.h-2
	title, block := a.String(), ""
	switch a {
	case areaTree:
		block = m.tree.render(width, height)
	case areaPage:
		title, _ = m.page.title()
		block = m.page.render(width, height, m.foot(width))
	case areaResult:
		block = m.calls.render(width, height)
	case areaWatch:
		block = m.watch.Render(width, height)
		title = m.watch.Title() // fitted to what was rendered
	}
	return m.theme.Box(title, block, r.w, r.h, a == m.focus)
}

// foot returns the last lines of the page: the subscription's state, the server's suggestions, and how to run the item.
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
	return append(lines, m.theme.Cut(m.page.callLine(), width))
}

// tabs returns the tabs of the panes on a screen that shows one at a time.
func (m *model) tabs() []string {
	var tabs []string
	for a := range areas {
		role := pane.Plain
		switch {
		case a == m.focus:
			role = pane.Selected
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

// placedHints returns the hints that fit, and where they stand.
func (m *model) placedHints(width int) (texts []string, spans []pane.Span) {
	for _, binding := range m.hints() {
		texts = append(texts, m.theme.Hint(binding))
	}
	spans = pane.Spans(texts, hintGap)
	for len(spans) > 0 && spans[len(spans)-1].To+len(hintGap) > width {
		spans = spans[:len(spans)-1]
	}
	return texts[:len(spans)], spans
}

// hints returns the keys for the status line, the most useful first.
func (m *model) hints() []pane.Binding {
	if m.questions.first() != nil || m.dialog != nil {
		return nil // what stands over the panes has its own
	}
	var hints []pane.Binding
	all := append(m.always(), m.focused().bindings()...)
	if !m.focused().editing() {
		all = append(all, m.common()...)
	}
	help := "?"
	if m.focused().editing() {
		help = "f1"
	}
	keys := []string{help}
	if s := m.tree.server(); s != nil && s.down() {
		keys = append(keys, "r")
	}
	for _, key := range append(keys, "enter", "letters", "ctrl+r", "x", "esc", "/", "tab", "]", "f2", "y", "q") {
		if binding := pane.Find(all, key); binding != nil && binding.Off == "" {
			shown := *binding
			shown.Keys = []string{key}
			if slices.ContainsFunc(hints, func(hint pane.Binding) bool { return hint.Help == shown.Help }) {
				continue
			}
			hints = append(hints, shown)
		}
	}
	return hints
}
