package console

import (
	"os"

	"golang.org/x/sys/unix"
)

func dropInput(f *os.File) error { return unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
