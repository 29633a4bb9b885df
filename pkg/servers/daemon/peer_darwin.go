package daemon

import "golang.org/x/sys/unix"

// peerUser returns the user of the process at the other side of a socket.
func peerUser(socket int) (uid int, err error) {
	peer, err := unix.GetsockoptXucred(socket, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(peer.Uid), nil
}
