package watch

import (
	"encoding/json"
	"strings"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/render"
	"toolx/pkg/tui/jsontree"
	"toolx/pkg/tui/pane"
)

// opened is what an opened row shows.
type opened struct {
	title string   // one line, safe
	notes []string // of toolx about the text, safe
	text  string   // from a server, as it came
}

// detail is an opened row on the screen: JSON as a tree, else text that scrolls.
type detail struct {
	opened
	look *look
	back func()

	tree  *jsontree.Tree
	safe  string   // the text where it is no tree
	lines []string // of safe, for width
	width int
	top   int
	head  int // how many lines stand above the text
}

// newDetail opens a row; back is called to close it.
func newDetail(l *look, row opened, back func()) *detail {
	d := &detail{opened: row, look: l, back: back}
	if masked := l.maskedJSON(row.text); json.Valid(masked) && masked[0] != '"' {
		d.tree = jsontree.New(masked, l.theme)
		d.tree.Focus(l.focus)
		return d
	}
	d.safe = render.SafeBlock(strings.ReplaceAll(l.masked(row.text), "\t", "    "))
	return d
}

func (d *detail) editing() bool { return d.tree != nil && d.tree.Editing() }

func (d *detail) bindings() []pane.Binding {
	back := pane.Binding{Keys: []string{"esc", "backspace"}, Help: "back to the rows", Do: do(d.back)}
	if d.tree != nil {
		return append([]pane.Binding{back}, d.tree.Bindings()...)
	}
	scroll := func(by int) func() tea.Cmd { return do(func() { d.top += by }) }
	return []pane.Binding{
		back,
		{Keys: []string{"down", "j"}, Help: "down", Do: scroll(1)},
		{Keys: []string{"up", "k"}, Help: "up", Do: scroll(-1)},
		{Keys: []string{"pgdown", "ctrl+d", "space"}, Help: "a page down", Do: scroll(10)},
		{Keys: []string{"pgup", "ctrl+u"}, Help: "a page up", Do: scroll(-10)},
		{Keys: []string{"home", "g"}, Help: "first", Do: do(func() { d.top = 0 })},
		{Keys: []string{"end", "G"}, Help: "last", Do: do(func() { d.top = len(d.lines) })},
		{Keys: []string{"v"}, Help: "copy the text", Do: copied(d.look.masked(d.text), "the text")},
	}
}

// update handles messages other than the keys of bindings, with the mouse in the detail's own
// coordinates.
func (d *detail) update(msg tea.Msg) tea.Cmd {
	if click, ok := msg.(tea.MouseClickMsg); ok {
		if click.Y -= d.head; click.Y < 0 {
			return nil
		}
		msg = click
	}
	if d.tree != nil {
		return d.tree.Update(msg)
	}
	if wheel, ok := msg.(tea.MouseWheelMsg); ok {
		d.top += pane.Wheel(wheel)
	}
	return nil
}

func (d *detail) render(width, height int) string {
	head := d.headLines(width)
	d.head = min(len(head), max(1, height/2)) // the text has the other half
	top := d.look.theme.Block(head, width, min(d.head, height))
	if height -= d.head; height <= 0 {
		return top
	}
	if d.tree != nil {
		return top + "\n" + d.tree.Render(width, height)
	}
	if d.width != width || d.lines == nil {
		d.width, d.lines = width, pane.Wrap(d.safe, width)
	}
	d.top = max(0, min(d.top, len(d.lines)-height))
	return top + "\n" + d.look.theme.Block(d.lines[min(d.top, len(d.lines)):], width, height)
}

// headLines returns the title and the notes.
func (d *detail) headLines(width int) []string {
	lines := []string{d.look.theme.Paint(pane.Strong, d.title)}
	for _, note := range d.notes {
		for _, line := range pane.Wrap(note, width) {
			lines = append(lines, d.look.theme.Paint(pane.Warn, line))
		}
	}
	return lines
}

// do makes a function the action of a binding.
func do(f func()) func() tea.Cmd {
	return func() tea.Cmd { f(); return nil }
}

// copied asks to copy a text to the clipboard.
func copied(text, what string) func() tea.Cmd {
	return func() tea.Cmd {
		return func() tea.Msg { return jsontree.CopyMsg{Text: text, What: what} }
	}
}
