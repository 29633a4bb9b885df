package pane

import (
	"slices"

	tea "charm.land/bubbletea/v2"
)

// Binding is one thing that a key does. Keys, help and the reason why something
// cannot be done now all come from bindings, so that they never disagree.
type Binding struct {
	// Keys are what Bubble Tea calls the keys ("enter", "ctrl+r", "j"); the first
	// one is told in the help.
	Keys []string
	// Help says in a few words what the key does.
	Help string
	// Off says why the key does nothing now; empty where it works.
	Off string
	// Mend goes to where the reason in Off can be removed; nil where there is no such
	// place.
	Mend func()
	// Do does it. Not nil.
	Do func() tea.Cmd
}

// Find returns the binding of a key, nil where there is none.
func Find(bindings []Binding, key string) *Binding {
	for i := range bindings {
		if slices.Contains(bindings[i].Keys, key) {
			return &bindings[i]
		}
	}
	return nil
}
