package doctor

import (
	"cmp"
	"net/http"
)

// httpChecks are about what HTTP carries messages in. They are asked of servers that
// are reached by it, and of no others.
func httpChecks() []Check {
	return []Check{
		{ID: "dns", Need: NeedHTTP, Ask: askReach(phaseDNS)},
		{ID: phaseConnect, Need: NeedHTTP, Ask: askConnect},
		{ID: "tls-cert", Need: NeedHTTP, Ask: askTLSCert},
		{ID: phaseTLS, Need: NeedHTTP, Ask: askReach(phaseTLS)},
		{ID: "redirect-drops-body", Need: NeedHTTP, Ask: askRedirectDropsBody},
		{ID: "auth-challenge", Need: NeedHTTP, Ask: askAuthChallenge},
		{ID: "auth-metadata", Need: NeedHTTP, Ask: askAuthMetadata},
		{ID: "auth-late", Need: NeedHTTPSession, Ask: askAuthLate},
		{ID: "legacy-sse", Need: NeedHTTP, Ask: askLegacySSE},
		{ID: "sse-endpoint-offsite", Need: NeedHTTP, Ask: askSseEndpointOffsite},
		{ID: "status-unexpected", Need: NeedHTTP, Ask: askStatusUnexpected},
		{ID: "content-type", Need: NeedHTTP, Ask: askContentType},
		{ID: "body-limit", Need: NeedHTTP, Ask: func(e *Evidence) []Finding { return e.tooLarge(false) }},
		{ID: "gzip-bomb", Need: NeedHTTP, Ask: func(e *Evidence) []Finding { return e.tooLarge(true) }},
		{ID: "session-lost", Need: NeedHTTPSession, Ask: askSessionLost},
		{ID: "accept-strict", Need: NeedHTTPSession, Ask: askAcceptStrict},
		{ID: "notification-status", Need: NeedHTTPSession, Ask: askNotificationStatus},
		{ID: "get-status", Need: NeedHTTPSession, Ask: askGetStatus},
		{ID: "version-header", Need: NeedHTTPSession, Ask: askVersionHeaderIgnored},
		{ID: "session-id-format", Need: NeedHTTPSession, Ask: askSessionIDFormat},
		{ID: "session-missing-400", Need: NeedHTTPSession, Ask: askSessionMissing400},
		{ID: "session-unknown-404", Need: NeedHTTPSession, Ask: askSessionUnknown404},
		{ID: "session-delete", Need: NeedHTTPSession, Ask: askSessionDelete},
		{ID: "session-minted-modern", Need: NeedHTTPModern, Ask: askSessionMintedModern},
		{ID: "header-mismatch", Need: NeedHTTPModern, Ask: askHeaderMismatch},
		{ID: "unknown-method-404", Need: NeedHTTPModern, Ask: askUnknownMethod404},
		{ID: "origin-not-checked", Need: NeedHTTP, Ask: askOrigin},
		{ID: "cors-reflects", Need: NeedHTTP, Ask: askCorsReflects},
		{ID: "binds-all", Need: NeedHTTP, Ask: askBindsAll},
		{ID: "sse-format", Need: NeedHTTP, Ask: askSseFormat},
		{ID: "sse-no-final", Need: NeedHTTP, Ask: askSseNoFinal},
		{ID: "sse-buffered", Need: NeedHTTP, Ask: askSSEBuffered},
		{ID: "keepalive", Need: NeedHTTP, Ask: askKeepalive},
	}
}

// rawWhere is the place of a finding about a raw exchange.
func rawWhere(method string) *Where { return &Where{Run: "raw", Method: method} }

// objection makes the finding of a check of one raw answer.
func objection(reply *HTTPReply, method string) []Finding {
	return sole(Finding{Where: rawWhere(method), Evidence: cut(reply.words(maxQuoted))})
}

func askStatusUnexpected(e *Evidence) []Finding {
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

func askNotificationStatus(e *Evidence) []Finding {
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
}

func askGetStatus(e *Evidence) []Finding {
	reply := e.reply(askedStream)
	if reply == nil || reply.Status == http.StatusMethodNotAllowed ||
		reply.Status == http.StatusOK && reply.mediaType() == "text/event-stream" {
		return nil
	}
	return objection(reply, "GET")
}

func askVersionHeaderIgnored(e *Evidence) []Finding {
	reply := e.reply(askedVersion)
	const since = "2025-06-18" // which brought the header
	if reply == nil || reply.Status == http.StatusBadRequest || e.revisionRaw() < since {
		return nil
	}
	found := objection(reply, "ping")
	found[0].Notes = []string{"the request had MCP-Protocol-Version: " + inventedRevision}
	return found
}

func askAcceptStrict(e *Evidence) []Finding {
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
}
