package console

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// KeepSIGPIPE has nothing to do: Windows has no such signal, a write to a pipe
// that nobody reads fails with an error for which IsBrokenPipe holds.
func KeepSIGPIPE() (stop func()) { return func() {} }

func isBrokenPipe(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA) ||
		errors.Is(err, windows.ERROR_PIPE_NOT_CONNECTED)
}

// enableSequences makes a console obey control sequences, which consoles older
// than Windows Terminal do only when asked; false means that it cannot.
func enableSequences(f *os.File) bool {
	handle := windows.Handle(f.Fd())
	var mode uint32
	if windows.GetConsoleMode(handle, &mode) != nil {
		return false
	}
	return windows.SetConsoleMode(handle, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
