//go:build unix

package servers

import "syscall"

// detached starts a process in a session of its own, which Ctrl-C and the end of the terminal do not reach.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
