package doctor

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"toolx/pkg/servers"
)

// The times of shutting down. The specification names none; the first is what a
// person notices, the second what clients wait before they send a signal.
const (
	promptEnd  = 500 * time.Millisecond
	patientEnd = 1900 * time.Millisecond
)

func ignoresStdinClose() Check {
	return Check{
		ID: "ignores-stdin-close", Severity: Warning, Group: GroupProcess, Need: NeedHandshake,
		Title: "server does not end when its stdin closes",
		Ask:   askIgnoresStdinClose,
		Page: Page{
			Why: "A client ends a server by closing its stdin. A server that does not notice stays in memory when the client " +
				"is gone without a chance to send a signal: after a crash, or when a window is closed. Users have found hundreds of them.",
			Bad:  "const server = new McpServer(…);\nawait server.connect(new StdioServerTransport());\nsetInterval(poll, 1000);   // keeps the process alive for ever",
			Good: "process.stdin.on('close', () => process.exit(0));",
			Fix: []string{
				"in Node: end the process on stdin's 'end' or 'close' event; the TypeScript SDK up to 1.32 does not do it for you",
				"in other languages: return from main when reading stdin gives end of file, and stop background threads first",
				"behind a wrapper (npx, sh, uv): start the server with exec, so that it gets the end of stdin and signals itself",
			},
			Breaks: []string{"every client that ends without a signal leaves the process behind (typescript-sdk#2002, Proxyman#2727: 1,088 of them)"},
			Source: "MCP 2025-11-25, basic/lifecycle, shutdown, stdio (SHOULD)",
		},
	}
}

func askIgnoresStdinClose(e *Evidence) []Finding {
	took, exit, ok := e.Clean.shutdown()
	if !ok || exit.Forced == "" || took < patientEnd {
		return nil
	}
	return sole(Finding{
		Title:    fmt.Sprintf("server does not end when its stdin closes (needed %s)", exit.Forced),
		Where:    e.Clean.placeOfEnd(exit),
		Evidence: fmt.Sprintf("alive %s after its stdin was closed; %s ended it", milliseconds(patientRounded(took)), exit.Forced),
	})
}

// patientRounded is a time as it was waited, not as the clock saw it to the
// microsecond.
func patientRounded(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }

// placeOfEnd is the place of what is wrong with a run's end.
func (r *Run) placeOfEnd(exit *servers.ProcessExited) *Where {
	return &Where{Run: r.Name, Phase: string(servers.PhaseShutdown), MS: r.Since(exit.At)}
}

func slowShutdown() Check {
	return Check{
		ID: "slow-shutdown", Severity: Info, Group: GroupProcess, Need: NeedHandshake,
		Title: "server takes its time to end",
		Ask:   askSlowShutdown,
		Page: Page{
			Why: "The process ends by itself when its stdin closes, but not at once. Clients wait up to 2 s and send a signal " +
				"then; one that is closed by its user waits less.",
			Bad:    "alive 1.3 s after its stdin was closed",
			Good:   "Most servers end within 50 ms.",
			Fix:    []string{"in the server: close connections without waiting for their other end, and stop timers when stdin ends"},
			Breaks: []string{"clients that send SIGTERM or SIGKILL early cut the shutdown off"},
			Source: "MCP 2025-11-25, basic/lifecycle, shutdown, stdio",
		},
	}
}

func askSlowShutdown(e *Evidence) []Finding {
	took, exit, ok := e.Clean.shutdown()
	if !ok || exit.Forced != "" || took < promptEnd {
		return nil
	}
	return sole(Finding{
		Where:    e.Clean.placeOfEnd(exit),
		Evidence: fmt.Sprintf("ended %s after its stdin was closed", milliseconds(took)),
	})
}

func ignoresSigterm() Check {
	return Check{
		ID: "ignores-sigterm", Severity: Warning, Group: GroupProcess, Need: NeedProbe,
		Title: "server does not end on SIGTERM",
		Ask:   askIgnoresSigterm,
		Page: Page{
			Why: "SIGTERM is the second step of ending a server, after its stdin was closed, and the first that systemd, " +
				"Docker and a logout take. A server that ignores it must be killed, with no chance to clean up.",
			Bad:  "process.on('SIGTERM', () => {});",
			Good: "process.on('SIGTERM', () => shutdown().finally(() => process.exit(0)));",
			Fix: []string{
				"in the server: end on SIGTERM, within a second",
				"in a container, where the server is process 1: docker run --init, since process 1 has no default for SIGTERM",
			},
			Source: "MCP 2025-11-25, basic/lifecycle, shutdown, stdio",
		},
	}
}

func askIgnoresSigterm(e *Evidence) []Finding {
	run := e.probing()
	sent, survived := run.Marks["terminate"], run.Marks["survived"]
	if survived.IsZero() {
		return nil
	}
	f := Finding{
		Where:    &Where{Run: run.Name, Phase: string(servers.PhaseIdle), MS: run.Since(sent)},
		Evidence: fmt.Sprintf("alive %s after SIGTERM", milliseconds(patientRounded(survived.Sub(sent)))),
	}
	if exit := run.Exit(); exit != nil {
		needed := "the end of its stdin ended it"
		switch exit.Forced {
		case "":
		case "SIGTERM":
			needed = "another SIGTERM, after the end of its stdin, ended it"
		default:
			needed = exit.Forced + " ended it"
		}
		f.Evidence += "; " + needed
	}
	return sole(f)
}

