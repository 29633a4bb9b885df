package doctor

import (
	"net/netip"
	"os"
)

// listenerFor is the socket of this machine that takes connections to an address, from
// /proc; known is false where it has none, as where something forwards the port.
func listenerFor(here netip.AddrPort) (socket netip.AddrPort, known bool) {
	var sockets []netip.AddrPort
	for address := range socketsNear(os.Getpid(), listening) {
		sockets = append(sockets, address)
	}
	return listenerOn(sockets, here)
}
