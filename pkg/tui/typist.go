package tui

import "time"

// typist remembers when text was typed last. A server can ask a question or change a list at any time,
// so the text field can be covered or disappear between two letters of a word. The rest of that word
// is neither an answer nor a command.
type typist struct {
	*shared
	editing  func() bool // of the pane that has the focus
	last     time.Time
	beneath  bool // keys go to the pane beneath the question
	dropping bool // keys are dropped: the text field is gone
}

// typingPause is how long no key must be pressed before toolx assumes that the user has seen what is new on the screen.
const typingPause = 700 * time.Millisecond

// typing reports whether the user is in the middle of typing.
func (t *typist) typing() bool {
	return !t.last.IsZero() && t.now().Sub(t.last) < typingPause
}

// settle ends the word if the user has paused; a key before that belongs to the word.
func (t *typist) settle() {
	switch {
	case !t.typing():
		t.beneath, t.dropping = false, false
	case t.beneath || t.dropping:
		t.last = t.now()
	}
}

// typed records whether a key was text. A key that calls a tool or answers a question ends the word.
func (t *typist) typed(text bool) {
	if t.last = (time.Time{}); text {
		t.last = t.now()
	}
}

// cover lets the user finish a word when a question appears over the text field.
func (t *typist) cover() {
	t.beneath = t.dialog == nil && t.editing() && t.typing()
}

// uncover drops the rest of a word whose text field is gone; was reports whether text was typed there.
func (t *typist) uncover(was bool) { t.dropping = was && t.typing() }
