package console

import (
	"errors"
	"io"
)

// IsBrokenPipe reports whether err means that the reader has closed the pipe, as in "toolx list | head
// -1". That is not a failure: a verb that gets it on stdout ends quietly.
//
// Writing to a closed stdout or stderr kills a Go program by SIGPIPE before it can clean up, unless
// KeepSIGPIPE was called first.
func IsBrokenPipe(err error) bool {
	if err == nil {
		return false
	}
	return errors.Is(err, io.ErrClosedPipe) || isBrokenPipe(err)
}
