package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"toolx/pkg/servers"
)

// soonExpired is how long before its end a certificate is spoken of.
const soonExpired = 14 * 24 * time.Hour

func tlsCert() Check {
	return Check{
		ID: "tls-cert", Severity: Error, Group: GroupHTTP, Need: NeedHTTP,
		Title: "the certificate is not valid for clients",
		Ask:   askTLSCert,
		Page: Page{
			Why: "Clients end the connection before they have said a word. Node and Python have trusted authorities of their own, so that a certificate " +
				"which a browser trusts may still be refused; neither speaks a version before TLS 1.2. A certificate that ends within two weeks is a warning.",
			Bad:    "notAfter=Jan  1 00:00:00 2026 GMT",
			Good:   "A chain up to a public authority, renewed in time by a program.",
			Fix:    []string{"in the server: send the whole chain, for this host's name, and renew it in time", "from outside: --cacert FILE, or NODE_EXTRA_CA_CERTS=FILE for a private authority"},
			Breaks: []string{"all clients"},
			Source: "RFC 5280; RFC 6125; RFC 8996 for the versions",
		},
	}
}

func askTLSCert(e *Evidence) []Finding {
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	failure, look := e.Clean.Failure, e.HTTP.TLS
	switch {
	case look != nil && look.State.Version < tls.VersionTLS12:
		return sole(Finding{
			Where: rawWhere(""), Title: "the server speaks no TLS 1.2 or newer",
			Evidence: tls.VersionName(look.State.Version) + " is its newest",
			Fix:      []string{"in the server, or what stands before it: turn TLS 1.2 and 1.3 on, and older ones off"},
		})
	case failure != nil && (errors.As(failure, &authority) || errors.As(failure, &name) || errors.As(failure, &invalid)):
		f := Finding{Where: &Where{Run: e.Clean.Name}, Evidence: failure.Reason.Error(), Notes: e.certificateNotes()}
		if errors.As(failure, &name) { // which no authority that is trusted helps with
			f.Fix = []string{"in the server: show a certificate for this host's name", "from outside: write the name that the certificate is for into the url"}
		}
		return sole(f)
	}
	var found []Finding
	if leaf := e.certificate(); leaf != nil && time.Until(leaf.NotAfter) < soonExpired {
		found = append(found, Finding{
			Severity: Warning, Title: "the certificate ends soon", Where: rawWhere(""),
			Evidence: "it is valid until " + daysLeft(leaf.NotAfter),
		})
	}
	if look != nil && look.Older != 0 {
		found = append(found, Finding{
			Severity: Info, Title: "versions of TLS are still on that must not be used", Where: rawWhere(""),
			Evidence: "it takes " + tls.VersionName(look.Older) + " beside " + tls.VersionName(look.State.Version),
			Fix:      []string{"in the server, or what stands before it: turn versions before TLS 1.2 off"},
		})
	}
	return found
}

// certificate is the server's own, nil where none was seen.
func (e *Evidence) certificate() *x509.Certificate {
	var chain []*x509.Certificate
	if look := e.HTTP.TLS; look != nil {
		chain = look.State.PeerCertificates
	} else if reply := e.reply(askedInitialize); reply != nil && reply.TLS != nil { // behind a proxy
		chain = reply.TLS.PeerCertificates
	}
	if len(chain) == 0 {
		return nil
	}
	return chain[0]
}

// certificateNotes say what the certificate says of itself.
func (e *Evidence) certificateNotes() []string {
	leaf := e.certificate()
	if leaf == nil {
		return nil
	}
	names := slices.Clone(leaf.DNSNames)
	for _, address := range leaf.IPAddresses {
		names = append(names, address.String())
	}
	const most = 5
	if len(names) > most {
		names = append(names[:most], fmt.Sprintf("%d more", len(names)-most))
	}
	notes := []string{"it is valid until " + daysLeft(leaf.NotAfter) + ", and was issued by " + excerpt(leaf.Issuer.String(), maxExcerpt)}
	if len(names) > 0 {
		notes = append(notes, "it is for "+words(names))
	}
	return notes
}

