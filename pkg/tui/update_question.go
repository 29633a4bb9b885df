package tui

import (
	tea "charm.land/bubbletea/v2"

	"toolx/pkg/tui/pane"
)

// editing reports whether letters are text now.
func (q *question) editing() bool {
	return q.button == inForm && !q.whole && q.form.Editing()
}

// moreKeys returns the other keys of a question. While text is typed, only keys that are not text
// work.
func (m *model) moreKeys(q *question) []pane.Binding {
	keys := []pane.Binding{
		{Keys: []string{"ctrl+t"}, Help: "all that the server says", Off: off(q.form == nil || !q.long() && !q.whole, "it is on the screen"), Do: q.turn},
		{Keys: []string{"ctrl+c"}, Help: "quit", Do: m.quit},
		{Keys: []string{"ctrl+z"}, Help: "suspend", Do: func() tea.Cmd { return tea.Suspend }},
		{Keys: []string{"f1"}, Help: "help", Do: func() tea.Cmd { return m.helpQuestion(q) }},
	}
	if q.editing() {
		return keys
	}
	return append(
		keys,
		pane.Binding{Keys: []string{"x"}, Help: "cancel the call", Off: q.noAsker(), Do: func() tea.Cmd { return m.cancelAsker(q) }},
		pane.Binding{Keys: []string{"?"}, Help: "help", Do: func() tea.Cmd { return m.helpQuestion(q) }},
	)
}

// updateQuestion handles a key while a question is asked: as an answer, as text, in the form, or on
// the buttons.
func (m *model) updateQuestion(q *question, key tea.KeyPressMsg) tea.Cmd {
	name := key.String()
	q.note = ""
	if name == "esc" && q.whole {
		return q.turn()
	}
	answers := m.questionKeys(q)
	if binding := pane.Find(answers, name); binding != nil && !(name == "esc" && q.editing()) {
		return q.do(binding)
	}
	if binding := pane.Find(m.moreKeys(q), name); binding != nil {
		return q.do(binding)
	}
	switch {
	case q.whole || q.form == nil && q.scrolls(name):
		q.scroll(name)
		return nil
	case q.button == inForm:
		return q.updateForm(key)
	}
	return q.updateButtons(name, answers)
}

// do runs the action of a key, or says in the dialog why it is not possible.
func (q *question) do(binding *pane.Binding) tea.Cmd {
	if binding.Off != "" {
		q.note = binding.Help + ": " + binding.Off
		if binding.Mend != nil {
			binding.Mend()
		}
		return nil
	}
	return binding.Do()
}

// updateForm passes a key to the form. The buttons come after its last field and before its first.
func (q *question) updateForm(key tea.KeyPressMsg) tea.Cmd {
	own := pane.Find(q.form.Bindings(), key.String())
	works := own != nil && own.Off == ""
	switch {
	case q.form.Editing() && (own == nil || works):
		return q.form.Update(key)
	case works:
		return own.Do()
	case key.String() == "tab", key.String() == "shift+tab":
		q.focus(noButton)
		return nil
	case own != nil:
		return q.do(own)
	}
	return q.form.Update(key)
}

// updateButtons moves between the buttons and presses one.
func (q *question) updateButtons(key string, answers []pane.Binding) tea.Cmd {
	switch key {
	case "enter", "space":
		if q.button >= 0 && q.button < len(answers) {
			return q.do(&answers[q.button])
		}
	case "right", "tab", "down", "l", "j":
		switch {
		case q.button < len(answers)-1:
			q.button++
		case key == "tab" && q.form != nil:
			q.focus(inForm)
		}
	case "left", "shift+tab", "up", "h", "k":
		switch {
		case q.button > 0:
			q.button--
		case q.form != nil && key != "left" && key != "h":
			q.focus(inForm)
		}
	}
	return nil
}

// focus moves the focus to the form or to the buttons.
func (q *question) focus(at int) {
	q.button = at
	if q.form != nil {
		q.form.Focus(at == inForm)
	}
}

// turn switches between the form and the full text of the server.
func (q *question) turn() tea.Cmd {
	q.whole, q.top = !q.whole, 0
	return nil
}

// scrolls reports whether a key scrolls the server's text, when nothing else can move.
func (q *question) scrolls(key string) bool {
	switch key {
	case "up", "down", "pgup", "pgdown", "j", "k":
		return q.long()
	}
	return false
}

func (q *question) scroll(key string) {
	by := map[string]int{
		"down": 1, "j": 1, "up": -1, "k": -1, "pgdown": 10, "space": 10, "pgup": -10,
		"home": -1 << 20, "g": -1 << 20, "end": 1 << 20, "G": 1 << 20,
	}[key]
	q.top = max(0, q.top+by)
}

// updatePaste passes pasted text to what takes text: a question before the panes.
func (m *model) updatePaste(msg tea.PasteMsg) tea.Cmd {
	m.typist.settle(m.now())
	switch q := m.asking(); {
	case m.dialog != nil:
		return nil
	case q == nil || m.typist.beneath:
		return m.focused().update(msg)
	case q.editing():
		return q.form.Update(msg)
	}
	return nil
}

// mouseQuestion handles the wheel, and clicks on a button or in the form.
func (m *model) mouseQuestion(q *question, msg tea.MouseMsg) tea.Cmd {
	at := msg.Mouse()
	x, y := at.X-q.drawn.x, at.Y-q.drawn.y
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		if q.form != nil && !q.whole && q.drawn.form.contains(x, y) {
			at.X, at.Y = x-q.drawn.form.x, y-q.drawn.form.y
			return q.form.Update(tea.MouseWheelMsg(at))
		}
		q.top = max(0, q.top+pane.Wheel(msg))
	case tea.MouseClickMsg:
		if at.Button != tea.MouseLeft {
			return nil
		}
		answers := m.questionKeys(q)
		for i, button := range q.drawn.buttons {
			if button.contains(x, y) && i < len(answers) {
				return q.do(&answers[i])
			}
		}
		if q.form != nil && !q.whole && q.drawn.form.contains(x, y) {
			q.focus(inForm)
			at.X, at.Y = x-q.drawn.form.x, y-q.drawn.form.y
			return q.form.Update(tea.MouseClickMsg(at))
		}
	}
	return nil
}

// helpQuestion shows what the keys do while a question is asked.
func (m *model) helpQuestion(q *question) tea.Cmd {
	lines := m.keyLines("answer", m.questionKeys(q))
	if q.form != nil {
		lines = append(lines, m.keyLines("form", q.form.Bindings())...)
	}
	lines = append(lines, m.keyLines("everywhere", m.moreKeys(q))...)
	m.dialog = &dialog{title: "keys", lines: lines}
	return nil
}
