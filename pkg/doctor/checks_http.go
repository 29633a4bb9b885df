package doctor

import (
	"cmp"
	"net/http"
)

// httpChecks are about what HTTP carries messages in. They are asked of servers that
// are reached by it, and of no others.
func httpChecks() []Check {
	return []Check{
		dns(), connect(), tlsCert(), tlsHandshake(),
		redirectDropsBody(), authChallenge(), authMetadata(), authLate(),
		legacySSE(), sseEndpointOffsite(), statusUnexpected(), contentType(), bodyLimit(), gzipBomb(),
		sessionLost(), acceptStrict(), notificationStatus(), getStatus(), versionHeaderIgnored(),
		sessionIDFormat(), sessionMissing400(), sessionUnknown404(), sessionDelete(), sessionMintedModern(),
		headerMismatch(), unknownMethod404(),
		originNotChecked(), corsReflects(), bindsAll(),
		sseFormat(), sseNoFinal(), sseBuffered(), keepalive(),
	}
}

// httpSource is the clause that most of these checks rest on.
const httpSource = "MCP 2025-11-25, basic/transports, Streamable HTTP"

// rawWhere is the place of a finding about a raw exchange.
func rawWhere(method string) *Where { return &Where{Run: "raw", Method: method} }

// objection makes the finding of a check of one raw answer.
func objection(reply *HTTPReply, method string) []Finding {
	return sole(Finding{Where: rawWhere(method), Evidence: cut(reply.words(maxQuoted))})
}

func statusUnexpected() Check {
	return Check{
		ID: "status-unexpected", Severity: Error, Group: GroupHTTP, Need: NeedHTTP,
		After: []string{"redirect-drops-body", "legacy-sse"},
		Title: "initialize is refused by an HTTP status",
		Ask: func(e *Evidence) []Finding {
			reply := e.reply(askedInitialize)
			if reply == nil || reply.Status == http.StatusOK || e.modern() {
				return nil
			}
			if reply.Status == http.StatusTooManyRequests && e.Handshaken() {
				return nil // the doctor asks much
			}
			f := objection(reply, "initialize")[0]
			if fix := statusFix(reply.Status); fix != "" {
				f.Fix = []string{fix}
			}
			return sole(f)
		},
		Page: Page{
			Why: "A client begins with POST of initialize to the url. Any other status than 200 means that there is no MCP there, " +
				"or that something before the server does not let the request through.",
			Bad:    "POST /\nHTTP/1.1 404 Not Found",
			Good:   "POST /mcp\nHTTP/1.1 200 OK\nContent-Type: application/json",
			Fix:    []string{"from outside: see whether the url is that of the MCP endpoint, and what stands before the server"},
			Breaks: []string{"all clients"},
			Source: httpSource + ", Sending Messages to the Server",
		},
	}
}

// statusFix is what to do about a status, empty where nothing is known.
func statusFix(status int) string {
	switch status {
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return "from outside: see whether the url is that of the MCP endpoint; its path is often /mcp, or /sse"
	case http.StatusNotAcceptable, http.StatusUnsupportedMediaType:
		return "in the server: take Content-Type: application/json, and Accept: application/json, text/event-stream"
	case http.StatusTooManyRequests:
		return "from outside: wait, and look at what limits the rate"
	}
	switch {
	case status == http.StatusBadGateway, status == http.StatusServiceUnavailable, status == http.StatusGatewayTimeout:
		return "in the proxy: see whether the server behind it runs, and where it looks for it; this answer is the proxy's own"
	case status >= http.StatusInternalServerError:
		return "in the server: read its log; the request was an initialize as every client sends it"
	}
	return ""
}

