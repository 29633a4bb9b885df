package pane

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

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

// Spans returns the positions of texts that are joined by gap, which consists of spaces.
func Spans(texts []string, gap string) []Span {
	spans := make([]Span, len(texts))
	left := 0
	for i, text := range texts {
		spans[i] = Span{left, left + ansi.StringWidth(text)}
		left = spans[i].To + len(gap)
	}
	return spans
}

// At returns the index of the span at a column, or -1.
func At(spans []Span, x int) int {
	for i, span := range spans {
		if span.Holds(x) {
			return i
		}
	}
	return -1
}

// Tabs joins the names of tabs, the current one in brackets and the others in a role, and returns their positions.
func (t *Theme) Tabs(role Role, names []string, current int) (line string, spans []Span) {
	painted := make([]string, len(names))
	for i, name := range names {
		painted[i] = t.Paint(role, name)
		if i == current {
			painted[i] = t.Paint(Strong, "["+name+"]")
		}
	}
	return strings.Join(painted, " "), Spans(painted, " ")
}
