package pane

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/render"
)

// Search finds a text in rows, ignoring case. Create it with NewSearch.
type Search struct {
	Typing bool
	Query  string // in lower case; empty if there is no search
	Row    int    // of the match that was found last, -1 for none
	Missed bool   // there is no match
	input  textinput.Model
	// begin goes to the first match of the typed text. place and all are the number of the found match and of all
	// matches; all is zero if there are too many rows to count.
	begin      func()
	place, all int
}

// NewSearch returns a search; prompt precedes the typed text.
func NewSearch(prompt string) Search {
	return Search{input: NewInput(prompt), Row: -1}
}

// Start begins to accept typed text, after the text that is there already.
func (s *Search) Start(text string) tea.Cmd {
	s.Typing, s.Missed = true, false
	s.input.SetValue(text)
	s.input.CursorEnd()
	return s.input.Focus()
}

// Focus ends typing when the focus is lost.
func (s *Search) Focus(on bool) {
	if !on {
		s.Stop()
	}
}

// Editing reports whether letters are text now.
func (s *Search) Editing() bool { return s.Typing }

// Stop ends typing.
func (s *Search) Stop() {
	s.Typing = false
	s.input.Blur()
}

// Forget removes the query and the highlights.
func (s *Search) Forget() { s.Query, s.Row, s.Missed = "", -1, false }

// Text returns what is typed, in lower case.
func (s *Search) Text() string { return strings.ToLower(s.input.Value()) }

// TypingKeys returns the keys that work while the text is typed; all others are text. begin goes to the first match
// from the cursor on, after every letter.
func (s *Search) TypingKeys(begin func()) []Binding {
	s.begin = begin
	return []Binding{
		{Keys: []string{"enter"}, Help: "search", Do: Do(s.Stop)},
		{Keys: []string{"esc"}, Help: "leave the search", Do: Do(func() { s.Stop(); s.Forget() })},
	}
}

// Keys returns the keys that search, where no text is typed. find goes to the next match, or to the
// previous one if by is -1.
func (s *Search) Keys(find func(by int)) []Binding {
	off := Off(s.Query == "", "there is no search")
	return []Binding{
		{Keys: []string{"/"}, Help: "search", Do: func() tea.Cmd { return s.Start("") }},
		{Keys: []string{"n"}, Help: "next match", Off: off, Do: Do(func() { find(1) })},
		{Keys: []string{"N"}, Help: "previous match", Off: off, Do: Do(func() { find(-1) })},
		{Keys: []string{"esc"}, Help: "clear the search", Off: off, Do: Do(s.Forget)},
	}
}

// Update handles typed text, besides the keys of TypingKeys. What is pasted is made safe.
func (s *Search) Update(msg tea.Msg) (cmd tea.Cmd) {
	if !s.Typing {
		return nil
	}
	cmd = Type(&s.input, msg)
	if text := s.Text(); text != s.Query {
		if s.Query, s.Row, s.Missed = text, -1, false; text != "" && s.begin != nil {
			s.begin()
		}
	}
	return cmd
}

// Find returns the next of n rows after from that matches, or the previous one if by is -1. It wraps around.
func (s *Search) Find(n, from, by int, holds func(row int) bool) (row int, ok bool) {
	for step := 1; step <= n; step++ {
		row := ((from+by*step)%n + n) % n
		if holds(row) {
			s.Row, s.Missed = row, false
			s.count(n, holds)
			return row, true
		}
	}
	s.Row, s.Missed = -1, true
	return 0, false
}

// maxCounted is how many rows are looked at to count matches.
const maxCounted = 20_000

// count notes which match was found, of how many.
func (s *Search) count(n int, holds func(row int) bool) {
	s.place, s.all = 0, 0
	if n > maxCounted {
		return
	}
	for row := range n {
		if holds(row) {
			s.all++
			if row <= s.Row {
				s.place++
			}
		}
	}
}

// Counted returns which match was found, such as "3 of 10"; empty if unknown.
func (s *Search) Counted() string {
	if s.Query == "" || s.Row < 0 || s.all == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", s.place, s.all)
}

// Holds reports whether a line, which may be styled, contains the query.
func (s *Search) Holds(line string) bool {
	return s.Query != "" && strings.Contains(strings.ToLower(ansi.Strip(line)), s.Query)
}

// Mark highlights the matches in a line. The row that was found last stands out, as a whole if the
// match is not within the line.
func (s *Search) Mark(theme *Theme, line string, found bool) string {
	role := Found
	if found {
		role = Inverse
	}
	plain := ansi.Strip(line)
	lower := strings.ToLower(plain)
	switch {
	case !s.Holds(line) && !found:
		return line
	case !s.Holds(line) || len(lower) != len(plain): // offsets are not those of the line
		return theme.Paint(role, plain)
	}
	var out strings.Builder
	for {
		before, _, found := strings.Cut(lower, s.Query)
		if !found {
			return out.String() + plain
		}
		end := len(before) + len(s.Query)
		out.WriteString(plain[:len(before)] + theme.Paint(role, plain[len(before):end]))
		plain, lower = plain[end:], lower[end:]
	}
}

// Line returns the line below the rows: the typed text, or that there is no match. It is empty if
// there is nothing to show.
func (s *Search) Line(theme *Theme, width int) string {
	switch {
	case s.Typing:
		note := theme.Paint(Dim, s.Counted())
		if s.Missed {
			note = theme.Paint(Warn, "not found")
		}
		room := max(1, width-theme.Width(note)-1)
		s.input.SetWidth(max(1, room-len(s.input.Prompt)-1))
		return theme.Fit(theme.Fit(s.input.View(), room)+" "+note, width)
	case s.Missed:
		return theme.Fit(theme.Paint(Warn, "not found: "+render.Safe(s.Query)), width)
	case s.Counted() != "":
		return theme.Fit(theme.Paint(Dim, s.Counted()+": "+render.Safe(s.Query)), width)
	}
	return ""
}

// Below draws rows, and the search's line below them if there is one and room for both.
func (s *Search) Below(theme *Theme, width, height int, rows func(height int) []string) string {
	line := ""
	if height > 1 {
		line = s.Line(theme, width)
	}
	if line == "" {
		return theme.Block(rows(height), width, height)
	}
	return theme.Block(rows(height-1), width, height-1) + "\n" + line
}
