package console

import (
	"os"

	"golang.org/x/sys/windows"
)

func dropInput(f *os.File) error { return windows.FlushConsoleInputBuffer(windows.Handle(f.Fd())) }

func hideInput(f *os.File) error {
	var mode uint32
	if err := windows.GetConsoleMode(windows.Handle(f.Fd()), &mode); err != nil {
		return err
	}
	return windows.SetConsoleMode(windows.Handle(f.Fd()), mode&^windows.ENABLE_ECHO_INPUT)
}
