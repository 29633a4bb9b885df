package terminal

import (
	"io"
	"testing"

	"github.com/charmbracelet/colorprofile"
)

// The colours follow the terminal and what the user wants of it.
func TestProfile(t *testing.T) {
	for _, test := range []struct {
		name     string
		environ  []string
		unwanted bool
		want     colorprofile.Profile
	}{
		{"a terminal without colour", []string{"TERM=vt100"}, false, colorprofile.ASCII},
		{"one within a terminal that has them", []string{"TERM=vt100", "COLORTERM=truecolor"}, false, colorprofile.ASCII},
		{"forced", []string{"TERM=vt100", "CLICOLOR_FORCE=1"}, false, colorprofile.ANSI},
		{"forced by another name", []string{"TERM=vt100", "FORCE_COLOR=3"}, false, colorprofile.ANSI},
		{"forced to none", []string{"TERM=vt100", "FORCE_COLOR=0"}, false, colorprofile.ASCII},
		{"console", []string{"TERM=linux"}, false, colorprofile.ANSI},
		{"xterm", []string{"TERM=xterm"}, false, colorprofile.ANSI},
		{"256 colours", []string{"TERM=xterm-256color"}, false, colorprofile.ANSI256},
		{"true colour", []string{"TERM=xterm-256color", "COLORTERM=truecolor"}, false, colorprofile.TrueColor},
		{"screen", []string{"TERM=screen", "COLORTERM=truecolor"}, false, colorprofile.ANSI256},
		{"tmux", []string{"TERM=tmux-256color", "COLORTERM=truecolor"}, false, colorprofile.ANSI256},
		{"monochrome by its name", []string{"TERM=xterm-mono"}, false, colorprofile.ASCII},
		{"GNOME's", []string{"TERM=vte-256color"}, false, colorprofile.ANSI256},
		{"kitty", []string{"TERM=xterm-kitty"}, false, colorprofile.TrueColor},
		{"a terminal that nobody knows", []string{"TERM=whatever"}, false, colorprofile.ANSI},
		{"no name at all", nil, false, colorprofile.ASCII},
		{"NO_COLOR", []string{"TERM=xterm-256color", "NO_COLOR=1"}, false, colorprofile.ASCII},
		{"not wanted: NO_COLOR=x, CLICOLOR=0, --no-color", []string{"TERM=xterm-256color", "COLORTERM=truecolor"}, true, colorprofile.ASCII},
	} {
		t.Run(test.name, func(t *testing.T) {
			environ := append([]string{"TERM=overridden", "TTY_FORCE=1"}, test.environ...)
			if test.environ == nil {
				environ = []string{"TTY_FORCE=1"}
			}
			if got := Profile(io.Discard, environ, !test.unwanted); got != test.want {
				t.Errorf("it has %s, want %s", got, test.want)
			}
		})
	}
}

func TestDarkBackground(t *testing.T) {
	for colors, want := range map[string]bool{
		"": true, "15;0": true, "15;default;0": true, "0;15": false, "0;default;7": false, "12;8": true, "0": true,
	} {
		getenv := func(string) string { return colors }
		if got := DarkBackground(getenv); got != want {
			t.Errorf("COLORFGBG=%s: dark is %t, want %t", colors, got, want)
		}
	}
}
