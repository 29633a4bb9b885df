package doctor

import (
	"net/netip"
	"os"

	"toolx/pkg/procs"
)

// listenerFor returns the local socket that accepts connections to an address, from /proc; known is false if there is
// none, for example if the port is forwarded.
func listenerFor(here netip.AddrPort) (socket netip.AddrPort, known bool) {
	return listenerOn(procs.ListeningNear(os.Getpid()), here)
}
