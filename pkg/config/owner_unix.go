//go:build unix

package config

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// writableByOthers returns why somebody other than the user or root decides what the file
// says, empty where nobody does. Under sudo, the user is the one who called it.
func writableByOthers(info fs.FileInfo) string {
	if info.Mode().Perm()&0o002 != 0 {
		return fmt.Sprintf("everyone can write it (mode %04o)", info.Mode().Perm())
	}
	system, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	switch owner := int(system.Uid); {
	case owner == 0, owner == os.Geteuid():
		return ""
	case os.Geteuid() == 0 && os.Getenv("SUDO_UID") == strconv.Itoa(owner):
		return ""
	default:
		return fmt.Sprintf("it belongs to another user (uid %d)", owner)
	}
}
