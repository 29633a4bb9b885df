package result

import (
	"encoding/json"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/tui/jsontree"
	"toolx/pkg/tui/pane"
)

// document is a body that shows JSON: as a tree, or as a table if it is a list of objects. It begins
// as a table if the table shows everything.
type document struct {
	tree    *jsontree.Tree
	table   *table // nil if there is none
	asTable bool
	focus   bool
	// compared reports whether the tree marks how the document differs from another one.
	compared bool
}

func newDocument(theme *pane.Theme, value json.RawMessage) *document {
	d := &document{tree: jsontree.New(value, theme)}
	d.table = newTable(theme, value)
	d.asTable = d.table != nil && d.table.flat
	return d
}

// compare marks in the tree how the document differs from another one, and returns what it found.
func (d *document) compare(with json.RawMessage) string {
	d.asTable, d.compared = false, true
	return d.tree.Compare(with)
}

// shown returns the view on the screen.
func (d *document) shown() pane.Pane {
	if d.asTable {
		return d.table
	}
	return d.tree
}

// Focus sets whether the document has the focus.
func (d *document) Focus(on bool) {
	d.focus = on
	d.shown().Focus(on)
}

// Editing reports whether the user is typing text.
func (d *document) Editing() bool { return d.shown().Editing() }

// Extent returns the visible part of the view on the screen.
func (d *document) Extent() pane.Extent { return pane.ExtentOf(d.shown()) }

// About returns how the document is shown.
func (d *document) About() string {
	if d.asTable {
		return d.table.About()
	}
	return "tree"
}

// Bindings returns the keys of the view on the screen, and the one that switches views.
func (d *document) Bindings() []pane.Binding {
	if d.Editing() {
		return d.shown().Bindings()
	}
	help := "as a table"
	if d.asTable {
		help = "as a tree"
	}
	no := pane.Off(d.table == nil, "this is not a list of objects")
	if d.compared {
		no = "a table does not show differences"
	}
	return append(d.shown().Bindings(), pane.Binding{Keys: []string{"t"}, Help: help, Off: no, Do: pane.Do(d.turn)})
}

func (d *document) turn() {
	d.asTable = !d.asTable
	d.shown().Focus(d.focus)
}

// Update passes messages to the view on the screen.
func (d *document) Update(msg tea.Msg) tea.Cmd { return d.shown().Update(msg) }

// Render draws the view on the screen.
func (d *document) Render(width, height int) string { return d.shown().Render(width, height) }
