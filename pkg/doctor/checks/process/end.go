package process

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	"toolx/pkg/servers"
)

func askExitBeforeHandshake(e *evidence.Evidence) []check.Finding {
	died := e.Clean.Died()
	if died == nil || died.Ending != servers.EndingExited || e.Initialized().Answered() {
		return nil
	}
	f := check.Finding{
		Where:    &evidence.Where{Run: e.Clean.Name, Phase: string(servers.PhaseStart), MS: exec.Milliseconds(died.Lived)},
		Evidence: fmt.Sprintf("%s, %s after its start", died.How, evidence.Milliseconds(died.Lived)),
		Notes:    evidence.LastWords(died),
	}
	if cause, ok := causeOfExit(died); ok {
		f.Title = "server exits before the handshake: " + cause.what
		f.Fix = cause.fix
	}
	return check.Sole(f)
}

func askCrashSignal(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, run := range e.Runs() {
		died := run.Died()
		if died == nil || died.Ending != servers.EndingKilled || run.FellBeforeHandshake() {
			continue
		}
		found = append(found, check.Finding{
			Title:    fmt.Sprintf("%s killed the server", strings.TrimPrefix(died.How, "signal: ")),
			Where:    placeOfDeath(run, died),
			Evidence: fmt.Sprintf("%s after %s%s", died.How, evidence.Milliseconds(died.Lived), inFlight(run)),
			Notes:    evidence.LastWords(died),
		})
	}
	return check.Alike(found)
}

// lastRequest is the request that was under way when the server ended, nil where
// none was.
func lastRequest(r *evidence.Run) *evidence.Exchange {
	var last *evidence.Exchange
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
func inFlight(r *evidence.Run) string {
	if x := lastRequest(r); x != nil {
		return fmt.Sprintf(", with %s (id %s) unanswered", x.Method, x.ID)
	}
	return ", with no request under way"
}

func placeOfDeath(r *evidence.Run, died *servers.Failure) *evidence.Where {
	where := &evidence.Where{Run: r.Name, Phase: string(servers.PhaseIdle), MS: exec.Milliseconds(died.Lived)}
	if x := lastRequest(r); x != nil {
		where.Method, where.Phase = x.Method, string(servers.PhaseRequest)
		if evidence.IsUsersCall(x) {
			where.Tool = evidence.Excerpt(evidence.NameIn(x.Sent), evidence.MaxLabel)
		}
	}
	if r.Name == "clean" && !r.Exchange("initialize", 0).Answered() {
		where.Phase = string(servers.PhaseStart)
	}
	return where
}

func askExitDuringRequest(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, run := range e.Runs() {
		died := run.Died()
		if died == nil || died.Ending != servers.EndingExited || run.FellBeforeHandshake() || fellOverGarbage(run) {
			continue
		}
		if !run.Exchange("initialize", 0).Answered() && run.Exchange("server/discover", 0) == nil {
			continue // exit-before-handshake tells
		}
		found = append(found, check.Finding{
			Where:    placeOfDeath(run, died),
			Evidence: fmt.Sprintf("%s after %s%s", died.How, evidence.Milliseconds(died.Lived), inFlight(run)),
			Notes:    evidence.LastWords(died),
		})
	}
	return check.Alike(found)
}

// fellOverGarbage reports whether the server ended after the line that is not JSON:
// rpc-parse-error-survival tells.
func fellOverGarbage(r *evidence.Run) bool { return r.Died() != nil && r.LivedUntilGarbage() }

func askTruncatedMessage(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, run := range e.Runs() {
		line := lastForeign(run)
		if line == nil || !line.Unended || line.Class != servers.ClassBroken || !unfinishedJSON(line) {
			continue
		}
		found = append(found, check.Finding{
			Where: &evidence.Where{
				Run: run.Name, Line: line.Line, Byte: new(int64), Phase: string(line.Phase),
				MS: exec.Milliseconds(line.Since),
			},
			Evidence: evidence.Cut(string(line.Text)),
			Notes:    []string{fmt.Sprintf("%s of a message without its end, then stdout ended%s", exec.Bytes(line.Size), howEnded(run))},
		})
	}
	return found
}

// lastForeign is the run's last line that is no message, where no message follows;
// nil where there is none.
func lastForeign(r *evidence.Run) *servers.PollutedLine {
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

// unfinishedJSON reports whether a line would be JSON if more came. One that was too
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
func howEnded(r *evidence.Run) string {
	if died := r.Died(); died != nil {
		return fmt.Sprintf(" (%s)", died.How)
	}
	return ""
}
