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

// typing says whether a user is in the middle of typing at a time.
func (t *typist) typing(now time.Time) bool {
	return !t.last.IsZero() && now.Sub(t.last) < typingPause
}

// key notes a key at a time, before it is handled; text says that it goes into text.
func (t *typist) key(now time.Time, text bool) {
	if !t.typing(now) {
		t.beneath, t.deaf = false, false
	}
	if text || t.beneath || t.deaf {
		t.last = now
	}
}

// noteKey notes a key, and says who gets it: a question, nobody (nothing), or else the
// panes.
func (m *model) noteKey(key tea.KeyPressMsg) (q *question, nothing bool) {
	now := m.now()
	m.typist.key(now, false)
	if q = m.asking(); m.typist.beneath {
		q = nil
	}
	editing := m.focused().editing()
	if q != nil {
		editing = q.editing()
	}
	m.typist.key(now, editing && key.Text != "")
	return q, m.typist.deaf && key.String() != "ctrl+c"
}

// cover lets the user finish a word that a question has come over.
func (m *model) cover() {
	m.typist.beneath = m.dialog == nil && m.focused().editing() && m.typist.typing(m.now())
}

// uncover takes the rest of a word whose place is gone; was says that text was typed there.
func (m *model) uncover(was bool) {
	m.typist.deaf = was && m.typist.typing(m.now())
}