// daysLeft is a day, and how far it is away.
func daysLeft(end time.Time) string {
	days := int(time.Until(end).Hours() / 24)
	if time.Now().After(end) {
		return fmt.Sprintf("%s, %d days ago", end.Format(time.DateOnly), -days)
	}
	return fmt.Sprintf("%s, %d days from now", end.Format(time.DateOnly), days)
}

// redirectedTo is where an answer leads on to, nil where that is no address.
func (r *HTTPReply) redirectedTo() *url.URL {
	to, err := r.URL.Parse(r.Header.Get("Location"))
	if err != nil {
		return nil
	}
	return to
}

func redirectDropsBody() Check {
	return Check{
		ID: "redirect-drops-body", Severity: Warning, Group: GroupHTTP, Need: NeedHTTP,
		Title: "the url leads on to another one",
		Ask: func(e *Evidence) []Finding {
			reply := e.reply(askedInitialize)
			if reply == nil || reply.Status < 300 || reply.Status >= 400 || reply.Header.Get("Location") == "" {
				return nil
			}
			found := objection(reply, "initialize")
			if e.Clean.Failure != nil {
				found[0].Severity = Error // toolx follows what a client can follow
			}
			if to := reply.redirectedTo(); to != nil && to.Host != reply.URL.Host {
				found[0].Title = "the url leads on to another host"
				found[0].Fix = []string{
					"from outside: where " + excerpt(to.Host, maxLabel) + " is a login page, the server wants to be logged in to: give the header or the token that gets past it (headers: in its entry); else put the final address into the config",
					"in the server: answer clients that are not logged in with 401 and WWW-Authenticate, not with a page for people",
				}
			}
			found[0].Evidence = cut(fmt.Sprintf("%s, from %s to %s", reply.status(), reply.URL.Path, reply.Header.Get("Location")))
			if reply.Status == http.StatusTemporaryRedirect || reply.Status == http.StatusPermanentRedirect {
				found[0].Notes = []string{"this status keeps the request as it is, where a client follows at all"}
			}
			return found
		},
		Page: Page{
			Why:    "After 301 and 302 most HTTP clients make a GET of the POST, without its body. Many MCP clients follow no redirect at all, since their tokens would go along.",
			Bad:    "POST /mcp\nHTTP/1.1 301 Moved Permanently\nLocation: /mcp/",
			Good:   "POST /mcp/\nHTTP/1.1 200 OK",
			Fix:    []string{"from outside: put the final address into the config", "in the server: answer at both paths"},
			Breaks: []string{"clients that follow no redirect, or with GET"},
			Source: "RFC 9110, 15.4; f/mcptools#69",
		},
	}
}

func authChallenge() Check {
	return Check{
		ID: "auth-challenge", Severity: Error, Group: GroupHTTP, Need: NeedHTTP,
		Title: "401 does not say how to get access",
		Ask: func(e *Evidence) []Finding {
			for _, x := range e.ownExchanges() {
				if found := judgeChallenge(x.Status, x.Received, &Where{Run: "clean"}); found != nil {
					return found
				}
			}
			if reply := e.reply(askedBare); reply != nil {
				found := judgeChallenge(reply.Status, reply.Header, rawWhere("initialize"))
				for i := range found {
					if found[i].Severity == "" {
						found[i].Severity = Warning // who has a key is let in
					}
				}
				return found
			}
			return nil
		},
		Page: Page{
			Why:    "A client learns from WWW-Authenticate where a token is had. Without it, it cannot begin a login, and can only show the status.",
			Bad:    "HTTP/1.1 401 Unauthorized",
			Good:   "HTTP/1.1 401 Unauthorized\nWWW-Authenticate: Bearer resource_metadata=\"https://host/.well-known/oauth-protected-resource\"",
			Fix:    []string{"in the server: send WWW-Authenticate with every 401, and resource_metadata where tokens come from OAuth"},
			Breaks: []string{"clients that log in by OAuth"},
			Source: "RFC 9110, 15.5.2; MCP 2025-11-25, basic/authorization, Protected Resource Metadata Discovery",
		},
	}
}

