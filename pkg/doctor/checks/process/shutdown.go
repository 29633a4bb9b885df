package process

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/servers"
)

// The times of shutting down. The specification names none; the first is what a
// person notices, the second what clients wait before they send a signal.
const (
	promptEnd  = 500 * time.Millisecond
	patientEnd = 1900 * time.Millisecond
)

func askIgnoresStdinClose(e *evidence.Evidence) []check.Finding {
	took, exit, ok := e.Clean.Shutdown()
	if !ok || exit.Forced == "" || took < patientEnd {
		return nil
	}
	return check.Sole(check.Finding{
		Title:    fmt.Sprintf("server does not end when its stdin closes (needed %s)", exit.Forced),
		Where:    placeOfEnd(e.Clean, exit),
		Evidence: fmt.Sprintf("alive %s after its stdin was closed; %s ended it", evidence.Milliseconds(evidence.PatientRounded(took)), exit.Forced),
	})
}

// placeOfEnd is the place of what is wrong with a run's end.
func placeOfEnd(r *evidence.Run, exit *servers.ProcessExited) *evidence.Where {
	return &evidence.Where{Run: r.Name, Phase: string(servers.PhaseShutdown), MS: r.Since(exit.At)}
}

func askSlowShutdown(e *evidence.Evidence) []check.Finding {
	took, exit, ok := e.Clean.Shutdown()
	if !ok || exit.Forced != "" || took < promptEnd {
		return nil
	}
	return check.Sole(check.Finding{
		Where:    placeOfEnd(e.Clean, exit),
		Evidence: fmt.Sprintf("ended %s after its stdin was closed", evidence.Milliseconds(took)),
	})
}

func askIgnoresSigterm(e *evidence.Evidence) []check.Finding {
	run := e.Probing()
	sent, survived := run.Marks["terminate"], run.Marks["survived"]
	if survived.IsZero() {
		return nil
	}
	f := check.Finding{
		Where:    &evidence.Where{Run: run.Name, Phase: string(servers.PhaseIdle), MS: run.Since(sent)},
		Evidence: fmt.Sprintf("alive %s after SIGTERM", evidence.Milliseconds(evidence.PatientRounded(survived.Sub(sent)))),
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
	return check.Sole(f)
}

func askExitCodeOnClose(e *evidence.Evidence) []check.Finding {
	_, exit, ok := e.Clean.Shutdown()
	if !ok || exit.Forced != "" || exit.How == "exit status 0" {
		return nil
	}
	return check.Sole(check.Finding{
		Where:    placeOfEnd(e.Clean, exit),
		Evidence: exit.How + " after its stdin was closed",
	})
}

func askOrphanGrandchild(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, run := range e.Runs() {
		for _, orphan := range run.Orphans {
			f := check.Finding{
				Where:    &evidence.Where{Run: run.Name, Phase: string(servers.PhaseShutdown)},
				Evidence: evidence.Cut(strings.Join(orphan.Command, " ")),
				Notes:    []string{fmt.Sprintf("process %d", orphan.PID)},
			}
			if len(orphan.Holds) > 0 {
				f.Notes = append(f.Notes, "it holds the server's "+evidence.Words(orphan.Holds)+" open")
			}
			found = append(found, f)
		}
		if len(found) > 0 {
			break // each run leaves the same behind
		}
	}
	return found
}

func askPipeHeldOpen(e *evidence.Evidence) []check.Finding {
	for _, run := range e.Runs() {
		for _, held := range evidence.EventsOf[servers.PipeHeld](run) {
			who, certain := holder(run, held.Pipe)
			if held.Pipe != "stdout" || !certain {
				continue
			}
			f := check.Finding{
				Where:    &evidence.Where{Run: run.Name, Phase: string(servers.PhaseShutdown), MS: run.Since(held.At)},
				Evidence: "the process had ended, and its stdout had not",
			}
			if who != nil {
				f.Notes = []string{fmt.Sprintf("process %d holds it: %s", who.PID, evidence.Cut(strings.Join(who.Command, " ")))}
			}
			return check.Sole(f)
		}
	}
	return nil
}

// holder is the process that kept a pipe of an ended server open. Where the system
// tells of processes and there is none, the pipe was not held: the machine was busy
// and the last of stdout had not been read yet.
func holder(r *evidence.Run, pipe string) (who *evidence.Orphan, certain bool) {
	for _, orphan := range r.Orphans {
		if slices.Contains(orphan.Holds, pipe) {
			return &orphan, true
		}
	}
	return nil, runtime.GOOS != "linux"
}
