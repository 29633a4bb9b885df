package watch

import (
	"encoding/json"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/tui/jsontree"
	"toolx/pkg/tui/pane"
)

// opened is what an opened row shows.
type opened struct {
	title string   // one line, safe
	notes []string // toolx's notes about the text, safe
	text  string   // from a server, unchanged
}

// detail is an opened row on the screen: JSON as a tree, else text, below its title.
type detail struct {
	pane.Pane
	opened
	look *look
	back func()
	head int // how many lines are above the text
}

// newDetail opens a row; back is called to close it.
func newDetail(l *look, row opened, back func()) *detail {
	d := &detail{opened: row, look: l, back: back}
	if masked := l.maskedJSON(row.text); json.Valid(masked) && masked[0] != '"' {
		d.Pane = jsontree.New(masked, l.theme)
	} else {
		safe := pane.Lines(l.masked(row.text))
		d.Pane = pane.NewTextView(l.theme, func(width int) []string { return pane.Wrap(safe, width) })
	}
	d.Focus(l.focus)
	return d
}

// Bindings returns what the keys do now.
func (d *detail) Bindings() []pane.Binding {
	if d.Editing() {
		return d.Pane.Bindings()
	}
	own := []pane.Binding{{Keys: []string{"esc", "backspace"}, Help: "back to the rows", Do: pane.Do(d.back)}}
	if _, ok := d.Pane.(*pane.TextView); ok {
		copyText := func() tea.Cmd { return jsontree.Copied(d.look.masked(d.text), "the text") }
		own = append(own, pane.Binding{Keys: []string{"c"}, Help: "copy the text", Do: copyText})
	}
	return append(own, pane.Without(d.Pane.Bindings(), own)...)
}

// Extent returns the visible part of the text.
func (d *detail) Extent() pane.Extent { return pane.ExtentOf(d.Pane) }

// Update handles messages other than the keys of Bindings, with the mouse in the detail's own coordinates.
func (d *detail) Update(msg tea.Msg) tea.Cmd {
	if click, ok := msg.(tea.MouseClickMsg); ok {
		if click.Y -= d.head; click.Y < 0 {
			return nil
		}
		msg = click
	}
	return d.Pane.Update(msg)
}

// Render draws the title, the notes and the text.
func (d *detail) Render(width, height int) string {
	head := []string{d.look.theme.Paint(pane.Strong, d.title)}
	for _, note := range d.notes {
		head = append(head, d.look.theme.Paragraph(pane.Warn, note, width)...)
	}
	d.head = min(len(head), max(1, height/2)) // the text has the other half
	top := d.look.theme.Block(head, width, min(d.head, height))
	if height <= d.head {
		return top
	}
	return top + "\n" + d.Pane.Render(width, height-d.head)
}
