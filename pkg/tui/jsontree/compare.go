package jsontree

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
)

// change is how a node differs from its counterpart in the document that a tree is compared with.
type change byte

const (
	same    change = iota
	within         // there are differences below it
	added          // it has no counterpart
	removed        // it is the counterpart, which is missing now
	changed        // another value, or members in another order
)

// maxCompared bounds how many values are compared.
const maxCompared = 200_000

// comparison counts the differences of two documents.
type comparison struct {
	left  int  // how many values may still be compared
	part  bool // not all were
	found [changed + 1]int
}

// Compare marks how the document differs from an earlier one, and opens what surrounds the differences. It returns
// what it found, in a few words.
func (t *Tree) Compare(before []byte) string {
	if t.root == nil || !json.Valid(before) {
		return "cannot be compared"
	}
	c := &comparison{left: maxCompared}
	c.pair(t.root, &node{raw: before})
	t.root.unfoldChanges(new(int))
	t.rows, t.compared = nil, true
	var parts []string
	for _, one := range []struct {
		change change
		word   string
	}{{changed, "changed"}, {added, "added"}, {removed, "removed"}} {
		if n := c.found[one.change]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, one.word))
		}
	}
	if len(parts) == 0 {
		parts = []string{"no differences"}
	}
	if c.part {
		parts = append(parts, "not all compared")
	}
	return strings.Join(parts, ", ")
}

// mark notes a difference.
func (c *comparison) mark(n *node, as change) {
	n.change = as
	c.found[as]++
	for at := n.parent; at != nil && at.change == same; at = at.parent {
		at.change = within
	}
}

// pair compares a node with its counterpart.
func (c *comparison) pair(n, old *node) {
	n.old = old
	if bytes.Equal(n.raw, old.raw) {
		return
	}
	c.left--
	switch {
	case c.left < 0:
		c.part = true
	case n.kind() != old.kind():
		c.mark(n, changed)
	case n.container():
		c.children(n, old)
	case n.text() != old.text():
		c.mark(n, changed)
	}
}

// children compares the children of two objects or two arrays. Removed ones are shown where they were.
func (c *comparison) children(n, old *node) {
	now, was := n.children(), old.children()
	partners := partnersOf(now, was, n.kind() == '[')
	c.part = c.part || n.rest > 0 || old.rest > 0
	taken := make(map[*node]bool, len(was))
	moved, last := false, -1
	for i, partner := range partners {
		if partner >= 0 {
			taken[was[partner]] = true
			moved, last = moved || partner < last, partner
			c.pair(now[i], was[partner])
		} else {
			c.mark(now[i], added)
		}
	}
	next := 0 // of was, to be shown before the next child that has a partner
	n.list = make([]*node, 0, len(now))
	gone := func(to int) {
		for ; next < to; next++ {
			if one := was[next]; !taken[one] {
				one.parent = n
				c.mark(one, removed)
				n.list = append(n.list, one)
				n.gone++
			}
		}
	}
	for i, child := range now {
		gone(partners[i])
		n.list = append(n.list, child)
	}
	gone(len(was))
	if moved && n.change == same {
		c.mark(n, changed)
	}
}

// partnersOf returns the index in was of the counterpart of each node in now, -1 for none. Members are paired by name,
// elements from both ends as long as they are equal, and then by their order.
func partnersOf(now, was []*node, array bool) []int {
	partners := make([]int, len(now))
	if !array {
		places := make(map[string][]int, len(was))
		for i, one := range was {
			places[one.key] = append(places[one.key], i)
		}
		for i, one := range now {
			partners[i] = -1
			if left := places[one.key]; len(left) > 0 {
				partners[i], places[one.key] = left[0], left[1:]
			}
		}
		return partners
	}
	equal := func(i, j int) bool { return bytes.Equal(now[i].raw, was[j].raw) }
	head, tail, least := 0, 0, min(len(now), len(was))
	for head < least && equal(head, head) {
		head++
	}
	for tail < least-head && equal(len(now)-1-tail, len(was)-1-tail) {
		tail++
	}
	for i := range partners {
		switch {
		case i >= len(now)-tail:
			partners[i] = i - len(now) + len(was)
		case i < len(was)-tail:
			partners[i] = i
		default:
			partners[i] = -1
		}
	}
	return partners
}

// unfoldChanges opens what surrounds differences, within maxUnfold.
func (n *node) unfoldChanges(opened *int) {
	if n.change != within || *opened > maxUnfold {
		return
	}
	n.open = true
	*opened += len(n.list)
	for _, child := range n.list {
		child.unfoldChanges(opened)
	}
}

// changeSign returns the sign for a node at the right edge: a closed one has that of what is in it.
func (t *Tree) changeSign(n *node) string {
	if n.change == within && n.open {
		return ""
	}
	signs := [...]string{same: "", within: "~", added: "+", removed: "-", changed: "~"}
	return t.theme.Paint(pane.Accent, signs[n.change])
}

// changeLine draws the values of a changed node: the old one, and the new one.
func (t *Tree) changeLine(n *node, room int) string {
	if n.container() && n.kind() == n.old.kind() {
		return t.valueLine(n, room) + t.theme.Paint(pane.Dim, " in another order")
	}
	arrow := " " + t.theme.Glyphs.Right + " "
	half := max(1, (room-t.theme.Width(arrow))/2)
	old, now := t.valueLine(n.old, room), t.valueLine(n, room)
	if t.theme.Width(old)+t.theme.Width(now) > 2*half && n.kind() == '"' && n.old.kind() == '"' {
		before, after := n.old.head(maxShared), n.head(maxShared)
		shared := sharedHead(before, after)
		old, now = t.fromChange(before, shared), t.fromChange(after, shared)
	}
	if width := t.theme.Width(old); width < half {
		half = room - t.theme.Width(arrow) - width
	}
	old = t.theme.Cut(old, room-t.theme.Width(arrow)-min(half, t.theme.Width(now)))
	now = t.theme.Paint(pane.Strong, ansi.Strip(t.theme.Cut(now, half)))
	return t.theme.Paint(pane.Dim, ansi.Strip(old)) + t.theme.Paint(pane.Accent, arrow) + now
}

// maxShared is how many cells of two long texts are searched for their first difference.
const maxShared = 1000

// sharedHead returns how many bytes two texts share before their first difference, less some context.
func sharedHead(a, b string) int {
	const context = 8
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	for at = max(0, at-context); at > 0 && !utf8.RuneStart(a[at]); at-- {
	}
	return at
}

// fromChange draws a text from a place on.
func (t *Tree) fromChange(text string, from int) string {
	if from > 0 {
		text = t.theme.Glyphs.More + text[from:]
	}
	return render.Safe(text)
}
