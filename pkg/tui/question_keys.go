package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/servers/protocol"
	"toolx/pkg/tui/pane"
)

// editing reports whether the user is typing text.
func (q *question) editing() bool {
	return q.button == inTheForm && !q.whole && q.form.Editing()
}

// moreKeys returns the other keys of a question. While text is typed, only keys that are not text work.
func (qs *questions) moreKeys(q *question) []pane.Binding {
	help := func() tea.Cmd { return qs.help(q) }
	whole := pane.Off(q.form == nil || !q.long() && !q.whole, "it is visible already")
	keys := []pane.Binding{
		{Keys: []string{"ctrl+t"}, Help: "the server's full text", Off: whole, Do: pane.Do(q.turn)},
		{Keys: []string{"ctrl+c"}, Help: "quit", Do: qs.quit},
		{Keys: []string{"ctrl+z"}, Help: "suspend", Do: suspend},
		{Keys: []string{"f1"}, Help: "help", Do: help},
	}
	if q.editing() {
		return keys
	}
	cancel := func() tea.Cmd {
		c := q.running()[0]
		c.cancelRunning()
		// Send the answer after the cancellation, since with it the server could finish the call.
		send := qs.answered(q, protocol.Cancel, nil)
		return after(func() any { return <-c.done }, func(any) tea.Cmd { send(); return nil })
	}
	return append(
		keys,
		pane.Binding{Keys: []string{"x"}, Help: "cancel the call", Off: q.noCall(), Do: cancel},
		pane.Binding{Keys: []string{"?"}, Help: "help", Do: help},
	)
}

// update handles input for the question on the screen.
func (qs *questions) update(msg tea.Msg) tea.Cmd {
	q := qs.first()
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return qs.updateKey(q, msg)
	case tea.MouseMsg:
		return qs.updateMouse(q, msg)
	}
	if q.editing() {
		return q.form.Update(msg)
	}
	return nil
}

// updateKey handles a key: as an answer, as text, in the form, or on the buttons.
func (qs *questions) updateKey(q *question, key tea.KeyPressMsg) tea.Cmd {
	name := key.String()
	q.note = ""
	if name == "esc" && q.whole {
		q.turn()
		return nil
	}
	answers := qs.answers(q)
	stopsTyping := name == "esc" && q.editing() && pane.Find(q.form.Bindings(), name) != nil
	if binding := pane.Find(answers, name); binding != nil && !stopsTyping {
		return q.do(binding)
	}
	if binding := pane.Find(qs.moreKeys(q), name); binding != nil {
		return q.do(binding)
	}
	scroll := pane.Find(q.list.ScrollKeys("space"), name)
	switch {
	case scroll != nil && (q.whole || q.form == nil && q.long() && name != "space"):
		return scroll.Do()
	case q.whole:
		return nil
	case q.button == inTheForm:
		return q.updateForm(key)
	}
	return q.updateButtons(name, answers)
}

// do runs the action of a key, or shows in the dialog why it is not possible.
func (q *question) do(binding *pane.Binding) tea.Cmd {
	if binding.Off != "" {
		q.note = binding.Help + ": " + binding.Off
		if binding.Fix != nil {
			binding.Fix()
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
			q.focus(inTheForm)
		}
	case "left", "shift+tab", "up", "h", "k":
		switch {
		case q.button > 0:
			q.button--
		case q.form != nil && key != "left" && key != "h":
			q.focus(inTheForm)
		}
	}
	return nil
}

// focus moves the focus to the form or to the buttons.
func (q *question) focus(at int) {
	q.button = at
	if q.form != nil {
		q.form.Focus(at == inTheForm)
	}
}

// turn switches between the form and the full text of the server.
func (q *question) turn() { q.whole, q.list = !q.whole, pane.List{} }

// updateMouse handles the wheel, and clicks on a button or in the form.
func (qs *questions) updateMouse(q *question, msg tea.MouseMsg) tea.Cmd {
	at := rect{x: q.drawn.x, y: q.drawn.y}.mouse(msg.Mouse())
	inForm := q.form != nil && !q.whole && q.drawn.form.contains(at.X, at.Y)
	inside := q.drawn.form.mouse(at)
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		if inForm {
			return q.form.Update(tea.MouseWheelMsg(inside))
		}
		q.list.Scroll(pane.Wheel(msg))
	case tea.MouseClickMsg:
		answers := qs.answers(q)
		button := slices.IndexFunc(q.drawn.buttons, func(button rect) bool { return button.contains(at.X, at.Y) })
		switch {
		case at.Button != tea.MouseLeft:
		case button >= 0 && button < len(answers):
			return q.do(&answers[button])
		case inForm:
			q.focus(inTheForm)
			return q.form.Update(tea.MouseClickMsg(inside))
		}
	}
	return nil
}

// help shows the keys while a question is open.
func (qs *questions) help(q *question) tea.Cmd {
	lines := keyLines(qs.theme, qs.answers(q))
	if q.form != nil {
		lines = append(lines, keyLines(qs.theme, q.form.Bindings())...)
	}
	qs.openDialog("keys", append(lines, keyLines(qs.theme, qs.moreKeys(q))...))
	return nil
}
