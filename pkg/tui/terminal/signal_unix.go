//go:build unix

package terminal

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
)

// restoreTime bounds how long an ending process waits for its terminal, which may be blocked.
const restoreTime = time.Second

// RestoreAtCrash restores the terminal before a signal makes Go print the stacks of all goroutines and exit. Users send
// such a signal to a process that hangs. The stacks stay readable, and the exit code is Go's. Nothing here depends on
// the model, which may be the part that hangs. Call stop when the program has ended.
func RestoreAtCrash(program *tea.Program) (stop func()) {
	signals, ended := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE,
		syscall.SIGILL, syscall.SIGTRAP, syscall.SIGSYS)
	go func() {
		select {
		case <-ended:
		case sent := <-signals:
			released := make(chan struct{})
			go func() {
				defer close(released)
				_ = program.ReleaseTerminal() // there is no other way to restore it
			}()
			select {
			case <-released:
			case <-time.After(restoreTime):
			}
			signal.Reset(sent)
			if one, ok := sent.(syscall.Signal); ok {
				_ = syscall.Kill(os.Getpid(), one) // as if it had not been caught
			}
		}
	}()
	return func() { signal.Stop(signals); close(ended) }
}
