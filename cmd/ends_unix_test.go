//go:build unix && !linux

package cmd_test

import (
	"errors"
	"syscall"
)

// ends reports whether a process has ended.
func ends(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
