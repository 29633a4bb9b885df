//go:build unix

package daemon

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// detached starts a process in another session, which Ctrl-C and the end of the terminal do not reach.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// CloseInherited closes what the process has got from the one that started it beside the three standard files: a
// script's lock, say, or a pipe whose end another process waits for. What a Go program opens is closed by exec, and is
// left open.
func CloseInherited() {
	entries, _ := os.ReadDir("/dev/fd") // where there is none, nothing is closed
	for _, entry := range entries {
		number, err := strconv.Atoi(entry.Name())
		if err != nil || number <= 2 {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(number), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			_ = unix.Close(number)
		}
	}
}
