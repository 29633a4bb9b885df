package pane

import tea "charm.land/bubbletea/v2"

// wheelRows is how many rows one step of the wheel scrolls.
const wheelRows = 3

// Wheel returns how many rows the wheel scrolls; down is positive. A sideways wheel scrolls nothing.
func Wheel(msg tea.MouseWheelMsg) int {
	switch msg.Button {
	case tea.MouseWheelUp:
		return -wheelRows
	case tea.MouseWheelDown:
		return wheelRows
	}
	return 0
}

// Span is a range of cells in a line, such as a word that can be clicked.
type Span struct{ From, To int }

// Holds reports whether a column is in the span.
func (s Span) Holds(x int) bool { return x >= s.From && x < s.To }
