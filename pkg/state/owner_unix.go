//go:build unix

package state

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// noFollow makes opening a link fail.
const noFollow = syscall.O_NOFOLLOW

// WritableByOthers returns why someone other than the user or root can write the file, empty if no one can. Under sudo,
// the user is the one who called it.
func WritableByOthers(info fs.FileInfo) string {
	if info.Mode().Perm()&0o002 != 0 {
		return fmt.Sprintf("everyone can write it (mode %04o)", info.Mode().Perm())
	}
	system, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	if info.Mode().Perm()&0o020 != 0 && !ownGroup(int(system.Gid)) {
		return fmt.Sprintf("its group can write it (gid %d, mode %04o)", system.Gid, info.Mode().Perm())
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

// keepOwner gives a new file the owner and the group of the one that it replaces. Under sudo that is another user, who
// could no longer read it otherwise. It does not keep a group that the user is not in.
func keepOwner(name string, before fs.FileInfo) error {
	now, err := os.Stat(name)
	if err != nil {
		return err
	}
	old, ok := before.Sys().(*syscall.Stat_t)
	fresh, same := now.Sys().(*syscall.Stat_t)
	if !ok || !same {
		return nil
	}
	if old.Gid != fresh.Gid {
		_ = os.Chown(name, -1, int(old.Gid))
	}
	if old.Uid != fresh.Uid {
		return os.Chown(name, int(old.Uid), -1)
	}
	return nil
}

// ownGroup reports whether a group is root's or the user's primary one: many systems give each user a private group,
// and create files that it can write.
func ownGroup(group int) bool {
	return group == 0 || group == os.Getegid() || os.Geteuid() == 0 && os.Getenv("SUDO_GID") == strconv.Itoa(group)
}
