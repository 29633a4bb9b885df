//go:build unix

package cmdline

import (
	"fmt"
	"io/fs"
	"syscall"
)

// OwnerOf says who owns a file, as an addition to its mode.
func OwnerOf(info fs.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf(", owner uid %d gid %d", stat.Uid, stat.Gid)
}
