// Package pane holds what the panes of the terminal interface share: themes, key bindings with their help, lists that
// scroll, and text fitted to cells. A pane is a plain struct that draws itself into a rectangle with Render(width,
// height). It starts nothing and waits for nothing; whatever takes time it returns as a command.
package pane

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// Pane is a part of the screen that draws itself and takes keys while it has the focus.
type Pane interface {
	// Focus sets whether the pane has the focus. Losing it ends a search that is being typed.
	Focus(on bool)
	// Editing reports whether letters are text now.
	Editing() bool
	// Bindings returns what the keys do now.
	Bindings() []Binding
	// Update handles the keys of Bindings, typed text, and the mouse in the pane's own coordinates.
	Update(msg tea.Msg) tea.Cmd
	// Render draws exactly width by height cells.
	Render(width, height int) string
}

// Binding is one action of a key. Key handling, the help, and the reason why an action is impossible
// now all come from bindings, so that they never disagree.
type Binding struct {
	// Keys are Bubble Tea's names of the keys ("enter", "ctrl+r", "j"); the help shows the first.
	Keys []string
	// Help describes the action; it begins with a verb. Short is a word for it in a line of keys; empty means the first
	// word of Help.
	Help, Short string
	// Label names the keys in the help, together with those of rows without Help; empty means Keys.
	Label string
	// Off is the reason why the key does nothing now; empty if it works.
	Off string
	// Fix goes to where the reason in Off can be removed; nil if there is no such place.
	Fix func()
	// Typing reports whether the keys that are not text work while text is typed, too.
	Typing bool
	// Do performs the action. Not nil.
	Do func() tea.Cmd
}

// IsCommand reports whether the binding is an action with a name. What enter, arrows and the like do depends on the
// place.
func (b Binding) IsCommand() bool {
	return b.Help != "" && b.Label == "" && (len(b.Keys[0]) == 1 || strings.HasPrefix(b.Keys[0], "ctrl+"))
}

// Hint draws a binding's first key and what it does.
func (t *Theme) Hint(b Binding) string {
	return t.Paint(Strong, b.Keys[0]) + " " + t.Paint(Dim, b.Help)
}

// ShortHint draws a binding's first key and a word for what it does.
func (t *Theme) ShortHint(b Binding) string {
	short := b.Short
	if short == "" {
		short, _, _ = strings.Cut(b.Help, " ")
	}
	return t.Paint(Strong, b.Keys[0]) + " " + t.Paint(Dim, short)
}

// Find returns the binding of a key, or nil.
func Find(bindings []Binding, key string) *Binding {
	for i := range bindings {
		if slices.Contains(bindings[i].Keys, key) {
			return &bindings[i]
		}
	}
	return nil
}

// Without returns bindings without the keys that others, which take precedence, use.
func Without(bindings, others []Binding) []Binding {
	var left []Binding
	for _, binding := range bindings {
		binding.Keys = slices.DeleteFunc(slices.Clone(binding.Keys), func(key string) bool {
			other := Find(others, key)
			return other != nil && other.Off == ""
		})
		if len(binding.Keys) > 0 {
			left = append(left, binding)
		}
	}
	return left
}

// Press runs the action of a key; ok is false if the key has none that works now.
func Press(bindings []Binding, key tea.KeyPressMsg) (cmd tea.Cmd, ok bool) {
	if binding := Find(bindings, key.String()); binding != nil && binding.Off == "" {
		return binding.Do(), true
	}
	return nil, false
}

// Do makes a function the action of a binding.
func Do(f func()) func() tea.Cmd {
	return func() tea.Cmd { f(); return nil }
}

// Off returns reason if something cannot be done, for Binding.Off.
func Off(cannot bool, reason string) string {
	if cannot {
		return reason
	}
	return ""
}

// far is further than any list is long.
const far = 1 << 30

// Moves returns the keys that move by rows and pages, and to both ends. further are keys for a page
// down besides the usual ones.
func Moves(move func(by int), page int, further ...string) []Binding {
	to := func(by int) func() tea.Cmd { return Do(func() { move(by) }) }
	return []Binding{
		{Keys: []string{"down", "j"}, Label: "arrows, j, k", Help: "move", Do: to(1)},
		{Keys: []string{"up", "k"}, Do: to(-1)},
		{Keys: append([]string{"pgdown", "ctrl+d"}, further...), Label: "page keys", Help: "move by pages", Do: to(page)},
		{Keys: []string{"pgup", "ctrl+u"}, Do: to(-page)},
		{Keys: []string{"home", "g"}, Label: "g, G", Help: "go to the first or last row", Do: to(-far)},
		{Keys: []string{"end", "G"}, Do: to(far)},
	}
}
