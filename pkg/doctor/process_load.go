package doctor

import (
	"fmt"
	"net/netip"
	"strings"

	"toolx/pkg/exec"
)

// What is much for a server that does nothing: of 209 real ones, 90 % use less than
// 155 MB, and none uses the processor.
const (
	muchMemory = 300 << 20
	muchCPU    = 0.2
)

func memoryIdle() Check {
	return Check{
		ID: "memory-idle", Severity: Info, Group: GroupProcess, Need: NeedSample,
		Title: "server uses much memory while it does nothing",
		Ask:   askMemoryIdle,
		Page: Page{
			Why: "A client starts all its servers, and keeps them. Ten of them with 300 MB each are 3 GB. Half of 209 real " +
				"servers use less than 92 MB, nine of ten less than 155 MB.",
			Bad:    "374 MB after tools/list",
			Good:   "92 MB",
			Fix:    []string{"in the server: load models, browsers and large modules when a tool needs them"},
			Source: "measured on 209 packages of the npm registry",
		},
	}
}

func askMemoryIdle(e *Evidence) []Finding {
	s := e.Clean.Idle
	if s.RSS <= muchMemory {
		return nil
	}
	return sole(Finding{
		Where:    &Where{Run: e.Clean.Name, MS: e.Clean.Since(e.Clean.Marks["idle-end"])},
		Evidence: fmt.Sprintf("%s in %s", exec.Bytes(s.RSS), processes(s.Processes)),
	})
}

func processes(n int) string {
	if n == 1 {
		return "1 process"
	}
	return fmt.Sprintf("%d processes", n)
}

func cpuIdle() Check {
	return Check{
		ID: "cpu-idle", Severity: Warning, Group: GroupProcess, Need: NeedSample,
		Title: "server uses the processor while it does nothing",
		Ask:   askCPUIdle,
		Page: Page{
			Why: "Nobody had asked it anything. A server that polls, or that turns in a loop at the end of its stdin, drains " +
				"batteries; one that was left behind does so for days (26,807 seconds of processor time in typescript-sdk#2002).",
			Bad:    "while (true) { check(); }",
			Good:   "The server waits for its stdin.",
			Fix:    []string{"in the server: wait for events instead of polling; poll once a minute at the most"},
			Source: "typescript-sdk#2002",
		},
	}
}

func askCPUIdle(e *Evidence) []Finding {
	s := e.Clean.Idle
	load := s.Load()
	if load <= muchCPU {
		return nil
	}
	return sole(Finding{
		Where:    &Where{Run: e.Clean.Name, MS: e.Clean.Since(e.Clean.Marks["idle-begin"])},
		Evidence: fmt.Sprintf("%.0f %% of a processor throughout %s without a request", 100*load, milliseconds(patientRounded(s.Over))),
	})
}

func listensOnNetwork() Check {
	return Check{
		ID: "listens-on-network", Severity: Warning, Group: GroupProcess, Need: NeedSample,
		Title: "a server on stdio accepts network connections",
		Ask:   askListensOnNetwork,
		Page: Page{
			Why: "The server speaks on stdio, and a port is open beside it. Every program of this machine can reach it, web " +
				"pages too by way of DNS rebinding; with an address of 0.0.0.0 or :: every machine of the network can.",
			Bad:  "app.listen(3000)   // 0.0.0.0",
			Good: "app.listen(3000, '127.0.0.1')   // or no port at all",
			Fix: []string{
				"in the server: open no port in stdio mode",
				"in the server, where the port is needed: bind 127.0.0.1, ask for a token, check Host and Origin",
			},
			Source: "MCP 2025-11-25, basic/transports, streamable HTTP, security warning",
		},
	}
}

func askListensOnNetwork(e *Evidence) []Finding {
	var found []Finding
	for _, socket := range e.Clean.Idle.Listening {
		f := Finding{Where: &Where{Run: e.Clean.Name}, Evidence: "listens on " + socket}
		address, _, _ := strings.Cut(socket, " ")
		if parsed, err := netip.ParseAddrPort(address); err == nil && parsed.Addr().IsUnspecified() {
			f.Severity = Error
			f.Title = "a server on stdio accepts connections from the whole network"
		}
		found = append(found, f)
	}
	return found
}