// judgeChallenge looks at what a 401 says.
func judgeChallenge(status int, header http.Header, where *Where) []Finding {
	challenge := challenges(header)
	switch {
	case status != http.StatusUnauthorized || strings.Contains(challenge, "resource_metadata"):
		return nil
	case challenge == "":
		return sole(Finding{Where: where, Evidence: "HTTP 401 without WWW-Authenticate"})
	}
	return sole(Finding{
		Severity: Info, Title: "401 names no metadata of OAuth", Where: where, Evidence: cut("WWW-Authenticate: " + challenge),
	})
}

func authLate() Check {
	return Check{
		ID: "auth-late", Severity: Warning, Group: GroupHTTP, Need: NeedHTTPSession,
		Title: "the handshake needs no authentication, and a call does",
		Ask: func(e *Evidence) []Finding {
			reply := e.reply(askedTool)
			if reply == nil || reply.Status != http.StatusUnauthorized {
				return nil
			}
			return sole(Finding{Where: rawWhere("tools/call"), Evidence: "initialize: HTTP 200; tools/call: " + reply.status()})
		},
		Page: Page{
			Why:    "The client shows the server as connected, and the first call of the model fails. Many clients begin a login only at the handshake.",
			Bad:    "initialize: 200, tools/list: 200, tools/call: 401",
			Good:   "initialize: 401",
			Fix:    []string{"in the server: ask for authentication at initialize where calls need it"},
			Source: "MCP 2025-11-25, basic/authorization",
		},
	}
}

func originNotChecked() Check {
	return Check{
		ID: "origin-not-checked", Severity: Warning, Group: GroupHTTP, Need: NeedHTTP,
		Title: "requests of web pages from elsewhere are answered",
		Ask:   askOrigin,
		Page: Page{
			Why: "Any page that the user opens can reach a server on this machine by DNS rebinding, and call its tools. A browser says in Origin " +
				"which page it was.",
			Bad:    "Origin: http://evil.example\nHTTP/1.1 200 OK",
			Good:   "Origin: http://evil.example\nHTTP/1.1 403 Forbidden",
			Fix:    []string{"in the server: answer 403 where Origin is present and not known; update the SDK (TypeScript 1.24 and later: allowedHosts, or createMcpExpressApp)"},
			Source: "MCP 2025-11-25, basic/transports, Streamable HTTP, Security Warning: MUST validate Origin; CVE-2025-66414",
		},
	}
}

// askOrigin is graver for a server of this machine that looks at Host no more than at
// Origin: only there a page from elsewhere gets through.
func askOrigin(e *Evidence) []Finding {
	origin, host := e.reply(askedOrigin), e.reply(askedHost)
	if origin == nil || origin.Status != http.StatusOK {
		return nil
	}
	f := Finding{Where: rawWhere(origin.asked()), Evidence: "Origin: " + foreignOrigin + ": " + origin.status()}
	if host != nil {
		f.Evidence += "; Host: " + foreignHost + ": " + host.status()
		if host.Status == http.StatusOK {
			f.Severity = Error
		}
	}
	return sole(f)
}

func corsReflects() Check {
	return Check{
		ID: "cors-reflects", Severity: Warning, Group: GroupHTTP, Need: NeedHTTP,
		Title: "any web page may read answers with the user's credentials",
		Ask: func(e *Evidence) []Finding {
			reply := e.reply(askedOrigin)
			if reply == nil || reply.Header.Get("Access-Control-Allow-Origin") != foreignOrigin ||
				reply.Header.Get("Access-Control-Allow-Credentials") != "true" {
				return nil
			}
			return sole(Finding{Where: rawWhere(reply.asked()), Evidence: "Access-Control-Allow-Origin: " + foreignOrigin + ", Access-Control-Allow-Credentials: true"})
		},
		Page: Page{
			Why:    "The server says of whatever page asks that it may read the answer, cookies of the user included.",
			Bad:    "Origin: http://evil.example\nAccess-Control-Allow-Origin: http://evil.example\nAccess-Control-Allow-Credentials: true",
			Good:   "Access-Control-Allow-Origin: https://app.example",
			Fix:    []string{"in the server: allow a list of origins, and credentials to none but those"},
			Source: "WHATWG Fetch, CORS protocol; CWE-942",
		},
	}
}

