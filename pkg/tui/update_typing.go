package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// typist remembers when text was typed last. A server can ask a question or change a list at any time,
// so the text field can be covered or disappear between two letters of a word. The rest of that word
// is neither an answer nor a command.
type typist struct {
	last     time.Time
	beneath  bool // keys go to the pane beneath the question
	dropping bool // keys are dropped: the text field is gone
}

// typingPause is the pause without keys after which a user counts as having seen what is new on the
// screen.
const typingPause = 700 * time.Millisecond

// typing reports whether the user is in the middle of typing at now.
func (t *typist) typing(now time.Time) bool {
	return !t.last.IsZero() && now.Sub(t.last) < typingPause
}

// settle ends the word if the user has paused; a key before that belongs to the word.
func (t *typist) settle(now time.Time) {
	switch {
	case !t.typing(now):
		t.beneath, t.dropping = false, false
	case t.beneath || t.dropping:
		t.last = now
	}
}

// typesInto passes a key to where it belongs: the question on the screen, nothing, or the panes.
func (m *model) typesInto(key tea.KeyPressMsg) tea.Cmd {
	m.typist.settle(m.now())
	if m.typist.dropping && key.String() != "ctrl+c" {
		return nil
	}
	q := m.asking()
	if m.typist.beneath {
		q = nil
	}
	if q == nil {
		cmd := m.updatePanes(key)
		m.typed(m.focused().editing())
		return cmd
	}
	cmd := m.updateQuestion(q, key)
	m.typed(m.asking() == q && q.editing())
	return cmd
}

// typed records whether a key was text. A key that calls a tool or answers a question ends the word.
func (m *model) typed(text bool) {
	if m.typist.last = (time.Time{}); text {
		m.typist.last = m.now()
	}
}

// cover lets the user finish a word when a question appears over the text field.
func (m *model) cover() {
	m.typist.beneath = m.dialog == nil && m.focused().editing() && m.typist.typing(m.now())
}

// uncover drops the rest of a word whose text field is gone; was says that text was typed there.
func (m *model) uncover(was bool) {
	m.typist.dropping = was && m.typist.typing(m.now())
}
