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
			f.Severity = check.Info // the entry already has credentials
		}
		found = append(found, f)
	}
	return found
}

// metadataFinding returns a finding about a login document.
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
			"from outside: register the client there manually, and set its id " +
				"(in toolx: auth.clientId in the server's entry)",
			"in the authorization server: offer a registration_endpoint (RFC 7591), or support Client ID Metadata Documents",
		}
		f.Breaks = []string{
			`clients without a setting for the client id ("does not support dynamic client registration")`,
		}
	}
	if fault.Unsaid {
		f.Severity, f.Title = check.Warning, "server requires a token, but no document describes how to get one"
	}
	return f
}

// askSSEBuffered checks whether streams arrive late.
func askSSEBuffered(e *evidence.Evidence) []check.Finding {
	return append(askBufferedStream(e), askBufferedProgress(e)...)
}

// askBufferedStream checks the session's stream, unless the server is slow in general.
func askBufferedStream(e *evidence.Evidence) []check.Finding {
	const slower = 4
	stream, ping := e.Reply(evidence.AskedStream), e.Reply(evidence.AskedPing)
	if stream == nil || !stream.Held || !stream.Ended || stream.Status != http.StatusOK ||
		stream.MediaType() != "text/event-stream" || ping == nil || stream.Took < slower*ping.Took {
		return nil
	}
	return check.One(rawWhere(http.MethodGet),
		"the stream arrived %d ms after the request, only when DELETE ended the session",
		stream.Took.Milliseconds())
}

// askBufferedProgress checks long calls whose progress notifications all arrive at the end. A few prove nothing,
// because the tool may send them then.
func askBufferedProgress(e *evidence.Evidence) []check.Finding {
	const (
		least    = time.Second
		fewest   = 3
		atTheEnd = 50 // the last 1/50 of the call
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
			return check.One(where, "%d progress notifications, the first after %d ms, and the response after %d ms",
				len(reports), reports[0].Sub(x.At).Milliseconds(), x.Took.Milliseconds())
		}
	}
	return nil
}

// progressOf returns the times of the progress notifications before the response.
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
