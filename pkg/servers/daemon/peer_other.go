//go:build !linux && !darwin

package daemon

import "net"

// checkPeer returns nil: the system does not say whose process is at the other side. The folder of the socket is for
// the user alone.
func checkPeer(net.Conn) error { return nil }
