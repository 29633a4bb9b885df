package daemon

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// detached starts a process without the console of this one.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true,
	}
}

// CloseInherited does nothing: a process inherits only what it is given by name.
func CloseInherited() {}
