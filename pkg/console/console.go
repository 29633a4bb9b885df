// Package console has the three streams of the process and the facts about them: which are terminals, their width,
// whether to use colour. It determines the facts once, for all packages that write.
package console

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"

	"golang.org/x/term"
)

// defaultWidth is the width in columns if no terminal reports one.
const defaultWidth = 80

// Console is where toolx reads and writes. Set its fields before use and do not change them afterwards.
type Console struct {
	In       io.Reader
	Out, Err io.Writer

	// InTTY, OutTTY and ErrTTY report which streams are terminals.
	InTTY, OutTTY, ErrTTY bool

	// Joined reports whether Out and Err are the same file, so that the order of writes to the two is visible.
	Joined bool

	// Width is the terminal's width in columns, defaultWidth if there is no terminal.
	Width int

	// Color reports whether Out may be coloured, ErrColor whether Err may. They differ if one of the two is redirected.
	Color, ErrColor bool

	// Motion reports whether a line on Err may be redrawn: Err is a terminal that supports control
	// sequences (TERM is not "dumb").
	Motion bool
}

// System returns the process's own streams with the facts about them. Colour follows the environment
// (see no-color.org and bixense.com/clicolors): NO_COLOR wins, then CLICOLOR_FORCE or FORCE_COLOR,
// then TERM=dumb and CLICOLOR=0. Otherwise terminals are coloured and other files are not.
func System() *Console {
	return detect(os.Stdin, os.Stdout, os.Stderr, os.Getenv)
}

// New returns a Console over plain streams: no terminal, no colour, defaultWidth. Tests can set the fields.
func New(in io.Reader, out, err io.Writer) *Console {
	return &Console{In: in, Out: out, Err: err, Width: defaultWidth}
}

// detect determines the facts; getenv returns a variable of the environment, empty if it is unset.
func detect(in, out, err *os.File, getenv func(string) string) *Console {
	c := New(in, out, err)
	c.InTTY, c.OutTTY, c.ErrTTY = isTerminal(in), isTerminal(out), isTerminal(err)
	dumb := getenv("TERM") == "dumb"
	obeysOut := c.OutTTY && !dumb && enableSequences(out)
	obeysErr := c.ErrTTY && !dumb && enableSequences(err)
	c.Color = wantsColor(obeysOut, getenv)
	c.ErrColor = wantsColor(obeysErr, getenv)
	c.Motion = obeysErr
	c.Joined = c.OutTTY && c.ErrTTY || sameFile(out, err)
	c.Width = width(out, err)
	return c
}

// Piped reports whether In is a pipe or a file, which provides data without a prompt. A terminal and /dev/null are not.
func (c *Console) Piped() bool {
	file, is := c.In.(*os.File)
	if !is {
		return c.In != nil
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&fs.ModeCharDevice == 0
}

func isTerminal(f *os.File) bool { return f != nil && term.IsTerminal(int(f.Fd())) }

func sameFile(a, b *os.File) bool {
	if a == nil || b == nil {
		return false
	}
	first, err := a.Stat()
	if err != nil {
		return false
	}
	if runtime.GOOS == "windows" && first.Mode()&fs.ModeNamedPipe != 0 {
		return false // pipes have no identity there, and would all be the same
	}
	second, err := b.Stat()
	return err == nil && os.SameFile(first, second)
}

// wantsColor reports whether to colour one stream; obeys reports that it is a terminal with control sequences.
func wantsColor(obeys bool, getenv func(string) string) bool {
	switch {
	case getenv("NO_COLOR") != "":
		return false
	case ColorForced(getenv):
		return true
	case getenv("CLICOLOR") == "0":
		return false
	}
	return obeys
}

// ColorForced reports whether the user asks for colour whatever the terminal is.
func ColorForced(getenv func(string) string) bool {
	for _, name := range []string{"CLICOLOR_FORCE", "FORCE_COLOR"} {
		if value := getenv(name); value != "" && value != "0" && value != "false" {
			return true
		}
	}
	return false
}

// width returns the width of the first stream that is a terminal with a width above 0; some CI systems and serial lines
// report 0.
func width(streams ...*os.File) int {
	for _, stream := range streams {
		if !isTerminal(stream) {
			continue
		}
		if columns, _, err := term.GetSize(int(stream.Fd())); err == nil && columns > 0 {
			return columns
		}
	}
	return defaultWidth
}

// HideTyped stops echoing input, before a prompt for a secret. The caller restores the terminal. It does nothing if In
// is not a terminal, or if the system does not support it.
func (c *Console) HideTyped() {
	if file, isFile := c.In.(*os.File); isFile && c.InTTY {
		_ = hideInput(file) // the following read hides input, too
	}
}

// DropTyped discards unread input of the terminal. It does nothing if In is not a terminal, or on an unsupported
// system.
func (c *Console) DropTyped() {
	if in, ok := c.In.(*os.File); ok && c.InTTY {
		_ = dropInput(in)
	}
}

// NoColor turns off colour on both streams, for --no-color.
func (c *Console) NoColor() { c.Color, c.ErrColor = false, false }

// IsBrokenPipe reports whether err means that the reader has closed the pipe, as in "toolx list | head -1". That is not
// a failure: a command that gets it on stdout ends silently.
//
// Writing to a closed stdout or stderr kills a Go program by SIGPIPE before it can clean up, unless
// KeepSIGPIPE was called first.
func IsBrokenPipe(err error) bool {
	if err == nil {
		return false
	}
	return errors.Is(err, io.ErrClosedPipe) || isBrokenPipe(err)
}
