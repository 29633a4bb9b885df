package http

import (
	"fmt"
	"net/http"
	"time"

	"toolx/pkg/auth"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/servers"
)

func askBindsAll(e *evidence.Evidence) []check.Finding {
	if e.HTTP.Exposed == "" {
		return nil
	}
	return check.Sole(check.Finding{Where: e.Place("url"), Evidence: e.HTTP.Exposed})
}

func askAuthMetadata(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, fault := range e.HTTP.Login {
		f := metadataFinding(fault)
		if (fault.Unsaid || fault.ByHand) && e.Reply(evidence.AskedBare) != nil {
			f.Severity = check.Info // what is given out by hand the entry has
		}
		found = append(found, f)
	}
	return found
}

// metadataFinding is what is wrong with a document, as a finding.
func metadataFinding(fault auth.Fault) check.Finding {
	f := check.Finding{Where: rawWhere(http.MethodGet)}
	problem := fault.Problem
	if fault.Field != "" {
		f.Where.Pointer = "/" + fault.Field
		problem = fault.Field + " " + problem
	}
	f.Evidence = evidence.Excerpt(fault.URL, 2*evidence.MaxExcerpt) + ": " + evidence.OneLine(problem)
	if fault.ByHand {
		f.Severity, f.Title = check.Warning, "clients cannot register with the authorization server"
		f.Fix = []string{
			"from outside: register the client there by hand, and give it the id (toolx: clientId under auth in the server's entry)",
			"in the authorization server: offer registration_endpoint (RFC 7591), or take Client ID Metadata Documents",
		}
		f.Breaks = []string{"clients without a setting for a client's id (\"does not support dynamic client registration\")"}
	}
	if fault.Unsaid {
		f.Severity, f.Title = check.Warning, "a token is wanted, and no document says how to get one"
	}
	return f
}

// askSSEBuffered looks at the streams that the server was seen with.
func askSSEBuffered(e *evidence.Evidence) []check.Finding {
	return append(askHeldStream(e), askHeldProgress(e)...)
}

// askHeldStream looks at the stream of the session. That of a server which is slow in all
// it does says nothing.
func askHeldStream(e *evidence.Evidence) []check.Finding {
	const slower = 4
	stream, ping := e.Reply(evidence.AskedStream), e.Reply(evidence.AskedPing)
	if stream == nil || !stream.Held || !stream.Ended || stream.Status != http.StatusOK || stream.MediaType() != "text/event-stream" ||
		ping == nil || stream.Took < slower*ping.Took {
		return nil
	}
	return check.Sole(check.Finding{
		Where:    rawWhere(http.MethodGet),
		Evidence: fmt.Sprintf("the stream was asked for, and began %d ms later, with its end, when DELETE had ended the session", stream.Took.Milliseconds()),
	})
}

// What a call must have been like to prove anything: a tool may well report twice at its
// end.
const (
	heldLeast   = time.Second
	heldReports = 3
	heldMoment  = 50 // the last of as many parts of its time
)

// askHeldProgress looks at calls that were long under way and told their progress.
func askHeldProgress(e *evidence.Evidence) []check.Finding {
	for _, run := range e.Sessions() {
		for _, x := range run.Asked("tools/call") {
			if !x.Answered() || x.Took < heldLeast {
				continue
			}
			reports := progressOf(run, x)
			if len(reports) < heldReports || x.At.Add(x.Took).Sub(reports[0]) > x.Took/heldMoment {
				continue
			}
			where := x.Place(run)
			where.Tool = evidence.NameIn(x.Sent)
			return check.Sole(check.Finding{Where: where, Evidence: fmt.Sprintf(
				"%d reports of progress, the first after %d ms, and the reply after %d ms",
				len(reports), reports[0].Sub(x.At).Milliseconds(), x.Took.Milliseconds(),
			)})
		}
	}
	return nil
}

// progressOf are the times at which a request's progress was told while it was under way.
func progressOf(r *evidence.Run, x *evidence.Exchange) []time.Time {
	token := evidence.MemberAt(x.Sent, "params", "_meta", "progressToken")
	if token == nil {
		return nil
	}
	var times []time.Time
	for _, m := range evidence.EventsOf[servers.FrameReceived](r) {
		if m.At.Before(x.At) || m.At.After(x.At.Add(x.Took)) || m.Method != "notifications/progress" {
			continue
		}
		if evidence.PlainID(string(evidence.MemberAt(m.Bytes, "params", "progressToken"))) == evidence.PlainID(string(token)) {
			times = append(times, m.At)
		}
	}
	return times
}