// idSessionLost is the check whose finding is behind all that a session's requests are
// refused with.
const idSessionLost = "session-lost"

func sessionLost() Check {
	return Check{
		ID: idSessionLost, Severity: Error, Group: GroupHTTP, Need: NeedHTTPSession,
		Title: "the session is lost between initialize and the next message",
		Ask:   askSessionLost,
		Page: Page{
			Why: "The server gives a session's id with its answer to initialize, and knows each later message by it. Where a proxy takes the header off, on the way there or " +
				"back, or where the next message comes to another instance of the server, nothing works but initialize.",
			Bad:  "POST notifications/initialized\nMcp-Session-Id: 1868a90c-…\nHTTP/1.1 400 Bad Request\n\nNo valid session ID provided",
			Good: "POST notifications/initialized\nMcp-Session-Id: 1868a90c-…\nHTTP/1.1 202 Accepted",
			Fix: []string{
				"in the proxy: let the header Mcp-Session-Id pass, in requests and in answers",
				"in the server: send Mcp-Session-Id with the answer to initialize, and keep the session; where several instances stand behind one address, lead each session to its own",
			},
			Breaks: []string{"all clients"},
			Source: httpSource + ", Session Management",
		},
	}
}

// askSessionLost goes by the first two messages behind initialize: both are refused with
// the statuses of a session that is not known, and in words of it.
func askSessionLost(e *Evidence) []Finding {
	next, ping := e.reply(askedInitialized), e.reply(askedPing)
	if !next.missesSession() || !ping.missesSession() {
		return nil
	}
	found := objection(next, "notifications/initialized")
	if message := memberAt(next.message(), "error", "message"); message != nil {
		found[0].Evidence = next.status() + ": " + cut(memberText(message))
	}
	note := "initialize gave an id (Mcp-Session-Id), and the message had it"
	if e.reply(askedInitialize).Header.Get(sessionHeader) == "" {
		note = "the answer to initialize came without an id (Mcp-Session-Id)"
	}
	found[0].Notes = []string{note}
	return found
}

// missesSession says whether an answer refuses a message since its session is not known.
func (r *HTTPReply) missesSession() bool {
	return r != nil && (r.Status == http.StatusBadRequest || r.Status == http.StatusNotFound) &&
		strings.Contains(strings.ToLower(string(r.Body[:min(len(r.Body), maxQuoted)])), "session")
}

func sessionIDFormat() Check {
	return Check{
		ID: "session-id-format", Severity: Error, Group: GroupHTTP, Need: NeedHTTPSession,
		Title: "the session's id is not visible ASCII",
		Ask: func(e *Evidence) []Finding {
			const short = 16
			id := e.reply(askedInitialize).Header.Get(sessionHeader)
			f := Finding{Where: rawWhere("initialize"), Evidence: fmt.Sprintf("Mcp-Session-Id has %d characters", len(id))}
			switch {
			case id == "":
				return nil
			case strings.ContainsFunc(id, func(r rune) bool { return r < 0x21 || r > 0x7e }):
				return sole(f)
			case len(id) < short:
				f.Severity, f.Title = Warning, "the session's id is so short that it can be guessed"
				return sole(f)
			}
			return nil
		},
		Page: Page{
			Why:    "Whoever knows a session's id can take the session over, and proxies drop headers with other characters.",
			Bad:    "Mcp-Session-Id: 17",
			Good:   "Mcp-Session-Id: 1868a90c-7f6b-4b0e-9f0a-2f3c5d0b8a11",
			Fix:    []string{"in the server: make a UUID of a cryptographic random generator"},
			Source: httpSource + ", Session Management: MUST only contain visible ASCII, SHOULD be cryptographically secure",
		},
	}
}

