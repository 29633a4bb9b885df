package doctor

import (
	"fmt"
	"net/http"
	"time"

	"toolx/pkg/auth"
	"toolx/pkg/servers"
)

func bindsAll() Check {
	return Check{
		ID: "binds-all", Severity: Warning, Group: GroupHTTP, Need: NeedHTTP,
		Title: "other machines can reach a server that is meant for this one",
		Ask: func(e *Evidence) []Finding {
			if e.HTTP.Exposed == "" {
				return nil
			}
			return sole(Finding{Where: e.place("url"), Evidence: e.HTTP.Exposed})
		},
		Page: Page{
			Why: "The url is of this machine, and the server takes connections from the whole network all the same: in a café or an office anyone can " +
				"call its tools. On Linux /proc says on which address the port is listened to; elsewhere, and where something forwards the port, toolx asks " +
				"at this machine's other addresses, without tokens, whether the same server answers. Where neither tells, nothing is said.",
			Bad:  "app.listen(3000)   // 0.0.0.0 and ::",
			Good: "app.listen(3000, '127.0.0.1')",
			Fix: []string{
				"in the server: bind 127.0.0.1; in Docker: publish the port as -p 127.0.0.1:3000:3000",
				"from outside: start it with --host 127.0.0.1, or HOST=127.0.0.1, where it has that; else a firewall",
			},
			Source: httpSource + ", Security Warning: SHOULD bind only to localhost",
		},
	}
}

func authMetadata() Check {
	return Check{
		ID: "auth-metadata", Severity: Error, Group: GroupHTTP, Need: NeedHTTP,
		Title: "the documents that say how to log in are wrong",
		Ask: func(e *Evidence) []Finding {
			var found []Finding
			for _, fault := range e.HTTP.Login {
				f := metadataFinding(fault)
				if (fault.Unsaid || fault.ByHand) && e.reply(askedBare) != nil {
					f.Severity = Info // what is given out by hand the entry has
				}
				found = append(found, f)
			}
			return found
		},
		Page: Page{
			Why: "A client that gets 401 reads two documents before it can log in: that of the server (RFC 9728), which names its authorization server, and that " +
				"of the authorization server (RFC 8414, else OpenID Connect Discovery). By the specification it must stop where resource or issuer is another " +
				"than it asked for, since a login would go to a stranger, and where S256 is not named. Read are the address in resource_metadata, else the " +
				"well-known ones. A server that promises nothing and has no document may give its tokens out by hand: that is a warning.",
			Bad:  "{\"issuer\": \"http://localhost:8080\", \"code_challenge_methods_supported\": [\"plain\"]}",
			Good: "{\"issuer\": \"https://login.example.com\", \"code_challenge_methods_supported\": [\"S256\"], …}",
			Fix: []string{
				"in the server: serve /.well-known/oauth-protected-resource and the path of the url, with resource as clients write the url, and authorization_servers",
				"in the authorization server: issuer must be the very text that the first document has; name S256 in code_challenge_methods_supported",
				"behind a proxy: make both documents of the public address, not of the inner one",
			},
			Breaks: []string{"clients that log in by OAuth"},
			Source: "MCP 2025-11-25, basic/authorization, Authorization Server Discovery; RFC 9728, 3.3; RFC 8414, 3.3",
		},
	}
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

func sseBuffered() Check {
	return Check{
		ID: "sse-buffered", Severity: Warning, Group: GroupHTTP, Need: NeedHTTP,
		Title: "a stream arrives only when it is over",
		Ask:   func(e *Evidence) []Finding { return append(askHeldStream(e), askHeldProgress(e)...) },
		Page: Page{
			Why: "A proxy that collects an answer before it passes it on takes the point from streams: progress, log messages and questions of the server come " +
				"when the call is over, or never. Looked at is the stream of the session, whose head a server sends at once: found is one that is still " +
				"missing after two seconds and comes, over at once, when DELETE has ended the session. And each call of --call that took a second or more " +
				"and told its progress three times or more: found is one whose reports all came in its last moment, the last fiftieth of its time.",
			Bad:  "GET /mcp … 2004 ms later, after DELETE: HTTP/1.1 200 OK",
			Good: "X-Accel-Buffering: no",
			Fix: []string{
				"in the server: send X-Accel-Buffering: no with every text/event-stream, and flush after each event",
				"in the proxy: turn buffering and compression of text/event-stream off (nginx: proxy_buffering off; gzip off)",
			},
			Breaks: []string{"progress in every client; clients that give a call up that shows no life"},
			Source: httpSource + "; WHATWG HTML, server-sent events, Authoring notes",
		},
	}
}

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
		if m.At.Before(x.At) || m.At.After(x.At.Add(x.Took)) || readHead(m.Bytes).method != "notifications/progress" {
			continue
		}
		if plainID(string(memberAt(m.Bytes, "params", "progressToken"))) == plainID(string(token)) {
			times = append(times, m.At)
		}
	}
	return times
}
