// Package http has the checks of HTTP servers.
package http

import (
	"cmp"
	"embed"
	"net/http"
	"net/url"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	mcphttp "toolx/pkg/servers/http"
)

//go:embed *.md
var pages embed.FS

// Checks returns the checks of the HTTP transport.
func Checks() []check.Check {
	return check.WithPages(pages, []check.Check{
		{ID: "dns", Need: check.NeedHTTP, Ask: askReach(phaseDNS)},
		{ID: phaseConnect, Need: check.NeedHTTP, Ask: askConnect},
		{ID: "tls-cert", Need: check.NeedHTTP, Ask: askTLSCert},
		{ID: phaseTLS, Need: check.NeedHTTP, Ask: askReach(phaseTLS)},
		{ID: "redirect-drops-body", Need: check.NeedHTTP, Ask: askRedirectDropsBody},
		{ID: "auth-challenge", Need: check.NeedHTTP, Ask: askAuthChallenge},
		{ID: "auth-metadata", Need: check.NeedHTTP, Ask: askAuthMetadata},
		{ID: "auth-late", Need: check.NeedHTTPSession, Ask: askAuthLate},
		{ID: "legacy-sse", Need: check.NeedHTTP, Ask: askLegacySSE},
		{ID: "sse-endpoint-offsite", Need: check.NeedHTTP, Ask: askSseEndpointOffsite},
		{ID: "status-unexpected", Need: check.NeedHTTP, Ask: askStatusUnexpected},
		{ID: "content-type", Need: check.NeedHTTP, Ask: eachAnswer(wrongType)},
		{ID: "body-limit", Need: check.NeedHTTP, Ask: eachAnswer(tooLarge)},
		{ID: "gzip-bomb", Need: check.NeedHTTP, Ask: eachAnswer(unpacksTooLarge)},
		{ID: "session-lost", Need: check.NeedHTTPSession, Ask: askSessionLost},
		{ID: "accept-strict", Need: check.NeedHTTPSession, Ask: askAcceptStrict},
		{ID: "notification-status", Need: check.NeedHTTPSession, Ask: askNotificationStatus},
		{ID: "get-status", Need: check.NeedHTTPSession, Ask: askGetStatus},
		{ID: "version-header", Need: check.NeedHTTPSession, Ask: askVersionHeaderIgnored},
		{ID: "session-id-format", Need: check.NeedHTTPSession, Ask: askSessionIDFormat},
		{ID: "session-missing-400", Need: check.NeedHTTPSession, Ask: askSessionMissing400},
		{ID: "session-unknown-404", Need: check.NeedHTTPSession, Ask: askSessionUnknown404},
		{ID: "session-delete", Need: check.NeedHTTPSession, Ask: askSessionDelete},
		{ID: "session-minted-modern", Need: check.NeedHTTPModern, Ask: askSessionMintedModern},
		{ID: "header-mismatch", Need: check.NeedHTTPModern, Ask: askHeaderMismatch},
		{ID: "unknown-method-404", Need: check.NeedHTTPModern, Ask: askUnknownMethod404},
		{ID: "origin-not-checked", Need: check.NeedHTTP, Ask: askOrigin},
		{ID: "cors-reflects", Need: check.NeedHTTP, Ask: askCorsReflects},
		{ID: "binds-all", Need: check.NeedHTTP, Ask: askBindsAll},
		{ID: "sse-format", Need: check.NeedHTTP, Ask: eachAnswer(wrongEvent)},
		{ID: "sse-no-final", Need: check.NeedHTTP, Ask: eachAnswer(noFinalEvent)},
		{ID: "sse-buffered", Need: check.NeedHTTP, Ask: askSSEBuffered},
		{ID: "keepalive", Need: check.NeedHTTP, Ask: askKeepalive},
	})
}

// rawWhere returns the place of a finding about a raw exchange.
func rawWhere(method string) *evidence.Where { return &evidence.Where{Run: "raw", Method: method} }

// objection returns a finding that quotes a raw response.
func objection(reply *evidence.HTTPReply, method string) []check.Finding {
	return check.One(rawWhere(method), "%s", evidence.Cut(reply.Words(200)))
}

func askStatusUnexpected(e *evidence.Evidence) []check.Finding {
	reply := e.Reply(evidence.AskedInitialize)
	if reply == nil || reply.Status == http.StatusOK || e.Modern() {
		return nil
	}
	if reply.Status == http.StatusTooManyRequests && e.Handshaken() {
		return nil // the doctor sends many requests
	}
	const (
		path  = "from outside: check that the url is the MCP endpoint; its path is often /mcp or /sse"
		types = "in the server: accept Content-Type: application/json and Accept: application/json, text/event-stream"
		proxy = "in the proxy: check that its server runs, and the server's address; this response is the proxy's own"
	)
	fix := map[int]string{
		http.StatusNotFound:             path,
		http.StatusMethodNotAllowed:     path,
		http.StatusNotAcceptable:        types,
		http.StatusUnsupportedMediaType: types,
		http.StatusTooManyRequests:      "from outside: wait, and check which rate limit applies",
		http.StatusBadGateway:           proxy,
		http.StatusServiceUnavailable:   proxy,
		http.StatusGatewayTimeout:       proxy,
	}[reply.Status]
	if fix == "" && reply.Status >= http.StatusInternalServerError {
		fix = "in the server: read its log; the request was a normal initialize"
	}
	found := objection(reply, "initialize")
	if address, err := url.Parse(e.Launch.URL); err == nil && mcphttp.RefusesHost(reply.Status, reply.Body) {
		fix = mcphttp.HostHint(address.Host)
	}
	if fix != "" {
		found[0].Fix = []string{fix}
	}
	return found
}

func askNotificationStatus(e *evidence.Evidence) []check.Finding {
	reply := e.Reply(evidence.AskedInitialized)
	if reply == nil || reply.Status == http.StatusAccepted && len(reply.Body) == 0 {
		return nil
	}
	found := objection(reply, "notifications/initialized")
	if reply.Status == http.StatusAccepted {
		found[0].Severity, found[0].Title = check.Warning, "server responds to a notification with a body"
	}
	return found
}

func askGetStatus(e *evidence.Evidence) []check.Finding {
	reply := e.Reply(evidence.AskedStream)
	if reply == nil || reply.Status == http.StatusMethodNotAllowed ||
		reply.Status == http.StatusOK && reply.MediaType() == "text/event-stream" {
		return nil
	}
	return objection(reply, "GET")
}

func askVersionHeaderIgnored(e *evidence.Evidence) []check.Finding {
	const since = "2025-06-18" // the first revision with the header
	reply := e.Reply(evidence.AskedVersion)
	if reply == nil || reply.Status == http.StatusBadRequest || e.RawRevision() < since {
		return nil
	}
	found := objection(reply, "ping")
	found[0].Notes = []string{"the request had MCP-Protocol-Version: " + evidence.InventedRevision}
	return found
}

func askAcceptStrict(e *evidence.Evidence) []check.Finding {
	var refused []string
	for _, accept := range evidence.OtherAccepts() {
		if reply := e.Reply(evidence.AskedAccept + accept); reply != nil && reply.Status != http.StatusOK {
			refused = append(refused, cmp.Or(accept, "no Accept")+": "+reply.StatusText())
		}
	}
	if refused == nil {
		return nil
	}
	return check.One(rawWhere("ping"), "%s", evidence.Words(refused))
}
