package process

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	"toolx/pkg/procs"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
)

func askHandshakeTimeout(e *evidence.Evidence) []check.Finding {
	if !evidence.SilentInHandshake(e) {
		return nil
	}
	run, failure := e.Clean, e.Clean.Failure
	f := check.At(run.Phased(wire.PhaseStart, failure.Lived),
		"no response within %s; until then %s on stdout and %s on stderr",
		evidence.Rounded(failure.Lived), exec.Bytes(stdoutBytes(run)), exec.Bytes(run.StderrBytes))
	f.Where.Method = "initialize"
	if failure.Reason != nil {
		f.Notes = append(f.Notes, failure.Reason.Error())
	}
	if note := Sentence(failure.State); note != "" {
		f.Notes = append(f.Notes, note)
	}
	if line := lastForeign(run); line != nil && line.Unended && line.Phase == wire.PhaseShutdown &&
		len(line.Text) > 0 {
		f.Notes = append(f.Notes, "on stdout, without a newline: "+evidence.Cut(string(line.Text)))
	}
	f.Notes = append(f.Notes, stderrNotes(failure)...)
	if !f.AddCause(e.Cause(), "server does not respond to initialize") {
		return nil
	}
	if state := failure.State; state != nil && state.Log != "" {
		if note := diagnose.LogsTo(evidence.Cut(state.Log)); !slices.Contains(f.Fix, note) { // its cause may say so
			f.Notes = append(f.Notes, note)
		}
	}
	return []check.Finding{f}
}

// stdoutBytes counts the bytes on stdout before toolx closed stdin.
func stdoutBytes(r *evidence.Run) (size int64) {
	for _, event := range r.Events {
		switch e := event.(type) {
		case wire.StdinClosed:
			return size
		case wire.PollutedLine:
			size += e.Size
		case wire.FrameReceived:
			size += int64(len(e.Bytes)) + 1
		}
	}
	return size
}

// stderrNotes returns the last lines of stderr, one note per line.
func stderrNotes(f *diagnose.Failure) []string {
	var notes []string
	for _, line := range f.Stderr {
		notes = append(notes, "stderr: "+line)
	}
	return notes
}

// Sentence describes the state of the process, or returns nothing if it is unknown.
func Sentence(s *procs.State) string {
	switch {
	case s == nil:
		return ""
	case s.Wait != "":
		return fmt.Sprintf("the process was %s, in %s", s.State, s.Wait)
	}
	return fmt.Sprintf("the process was %s", s.State)
}

// Limits of a start: what annoys users, and when most clients time out.
const (
	slowAfter    = 5 * time.Second
	timeoutAfter = 30 * time.Second
)

func askSlowStart(e *evidence.Evidence) []check.Finding {
	took, ok := evidence.StartTime(e)
	if !ok || took <= slowAfter {
		return nil
	}
	f := check.At(e.Initialized().Place(e.Clean), "initialize was answered %s after the start",
		evidence.Milliseconds(took))
	again, known := evidence.SecondStartTime(e)
	switch queued := e.Clean.Queued; {
	case took-queued <= slowAfter:
		f.Severity, f.Title = check.Info, "server started slowly on a busy machine"
		f.Notes = []string{"it waited " + evidence.Milliseconds(queued) + " of that for a CPU"}
		f.Fix = []string{"from outside: start it when the machine is less busy, or set a longer startTimeout"}
		return []check.Finding{f}
	case took > timeoutAfter:
		f.Severity = check.Error
	case known && again <= slowAfter:
		f.Severity, f.Title = check.Info, "server started slowly once"
		f.Notes = []string{"started again, it answered after " + evidence.Milliseconds(again)}
		return []check.Finding{f}
	}
	gone := []string{"mcp-stdio-guard"}
	if took > 10*time.Second {
		gone = append(gone, "EnjoyableWork's doctor")
	}
	if took > 15*time.Second {
		gone = append(gone, "Inspector")
	}
	f.Notes = []string{evidence.Words(gone) + " would have timed out by then"}
	return []check.Finding{f}
}

// askOutputBuffered finds a server whose buffered response arrives only when stdin closes. It is a warning if only a
// variable of this environment prevents that.
func askOutputBuffered(e *evidence.Evidence) []check.Finding {
	if e.Buffers {
		f := check.At(e.Initialized().Place(e.Clean), "without PYTHONUNBUFFERED, which this environment sets, the "+
			"answer to initialize came only when stdin was closed")
		f.Severity = check.Warning
		f.Title = "server responds only because PYTHONUNBUFFERED is set in this environment"
		return []check.Finding{f}
	}
	const bufferedAtMost = time.Second // later text has another cause
	x, closed := e.Initialized(), e.Clean.StdinClosed()
	if !evidence.SilentInHandshake(e) || x == nil || x.Frame == nil || closed.IsZero() {
		return nil
	}
	// The response came after the handshake had failed and so after stdin was closed, even if a busy machine recorded
	// that later.
	after := max(0, x.At.Add(x.Took).Sub(closed))
	if after > bufferedAtMost {
		return nil
	}
	return check.One(x.Place(e.Clean), "no answer to initialize in %s; %s came %s after stdin was closed",
		evidence.Milliseconds(closed.Sub(x.At)), exec.Bytes(int64(len(x.Frame))), evidence.Milliseconds(after))
}

func askStdoutClosed(e *evidence.Evidence) []check.Finding {
	return askClosedPipe(e, diagnose.EndingClosedStdout, "stdout was closed, but the process was still running")
}

// askStdinClosed also finds a server that closed its stdin after the last write, so that no write failed.
func askStdinClosed(e *evidence.Evidence) []check.Finding {
	found := askClosedPipe(e, diagnose.EndingClosedStdin,
		"a request could not be written, but the process was still running")
	failure := e.Clean.Failure
	if found != nil || !evidence.SilentInHandshake(e) || failure.State == nil || !failure.State.Deaf {
		return found
	}
	f := check.At(e.Clean.Phased(wire.PhaseStart, failure.Lived),
		"no response within %s, and process %d has closed its stdin",
		evidence.Rounded(failure.Lived), e.Clean.PID())
	f.Where.Method, f.Notes = "initialize", stderrNotes(failure)
	return []check.Finding{f}
}

// askClosedPipe finds a running server that closed a pipe.
func askClosedPipe(e *evidence.Evidence, ending diagnose.Ending, what string) []check.Finding {
	for _, run := range e.Runs() {
		ended := run.Ended
		if ended == nil || ended.Ending != ending {
			continue
		}
		f := check.At(placeOfExit(run, ended), "%s after the start: %s (process %d)",
			evidence.Milliseconds(ended.Lived), what, run.PID())
		f.Notes = stderrNotes(ended)
		if reason := ended.Reason; reason != nil {
			if write := (*fs.PathError)(nil); errors.As(reason, &write) {
				reason = write.Err // without the name of the pipe
			}
			f.Notes = append(f.Notes, reason.Error())
		}
		return []check.Finding{f}
	}
	return nil
}
