package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// EndingSignals returns the signals that end toolx. It leaves out SIGHUP if that was ignored when toolx started, as
// with nohup.
func EndingSignals() []os.Signal {
	ending := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		ending = append(ending, syscall.SIGHUP)
	}
	return ending
}
