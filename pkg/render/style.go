package render

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Screen is what there is to know about the place that output goes to.
type Screen struct {
	TTY   bool // a terminal: untrusted text is made safe, lines fit the width
	Width int  // in columns
	Color bool // styles are wanted
}

// width is the number of columns to fit into; 0 means that nothing has to fit.
func (s Screen) width() int {
	if !s.TTY {
		return 0
	}
	return s.Width
}

// role is what a piece of text is, which decides how it looks.
type role int

const (
	roleHeading role = iota
	roleName
	roleMuted
	roleGood
	roleWarning
	roleError
)

// paint styles one line of text that is safe already. This is the only place that
// knows Lip Gloss. Colours are the terminal's own sixteen, so that they fit the
// user's theme and no terminal needs converting.
func (s Screen) paint(r role, text string) string {
	if !s.Color || text == "" {
		return text
	}
	style := lipgloss.NewStyle()
	switch r {
	case roleHeading:
		style = style.Bold(true)
	case roleName:
		style = style.Foreground(lipgloss.Cyan)
	case roleMuted:
		style = style.Faint(true)
	case roleGood:
		style = style.Foreground(lipgloss.Green)
	case roleWarning:
		style = style.Foreground(lipgloss.Yellow)
	case roleError:
		style = style.Foreground(lipgloss.Red).Bold(true)
	}
	return style.Render(text)
}

// fit cuts one line of safe text to so many columns, with a mark; 0 means no limit.
func fit(text string, columns int) string {
	if columns <= 0 {
		return text
	}
	return ansi.Truncate(text, columns, "…")
}

// pad fills text up to so many columns.
func pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-ansi.StringWidth(text)))
}

// wrap breaks safe text into lines of at most so many columns, between words where
// that is possible; 0 means that only its own line feeds break it.
func wrap(text string, columns int) []string {
	if columns > 0 {
		text = ansi.Wrap(strings.ReplaceAll(text, "\t", "    "), columns, "")
	}
	return strings.Split(text, "\n")
}