func sessionMissing400() Check {
	return Check{
		ID: "session-missing-400", Severity: Warning, Group: GroupHTTP, Need: NeedHTTPSession, After: []string{idSessionLost},
		Title: "a request without the session's id is refused, and not with 400",
		Ask: func(e *Evidence) []Finding {
			reply := e.reply(askedNoSession)
			if reply == nil || reply.Status/100 == 2 || reply.Status == http.StatusBadRequest {
				return nil // a server need not want the id
			}
			found := objection(reply, "ping")
			if reply.Status < http.StatusInternalServerError {
				found[0].Severity = Info // clients take it for a refusal as well
			}
			return found
		},
		Page: Page{
			Why:    "400 tells whoever wrote the client that a header is missing. 404 means a session that is over, and 500 a fault of the server.",
			Bad:    "POST ping, without Mcp-Session-Id\nHTTP/1.1 500 Internal Server Error",
			Good:   "POST ping, without Mcp-Session-Id\nHTTP/1.1 400 Bad Request",
			Fix:    []string{"in the server: answer 400 where the id is missing"},
			Source: httpSource + ", Session Management: SHOULD respond with 400",
		},
	}
}

func sessionUnknown404() Check {
	return Check{
		ID: "session-unknown-404", Severity: Warning, Group: GroupHTTP, Need: NeedHTTPSession, After: []string{idSessionLost},
		Title: "the id of a session that is no more is not refused with 404",
		Ask: func(e *Evidence) []Finding {
			reply := e.reply(askedOtherID)
			if reply == nil || reply.Status == http.StatusNotFound {
				return nil
			}
			found := objection(reply, "ping")
			if reply.Status/100 == 2 {
				found[0].Severity, found[0].Title = Info, "an id is answered that the server has not given"
			}
			return found
		},
		Page: Page{
			Why: "A client begins a new session when it gets 404, and at no other status. After the server was started again, every client that still has an " +
				"old id fails until a person starts it anew.",
			Bad:    "Mcp-Session-Id: of yesterday\nHTTP/1.1 400 Bad Request",
			Good:   "Mcp-Session-Id: of yesterday\nHTTP/1.1 404 Not Found",
			Fix:    []string{"in the server: answer 404 to an id that it does not know, 400 only where there is none"},
			Breaks: []string{"clients that stay open longer than the server"},
			Source: httpSource + ", Session Management: MUST respond with 404; typescript-sdk#1707",
		},
	}
}

func sessionDelete() Check {
	return Check{
		ID: "session-delete", Severity: Info, Group: GroupHTTP, Need: NeedHTTPSession, After: []string{idSessionLost},
		Title: "DELETE neither ends the session nor is refused with 405",
		Ask: func(e *Evidence) []Finding {
			reply := e.reply(askedDelete)
			if reply == nil || reply.Status/100 == 2 || reply.Status == http.StatusMethodNotAllowed {
				return nil
			}
			return objection(reply, "DELETE")
		},
		Page: Page{
			Why:    "Clients end their session by DELETE. Where that fails, sessions pile up until the server forgets them.",
			Bad:    "DELETE /mcp\nHTTP/1.1 500 Internal Server Error",
			Good:   "DELETE /mcp\nHTTP/1.1 204 No Content",
			Fix:    []string{"in the server: end the session, or answer 405"},
			Source: httpSource + ", Session Management",
		},
	}
}

func sessionMintedModern() Check {
	return Check{
		ID: "session-minted-modern", Severity: Warning, Group: GroupHTTP, Need: NeedHTTPModern,
		Title: "a request of 2026-07-28 is given a session",
		Ask: func(e *Evidence) []Finding {
			minted := func(x servers.HTTPExchange) bool {
				return x.Sent.Get(versionHeader) == modernRevision && x.Received.Get(sessionHeader) != ""
			}
			if !slices.ContainsFunc(EventsOf[servers.HTTPExchange](e.Clean), minted) {
				return nil
			}
			return sole(Finding{Where: &Where{Run: "clean"}, Evidence: "the answer has Mcp-Session-Id"})
		},
		Page: Page{
			Why:    "That revision has no sessions: clients do not send the id again, and the server keeps what nobody ends.",
			Bad:    "MCP-Protocol-Version: 2026-07-28\nMcp-Session-Id: 1868a90c-…",
			Good:   "MCP-Protocol-Version: 2026-07-28",
			Fix:    []string{"in the server: make sessions by initialize alone"},
			Source: "MCP 2026-07-28, basic/transports/streamable-http",
		},
	}
}

