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

// Columns is the number of columns to fit into; 0 means that nothing has to fit.
func (s Screen) Columns() int {
	if !s.TTY {
		return 0
	}
	return s.Width
}

// Role is what a piece of text is, which decides how it looks.
type Role int

// The roles.
const (
	RoleHeading Role = iota
	roleName
	RoleMuted
	RoleGood
	RoleWarning
	RoleError
)

// Paint styles one line of text that is safe already. This is the only place that
// knows Lip Gloss. Colours are the terminal's own sixteen, so that they fit the
// user's theme and no terminal needs converting.
func (s Screen) Paint(r Role, text string) string {
	if !s.Color || text == "" {
		return text
	}
	style := lipgloss.NewStyle()
	switch r {
	case RoleHeading:
		style = style.Bold(true)
	case roleName:
		style = style.Foreground(lipgloss.Cyan)
	case RoleMuted:
		style = style.Faint(true)
	case RoleGood:
		style = style.Foreground(lipgloss.Green)
	case RoleWarning:
		style = style.Foreground(lipgloss.Yellow)
	case RoleError:
		style = style.Foreground(lipgloss.Red).Bold(true)
	}
	return style.Render(text)
}

// Fit cuts one line of safe text to so many columns, with a mark; 0 means no limit.
func Fit(text string, columns int) string {
	if columns <= 0 {
		return text
	}
	return ansi.Truncate(text, columns, "…")
}

// Pad fills text up to so many columns.
func Pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-ansi.StringWidth(text)))
}

// Wrap breaks safe text into lines of at most so many columns, between words where
// that is possible; 0 means that only its own line feeds break it.
func Wrap(text string, columns int) []string {
	if columns > 0 {
		text = ansi.Wrap(strings.ReplaceAll(text, "\t", "    "), columns, "")
	}
	return strings.Split(text, "\n")
}
