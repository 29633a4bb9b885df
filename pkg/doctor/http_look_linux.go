package doctor

import (
	"net/netip"
	"os"

	"toolx/pkg/procs"
)

// listenerFor is the socket of this machine that takes connections to an address, from
// /proc; known is false where it has none, as where something forwards the port.
func listenerFor(here netip.AddrPort) (socket netip.AddrPort, known bool) {
	return listenerOn(procs.ListeningNear(os.Getpid()), here)
}
