package console

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// KeepSIGPIPE does nothing: Windows has no such signal, and a write to a closed pipe fails with an
// error for which IsBrokenPipe returns true.
func KeepSIGPIPE() (stop func()) { return func() {} }

func isBrokenPipe(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA) ||
		errors.Is(err, windows.ERROR_PIPE_NOT_CONNECTED)
}

// enableSequences enables control sequences on a console; consoles older than Windows Terminal need
// that. It returns false if the console does not support them.
func enableSequences(f *os.File) bool {
	handle := windows.Handle(f.Fd())
	var mode uint32
	if windows.GetConsoleMode(handle, &mode) != nil {
		return false
	}
	return windows.SetConsoleMode(handle, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
