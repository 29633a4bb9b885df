package process

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/servers/wire"
)

// Shutdown times, which the specification does not define: what a person notices, and how long clients wait before they
// send a signal.
const (
	noticeable = 500 * time.Millisecond
	clientWait = 1900 * time.Millisecond
)

func askIgnoresStdinClose(e *evidence.Evidence) []check.Finding {
	took, exit, ok := e.Clean.Shutdown()
	if !ok || took < clientWait {
		return nil
	}
	return []check.Finding{slowExit(e.Clean, took, exit, runtime.GOOS)}
}

// slowExit returns the finding about a server that exits late or not at all after its stdin is closed.
func slowExit(run *evidence.Run, took time.Duration, exit *wire.ProcessExited, goos string) check.Finding {
	if exit.Forced == "" {
		f := atShutdown(run, exit.At, "exited %s after its stdin was closed", evidence.Rounded(took))
		f.Title = fmt.Sprintf("server exits %s after its stdin closes; clients wait 2 s", evidence.Rounded(took))
		f.Fix = []string{
			"in the server: when stdin ends, close connections without waiting for the peer, and stop timers",
		}
		f.Breaks = []string{"clients that send a signal after 2 s interrupt the shutdown"}
		return f
	}
	signal := exit.Forced
	if goos == "windows" { // which has no signals
		signal = "toolx"
	}
	f := atShutdown(run, exit.At, "alive %s after its stdin was closed; %s ended it", evidence.Rounded(took), signal)
	if signal == exit.Forced {
		f.Title = fmt.Sprintf("server does not exit when its stdin closes (needed %s)", signal)
	}
	return f
}

// atShutdown returns a finding about a run's shutdown.
func atShutdown(r *evidence.Run, at time.Time, format string, args ...any) check.Finding {
	f := check.At(r.At(at), format, args...)
	f.Where.Phase = string(wire.PhaseShutdown)
	return f
}

func askSlowShutdown(e *evidence.Evidence) []check.Finding {
	took, exit, ok := e.Clean.Shutdown()
	if !ok || exit.Forced != "" || took < noticeable || took >= clientWait {
		return nil
	}
	f := atShutdown(e.Clean, exit.At, "ended %s after its stdin was closed", evidence.Milliseconds(took))
	return []check.Finding{f}
}

func askIgnoresSigterm(e *evidence.Evidence) []check.Finding {
	run := e.Probing()
	sent, survived := run.Marks["terminate"], run.Marks["survived"]
	if survived.IsZero() {
		return nil
	}
	f := check.At(run.At(sent), "alive %s after SIGTERM", evidence.Rounded(survived.Sub(sent)))
	f.Where.Phase = string(wire.PhaseIdle)
	if exit := run.Exit(); exit != nil {
		switch exit.Forced {
		case "":
			f.Evidence += "; the end of its stdin ended it"
		case "SIGTERM":
			f.Evidence += "; another SIGTERM, after the end of its stdin, ended it"
		default:
			f.Evidence += "; " + exit.Forced + " ended it"
		}
	}
	return []check.Finding{f}
}

func askExitCodeOnClose(e *evidence.Evidence) []check.Finding {
	_, exit, ok := e.Clean.Shutdown()
	if !ok || exit.Forced != "" || exit.How == "exit status 0" {
		return nil
	}
	return []check.Finding{atShutdown(e.Clean, exit.At, "%s after its stdin was closed", exit.How)}
}

func askOrphanGrandchild(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, run := range e.Runs() {
		for _, orphan := range run.Orphans {
			f := check.Finding{
				Where:    &evidence.Where{Run: run.Name, Phase: string(wire.PhaseShutdown)},
				Evidence: evidence.Cut(strings.Join(orphan.Command, " ")),
				Notes:    []string{fmt.Sprintf("process %d", orphan.PID)},
			}
			if len(orphan.Pipes) > 0 {
				f.Notes = append(f.Notes, "it keeps the server's "+evidence.Words(orphan.Pipes)+" open")
			}
			found = append(found, f)
		}
		if len(found) > 0 {
			break // other runs leave the same processes
		}
	}
	return found
}

func askPipeHeldOpen(e *evidence.Evidence) []check.Finding {
	for _, run := range e.Runs() {
		for _, held := range evidence.EventsOf[wire.PipeInherited](run) {
			who, certain := pipeUser(run, held.Pipe)
			if held.Pipe != "stdout" || !certain {
				continue
			}
			f := atShutdown(run, held.At, "stdout was still open after the process exited")
			if who != nil {
				command := evidence.Cut(strings.Join(who.Command, " "))
				f.Notes = []string{fmt.Sprintf("process %d keeps it open: %s", who.PID, command)}
			}
			return []check.Finding{f}
		}
	}
	return nil
}

// pipeUser returns the process that kept a pipe open after the server exited. certain is false if the system reports
// processes and there is none: then a busy machine had not read all of stdout yet.
func pipeUser(r *evidence.Run, pipe string) (who *evidence.Orphan, certain bool) {
	for _, orphan := range r.Orphans {
		if slices.Contains(orphan.Pipes, pipe) {
			return &orphan, true
		}
	}
	return nil, runtime.GOOS != "linux"
}
