package pane

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// TextView is a pane of lines that are made for a width, scroll, and can be searched.
type TextView struct {
	Rows
	Theme *Theme
	// compose returns the styled, safe lines for a width.
	compose func(width int) []string

	kept  Cache[bool] // what compose returned
	lines []string    // that were drawn last
}

// NewTextView returns a pane of the lines that compose makes.
func NewTextView(theme *Theme, compose func(width int) []string) *TextView {
	return &TextView{Theme: theme, compose: compose, Rows: NewRows()}
}

// Recompose drops the lines, so that they are made again.
func (t *TextView) Recompose() { t.kept.Forget() }

// Bindings returns what the keys do now.
func (t *TextView) Bindings() []Binding {
	if t.Typing {
		return t.TypingKeys(func() { t.find(1) })
	}
	return append(t.List.ScrollKeys("space"), t.Keys(t.find)...)
}

// Update handles the keys of Bindings, text typed into a search, and the wheel.
func (t *TextView) Update(msg tea.Msg) tea.Cmd { return t.Handle(msg, t.Bindings, nil) }

// find goes to the next or previous line with a match.
func (t *TextView) find(by int) {
	top, height := t.List.Top(), t.List.Height()
	outside := func(row int) bool { return row < top || row >= top+height }
	from := t.Row
	if outside(from) {
		from = top - 1 // what is seen comes first
		if by < 0 {
			from = top + height
		}
	}
	if row, ok := t.Find(len(t.lines), from, by, t.holds); ok && outside(row) {
		t.List.Scroll(row - height/3 - top)
	}
}

// holds reports whether a match begins in a line; it may end in the next one, if it is broken at the width.
func (t *TextView) holds(row int) bool {
	line := t.lines[row]
	if t.Holds(line) || row+1 == len(t.lines) {
		return t.Holds(line)
	}
	next := t.lines[row+1]
	parted := t.Holds(line+next) || t.Holds(strings.TrimRight(line, " ")+" "+next)
	return parted && !t.Holds(next)
}

// Render draws the visible lines.
func (t *TextView) Render(width, height int) string {
	t.lines = t.kept.Lines(t.Theme, true, width, func() []string { return t.layout(width) })
	return t.Below(t.Theme, width, height, func(height int) []string {
		shown := slices.Clone(t.List.Visible(t.lines, height))
		for i, line := range shown {
			shown[i] = t.Mark(t.Theme, line, t.List.Top()+i == t.Row)
		}
		return shown
	})
}

// layout lays the lines out. The position in the text stays about the same.
func (t *TextView) layout(width int) []string {
	lines := t.compose(width)
	top := t.List.Top()
	t.List.Scroll(top*len(lines)/max(1, len(t.lines)) - top)
	t.Row = -1
	return lines
}
