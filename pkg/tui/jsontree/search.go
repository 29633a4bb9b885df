package jsontree

import (
	"slices"
	"strings"
)

// maxSearched bounds how many nodes a search looks at.
const maxSearched = 500_000

// find moves to the next or previous node whose name or value matches, and opens everything around it. Without a
// search, it finds differences. It looks at the node under the cursor first if here is set, else last.
func (t *Tree) find(by int, here bool) {
	fits := func(n *node) bool { return n.matches(t.Query) }
	switch {
	case t.Query != "" && t.root != nil:
	case !t.compared:
		return
	default:
		fits = func(n *node) bool { return n.change > within }
		defer func() { t.Missed = false }()
	}
	var nodes []*node
	left := maxSearched
	t.root.walk(&left, func(n *node) { nodes = append(nodes, n) })
	from := slices.Index(nodes, t.current())
	if from < 0 && by < 0 {
		from = len(nodes) // the cursor is after what is searched
	}
	if here {
		from -= by
	}
	if at, ok := t.Find(len(nodes), from, by, func(i int) bool { return fits(nodes[i]) }); ok {
		t.reveal(nodes[at])
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
