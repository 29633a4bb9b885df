package tui

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/charmbracelet/colorprofile"
)

// The colours follow the terminal and what the user wants of it.
func TestProfile(t *testing.T) {
	database := map[string]int{
		"vt100":          -1,
		"linux":          8,
		"xterm":          8,
		"xterm-256color": 256,
		"screen":         8,
		"tmux-256color":  256,
	}
	colors := func(term string) (int, bool) {
		count, ok := database[term]
		return count, ok
	}
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
		{"a terminal that is not in the database", []string{"TERM=xterm-kitty"}, false, colorprofile.TrueColor},
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
			if got := profileOf(io.Discard, environ, !test.unwanted, colors); got != test.want {
				t.Errorf("it has %s, want %s", got, test.want)
			}
		})
	}
}

// What the system's database says of a terminal is read.
func TestTerminfoColors(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TERMINFO", folder)
	for name, colors := range map[string]int16{"toolx-plain": -1, "toolx-eight": 8} {
		writeTerminfo(t, folder, name, colors)
		if count, ok := terminfoColors(name); !ok || count != int(colors) {
			t.Errorf("%s has %d colours, %t", name, count, ok)
		}
	}
	if _, ok := terminfoColors("toolx-nowhere"); ok {
		t.Error("a terminal without entry has one")
	}
}

// writeTerminfo writes a compiled entry of which nothing is set but the colours, see
// term(5).
func writeTerminfo(t *testing.T, folder, name string, colors int16) {
	t.Helper()
	const magic, numbers = 0o432, 14 // colors is the last of so many numbers
	names := append([]byte(name+"|a terminal of a test"), 0)
	if len(names)%2 == 1 {
		names = append(names[:len(names)-1], '.', 0) // numbers begin at an even place
	}
	entry := binary.LittleEndian.AppendUint16(nil, magic)
	for _, size := range []int{len(names), 0, numbers, 0, 0} { // names, flags, numbers, texts, their table
		entry = binary.LittleEndian.AppendUint16(entry, uint16(size))
	}
	entry = append(entry, names...)
	entry = append(entry, bytes.Repeat([]byte{0xff}, 2*(numbers-1))...)
	entry = binary.LittleEndian.AppendUint16(entry, uint16(colors))
	file := filepath.Join(folder, name[:1], name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, entry, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestDarkBackground(t *testing.T) {
	for colors, want := range map[string]bool{
		"": true, "15;0": true, "15;default;0": true, "0;15": false, "0;default;7": false, "12;8": true, "0": true,
	} {
		getenv := func(string) string { return colors }
		if got := darkBackground(getenv); got != want {
			t.Errorf("COLORFGBG=%s: dark is %t, want %t", colors, got, want)
		}
	}
}
