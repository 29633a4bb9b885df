package console

import (
	"os"

	"golang.org/x/sys/unix"
)

func dropInput(f *os.File) error { return unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) }

func hideInput(f *os.File) error { return withoutEcho(int(f.Fd()), unix.TCGETS, unix.TCSETS) }
