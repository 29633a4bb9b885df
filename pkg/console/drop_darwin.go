package console

import (
	"os"

	"golang.org/x/sys/unix"
)

// dropInput flushes the input queue: TCIFLUSH has the value of FREAD, which TIOCFLUSH expects.
func dropInput(f *os.File) error {
	return unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, unix.TCIFLUSH)
}

func hideInput(f *os.File) error { return withoutEcho(int(f.Fd()), unix.TIOCGETA, unix.TIOCSETA) }
