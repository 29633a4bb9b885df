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

// searchKeys are what keys do while a search is typed.
func (t *Tree) searchKeys() []pane.Binding {
	return []pane.Binding{
		{Keys: []string{"enter"}, Help: "search", Do: func() tea.Cmd { t.stopSearch(); t.find(1); return nil }},
		{Keys: []string{"esc"}, Help: "leave the search", Do: func() tea.Cmd { t.stopSearch(); return nil }},
	}
}

// typed takes what is typed into a search.
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

// find goes to the next node, or the one before, whose name or value holds what is
// searched for, and opens what it is in. It goes around at the end.
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

// walk visits a node and all below it in their order, as long as any are left to
// visit.
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

// matches reports whether a node's own name or value holds a text in lower case. A
// string may be meant as it reads or as it is shown, but not by escapes that are not.
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

// reveal opens all that a node is in, and goes there.
func (t *Tree) reveal(n *node) {
	for at := n.parent; at != nil; at = at.parent {
		at.open = true
	}
	t.layout()
	t.goTo(n)
}
