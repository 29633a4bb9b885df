package process

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"toolx/pkg/cause"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
)

// askExitBeforeHandshake skips causes that have their own check.
func askExitBeforeHandshake(e *evidence.Evidence) []check.Finding {
	died := e.Clean.Died()
	if died == nil || died.Ending != diagnose.EndingExited || e.Initialized().Answered() {
		return nil
	}
	lived := evidence.Milliseconds(died.Lived)
	f := check.At(e.Clean.Phased(wire.PhaseStart, died.Lived), "%s, %s after its start", died.How, lived)
	f.Notes = e.Clean.LastOutput(died)
	title := "server exits before the handshake"
	c := e.Cause()
	if c != nil && c.Quotes() {
		title = "server exits"
	}
	if !f.AddCause(c, title) {
		return nil
	}
	if c != nil && c.Kind == cause.Signal {
		f.Title = c.What
	}
	return []check.Finding{f}
}

func askCrashSignal(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, run := range e.Runs() {
		died := run.Died()
		if died == nil || died.Ending != diagnose.EndingKilled || run.DiedBeforeHandshake() {
			continue
		}
		f := exitFinding(run, died)
		f.Title = cmp.Or(cause.SignalTitle(died.How), "server was killed ("+died.How+")")
		if c := cause.Diagnose(died.Output()); c != nil && c.Kind == cause.Signal {
			f.Fix = c.Fixes
		} else if c != nil && (c.Kind == cause.Other || c.Kind == cause.Busy) {
			f.SetCause(c, f.Title)
		}
		found = append(found, f)
	}
	return check.Alike(found)
}

// lastRequest returns the request that was pending when the server ended, or nil.
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

// placeOfExit returns the place where a process ended unasked.
func placeOfExit(r *evidence.Run, died *diagnose.Failure) *evidence.Where {
	where := r.Phased(wire.PhaseIdle, died.Lived)
	if x := lastRequest(r); x != nil {
		where.Method, where.Phase = x.Method, string(wire.PhaseRequest)
		if evidence.IsUsersCall(x) {
			where.Tool = evidence.Label(evidence.NameIn(x.Sent))
		}
	}
	if r.Name == "clean" && !r.Exchange("initialize", 0).Answered() {
		where.Phase = string(wire.PhaseStart)
	}
	return where
}

func askExitDuringRequest(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, run := range e.Runs() {
		died := run.Died()
		handshaken := run.Exchange("initialize", 0).Answered() || run.Exchange("server/discover", 0) != nil
		switch {
		case died == nil || died.Ending != diagnose.EndingExited || run.DiedBeforeHandshake():
		case run.FailedOnGarbage(): // rpc-parse-error-survival reports it
		case !handshaken: // exit-before-handshake reports it
		default:
			f, said := exitFinding(run, died), cause.Diagnose(died.Output())
			switch {
			case run == e.Clean:
				if !f.AddCause(e.Cause(), midSession) {
					continue
				}
			case said != nil && said.Kind == cause.Backend:
				if c := e.Cause(); c != nil && c.Kind == cause.Backend { // backend-unreachable reports it
					continue
				}
				f.SetCause(said, midSession)
			}
			found = append(found, f)
		}
	}
	return check.Alike(found)
}

// midSession begins the title about a server that ended after its handshake.
const midSession = "server exits during the session"

// exitFinding returns a finding about a process that ended unasked.
func exitFinding(r *evidence.Run, died *diagnose.Failure) check.Finding {
	during := ", with no request pending"
	if x := lastRequest(r); x != nil {
		during = fmt.Sprintf(", with %s (id %s) pending", x.Method, x.ID)
	}
	f := check.At(placeOfExit(r, died), "%s after %s%s", died.How, evidence.Milliseconds(died.Lived), during)
	f.Notes = evidence.LastOutput(died)
	return f
}

func askTruncatedMessage(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, run := range e.Runs() {
		line := lastForeign(run)
		if line == nil || !line.Unended || line.Class != wire.ClassBroken || !unfinishedJSON(line) {
			continue
		}
		f := check.At(run.OnLine(*line), "%s", evidence.Cut(string(line.Text)))
		f.Where.Byte = new(int64)
		note := exec.Bytes(line.Size) + " of a message without its end, then stdout ended"
		if died := run.Died(); died != nil {
			note += " (" + died.How + ")"
		}
		f.Notes = []string{note}
		found = append(found, f)
	}
	return found
}

// lastForeign returns the run's last line if it is not a message, or nil.
func lastForeign(r *evidence.Run) *wire.PollutedLine {
	var last *wire.PollutedLine
	for _, event := range r.Events {
		switch e := event.(type) {
		case wire.PollutedLine:
			last = &e
		case wire.FrameReceived:
			last = nil
		}
	}
	return last
}

// unfinishedJSON reports whether a line is the beginning of JSON. A line that was too long to keep counts.
func unfinishedJSON(line *wire.PollutedLine) bool {
	if line.Size > int64(len(line.Text)) {
		return true
	}
	var syntax *json.SyntaxError
	text := bytes.TrimRight(line.Text, "\r")
	err := json.Unmarshal(text, new(json.RawMessage))
	return errors.As(err, &syntax) && syntax.Offset >= int64(len(text))
}
