// Package terminal finds out what a terminal shows, and restores it when the process crashes.
package terminal

import (
	"io"
	"strings"

	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"

	"toolx/pkg/console"
)

// Profile returns the colours that a terminal shows, from the environment of the process ("NAME=value") as Bubble Tea
// does. If wanted is false it shows none, but text can still be bold or reversed.
//
// Bubble Tea assumes at least sixteen colours for every terminal with a name. So the name of a monochrome terminal
// (TERM=vt100) takes precedence, unless colour is forced.
func Profile(out io.Writer, environ []string, wanted bool) colorprofile.Profile {
	getenv := uv.Environ(environ).Getenv
	if !wanted || monochrome(getenv("TERM")) && !console.ColorForced(getenv) {
		return colorprofile.ASCII
	}
	return max(colorprofile.ASCII, colorprofile.Detect(out, environ))
}

// monochrome reports whether the name of a terminal means that it has no colours: DEC's video terminals, and the
// suffixes -m and -mono (term(7)).
func monochrome(term string) bool {
	terminal := strings.HasPrefix(term, "vt") && !strings.HasPrefix(term, "vte") // vte is GNOME's
	return terminal || strings.HasSuffix(term, "-m") || strings.HasSuffix(term, "-mono")
}

// DarkBackground reports whether the environment describes a dark background, or none: COLORFGBG has the numbers of the
// colours of text and background, as in "0;15". It applies until the terminal answers, since some never do.
func DarkBackground(getenv func(string) string) bool {
	const white, brightWhite = "7", "15"
	colors := strings.Split(getenv("COLORFGBG"), ";")
	background := colors[len(colors)-1]
	return background != white && background != brightWhite
}
