//go:build unix

package cmdline

import (
	"fmt"
	"io/fs"
	"syscall"
)

// OwnerOf returns the owner of a file, to append to its mode; empty on Windows, where owners and modes do not decide
// what can run.
func OwnerOf(info fs.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf(", owner uid %d gid %d", stat.Uid, stat.Gid)
}
