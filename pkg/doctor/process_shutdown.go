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
