package doctor

import (
	"fmt"
	"net/http"
	"time"

	"toolx/pkg/auth"
	"toolx/pkg/servers"
)

func askBindsAll(e *Evidence) []Finding {
	if e.HTTP.Exposed == "" {
		return nil
	}
	return sole(Finding{Where: e.place("url"), Evidence: e.HTTP.Exposed})
}

func askAuthMetadata(e *Evidence) []Finding {
	var found []Finding
	for _, fault := range e.HTTP.Login {
		f := metadataFinding(fault)
		if (fault.Unsaid || fault.ByHand) && e.reply(askedBare) != nil {
			f.Severity = Info // what is given out by hand the entry has
		}
		found = append(found, f)
	}
	return found
}

// metadataFinding is what is wrong with a document, as a finding.
func metadataFinding(fault auth.Fault) Finding {
	f := Finding{Where: rawWhere(http.MethodGet)}
	problem := fault.Problem
	if fault.Field != "" {
		f.Where.Pointer = "/" + fault.Field
		problem = fault.Field + " " + problem
	}
	f.Evidence = excerpt(fault.URL, 2*maxExcerpt) + ": " + oneLine(problem)
	if fault.ByHand {
		f.Severity, f.Title = Warning, "clients cannot register with the authorization server"
		f.Fix = []string{
			"from outside: register the client there by hand, and give it the id (toolx: clientId under auth in the server's entry)",
			"in the authorization server: offer registration_endpoint (RFC 7591), or take Client ID Metadata Documents",
		}
		f.Breaks = []string{"clients without a setting for a client's id (\"does not support dynamic client registration\")"}
	}
	if fault.Unsaid {
		f.Severity, f.Title = Warning, "a token is wanted, and no document says how to get one"
	}
	return f
}

// askSSEBuffered looks at the streams that the server was seen with.
func askSSEBuffered(e *Evidence) []Finding { return append(askHeldStream(e), askHeldProgress(e)...) }

// askHeldStream looks at the stream of the session. That of a server which is slow in all
// it does says nothing.
func askHeldStream(e *Evidence) []Finding {
	const slower = 4
	stream, ping := e.reply(askedStream), e.reply(askedPing)
	if stream == nil || !stream.Held || !stream.Ended || stream.Status != http.StatusOK || stream.mediaType() != "text/event-stream" ||
		ping == nil || stream.Took < slower*ping.Took {
		return nil
	}
	return sole(Finding{
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
func askHeldProgress(e *Evidence) []Finding {
	for _, run := range e.sessions() {
		for _, x := range run.asked("tools/call") {
			if !x.answered() || x.Took < heldLeast {
				continue
			}
			reports := run.progressOf(x)
			if len(reports) < heldReports || x.At.Add(x.Took).Sub(reports[0]) > x.Took/heldMoment {
				continue
			}
			where := x.where(run)
			where.Tool = nameIn(x.Sent)
			return sole(Finding{Where: where, Evidence: fmt.Sprintf(
				"%d reports of progress, the first after %d ms, and the reply after %d ms",
				len(reports), reports[0].Sub(x.At).Milliseconds(), x.Took.Milliseconds(),
			)})
		}
	}
	return nil
}

// progressOf are the times at which a request's progress was told while it was under way.
func (r *Run) progressOf(x *Exchange) []time.Time {
	token := memberAt(x.Sent, "params", "_meta", "progressToken")
	if token == nil {
		return nil
	}
	var times []time.Time
	for _, m := range EventsOf[servers.FrameReceived](r) {
		if m.At.Before(x.At) || m.At.After(x.At.Add(x.Took)) || m.Method != "notifications/progress" {
			continue
		}
		if plainID(string(memberAt(m.Bytes, "params", "progressToken"))) == plainID(string(token)) {
			times = append(times, m.At)
		}
	}
	return times
}
