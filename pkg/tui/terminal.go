package tui

import (
	"io"
	"strings"

	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/xo/terminfo"

	"toolx/pkg/console"
)

// profileOf finds out which colours a terminal shows, from the environment of the process
// ("NAME=value") as Bubble Tea does. If wanted is false it shows none, but text stays bold or reversed.
//
// Bubble Tea assumes at least sixteen colours for every terminal with a name. So the terminal's entry
// in the system's database decides if it says that there are none (TERM=vt100), unless colour is
// forced. colors returns what the entry says; ok is false if there is none.
func profileOf(
	out io.Writer, environ []string, wanted bool, colors func(term string) (count int, ok bool),
) colorprofile.Profile {
	const least = 8 // colours that a terminal with any has
	if !wanted {
		return colorprofile.ASCII
	}
	getenv := uv.Environ(environ).Getenv
	if count, ok := colors(getenv("TERM")); ok && count < least && !console.ColorForced(getenv) {
		return colorprofile.ASCII
	}
	return max(colorprofile.ASCII, colorprofile.Detect(out, environ))
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

// darkBackground reports whether the environment speaks of a dark background, or of none: COLORFGBG has the numbers of
// the colours of text and background, as in "0;15". It holds until the terminal answers, since some never do.
func darkBackground(getenv func(string) string) bool {
	const white, brightWhite = "7", "15"
	colors := strings.Split(getenv("COLORFGBG"), ";")
	background := colors[len(colors)-1]
	return background != white && background != brightWhite
}
