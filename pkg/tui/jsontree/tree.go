// Package jsontree shows JSON as a tree whose parts can be folded, searched and copied. It parses only what is shown,
// so that a document of megabytes opens at once, and it keeps the order of members and the digits of numbers.
package jsontree

import (
	"encoding/json"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
	"toolx/pkg/words"
)

// Tree shows a JSON document, or plain text if the document is not JSON.
type Tree struct {
	pane.Rows
	theme    *pane.Theme
	root     *node
	plain    string // the document if it is not JSON
	rows     []row
	width    int // that the rows were made for
	compared bool
}

// row is a line of the tree: a node, or a line of its long text below it.
type row struct {
	node *node
	text string // of a part; empty for the node itself
}

// CopyMsg asks to copy Text to the clipboard; What names it.
type CopyMsg struct{ Text, What string }

// New returns a tree. Its first levels are open if they are short.
func New(text json.RawMessage, theme *pane.Theme) *Tree {
	t := &Tree{theme: theme, Rows: pane.NewRows()}
	if !json.Valid(text) {
		t.plain = string(text)
		return t
	}
	t.root = &node{raw: text}
	t.root.unfold(2)
	return t
}

// Bindings returns what the keys do now.
func (t *Tree) Bindings() []pane.Binding {
	if t.Typing {
		return t.TypingKeys(func() { t.find(1, true) })
	}
	do := func(f func()) func() tea.Cmd {
		return pane.Do(func() { t.Missed = false; f() })
	}
	copied := func(what string, of func(*node) string) func() tea.Cmd {
		return func() tea.Cmd { return Copied(of(t.current()), what) }
	}
	none, found := pane.Off(t.current() == nil, "there is no JSON"), "match"
	if t.compared && t.Query == "" {
		found = "difference"
	}
	openBelow := do(func() { t.current().unfold(maxDepth); t.layout() })
	moves := pane.Moves(func(by int) { t.Missed = false; t.List.Move(by, len(t.rows)) }, t.List.Page())
	return append(moves, []pane.Binding{
		{Keys: []string{"enter", "space"}, Help: "open or close", Off: none, Do: do(t.toggle)},
		{Keys: []string{"right", "l"}, Help: "open", Off: none, Do: do(func() { t.setOpen(true) })},
		{Keys: []string{"left", "h"}, Help: "close, or go to the parent", Off: none, Do: do(t.closeOrLeave)},
		{Keys: []string{"+"}, Help: "open everything below", Off: none, Do: openBelow},
		{Keys: []string{"-"}, Help: "close everything", Off: none, Do: do(t.foldAll)},
		{Keys: []string{"/"}, Help: "search", Off: none, Do: func() tea.Cmd { return t.Start("") }},
		{Keys: []string{"n"}, Help: "next " + found, Off: none, Do: do(func() { t.find(1, false) })},
		{Keys: []string{"N"}, Help: "previous " + found, Off: none, Do: do(func() { t.find(-1, false) })},
		{Keys: []string{"p"}, Help: "copy the path for jq", Off: none, Do: copied("the path", (*node).jq)},
		{Keys: []string{"P"}, Help: "copy the JSON pointer", Off: none, Do: copied("the pointer", (*node).pointer)},
		{Keys: []string{"V"}, Help: "copy the value", Off: none, Do: copied("the value", (*node).text)},
	}...)
}

// Copied returns the command that asks to copy a text to the clipboard.
func Copied(text, what string) tea.Cmd {
	return func() tea.Msg { return CopyMsg{text, what} }
}

// Update handles the keys of Bindings, text typed into a search, and clicks and the wheel in the
// tree's own coordinates.
func (t *Tree) Update(msg tea.Msg) tea.Cmd { return t.Handle(msg, t.Bindings, t.click) }

// click moves to a line; a second click there opens or closes it.
func (t *Tree) click(y int) {
	at := t.List.Top() + y
	if at >= len(t.rows) {
		return
	}
	if at == t.List.Cursor {
		t.toggle()
		return
	}
	t.List.Set(at, len(t.rows))
}

// current returns the node under the cursor, nil if there is no JSON.
func (t *Tree) current() *node {
	if t.List.Cursor < len(t.rows) {
		return t.rows[t.List.Cursor].node
	}
	return t.root
}

func (t *Tree) toggle() { t.setOpen(!t.current().open) }

func (t *Tree) setOpen(open bool) {
	at := t.current()
	at.open = open
	t.layout()
	t.goTo(at)
}