func headerMismatch() Check {
	return Check{
		ID: "header-mismatch", Severity: Error, Group: GroupHTTP, Need: NeedHTTPModern,
		Title: "headers that say another thing than the body are not refused",
		Ask:   askHeaderMismatch,
		Page: Page{
			Why:    "Gateways decide by Mcp-Method and Mcp-Name. Where the server goes by the body alone, a request gets past them under another name.",
			Bad:    "Mcp-Method: prompts/list\n\n{\"method\": \"server/discover\", …}\nHTTP/1.1 200 OK",
			Good:   "HTTP/1.1 400 Bad Request\n\n{\"error\": {\"code\": -32020, …}}",
			Fix:    []string{"in the server: compare Mcp-Method, Mcp-Name and MCP-Protocol-Version with the body, and answer 400 with -32020"},
			Source: "MCP 2026-07-28, basic/transports/streamable-http, Server Validation",
		},
	}
}

// askHeaderMismatch tells of each header that the server does not compare. A server may
// look at the revision of the body first, and refuse that.
func askHeaderMismatch(e *Evidence) []Finding {
	var found []Finding
	for _, one := range []struct{ header, method, said, meant string }{
		{methodHeader, "server/discover", "prompts/list", "server/discover"},
		{nameHeader, "tools/call", noSuchTool + "_either", noSuchTool},
		{versionHeader, "server/discover", modernRevision, commonRevision},
	} {
		reply := e.reply(askedMismatch + one.header)
		if one.header == versionHeader && reply.refusedWith(http.StatusBadRequest, unsupportedCode) {
			continue
		}
		for _, f := range notRefusedWith(reply, one.method, http.StatusBadRequest, mismatchCode) {
			f.Notes = []string{fmt.Sprintf("the request had %s: %s, and its body %s", one.header, one.said, one.meant)}
			found = append(found, f)
		}
	}
	return found
}

func unknownMethod404() Check {
	return Check{
		ID: "unknown-method-404", Severity: Warning, Group: GroupHTTP, Need: NeedHTTPModern,
		Title: "an unknown method is not refused with 404 and -32601",
		Ask: func(e *Evidence) []Finding {
			return notRefusedWith(e.reply(askedUnknown), noSuchMethod, http.StatusNotFound, -32601)
		},
		Page: Page{
			Why:    "A client tells by both that the server does not know a method, rather than that it has no such page.",
			Bad:    "HTTP/1.1 200 OK\n\n{\"error\": {\"code\": -32601, …}}",
			Good:   "HTTP/1.1 404 Not Found\n\n{\"error\": {\"code\": -32601, …}}",
			Fix:    []string{"in the server: answer 404 with -32601"},
			Source: "MCP 2026-07-28, basic/transports/streamable-http",
		},
	}
}

// The JSON-RPC errors of MCP 2026-07-28 for headers that are missing, or say another
// thing than the body, and for a revision that the server does not speak.
const (
	mismatchCode    = -32020
	unsupportedCode = -32022
)

// refusedWith says whether an answer is of that status and JSON-RPC error.
func (r *HTTPReply) refusedWith(status int, code int64) bool {
	got, ok := errorCode(readHead(r.message()).err)
	return ok && got == code && r.Status == status
}

// notRefusedWith finds an answer that is not of that status and JSON-RPC error.
func notRefusedWith(reply *HTTPReply, method string, status int, code int64) []Finding {
	if reply == nil || reply.refusedWith(status, code) {
		return nil
	}
	return objection(reply, method)
}
