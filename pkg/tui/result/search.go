package result

import (
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
)

// search looks for a text in rows, without regard to capitals.
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

// start begins to take what is typed.
func (s *search) start() tea.Cmd {
	s.typing, s.missed = true, false
	s.input.Reset()
	return s.input.Focus()
}

// forget takes the marks away.
func (s *search) forget() tea.Cmd {
	s.query, s.row, s.missed = "", -1, false
	return nil
}

// stop takes no more of what is typed.
func (s *search) stop() {
	s.typing = false
	s.input.Blur()
}

// enter begins to look for what was typed; false where that is nothing.
func (s *search) enter() bool {
	s.stop()
	s.query, s.row = strings.ToLower(s.input.Value()), -1
	return s.query != ""
}

// bindings are what keys do while a search is typed. begin looks for it.
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

// update takes what is typed, besides the keys of bindings.
func (s *search) update(msg tea.Msg) (cmd tea.Cmd) {
	if s.typing {
		s.input, cmd = s.input.Update(msg)
	}
	return cmd
}

// find gives the next of n rows behind from that holds a match, or ahead of it where
// by is -1. It goes around at the end.
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

// holds reports whether a line, which may have a look, holds what is searched for.
func (s *search) holds(line string) bool {
	return s.query != "" && strings.Contains(strings.ToLower(ansi.Strip(line)), s.query)
}

// mark shows the matches in a line; the row that was found last stands out, as a whole
// where the match is not within the line.
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

// line is the line below the rows: what is typed, or that there is no match. It is
// empty where there is nothing to say.
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
