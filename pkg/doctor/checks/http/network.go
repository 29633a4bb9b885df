package http

import (
	"net/http"
	"time"

	"toolx/pkg/auth"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/servers/wire"
)

func askBindsAll(e *evidence.Evidence) []check.Finding {
	if e.HTTP.Exposed == "" {
		return nil
	}
	return check.One(e.Place("url"), "%s", e.HTTP.Exposed)
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

// metadataFinding returns a finding about a document.
func metadataFinding(fault auth.Fault) check.Finding {
	f := check.Finding{Where: rawWhere(http.MethodGet)}
	problem := fault.Problem
	if fault.Field != "" {
		f.Where.Pointer = "/" + fault.Field
		problem = fault.Field + " " + problem
	}
	f.Evidence = evidence.OneLine(fault.URL) + ": " + evidence.OneLine(problem)
	if fault.ByHand {
		f.Severity, f.Title = check.Warning, "authorization server does not support client registration"
		f.Fix = []string{
			"from outside: register the client there by hand, and give it the id " +
				"(toolx: clientId under auth in the server's entry)",
			"in the authorization server: offer registration_endpoint (RFC 7591), or take Client ID Metadata Documents",
		}
		f.Breaks = []string{
			`clients without a setting for a client's id ("does not support dynamic client registration")`,
		}
	}
	if fault.Unsaid {
		f.Severity, f.Title = check.Warning, "server requires a token, but no document describes how to get one"
	}
	return f
}

// askSSEBuffered judges the streams that the server was seen with.
func askSSEBuffered(e *evidence.Evidence) []check.Finding {
	return append(askHeldStream(e), askHeldProgress(e)...)
}

// askHeldStream judges the stream of the session, unless the server is slow in everything.
func askHeldStream(e *evidence.Evidence) []check.Finding {
	const slower = 4
	stream, ping := e.Reply(evidence.AskedStream), e.Reply(evidence.AskedPing)
	if stream == nil || !stream.Held || !stream.Ended || stream.Status != http.StatusOK ||
		stream.MediaType() != "text/event-stream" || ping == nil || stream.Took < slower*ping.Took {
		return nil
	}
	return check.One(rawWhere(http.MethodGet),
		"the stream began %d ms after the request, together with its end, when DELETE had ended the session",
		stream.Took.Milliseconds())
}

// askHeldProgress judges long calls with reports of progress. A few reports at the end prove nothing: the tool may
// send them then.
func askHeldProgress(e *evidence.Evidence) []check.Finding {
	const (
		least    = time.Second
		fewest   = 3
		atTheEnd = 50 // the last of as many parts of its time
	)
	for _, run := range e.Sessions() {
		for _, x := range run.Asked("tools/call") {
			if !x.Answered() || x.Took < least {
				continue
			}
			reports := progressOf(run, x)
			if len(reports) < fewest || x.At.Add(x.Took).Sub(reports[0]) > x.Took/atTheEnd {
				continue
			}
			where := x.Place(run)
			where.Tool = evidence.NameIn(x.Sent)
			return check.One(where, "%d reports of progress, the first after %d ms, and the reply after %d ms",
				len(reports), reports[0].Sub(x.At).Milliseconds(), x.Took.Milliseconds())
		}
	}
	return nil
}

// progressOf returns the times of the reports of progress that came before the request's answer.
func progressOf(r *evidence.Run, x *evidence.Exchange) []time.Time {
	tokenIn := func(message []byte, path ...string) string {
		return evidence.PlainID(string(evidence.MemberAt(message, path...)))
	}
	token := tokenIn(x.Sent, "params", "_meta", "progressToken")
	var times []time.Time
	for _, m := range evidence.EventsOf[wire.FrameReceived](r) {
		during := !m.At.Before(x.At) && !m.At.After(x.At.Add(x.Took))
		if token != "" && during && m.Method == "notifications/progress" &&
			tokenIn(m.Bytes, "params", "progressToken") == token {
			times = append(times, m.At)
		}
	}
	return times
}
