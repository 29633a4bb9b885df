package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// typist remembers when text was typed last. Servers ask, and change what they list,
// when they like: the place of typing can be covered, or go away, between two letters of
// a word. The rest of that word was meant neither as an answer nor as commands.
type typist struct {
	last    time.Time
	beneath bool // keys go on to the pane beneath the question
	deaf    bool // keys go nowhere: what was typed there is gone
}

// typingPause is how long no key comes when a user has seen what is new on the screen.
const typingPause = 700 * time.Millisecond

// typing reports whether a user is in the middle of typing at a time.
func (t *typist) typing(now time.Time) bool {
	return !t.last.IsZero() && now.Sub(t.last) < typingPause
}

// settle ends what a pause ends; a key that still belongs elsewhere goes on with the word.
func (t *typist) settle(now time.Time) {
	switch {
	case !t.typing(now):
		t.beneath, t.deaf = false, false
	case t.beneath || t.deaf:
		t.last = now
	}
}

// typesInto gives a key to where it belongs: the question on the screen, nothing, or else
// the panes.
func (m *model) typesInto(key tea.KeyPressMsg) tea.Cmd {
	m.typist.settle(m.now())
	if m.typist.deaf && key.String() != "ctrl+c" {
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

// typed notes that a key has left the user in the middle of typing, or has not: one that
// calls a tool, or answers, ends the word.
func (m *model) typed(text bool) {
	if m.typist.last = (time.Time{}); text {
		m.typist.last = m.now()
	}
}

// cover lets the user finish a word that a question has come over.
func (m *model) cover() {
	m.typist.beneath = m.dialog == nil && m.focused().editing() && m.typist.typing(m.now())
}

// uncover takes the rest of a word whose place is gone; was says that text was typed there.
func (m *model) uncover(was bool) {
	m.typist.deaf = was && m.typist.typing(m.now())
}
