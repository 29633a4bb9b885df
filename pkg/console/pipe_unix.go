//go:build unix

package console

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// KeepSIGPIPE keeps the process alive when it writes to a closed pipe: the write fails with an error for which
// IsBrokenPipe returns true, so that servers are still shut down properly. stop restores the default, which kills the
// process.
//
// The signal is caught and dropped rather than ignored, because child processes inherit an ignored
// signal, and servers must keep the default.
func KeepSIGPIPE() (stop func()) {
	caught := make(chan os.Signal, 1) // never read: a full channel drops signals
	signal.Notify(caught, syscall.SIGPIPE)
	return func() { signal.Stop(caught) }
}

func isBrokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

// enableSequences does nothing: terminals support control sequences.
func enableSequences(*os.File) bool { return true }