func exitCodeOnClose() Check {
	return Check{
		ID: "exit-code-on-close", Severity: Info, Group: GroupProcess, Need: NeedHandshake,
		Title: "server ends with an error code when its stdin closes",
		Ask:   askExitCodeOnClose,
		Page: Page{
			Why: "The end of stdin is how a session ends in good order. A server that exits with another code than 0 then " +
				"looks as if it had crashed, to clients that log exit codes and to programs that watch over it.",
			Bad:    "exit status 1 after stdin was closed",
			Good:   "exit status 0",
			Fix:    []string{"in the server: exit with 0 when stdin ends"},
			Source: "seen in @browsermcp/mcp and nx-mcp",
		},
	}
}

func askExitCodeOnClose(e *Evidence) []Finding {
	_, exit, ok := e.Clean.shutdown()
	if !ok || exit.Forced != "" || exit.How == "exit status 0" {
		return nil
	}
	return sole(Finding{
		Where:    e.Clean.placeOfEnd(exit),
		Evidence: exit.How + " after its stdin was closed",
	})
}

func orphanGrandchild() Check {
	return Check{
		ID: "orphan-grandchild", Severity: Warning, Group: GroupProcess, Need: NeedSample,
		Title: "a process that the server started outlives it",
		Ask:   askOrphanGrandchild,
		Page: Page{
			Why: "When a session ends, everything that belongs to it should end. A process that stays behind keeps memory, " +
				"ports and files, and one more stays with each session. toolx ends it after having seen it.",
			Bad:  "child = spawn('worker');   // and nothing that ends it",
			Good: "process.on('exit', () => child.kill());",
			Fix: []string{
				"in the server: end what it started when its stdin closes and on SIGTERM",
				"in the server: give children pipes or files of their own, not its stdout",
				"on Linux: start children with PR_SET_PDEATHSIG, so that they end with their parent",
			},
			Breaks: []string{"every client: azure-devops-mcp#1598 counts 154 wrappers and 312 servers left behind"},
			Source: "MCP 2025-11-25, basic/lifecycle, shutdown, stdio",
		},
	}
}

func askOrphanGrandchild(e *Evidence) []Finding {
	var found []Finding
	for _, run := range e.Runs() {
		for _, orphan := range run.Orphans {
			f := Finding{
				Where:    &Where{Run: run.Name, Phase: string(servers.PhaseShutdown)},
				Evidence: cut(strings.Join(orphan.Command, " ")),
				Notes:    []string{fmt.Sprintf("process %d", orphan.PID)},
			}
			if len(orphan.Holds) > 0 {
				f.Notes = append(f.Notes, "it holds the server's "+words(orphan.Holds)+" open")
			}
			found = append(found, f)
		}
		if len(found) > 0 {
			break // each run leaves the same behind
		}
	}
	return found
}

func pipeHeldOpen() Check {
	return Check{
		ID: "pipe-held-open", Severity: Warning, Group: GroupProcess, Need: NeedProcess,
		After: []string{"orphan-grandchild"},
		Title: "stdout stays open although the server has ended",
		Ask:   askPipeHeldOpen,
		Page: Page{
			Why: "The server has ended, and another process that inherited its stdout keeps it open. A client that reads to " +
				"the end of stdout waits for that process, and takes the server for alive.",
			Bad:    "spawn('worker', { stdio: 'inherit' })",
			Good:   "spawn('worker', { stdio: ['ignore', 'pipe', 'pipe'] })",
			Fix:    []string{"in the server: do not let the processes that it starts inherit its stdout"},
			Breaks: []string{"clients that wait for the end of stdout before they take a server for ended"},
			Source: "MCP 2025-11-25, basic/lifecycle, shutdown, stdio",
		},
	}
}

func askPipeHeldOpen(e *Evidence) []Finding {
	for _, run := range e.Runs() {
		for _, held := range EventsOf[servers.PipeHeld](run) {
			who, certain := run.holder(held.Pipe)
			if held.Pipe != "stdout" || !certain {
				continue
			}
			f := Finding{
				Where:    &Where{Run: run.Name, Phase: string(servers.PhaseShutdown), MS: run.Since(held.At)},
				Evidence: "the process had ended, and its stdout had not",
			}
			if who != nil {
				f.Notes = []string{fmt.Sprintf("process %d holds it: %s", who.PID, cut(strings.Join(who.Command, " ")))}
			}
			return sole(f)
		}
	}
	return nil
}

// holder is the process that kept a pipe of an ended server open. Where the system
// tells of processes and there is none, the pipe was not held: the machine was busy
// and the last of stdout had not been read yet.
func (r *Run) holder(pipe string) (who *Orphan, certain bool) {
	for _, orphan := range r.Orphans {
		if slices.Contains(orphan.Holds, pipe) {
			return &orphan, true
		}
	}
	return nil, runtime.GOOS != "linux"
}
