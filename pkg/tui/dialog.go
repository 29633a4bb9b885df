package tui

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
	"toolx/pkg/tui/result"
	"toolx/pkg/words"
)

// dialog is drawn over everything else.
type dialog struct {
	shared *shared
	title  string
	role   pane.Role // of its border and its title
	lines  []string
	list   pane.List
	// bindings are the possible answers; the last one closes the dialog without any.
	bindings []pane.Binding
	// place is where the dialog was drawn last, answers where each of the bindings is in its last line.
	place   rect
	answers []pane.Span
	// input is the text field; nil if the dialog asks for no text.
	input *textinput.Model
	// about is the question that the dialog belongs to and disappears with; may be nil.
	about *question
}

// openDialog opens a dialog with possible answers.
func (s *shared) openDialog(title string, lines []string, answers ...pane.Binding) {
	d := &dialog{shared: s, title: title, role: pane.Accent, lines: lines}
	d.bindings = append(answers, pane.Binding{Keys: []string{"esc"}, Help: "close", Do: nothing})
	s.dialog = d
}

// ask opens a dialog that asks the user to agree with one of keys.
func (s *shared) ask(title, text string, keys []string, agree string, do func() tea.Cmd) {
	s.openDialog(title, strings.Split(text, "\n"), pane.Binding{Keys: keys, Help: agree, Do: do})
	no := pane.Binding{Keys: []string{"n"}, Help: "no", Do: nothing}
	s.dialog.bindings = slices.Insert(s.dialog.bindings, 1, no)
}

// prompt opens a dialog that asks for a line of text, with value in it; take gets what was typed.
func (s *shared) prompt(title string, lines []string, value, help string, take func(string) tea.Cmd) tea.Cmd {
	input := pane.NewInput("> ")
	input.SetValue(value)
	s.openDialog(title, lines, pane.Binding{Keys: []string{"enter"}, Help: help, Do: func() tea.Cmd {
		return take(strings.TrimSpace(input.Value()))
	}})
	s.dialog.input = &input
	return input.Focus()
}

// askPath asks for the path to save something to, again if the last one did not work.
func (s *shared) askPath(msg result.SaveMsg) tea.Cmd {
	var lines []string
	switch {
	case msg.Failed != "" && s.dialog != nil:
		s.notify(msg.Failed, true)
		return nil
	case msg.Failed != "":
		lines = []string{s.theme.Paint(pane.Bad, render.Safe(msg.Failed))}
	}
	return s.prompt(msg.Title, lines, msg.Path, "save", msg.Save)
}

// nothing is what happens when the dialog is closed without agreement.
func nothing() tea.Cmd { return nil }

// close closes the dialog with one of its answers; the last one does nothing.
func (d *dialog) close(binding *pane.Binding) tea.Cmd {
	d.shared.dialog = nil
	return binding.Do()
}

// update handles a key, the mouse, pasted text, or the blinking of the cursor.
func (d *dialog) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return d.updateKey(msg)
	case tea.MouseWheelMsg:
		d.list.Scroll(pane.Wheel(msg))
		return nil
	case tea.MouseClickMsg:
		return d.click(msg)
	}
	if d.input == nil {
		return nil
	}
	return pane.Type(d.input, msg)
}

func (d *dialog) updateKey(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	if d.input == nil && slices.Contains([]string{"q", "?", "f1"}, key) {
		return d.close(&d.bindings[len(d.bindings)-1])
	}
	if binding := pane.Find(d.bindings, key); binding != nil {
		return d.close(binding)
	}
	if key == "ctrl+c" {
		d.shared.dialog = nil
		return d.shared.quit()
	}
	if d.input != nil {
		return pane.Type(d.input, msg)
	}
	if scroll := pane.Find(d.list.ScrollKeys("space"), key); scroll != nil {
		return scroll.Do()
	}
	return nil
}

// click handles a click: on an answer, or outside the dialog, which closes it.
func (d *dialog) click(msg tea.MouseClickMsg) tea.Cmd {
	at := pane.At(d.answers, msg.X-d.place.x-2) // within the border and the margin
	switch {
	case msg.Button != tea.MouseLeft:
	case !d.place.contains(msg.X, msg.Y):
		return d.close(&d.bindings[len(d.bindings)-1])
	case at >= 0 && msg.Y == d.place.y+d.place.h-2: // the last line within its border
		return d.close(&d.bindings[at])
	}
	return nil
}

// least returns the minimum width of the dialog.
func (d *dialog) least() int {
	if d.input != nil {
		return 76 // an address, or a command
	}
	return 44
}

// render draws a dialog on a screen, as wide as it needs to be, and returns its position.
func (d *dialog) render(width, height int) (box string, x, y int) {
	theme := d.shared.theme
	const gap = "   "
	answers := make([]string, 0, len(d.bindings))
	for _, binding := range d.bindings {
		answers = append(answers, theme.Paint(pane.Strong, strings.Join(binding.Keys, ", "))+" "+binding.Help)
	}
	d.answers = pane.Spans(answers, gap)
	last := strings.Join(answers, gap)
	wide := min(width-4, max(d.least(), widest(d.lines)+4, theme.Width(last)+4, theme.Width(d.title)+6))
	var lines []string
	for _, line := range d.lines {
		lines = append(lines, pane.Wrap(line, wide-4)...)
	}
	if d.input != nil {
		d.input.SetWidth(wide - 8)
		lines = append(lines, "", d.input.View())
	}
	lines = append(theme.Scrolled(&d.list, lines, min(len(lines), height-5), ""), "", last)
	d.place = rect{(width - wide) / 2, max(0, (height-len(lines)-2)/2), wide, len(lines) + 2}
	if above := d.list.Top(); above > 0 && len(lines) > 4 {
		lines[0] = theme.Paint(pane.Dim, fmt.Sprintf("%s %s above", theme.Glyphs.More, words.Count(above+1, "line")))
	}
	for i, line := range lines {
		lines[i] = " " + line
	}
	block := theme.Block(lines, wide-2, len(lines))
	frame := pane.Frame{Title: " " + theme.Paint(d.role, d.title), Role: d.role, Extent: d.list.Extent()}
	return theme.Framed(frame, block, wide, len(lines)+2), d.place.x, d.place.y
}
