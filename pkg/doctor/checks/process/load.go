package process

import (
	"fmt"
	"net/netip"
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
)

// What is much for a server that does nothing: of 209 real ones, 90 % use less than
// 155 MB, and none uses the processor.
const (
	muchMemory = 300 << 20
	muchCPU    = 0.2
)

func askMemoryIdle(e *evidence.Evidence) []check.Finding {
	s := e.Clean.Idle
	if s.RSS <= muchMemory {
		return nil
	}
	return check.Sole(check.Finding{
		Where:    &evidence.Where{Run: e.Clean.Name, MS: e.Clean.Since(e.Clean.Marks["idle-end"])},
		Evidence: fmt.Sprintf("%s in %s", exec.Bytes(s.RSS), processes(s.Processes)),
	})
}

func processes(n int) string {
	if n == 1 {
		return "1 process"
	}
	return fmt.Sprintf("%d processes", n)
}

func askCPUIdle(e *evidence.Evidence) []check.Finding {
	s := e.Clean.Idle
	load := s.Load()
	if load <= muchCPU {
		return nil
	}
	return check.Sole(check.Finding{
		Where:    &evidence.Where{Run: e.Clean.Name, MS: e.Clean.Since(e.Clean.Marks["idle-begin"])},
		Evidence: fmt.Sprintf("%.0f %% of a processor throughout %s without a request", 100*load, evidence.Milliseconds(evidence.PatientRounded(s.Over))),
	})
}

func askListensOnNetwork(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, socket := range e.Clean.Idle.Listening {
		f := check.Finding{Where: &evidence.Where{Run: e.Clean.Name}, Evidence: "listens on " + socket}
		address, _, _ := strings.Cut(socket, " ")
		if parsed, err := netip.ParseAddrPort(address); err == nil && parsed.Addr().IsUnspecified() {
			f.Severity = check.Error
			f.Title = "a server on stdio accepts connections from the whole network"
		}
		found = append(found, f)
	}
	return found
}
