package daemon

import "golang.org/x/sys/unix"

// peerUser returns the user of the process at the other side of a socket.
func peerUser(socket int) (uid int, err error) {
	peer, err := unix.GetsockoptUcred(socket, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(peer.Uid), nil
}