func notificationStatus() Check {
	return Check{
		ID: "notification-status", Severity: Error, Group: GroupHTTP, Need: NeedHTTPSession, After: []string{idSessionLost},
		Title: "a notification is not answered with 202 and nothing else",
		Ask: func(e *Evidence) []Finding {
			reply := e.reply(askedInitialized)
			switch {
			case reply == nil || reply.Status == http.StatusAccepted && len(reply.Body) == 0:
				return nil
			case reply.Status == http.StatusAccepted:
				found := objection(reply, "notifications/initialized")
				found[0].Severity, found[0].Title = Warning, "a notification is answered with a body"
				return found
			}
			return objection(reply, "notifications/initialized")
		},
		Page: Page{
			Why:    "Nothing answers a notification but that it was taken. Clients that hold a server to that end the session after initialize.",
			Bad:    "POST notifications/initialized\nHTTP/1.1 200 OK\n\n{}",
			Good:   "POST notifications/initialized\nHTTP/1.1 202 Accepted",
			Fix:    []string{"in the server: answer notifications and responses with 202 and no body"},
			Breaks: []string{"clients that read the body as a message, or wait for a stream"},
			Source: httpSource + ", Sending Messages to the Server: MUST return 202 with no body",
		},
	}
}

func getStatus() Check {
	return Check{
		ID: "get-status", Severity: Warning, Group: GroupHTTP, Need: NeedHTTPSession, After: []string{idSessionLost},
		Title: "GET gives neither a stream nor 405",
		Ask: func(e *Evidence) []Finding {
			reply := e.reply(askedStream)
			if reply == nil || reply.Status == http.StatusMethodNotAllowed ||
				reply.Status == http.StatusOK && reply.mediaType() == "text/event-stream" {
				return nil
			}
			return objection(reply, "GET")
		},
		Page: Page{
			Why:    "Clients ask for the stream on which a server speaks by itself. A server without one says 405, and they go on; other answers are errors, which some show or repeat for ever.",
			Bad:    "GET /mcp\nHTTP/1.1 500 Internal Server Error",
			Good:   "GET /mcp\nHTTP/1.1 405 Method Not Allowed",
			Fix:    []string{"in the server: answer GET with text/event-stream, or with 405"},
			Breaks: []string{"clients of the TypeScript SDK report an error after the handshake"},
			Source: httpSource + ", Listening for Messages from the Server",
		},
	}
}

func versionHeaderIgnored() Check {
	return Check{
		ID: "version-header", Severity: Warning, Group: GroupHTTP, Need: NeedHTTPSession,
		Title: "a wrong MCP-Protocol-Version is not refused with 400",
		Ask: func(e *Evidence) []Finding {
			reply := e.reply(askedVersion)
			const since = "2025-06-18" // which brought the header
			if reply == nil || reply.Status == http.StatusBadRequest || e.revisionRaw() < since {
				return nil
			}
			found := objection(reply, "ping")
			found[0].Notes = []string{"the request had MCP-Protocol-Version: " + inventedRevision}
			return found
		},
		Page: Page{
			Why:    "The header tells the server by which revision a request is meant. One that takes any does not look at it, and answers in a form that the client may not know.",
			Bad:    "MCP-Protocol-Version: 1999-01-01\nHTTP/1.1 200 OK",
			Good:   "MCP-Protocol-Version: 1999-01-01\nHTTP/1.1 400 Bad Request",
			Fix:    []string{"in the server: answer 400 to revisions that it does not speak", "update the server's SDK"},
			Source: httpSource + ", Protocol Version Header: MUST respond with 400",
		},
	}
}

func acceptStrict() Check {
	return Check{
		ID: "accept-strict", Severity: Info, Group: GroupHTTP, Need: NeedHTTPSession, After: []string{idSessionLost},
		Title: "other Accept headers than the specification's are refused",
		Ask: func(e *Evidence) []Finding {
			var refused []string
			for _, accept := range otherAccepts() {
				if reply := e.reply(askedAccept + accept); reply != nil && reply.Status != http.StatusOK {
					refused = append(refused, cmp.Or(accept, "no Accept")+": "+reply.status())
				}
			}
			if refused == nil {
				return nil
			}
			return sole(Finding{Where: rawWhere("ping"), Evidence: words(refused)})
		},
		Page: Page{
			Why:    "A client must accept both application/json and text/event-stream. A server may insist on that; scripts, gateways and older clients that send one of them, or */*, then get 406.",
			Bad:    "Accept: */*\nHTTP/1.1 406 Not Acceptable",
			Good:   "Accept: */*\nHTTP/1.1 200 OK",
			Fix:    []string{"nothing is wrong; in the server: take */* for both"},
			Source: httpSource + ", Sending Messages to the Server",
		},
	}
}
