package console

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal gives the user's side of a real pseudo-terminal of the given width.
func openTerminal(t *testing.T, columns uint16) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	return terminal
}

func TestTerminal(t *testing.T) {
	pipe, other, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	defer other.Close()
	terminal := openTerminal(t, 123)
	term := func(value string) func(string) string {
		return func(name string) string {
			if name == "TERM" {
				return value
			}
			return ""
		}
	}

	both := detect(terminal, terminal, terminal, term("xterm-256color"))
	if !both.InTTY || !both.OutTTY || !both.ErrTTY || !both.Color || !both.ErrColor || !both.Motion ||
		both.Width != 123 {
		t.Errorf("on a terminal: %+v", both)
	}
	redirected := detect(pipe, other, terminal, term("xterm"))
	if redirected.OutTTY || redirected.Color || !redirected.ErrColor || !redirected.Motion || redirected.Width != 123 {
		t.Errorf("with stdout redirected: %+v", redirected)
	}
	dumb := detect(terminal, terminal, terminal, term("dumb"))
	if !dumb.OutTTY || dumb.Color || dumb.ErrColor || dumb.Motion {
		t.Errorf("on a dumb terminal: %+v", dumb)
	}
	if unknown := detect(terminal, openTerminal(t, 0), nil, term("xterm")); unknown.Width != defaultWidth {
		t.Errorf("a terminal of width 0 gives %d", unknown.Width)
	}
	both.NoColor()
	if both.Color || both.ErrColor {
		t.Error("NoColor leaves colour on")
	}
}