func (t *Tree) closeOrLeave() {
	at := t.current()
	if !at.open && at.parent != nil {
		t.goTo(at.parent)
		return
	}
	t.setOpen(false)
}

func (t *Tree) foldAll() {
	t.root.fold()
	t.root.open = true
	t.layout()
	t.goTo(t.root)
}

// goTo moves the cursor to a visible node.
func (t *Tree) goTo(wanted *node) {
	for i, r := range t.rows {
		if r.node == wanted {
			t.List.Set(i, len(t.rows))
			return
		}
	}
}

// layout builds the rows of the open nodes.
func (t *Tree) layout() {
	t.rows = t.rows[:0]
	if t.root != nil {
		t.add(t.root, 0)
	}
}

func (t *Tree) add(n *node, depth int) {
	t.rows = append(t.rows, row{node: n})
	if !n.open {
		return
	}
	if !n.container() {
		for _, line := range pane.Wrap(render.SafeBlock(n.beginning()), max(10, t.width-2*depth-4)) {
			t.rows = append(t.rows, row{n, strings.Repeat("  ", depth+1) + line})
		}
		return
	}
	for _, child := range n.children() {
		t.add(child, depth+1)
	}
	if n.rest > 0 {
		more := fmt.Sprintf("%s%s %d more", strings.Repeat("  ", depth+1), t.theme.Glyphs.More, n.rest)
		t.rows = append(t.rows, row{n, more})
	}
}

// Render draws the tree.
func (t *Tree) Render(width, height int) string {
	if t.root == nil {
		return t.theme.Block(pane.Wrap(render.SafeBlock(t.plain), width), width, height)
	}
	if t.width != width || t.rows == nil {
		t.width = width
		t.layout()
	}
	return t.Below(t.theme, width, height, func(height int) []string {
		var lines []string
		from, to := t.List.Window(len(t.rows), height)
		for i := from; i < to; i++ {
			lines = append(lines, t.line(i, width))
		}
		return lines
	})
}

// line draws one row, with the sign of a difference at the right edge.
func (t *Tree) line(i, width int) string {
	r := t.rows[i]
	text, room := r.text, width
	sign := t.changeSign(r.node)
	if sign != "" {
		room -= 2
	}
	if text == "" {
		text = t.nodeLine(r.node, room)
	}
	if sign != "" {
		text = t.theme.Fit(text, room) + " " + sign
	}
	if i == t.List.Cursor {
		return t.theme.UnderCursor(text, t.Focused, width)
	}
	return text
}

// nodeLine draws "▾ name: value".
func (t *Tree) nodeLine(n *node, width int) string {
	glyphs := t.theme.Glyphs
	sign := strings.Repeat(" ", ansi.StringWidth(glyphs.Open))
	if n.container() && n.size() > 0 {
		sign = glyphs.Closed
		if n.open {
			sign = glyphs.Open
		}
	}
	line := strings.Repeat("  ", n.depth()) + sign + " "
	if n.parent != nil {
		line += t.theme.Paint(pane.Dim, render.Safe(n.name())+": ")
	}
	room := width - ansi.StringWidth(line)
	if n.change == changed {
		return line + t.changeLine(n, room)
	}
	return line + t.theme.Cut(t.valueLine(n, room), room)
}

// valueLine draws a value on one line: a scalar, or a summary of a container.
func (t *Tree) valueLine(n *node, room int) string {
	if !n.container() {
		return render.Safe(n.head(room + 1))
	}
	things, brackets := "member", "{}"
	if n.kind() == '[' {
		things, brackets = "element", "[]"
	}
	if n.size() == 0 {
		return brackets
	}
	return t.theme.Paint(pane.Dim, brackets[:1]+words.Count(n.size(), things)+brackets[1:])
}

// Resume opens what is open in the tree of an earlier document, and goes to the same row.
func (t *Tree) Resume(old *Tree) {
	if t.root != nil && old.root != nil {
		t.root.resume(old.root)
		t.root.unfoldChanges(new(int))
		t.List, t.Search, t.rows = old.List, old.Search, nil
	}
}

func (n *node) resume(old *node) {
	if n.open = old.open; !n.open || !n.container() {
		return
	}
	places := make(map[string]*node, len(old.list))
	for _, one := range old.list {
		if one.change != removed {
			places[one.name()] = one
		}
	}
	for _, child := range n.children() {
		if was := places[child.name()]; was != nil {
			child.resume(was)
		}
	}
}
