package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/tui/pane"
	"toolx/pkg/words"
)

// dialog is drawn over everything else and takes all keys.
type dialog struct {
	title string
	lines []string
	top   int // the first line that is shown
	page  int // how many lines were shown last
	// bindings are the possible answers; esc always closes.
	bindings []pane.Binding
	// place is where the dialog was drawn last. answers says where each of bindings, and then esc,
	// stands in its last line.
	place   rect
	answers []pane.Span
	// back runs if the user does not agree; may be nil.
	back func()
	// about is the question that the dialog belongs to and disappears with; may be nil.
	about *question
}

// ask opens a dialog with one thing to agree to, by any of keys.
func (m *model) ask(title string, lines, keys []string, agree string, do func() tea.Cmd) {
	d := &dialog{title: title, lines: lines}
	d.bindings = []pane.Binding{
		{Keys: keys, Help: agree, Do: do},
		{Keys: []string{"n"}, Help: "no", Do: func() tea.Cmd { return d.close() }},
	}
	m.dialog = d
}

// close returns the command for a dialog that is closed without agreement.
func (d *dialog) close() tea.Cmd {
	if d.back != nil {
		d.back()
	}
	return nil
}

// closeDialog closes the dialog without an answer.
func (m *model) closeDialog() tea.Cmd {
	closed := m.dialog
	m.dialog = nil
	return closed.close()
}

// updateDialog handles a key while a dialog is open.
func (m *model) updateDialog(key tea.KeyPressMsg) tea.Cmd {
	open := m.dialog
	if binding := pane.Find(open.bindings, key.String()); binding != nil {
		return m.answerDialog(binding)
	}
	switch key.String() {
	case "esc", "q", "?", "f1":
		return m.closeDialog()
	case "ctrl+c":
		m.dialog = nil
		return m.quit()
	default:
		open.scroll(key.String())
	}
	return nil
}

// scroll scrolls the lines of a dialog by a key; drawing limits the offset.
func (d *dialog) scroll(key string) {
	page, all := max(1, d.page-1), 1<<20
	by := map[string]int{
		"down": 1, "j": 1, "up": -1, "k": -1, "pgdown": page, "space": page, "ctrl+d": page, "pgup": -page, "ctrl+u": -page,
		"home": -all, "g": -all, "end": all, "G": all,
	}[key]
	d.top = max(0, d.top+by)
}

// answerDialog closes the dialog with one of its answers.
func (m *model) answerDialog(binding *pane.Binding) tea.Cmd {
	m.dialog = nil
	return binding.Do()
}

// clickDialog handles a click while a dialog is open: on an answer, or outside the dialog, which
// closes it.
func (m *model) clickDialog(x, y int) tea.Cmd {
	d := m.dialog
	if !d.place.contains(x, y) {
		return m.closeDialog()
	}
	if y != d.place.y+d.place.h-2 { // the last line within its border
		return nil
	}
	for i, answer := range d.answers {
		switch {
		case !answer.Holds(x - d.place.x - 1):
		case i < len(d.bindings):
			return m.answerDialog(&d.bindings[i])
		default:
			return m.closeDialog()
		}
	}
	return nil
}

// renderDialog draws the open dialog, as wide as it needs to be, and returns its position on the
// screen.
func (m *model) renderDialog() (box string, x, y int) {
	d := m.dialog
	answers := d.answerLine(m.theme)
	width := min(m.width-4, max(44, widest(d.lines)+4, m.theme.Width(answers)+2))
	var lines []string
	for _, line := range d.lines {
		lines = append(lines, pane.Wrap(line, width-4)...)
	}
	height := min(len(lines), m.height-5)
	d.top, d.page = max(0, min(d.top, len(lines)-height)), height
	above, below := d.top, len(lines)-d.top-height
	lines = slices.Clone(lines[d.top : d.top+height])
	if below > 0 && height > 1 {
		lines[height-1] = m.theme.Paint(pane.Dim, m.theme.Glyphs.More+" "+words.Count(below+1, "more line"))
	}
	if above > 0 && height > 2 {
		lines[0] = m.theme.Paint(pane.Dim, m.theme.Glyphs.More+" "+words.Count(above+1, "line")+" above")
	}
	lines = append(lines, "", answers)
	d.place = rect{(m.width - width) / 2, max(0, (m.height-len(lines)-2)/2), width, len(lines) + 2}
	box = m.theme.Box(d.title, m.theme.Block(lines, width-2, len(lines)), width, len(lines)+2, true)
	return box, d.place.x, d.place.y
}

// answerLine lists the possible answers.
func (d *dialog) answerLine(theme *pane.Theme) string {
	const gap = "   "
	answers := make([]string, 0, len(d.bindings)+1)
	for _, binding := range d.bindings {
		answers = append(answers, theme.Paint(pane.Strong, strings.Join(binding.Keys, ", "))+" "+binding.Help)
	}
	answers = append(answers, theme.Paint(pane.Strong, "esc")+" close")
	d.answers = d.answers[:0]
	left := 0
	for _, answer := range answers {
		right := left + ansi.StringWidth(answer)
		d.answers = append(d.answers, pane.Span{From: left, To: right})
		left = right + len(gap)
	}
	return strings.Join(answers, gap)
}
