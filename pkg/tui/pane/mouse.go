package pane

import tea "charm.land/bubbletea/v2"

// wheelRows is by how many rows a turn of the wheel moves.
const wheelRows = 3

// Wheel is by how many rows a turn of the wheel moves what is under the pointer: down
// is positive. A wheel that is turned sideways moves nothing.
func Wheel(msg tea.MouseWheelMsg) int {
	switch msg.Button {
	case tea.MouseWheelUp:
		return -wheelRows
	case tea.MouseWheelDown:
		return wheelRows
	}
	return 0
}

// Span is a part of a line, in cells, such as a word that can be clicked.
type Span struct{ From, To int }

// Holds reports whether a column is in the span.
func (s Span) Holds(x int) bool { return x >= s.From && x < s.To }
