package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/servers"
)

func askHandshakeTimeout(e *Evidence) []Finding {
	if !silentInHandshake(e) {
		return nil
	}
	run, failure := e.Clean, e.Clean.Failure
	f := Finding{
		Where: &Where{Run: run.Name, Phase: string(servers.PhaseStart), Method: "initialize", MS: exec.Milliseconds(failure.Lived)},
		Evidence: fmt.Sprintf("no answer within %s; until then %s on stdout and %s on stderr",
			milliseconds(patientRounded(failure.Lived)), exec.Bytes(run.stdoutBytes()), exec.Bytes(run.StderrBytes)),
	}
	if failure.Reason != nil {
		f.Notes = append(f.Notes, failure.Reason.Error())
	}
	if note := run.Stuck.sentence(); note != "" {
		f.Notes = append(f.Notes, note)
	}
	if text := run.leftOver(); text != "" {
		f.Notes = append(f.Notes, "on stdout stood, without a newline: "+cut(text))
	}
	f.Notes = append(f.Notes, stderrNotes(failure)...)
	return sole(f)
}

// silentInHandshake says whether the time limit ended while initialize waited.
func silentInHandshake(e *Evidence) bool {
	failure := e.Clean.Failure
	return failure != nil && failure.Ending == servers.EndingSilent && failure.Waiting == "initialize"
}

// stdoutBytes counts what the server wrote on stdout before toolx asked it to end.
func (r *Run) stdoutBytes() (size int64) {
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
func (r *Run) leftOver() string {
	line := r.lastForeign()
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

// sentence says what the process was doing, empty where that is not known.
func (s *ProcessState) sentence() string {
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

func askSlowStart(e *Evidence) []Finding {
	took, ok := startTime(e)
	if !ok || took <= slowAfter {
		return nil
	}
	f := Finding{
		Where:    e.initialized().where(e.Clean),
		Evidence: fmt.Sprintf("initialize was answered %s after the start", milliseconds(took)),
	}
	if took > hopelessAfter {
		f.Severity = Error
	}
	var gone []string
	for _, one := range clientLimits() {
		if took > one.limit {
			gone = append(gone, one.client)
		}
	}
	f.Notes = []string{words(gone) + " would have given up by then"}
	return sole(f)
}

// startTime is the time from the start of the clean run's process to its answer to
// initialize; ok is false where there was none in time.
func startTime(e *Evidence) (took time.Duration, ok bool) {
	x := e.initialized()
	if !x.answered() {
		return 0, false
	}
	return x.At.Add(x.Took).Sub(e.Clean.Began), true
}

// bufferedAtMost is how long after the end of its stdin a program writes what it has
// in its buffer: later text is another matter.
const bufferedAtMost = time.Second

func askOutputBuffered(e *Evidence) []Finding {
	x, closed := e.initialized(), e.Clean.stdinClosed()
	if !silentInHandshake(e) || x == nil || x.Frame == nil || closed.IsZero() {
		return nil
	}
	// The handshake was over without it, so that it came behind the end of stdin, even
	// where a busy machine noted that end a moment later.
	after := max(0, x.At.Add(x.Took).Sub(closed))
	if after > bufferedAtMost {
		return nil
	}
	return sole(Finding{
		Where: x.where(e.Clean),
		Evidence: fmt.Sprintf("no answer to initialize in %s; %s came %s after stdin was closed",
			milliseconds(closed.Sub(x.At)), exec.Bytes(int64(len(x.Frame))), milliseconds(after)),
	})
}

func askStdoutClosed(e *Evidence) []Finding {
	return askClosedPipe(e, servers.EndingClosedStdout, "stdout had ended, and the process had not")
}

// askStdinClosed also finds a server that closed its stdin when it had been written
// to, so that no write failed.
func askStdinClosed(e *Evidence) []Finding {
	found := askClosedPipe(e, servers.EndingClosedStdin, "a request could not be written, and the process had not ended")
	if found != nil || !silentInHandshake(e) || e.Clean.Stuck == nil || !e.Clean.Stuck.Deaf {
		return found
	}
	failure := e.Clean.Failure
	return sole(Finding{
		Where:    &Where{Run: e.Clean.Name, Phase: string(servers.PhaseStart), Method: "initialize", MS: exec.Milliseconds(failure.Lived)},
		Evidence: fmt.Sprintf("no answer within %s, and process %d has no stdin any more", milliseconds(patientRounded(failure.Lived)), e.Clean.pid()),
		Notes:    stderrNotes(failure),
	})
}

// askClosedPipe finds a server that has closed a pipe and lives.
func askClosedPipe(e *Evidence, ending servers.Ending, what string) []Finding {
	for _, run := range e.Runs() {
		ended := run.Ended
		if ended == nil || ended.Ending != ending {
			continue
		}
		f := Finding{
			Where:    placeOfDeath(run, ended),
			Evidence: fmt.Sprintf("%s after the start: %s (process %d)", milliseconds(ended.Lived), what, run.pid()),
			Notes:    stderrNotes(ended),
		}
		if reason := ended.Reason; reason != nil {
			if write := (*fs.PathError)(nil); errors.As(reason, &write) {
				reason = write.Err // the name of an inner pipe tells nobody anything
			}
			f.Notes = append(f.Notes, reason.Error())
		}
		return sole(f)
	}
	return nil
}
