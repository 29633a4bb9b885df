package doctor

import (
	"bufio"
	"net/netip"
	"os"
)

// listenerFor is the socket of this machine that takes connections to an address, from
// /proc; known is false where it has none, as where something forwards the port.
func listenerFor(here netip.AddrPort) (socket netip.AddrPort, known bool) {
	var sockets []netip.AddrPort
	for _, table := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		file, err := os.Open(table)
		if err != nil {
			continue
		}
		for lines := bufio.NewScanner(file); lines.Scan(); {
			if address, _, ok := listener(lines.Text()); ok {
				sockets = append(sockets, address)
			}
		}
		_ = file.Close()
	}
	return serving(sockets, here)
}
