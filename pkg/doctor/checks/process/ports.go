package process

import (
	"net/netip"
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
)

func askListensOnNetwork(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, socket := range e.Clean.Listening {
		f := check.At(&evidence.Where{Run: e.Clean.Name}, "listens on %s", socket)
		address, _, _ := strings.Cut(socket, " ")
		parsed, err := netip.ParseAddrPort(address)
		switch {
		case err == nil && parsed.Addr().IsLoopback():
			continue
		case !e.ServesHTTP():
			f.Severity, f.Title = check.Info, "stdio server has a port open to the network"
		case err == nil && parsed.Addr().IsUnspecified():
			f.Severity = check.Error
			f.Title = "stdio server accepts connections from the whole network"
		}
		found = append(found, f)
	}
	return found
}
