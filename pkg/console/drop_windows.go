package console

import (
	"os"

	"golang.org/x/sys/windows"
)

func dropInput(f *os.File) error { return windows.FlushConsoleInputBuffer(windows.Handle(f.Fd())) }
