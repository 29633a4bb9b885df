package cmd_test

import (
	"errors"

	"golang.org/x/sys/unix"
)

// ends reports whether a process ends, or has ended: it was killed, but a busy machine may
// take its time, and a zombie that init has not reaped yet is none.
func ends(pid int) bool {
	const patience = 2_000 // milliseconds; only a process that is left behind takes them
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return true // ESRCH
	}
	defer unix.Close(fd) //nolint:errcheck // it was only waited for
	for {
		ready, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, patience)
		if !errors.Is(err, unix.EINTR) {
			return ready == 1
		}
	}
}
