//go:build linux || darwin

package daemon

import (
	"fmt"
	"net"
	"os"
)

// checkPeer refuses the other side of a socket if that is a process of another user, root apart.
func checkPeer(conn net.Conn) error {
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return err
	}
	var user int
	var failed error
	if err := raw.Control(func(fd uintptr) { user, failed = peerUser(int(fd)) }); err != nil {
		return err
	}
	if failed == nil && user != 0 && user != os.Geteuid() {
		failed = fmt.Errorf("the session belongs to another user (uid %d)", user)
	}
	return failed
}
