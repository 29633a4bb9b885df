package servers

import (
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// checkPeer refuses the other side of a socket if that is a process of another user, root apart.
func checkPeer(conn net.Conn) error {
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Xucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		peer, failed = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	})
	switch {
	case err != nil:
		return err
	case failed != nil:
		return failed
	}
	if uid := int(peer.Uid); uid != 0 && uid != os.Geteuid() {
		return fmt.Errorf("the session belongs to another user (uid %d)", uid)
	}
	return nil
}
