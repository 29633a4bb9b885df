package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// EndingSignals returns the signals that end toolx. A hang-up that was ignored when toolx began, as nohup asks for,
// does not.
func EndingSignals() []os.Signal {
	ending := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		ending = append(ending, syscall.SIGHUP)
	}
	return ending
}
