//go:build unix

package console

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// KeepSIGPIPE lets the process live when it writes to a pipe that nobody reads:
// the write fails with an error for which IsBrokenPipe holds, so that servers are
// still closed in order. stop restores the default, which is death.
//
// The signal is caught and dropped rather than ignored, because an ignored signal
// stays ignored in child processes, and servers must keep their own default.
func KeepSIGPIPE() (stop func()) {
	caught := make(chan os.Signal, 1) // never read: a full channel drops signals
	signal.Notify(caught, syscall.SIGPIPE)
	return func() { signal.Stop(caught) }
}

func isBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

// enableSequences has nothing to do: terminals obey.
func enableSequences(*os.File) bool { return true }
