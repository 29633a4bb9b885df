package process

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	"toolx/pkg/servers"
)

func askHandshakeTimeout(e *evidence.Evidence) []check.Finding {
	if !evidence.SilentInHandshake(e) {
		return nil
	}
	run, failure := e.Clean, e.Clean.Failure
	f := check.Finding{
		Where: &evidence.Where{Run: run.Name, Phase: string(servers.PhaseStart), Method: "initialize", MS: exec.Milliseconds(failure.Lived)},
		Evidence: fmt.Sprintf("no answer within %s; until then %s on stdout and %s on stderr",
			evidence.Milliseconds(evidence.PatientRounded(failure.Lived)), exec.Bytes(stdoutBytes(run)), exec.Bytes(run.StderrBytes)),
	}
	if failure.Reason != nil {
		f.Notes = append(f.Notes, failure.Reason.Error())
	}
	if note := Sentence(run.Stuck); note != "" {
		f.Notes = append(f.Notes, note)
	}
	if text := leftOver(run); text != "" {
		f.Notes = append(f.Notes, "on stdout stood, without a newline: "+evidence.Cut(text))
	}
	f.Notes = append(f.Notes, stderrNotes(failure)...)
	return check.Sole(f)
}

// stdoutBytes counts what the server wrote on stdout before toolx asked it to end.
func stdoutBytes(r *evidence.Run) (size int64) {
	for _, event := range r.Events {
		switch e := event.(type) {
		case servers.StdinClosed:
			return size
		case servers.PollutedLine:
			size += e.Size
		case servers.FrameReceived:
			size += int64(len(e.Bytes)) + 1
		}
	}
	return size
}

// leftOver is text that stood on stdout without a newline when the server was
// ended.
func leftOver(r *evidence.Run) string {
	line := lastForeign(r)
	if line == nil || !line.Unended || line.Phase != servers.PhaseShutdown {
		return ""
	}
	return string(line.Text)
}

// stderrNotes are the last lines of stderr, a note each.
func stderrNotes(f *servers.Failure) []string {
	var notes []string
	for _, line := range f.Stderr {
		notes = append(notes, "stderr: "+line)
	}
	return notes
}

// Sentence says what the process was doing, empty where that is not known.
func Sentence(s *evidence.ProcessState) string {
	switch {
	case s == nil:
		return ""
	case s.Wait != "":
		return fmt.Sprintf("the process was %s, in %s", s.State, s.Wait)
	}
	return fmt.Sprintf("the process was %s", s.State)
}

// The limits of a start: an annoyance, and more than most clients wait.
const (
	slowAfter     = 5 * time.Second
	hopelessAfter = 30 * time.Second
)

// clientLimits are how long clients wait for a server to start.
func clientLimits() []struct {
	client string
	limit  time.Duration
} {
	return []struct {
		client string
		limit  time.Duration
	}{
		{"mcp-stdio-guard", 5 * time.Second},
		{"EnjoyableWork's doctor", 10 * time.Second},
		{"Inspector", 15 * time.Second},
	}
}

func askSlowStart(e *evidence.Evidence) []check.Finding {
	took, ok := evidence.StartTime(e)
	if !ok || took <= slowAfter {
		return nil
	}
	f := check.Finding{
		Where:    e.Initialized().Place(e.Clean),
		Evidence: fmt.Sprintf("initialize was answered %s after the start", evidence.Milliseconds(took)),
	}
	if took > hopelessAfter {
		f.Severity = check.Error
	}
	var gone []string
	for _, one := range clientLimits() {
		if took > one.limit {
			gone = append(gone, one.client)
		}
	}
	f.Notes = []string{evidence.Words(gone) + " would have given up by then"}
	return check.Sole(f)
}

// bufferedAtMost is how long after the end of its stdin a program writes what it has
// in its buffer: later text is another matter.
const bufferedAtMost = time.Second

func askOutputBuffered(e *evidence.Evidence) []check.Finding {
	x, closed := e.Initialized(), e.Clean.StdinClosed()
	if !evidence.SilentInHandshake(e) || x == nil || x.Frame == nil || closed.IsZero() {
		return nil
	}
	// The handshake was over without it, so that it came behind the end of stdin, even
	// where a busy machine noted that end a moment later.
	after := max(0, x.At.Add(x.Took).Sub(closed))
	if after > bufferedAtMost {
		return nil
	}
	return check.Sole(check.Finding{
		Where: x.Place(e.Clean),
		Evidence: fmt.Sprintf("no answer to initialize in %s; %s came %s after stdin was closed",
			evidence.Milliseconds(closed.Sub(x.At)), exec.Bytes(int64(len(x.Frame))), evidence.Milliseconds(after)),
	})
}

func askStdoutClosed(e *evidence.Evidence) []check.Finding {
	return askClosedPipe(e, servers.EndingClosedStdout, "stdout had ended, and the process had not")
}

// askStdinClosed also finds a server that closed its stdin when it had been written
// to, so that no write failed.
func askStdinClosed(e *evidence.Evidence) []check.Finding {
	found := askClosedPipe(e, servers.EndingClosedStdin, "a request could not be written, and the process had not ended")
	if found != nil || !evidence.SilentInHandshake(e) || e.Clean.Stuck == nil || !e.Clean.Stuck.Deaf {
		return found
	}
	failure := e.Clean.Failure
	return check.Sole(check.Finding{
		Where:    &evidence.Where{Run: e.Clean.Name, Phase: string(servers.PhaseStart), Method: "initialize", MS: exec.Milliseconds(failure.Lived)},
		Evidence: fmt.Sprintf("no answer within %s, and process %d has no stdin any more", evidence.Milliseconds(evidence.PatientRounded(failure.Lived)), e.Clean.PID()),
		Notes:    stderrNotes(failure),
	})
}

// askClosedPipe finds a server that has closed a pipe and lives.
func askClosedPipe(e *evidence.Evidence, ending servers.Ending, what string) []check.Finding {
	for _, run := range e.Runs() {
		ended := run.Ended
		if ended == nil || ended.Ending != ending {
			continue
		}
		f := check.Finding{
			Where:    placeOfDeath(run, ended),
			Evidence: fmt.Sprintf("%s after the start: %s (process %d)", evidence.Milliseconds(ended.Lived), what, run.PID()),
			Notes:    stderrNotes(ended),
		}
		if reason := ended.Reason; reason != nil {
			if write := (*fs.PathError)(nil); errors.As(reason, &write) {
				reason = write.Err // the name of an inner pipe tells nobody anything
			}
			f.Notes = append(f.Notes, reason.Error())
		}
		return check.Sole(f)
	}
	return nil
}
