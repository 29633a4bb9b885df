// Package render writes values as text or JSON: results, lists of tools, errors, frames, progress. It is pure: it gets
// a writer and the facts about it (Screen), and looks up nothing itself.
//
// Text from a server is untrusted. Text for a screen goes through Safe or SafeBlock first and is styled,
// cut and wrapped afterwards; JSON for a file or a pipe stays byte-exact.
package render

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Screen is the facts about the output.
type Screen struct {
	TTY   bool // a terminal: untrusted text is made safe, lines fit the width
	Width int  // in columns
	Color bool // use styles
}

// Columns returns the number of columns to fit into; 0 means no limit.
func (s Screen) Columns() int {
	if !s.TTY {
		return 0
	}
	return s.Width
}

// Role is the role of a piece of text, which determines its style.
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

// Paint styles one line of safe text. It uses the terminal's sixteen colours, which fit the user's theme and need no
// conversion.
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

// Fit cuts one line of safe text to a number of columns, with a mark; 0 means no limit.
func Fit(text string, columns int) string {
	if columns <= 0 {
		return text
	}
	return ansi.Truncate(text, columns, "…")
}

// Pad fills text up to a number of columns.
func Pad(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-ansi.StringWidth(text)))
}

// Wrap breaks safe text into lines of at most the given columns, between words if possible; 0 means to break only at
// line feeds.
func Wrap(text string, columns int) []string {
	if columns > 0 {
		text = ansi.Wrap(strings.ReplaceAll(text, "\t", "    "), columns, "")
	}
	return strings.Split(text, "\n")
}
