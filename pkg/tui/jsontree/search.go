package jsontree

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/tui/pane"
)

// maxSearched bounds how many nodes a search looks at.
const maxSearched = 500_000

func (t *Tree) startSearch() tea.Cmd {
	t.typing, t.missed = true, false
	t.search.Reset()
	return t.search.Focus()
}

// searchKeys returns the keys while a search is typed.
func (t *Tree) searchKeys() []pane.Binding {
	return []pane.Binding{
		{Keys: []string{"enter"}, Help: "search", Do: func() tea.Cmd { t.stopSearch(); t.find(1); return nil }},
		{Keys: []string{"esc"}, Help: "leave the search", Do: func() tea.Cmd { t.stopSearch(); return nil }},
	}
}

// typed handles text typed into a search.
func (t *Tree) typed(msg tea.Msg) (cmd tea.Cmd) {
	if t.typing {
		t.search, cmd = t.search.Update(msg)
	}
	return cmd
}

func (t *Tree) stopSearch() {
	t.typing = false
	t.search.Blur()
}

// find moves to the next or previous node whose name or value contains the search text, and opens
// everything around it. It wraps around.
func (t *Tree) find(by int) {
	wanted := strings.ToLower(t.search.Value())
	if wanted == "" || t.root == nil {
		return
	}
	var first, before, after, last *node
	passed, current := false, t.current()
	left := maxSearched
	t.root.walk(&left, func(n *node) {
		switch matches := n.matches(wanted); {
		case n == current:
			passed = true
		case !matches:
			return
		case !passed:
			before = n
		case after == nil:
			after = n
		}
		if n.matches(wanted) {
			if first == nil {
				first = n
			}
			last = n
		}
	})
	found := after
	if found == nil {
		found = first
	}
	if by < 0 {
		if found = before; found == nil {
			found = last
		}
	}
	if t.missed = found == nil; !t.missed {
		t.reveal(found)
	}
}

// walk visits a node and all nodes below it in order, up to left nodes.
func (n *node) walk(left *int, visit func(*node)) {
	if *left--; *left < 0 {
		return
	}
	visit(n)
	if n.container() {
		for _, child := range n.children() {
			child.walk(left, visit)
		}
	}
}

// matches reports whether a node's own name or value contains a text in lower case. A string matches
// by its text and as it is shown, but not by escapes that are not shown.
func (n *node) matches(wanted string) bool {
	if holds(n.name(), wanted) {
		return true
	}
	if n.container() {
		return false
	}
	text := n.text()
	return holds(text, wanted) || n.kind() == '"' && strings.ContainsAny(wanted, `"\`) && holds(plain(text), wanted)
}

func holds(text, wanted string) bool { return strings.Contains(strings.ToLower(text), wanted) }

// reveal opens everything around a node and moves there.
func (t *Tree) reveal(n *node) {
	for at := n.parent; at != nil; at = at.parent {
		at.open = true
	}
	t.layout()
	t.goTo(n)
}
