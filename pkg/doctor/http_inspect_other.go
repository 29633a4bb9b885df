//go:build !linux

package doctor

import "net/netip"

// listenerFor always returns false: only Linux reports sockets without starting another program.
func listenerFor(here netip.AddrPort) (socket netip.AddrPort, known bool) {
	return listenerOn(nil, here)
}
