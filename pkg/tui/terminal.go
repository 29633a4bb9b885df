package tui

import (
	"io"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/xo/terminfo"
)

// profileOf finds out which colours a terminal shows, from the environment of the
// process ("NAME=value") as Bubble Tea does. wanted is false where the user wants none:
// what is bold or reversed stays so.
//
// Bubble Tea takes every terminal with a name for one of at least sixteen colours. So the
// terminal's entry in the system's database has the last word, where it says that there
// are none (TERM=vt100), unless colour is forced; colors gives what it says, ok is false
// where there is no entry.
func profileOf(
	out io.Writer, environ []string, wanted bool, colors func(term string) (count int, ok bool),
) colorprofile.Profile {
	const least = 8 // colours that a terminal with any has
	if !wanted {
		return colorprofile.ASCII
	}
	if count, ok := colors(variable(environ, "TERM")); ok && count < least && !forced(environ) {
		return colorprofile.ASCII
	}
	return max(colorprofile.ASCII, colorprofile.Detect(out, environ))
}

// forced reports whether the user asks for colour whatever the terminal is (see console.System).
func forced(environ []string) bool {
	for _, name := range []string{"CLICOLOR_FORCE", "FORCE_COLOR"} {
		if value := variable(environ, name); value != "" && value != "0" && value != "false" {
			return true
		}
	}
	return false
}

// variable returns a variable of an environment, empty if it is not set.
func variable(environ []string, name string) (value string) {
	for _, entry := range environ {
		if found, ok := strings.CutPrefix(entry, name+"="); ok {
			value = found // the last one counts
		}
	}
	return value
}

// terminfoColors returns how many colours a terminal has according to the system's terminfo database.
// ok is false if the database does not know the terminal's name.
func terminfoColors(term string) (count int, ok bool) {
	entry, err := terminfo.Load(term)
	if err != nil {
		return 0, false
	}
	return entry.Num(terminfo.MaxColors), true
}
