package pane

import tea "charm.land/bubbletea/v2"

// Rows is what panes of rows have in common: the visible part, which follows a cursor or is scrolled, and a search.
// Create it with NewRows.
type Rows struct {
	Search
	List    List
	Focused bool
}

// NewRows returns rows that are not searched.
func NewRows() Rows { return Rows{Search: NewSearch("/")} }

// Focus sets whether the rows have the focus; losing it ends a search that is being typed.
func (r *Rows) Focus(on bool) {
	if r.Focused = on; !on {
		r.Stop()
	}
}

// Extent returns the visible part of the rows.
func (r *Rows) Extent() Extent { return r.List.Extent() }

// Handle handles the keys of bindings, text typed into a search, and the wheel. click gets the line of a click; it may
// be nil.
func (r *Rows) Handle(msg tea.Msg, bindings func() []Binding, click func(y int)) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if cmd, ok := Press(bindings(), msg); ok {
			return cmd
		}
	case tea.MouseWheelMsg:
		r.List.Scroll(Wheel(msg))
		return nil
	case tea.MouseClickMsg:
		if click != nil {
			click(msg.Y)
		}
		return nil
	}
	return r.Update(msg)
}
