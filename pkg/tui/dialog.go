package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/exec"
	"toolx/pkg/tui/pane"
)

// dialog stands over everything else and takes all keys.
type dialog struct {
	title string
	lines []string
	top   int // the first line that is shown
	// bindings are what can be answered; esc always closes.
	bindings []pane.Binding
	// about is the question that it belongs to, with which it goes away; may be nil.
	about *question
}

// ask opens a dialog with one thing to agree to, by one of keys.
func (m *model) ask(title string, lines, keys []string, agree string, do func() tea.Cmd) {
	m.dialog = &dialog{title: title, lines: lines, bindings: []pane.Binding{
		{Keys: keys, Help: agree, Do: do},
		{Keys: []string{"n"}, Help: "no", Do: func() tea.Cmd { return nil }},
	}}
}

// updateDialog takes a key while a dialog is open.
func (m *model) updateDialog(key tea.KeyPressMsg) tea.Cmd {
	open := m.dialog
	if binding := pane.Find(open.bindings, key.String()); binding != nil {
		m.dialog = nil
		return binding.Do()
	}
	switch key.String() {
	case "esc", "q", "?", "ctrl+c":
		m.dialog = nil
	case "down", "j", "pgdown", "space":
		open.top++
	case "up", "k", "pgup":
		open.top = max(0, open.top-1)
	}
	return nil
}

// renderDialog draws the open dialog, as wide as it needs to be.
func (m *model) renderDialog() string {
	d := m.dialog
	width := min(m.width-4, max(44, widest(d.lines)+4))
	var lines []string
	for _, line := range d.lines {
		lines = append(lines, pane.Wrap(line, width-4)...)
	}
	height := min(len(lines), m.height-5)
	d.top = max(0, min(d.top, len(lines)-height))
	rest := len(lines) - d.top - height
	lines = slices.Clone(lines[d.top : d.top+height])
	if rest > 0 && height > 1 {
		lines[height-1] = m.theme.Paint(pane.Dim, fmt.Sprintf("%s %s", m.theme.Glyphs.More, exec.Count(rest+1, "more line")))
	}
	answers := make([]string, 0, len(d.bindings)+1)
	for _, binding := range d.bindings {
		answers = append(answers, m.theme.Paint(pane.Strong, strings.Join(binding.Keys, ", "))+" "+binding.Help)
	}
	answers = append(answers, m.theme.Paint(pane.Strong, "esc")+" close")
	lines = append(lines, "", strings.Join(answers, "   "))
	return m.theme.Box(d.title, m.theme.Block(lines, width-2, len(lines)), width, len(lines)+2, true)
}
