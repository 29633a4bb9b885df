package result

import (
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
)

// search finds a text in rows, ignoring case.
type search struct {
	input  textinput.Model
	typing bool
	query  string // in lower case; empty where nothing is searched for
	row    int    // of the match that was found last, -1 for none
	missed bool   // there is no match
}

func newSearch() search {
	input := textinput.New()
	input.Prompt = "/"
	return search{input: input, row: -1}
}

// start begins to accept typed text.
func (s *search) start() tea.Cmd {
	s.typing, s.missed = true, false
	s.input.Reset()
	return s.input.Focus()
}

// forget removes the highlights.
func (s *search) forget() tea.Cmd {
	s.query, s.row, s.missed = "", -1, false
	return nil
}

// stop ends typing.
func (s *search) stop() {
	s.typing = false
	s.input.Blur()
}

// enter begins to search for the typed text; it returns false if that is empty.
func (s *search) enter() bool {
	s.stop()
	s.query, s.row = strings.ToLower(s.input.Value()), -1
	return s.query != ""
}

// bindings returns the keys while a search is typed. begin starts the search.
func (s *search) bindings(begin func()) []pane.Binding {
	return []pane.Binding{
		{Keys: []string{"enter"}, Help: "search", Do: func() tea.Cmd {
			if s.enter() {
				begin()
			}
			return nil
		}},
		{Keys: []string{"esc"}, Help: "leave the search", Do: func() tea.Cmd { s.stop(); return nil }},
	}
}

// update handles typed text, besides the keys of bindings.
func (s *search) update(msg tea.Msg) (cmd tea.Cmd) {
	if s.typing {
		s.input, cmd = s.input.Update(msg)
	}
	return cmd
}

// find returns the next of n rows after from that matches, or the previous one if by is -1. It wraps
// around.
func (s *search) find(n, from, by int, holds func(row int) bool) (row int, ok bool) {
	for step := 1; step <= n; step++ {
		row := ((from+by*step)%n + n) % n
		if holds(row) {
			s.row, s.missed = row, false
			return row, true
		}
	}
	s.row, s.missed = -1, true
	return 0, false
}

// holds reports whether a line, which may be styled, contains the search text.
func (s *search) holds(line string) bool {
	return s.query != "" && strings.Contains(strings.ToLower(ansi.Strip(line)), s.query)
}

// mark highlights the matches in a line. The row that was found last stands out, as a whole if the
// match is not within the line.
func (s *search) mark(theme *pane.Theme, line string, row int) string {
	role := pane.Marked
	if row == s.row {
		role = pane.Selected
	}
	plain := ansi.Strip(line)
	lower := strings.ToLower(plain)
	switch {
	case !s.holds(line) && row != s.row:
		return line
	case !s.holds(line) || len(lower) != len(plain): // offsets are not those of the line
		return theme.Paint(role, plain)
	}
	var out strings.Builder
	for {
		before, _, found := strings.Cut(lower, s.query)
		if !found {
			return out.String() + plain
		}
		end := len(before) + len(s.query)
		out.WriteString(plain[:len(before)] + theme.Paint(role, plain[len(before):end]))
		plain, lower = plain[end:], lower[end:]
	}
}

// line returns the line below the rows: the typed text, or that there is no match. It is empty if
// there is nothing to show.
func (s *search) line(theme *pane.Theme, width int) string {
	switch {
	case s.typing:
		s.input.SetWidth(max(1, width-3))
		return theme.Fit(s.input.View(), width)
	case s.missed:
		return theme.Fit(theme.Paint(pane.Warn, "not found: "+render.Safe(s.query)), width)
	}
	return ""
}
