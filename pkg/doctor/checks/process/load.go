package process

import (
	"fmt"
	"net/netip"
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
)

// muchMemory is the limit for an idle server: of 209 real ones, 90 % use less than 155 MB.
const muchMemory = 300 << 20

func askMemoryIdle(e *evidence.Evidence) []check.Finding {
	s := e.Clean.Idle
	if s.RSS <= muchMemory {
		return nil
	}
	count := "1 process"
	if s.Processes != 1 {
		count = fmt.Sprintf("%d processes", s.Processes)
	}
	return check.One(e.Clean.At(e.Clean.Marks["idle-end"]), "%s in %s", exec.Bytes(s.RSS), count)
}

func askCPUIdle(e *evidence.Evidence) []check.Finding {
	s := e.Clean.Idle
	load := s.Load()
	if load <= evidence.BusyLoad {
		return nil
	}
	return check.One(e.Clean.At(e.Clean.Marks["idle-begin"]),
		"%.0f %% of a processor throughout %s without a request", 100*load, evidence.Rounded(s.Over))
}

func askListensOnNetwork(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, socket := range e.Clean.Idle.Listening {
		f := check.At(&evidence.Where{Run: e.Clean.Name}, "listens on %s", socket)
		address, _, _ := strings.Cut(socket, " ")
		parsed, err := netip.ParseAddrPort(address)
		switch {
		case err == nil && parsed.Addr().IsLoopback():
			continue
		case !e.ServesHTTP():
			f.Severity, f.Title = check.Info, "a server on stdio has a port open to the network"
		case err == nil && parsed.Addr().IsUnspecified():
			f.Severity = check.Error
			f.Title = "a server on stdio accepts connections from the whole network"
		}
		found = append(found, f)
	}
	return found
}
