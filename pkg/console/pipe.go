package console

import (
	"errors"
	"io"
)

// IsBrokenPipe reports whether err means that the reader of a pipe has gone, as in
// "toolx list | head -1". It is nothing to complain about: a verb that meets it
// on stdout ends quietly.
//
// Writing to a closed stdout or stderr kills a Go program by SIGPIPE before it can
// clean up, unless KeepSIGPIPE was called: call it first.
func IsBrokenPipe(err error) bool {
	if err == nil {
		return false
	}
	return errors.Is(err, io.ErrClosedPipe) || isBrokenPipe(err)
}
