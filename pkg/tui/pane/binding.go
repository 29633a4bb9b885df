package pane

import (
	"slices"

	tea "charm.land/bubbletea/v2"
)

// Binding is one action of a key. Key handling, the help, and the reason why an action is impossible
// now all come from bindings, so that they never disagree.
type Binding struct {
	// Keys are Bubble Tea's names of the keys ("enter", "ctrl+r", "j"); the help shows the first.
	Keys []string
	// Help is a short description of the action.
	Help string
	// Off says why the key does nothing now; empty if it works.
	Off string
	// Mend goes to where the reason in Off can be removed; nil if there is no such place.
	Mend func()
	// Do performs the action. Not nil.
	Do func() tea.Cmd
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
