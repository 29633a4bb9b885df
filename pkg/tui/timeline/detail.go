package timeline

import (
	"encoding/json"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/tui/jsontree"
	"toolx/pkg/tui/pane"
)

// detail is an opened row: JSON as a tree, else text, below the row.
type detail struct {
	pane.Pane
	timeline *Timeline
	row      *row
	notes    []string // safe
	head     int      // how many lines are above the text
}

// newDetail opens a row.
func newDetail(t *Timeline, r *row) *detail {
	d := &detail{timeline: t, row: r}
	if note := r.cutNote(); note != "" {
		d.notes = []string{note}
	}
	switch r.kind {
	case kindUnexpected:
		d.notes = append(d.notes, t.unexpectedNotes(r)...)
	case kindCall:
		if !r.call.Success {
			d.notes = append(d.notes, t.safe(r.call.problem(), 200))
		}
	}
	if masked := json.RawMessage(t.maskedJSON([]byte(r.text))); json.Valid(masked) && masked[0] != '"' {
		d.Pane = jsontree.New(masked, t.theme)
	} else {
		safe := pane.Lines(t.masked(r.text))
		d.Pane = pane.NewTextView(t.theme, func(width int) []string { return pane.Wrap(safe, width) })
	}
	d.Focus(t.focus)
	return d
}

// Bindings returns what the keys do now.
func (d *detail) Bindings() []pane.Binding {
	if d.Editing() {
		return d.Pane.Bindings()
	}
	back := pane.Do(func() { d.timeline.detail = nil })
	own := []pane.Binding{{Keys: []string{"esc", "backspace"}, Help: "back to the rows", Do: back}}
	if _, ok := d.Pane.(*pane.TextView); ok {
		own = append(own, pane.Binding{Keys: []string{"y", "c"}, Help: "copy the text", Do: d.timeline.copyRow})
	}
	return append(own, pane.Without(d.Pane.Bindings(), own)...)
}

// rows returns how many rows the opened row can use.
func (d *detail) rows() int { return d.head + max(20, pane.ExtentOf(d.Pane).Rows) }

// Update handles messages other than the keys of Bindings, with the mouse in the detail's own coordinates.
func (d *detail) Update(msg tea.Msg) tea.Cmd {
	if click, ok := msg.(tea.MouseClickMsg); ok {
		if click.Y -= d.head; click.Y < 0 {
			d.timeline.detail = nil
			return nil
		}
		msg = click
	}
	return d.Pane.Update(msg)
}

// Render draws the row, the notes and the text.
func (d *detail) Render(width, height int) string {
	theme := d.timeline.theme
	head := []string{theme.UnderCursor(d.timeline.draw(d.row, d.timeline.view.choice, width), false, width)}
	for _, note := range d.notes {
		head = append(head, theme.Paragraph(pane.Warn, note, width)...)
	}
	d.head = min(len(head), max(1, height/2)) // the text has the other half
	top := theme.Block(head, width, min(d.head, height))
	if height <= d.head {
		return top
	}
	return top + "\n" + d.Pane.Render(width, height-d.head)
}
