package doctor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"toolx/pkg/exec"
	"toolx/pkg/servers"
)

func askExitBeforeHandshake(e *Evidence) []Finding {
	died := e.Clean.died()
	if died == nil || died.Ending != servers.EndingExited || e.initialized().answered() {
		return nil
	}
	f := Finding{
		Where:    &Where{Run: e.Clean.Name, Phase: string(servers.PhaseStart), MS: exec.Milliseconds(died.Lived)},
		Evidence: fmt.Sprintf("%s, %s after its start", died.How, milliseconds(died.Lived)),
		Notes:    lastWords(died),
	}
	if cause, ok := causeOfExit(died); ok {
		f.Title = "server exits before the handshake: " + cause.what
		f.Fix = cause.fix
	}
	return sole(f)
}

// lastWords are what a server that ended has said last, a note for each line.
func lastWords(died *servers.Failure) []string {
	var notes []string
	for _, line := range died.Stdout {
		notes = append(notes, "stdout: "+line)
	}
	for _, line := range died.Stderr {
		notes = append(notes, "stderr: "+line)
	}
	if len(notes) == 0 {
		notes = []string{"it wrote nothing on stdout and nothing on stderr"}
	}
	return notes
}

func askCrashSignal(e *Evidence) []Finding {
	var found []Finding
	for _, run := range e.Runs() {
		died := run.died()
		if died == nil || died.Ending != servers.EndingKilled || run.fellBeforeHandshake() {
			continue
		}
		found = append(found, Finding{
			Title:    fmt.Sprintf("%s killed the server", strings.TrimPrefix(died.How, "signal: ")),
			Where:    placeOfDeath(run, died),
			Evidence: fmt.Sprintf("%s after %s%s", died.How, milliseconds(died.Lived), inFlight(run)),
			Notes:    lastWords(died),
		})
	}
	return alike(found)
}

// fellBeforeHandshake says whether the server ended over what the probing run asks
// before the handshake: that is for the checks of the handshake to tell.
func (r *Run) fellBeforeHandshake() bool {
	_, ready := r.Marks["ready"]
	return r.Name == "probing" && !ready && r.Exchange("server/discover", 0) != nil
}

// lastRequest is the request that was under way when the server ended, nil where
// none was.
func (r *Run) lastRequest() *Exchange {
	var last *Exchange
	for _, x := range r.Exchanges {
		switch {
		case x.Frame != nil:
			last = nil
		case last == nil:
			last = x
		}
	}
	return last
}

// inFlight names the request that was under way when the server ended.
func inFlight(r *Run) string {
	if x := r.lastRequest(); x != nil {
		return fmt.Sprintf(", with %s (id %s) unanswered", x.Method, x.ID)
	}
	return ", with no request under way"
}

func placeOfDeath(r *Run, died *servers.Failure) *Where {
	where := &Where{Run: r.Name, Phase: string(servers.PhaseIdle), MS: exec.Milliseconds(died.Lived)}
	if x := r.lastRequest(); x != nil {
		where.Method, where.Phase = x.Method, string(servers.PhaseRequest)
		if isUsersCall(x) {
			where.Tool = excerpt(nameIn(x.Sent), maxLabel)
		}
	}
	if r.Name == "clean" && !r.Exchange("initialize", 0).answered() {
		where.Phase = string(servers.PhaseStart)
	}
	return where
}

func askExitDuringRequest(e *Evidence) []Finding {
	var found []Finding
	for _, run := range e.Runs() {
		died := run.died()
		if died == nil || died.Ending != servers.EndingExited || run.fellBeforeHandshake() || fellOverGarbage(run) {
			continue
		}
		if !run.Exchange("initialize", 0).answered() && run.Exchange("server/discover", 0) == nil {
			continue // exit-before-handshake tells
		}
		found = append(found, Finding{
			Where:    placeOfDeath(run, died),
			Evidence: fmt.Sprintf("%s after %s%s", died.How, milliseconds(died.Lived), inFlight(run)),
			Notes:    lastWords(died),
		})
	}
	return alike(found)
}

// fellOverGarbage says whether the server ended after the line that is not JSON:
// rpc-parse-error-survival tells.
func fellOverGarbage(r *Run) bool { return r.died() != nil && r.livedUntilGarbage() }

// livedUntilGarbage says whether the server answered all that was asked at once
// shortly before the line that is not JSON.
func (r *Run) livedUntilGarbage() bool {
	began, ended, garbage := r.Marks["burst"], r.Marks["burst-end"], r.Marks["garbage"]
	answered := 0
	for _, x := range r.Exchanges {
		if !x.At.Before(began) && !x.At.After(ended) && x.answered() {
			answered++
		}
	}
	return !garbage.IsZero() && answered == burstSize
}

func askTruncatedMessage(e *Evidence) []Finding {
	var found []Finding
	for _, run := range e.Runs() {
		line := run.lastForeign()
		if line == nil || !line.Unended || line.Class != servers.ClassBroken || !unfinishedJSON(line) {
			continue
		}
		found = append(found, Finding{
			Where: &Where{
				Run: run.Name, Line: line.Line, Byte: new(int64), Phase: string(line.Phase),
				MS: exec.Milliseconds(line.Since),
			},
			Evidence: cut(string(line.Text)),
			Notes:    []string{fmt.Sprintf("%s of a message without its end, then stdout ended%s", exec.Bytes(line.Size), howEnded(run))},
		})
	}
	return found
}

// lastForeign is the run's last line that is no message, where no message follows;
// nil where there is none.
func (r *Run) lastForeign() *servers.PollutedLine {
	var last *servers.PollutedLine
	for _, event := range r.Events {
		switch e := event.(type) {
		case servers.PollutedLine:
			last = &e
		case servers.FrameReceived:
			last = nil
		}
	}
	return last
}

// unfinishedJSON says whether a line would be JSON if more came. One that was too
// long to keep whole is taken to be so.
func unfinishedJSON(line *servers.PollutedLine) bool {
	if line.Size > int64(len(line.Text)) {
		return true
	}
	var syntax *json.SyntaxError
	text := bytes.TrimRight(line.Text, "\r")
	err := json.Unmarshal(text, new(json.RawMessage))
	return errors.As(err, &syntax) && syntax.Offset >= int64(len(text))
}

// howEnded adds the exit of a process that ended by itself.
func howEnded(r *Run) string {
	if died := r.died(); died != nil {
		return fmt.Sprintf(" (%s)", died.How)
	}
	return ""
}
