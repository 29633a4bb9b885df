package pane

import (
	"fmt"
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

// Tabs draws the names of tabs in a number of cells, the current one in brackets; if there is too little room, it draws
// only that one. at returns the tab that a click on a column selects, or -1: if only one is drawn, the next one.
func (t *Theme) Tabs(names []string, current, room int) (line string, at func(x int) int) {
	painted := make([]string, len(names))
	for i, name := range names {
		painted[i] = t.Paint(Dim, name)
	}
	one := t.Paint(Strong, "["+names[current]+"]")
	painted[current] = one
	if line = strings.Join(painted, " "); t.Width(line) <= room {
		spans := Spans(painted, " ")
		return line, func(x int) int { return At(spans, x) }
	}
	line = one
	if all := line + t.Paint(Dim, fmt.Sprintf(" %d/%d", current+1, len(names))); t.Width(all) <= room {
		line = all
	}
	span := Span{To: t.Width(line)}
	return line, func(x int) int {
		if span.Holds(x) {
			return (current + 1) % len(names)
		}
		return -1
	}
}
