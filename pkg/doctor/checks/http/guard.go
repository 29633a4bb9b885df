package http

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/servers/wire"
)

func askTLSCert(e *evidence.Evidence) []check.Finding {
	const soon = 14 * 24 * time.Hour
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	failure, look, leaf := e.Clean.Failure, e.HTTP.TLS, certificate(e)
	switch {
	case look != nil && look.State.Version < tls.VersionTLS12:
		f := check.At(rawWhere(""), "its newest version is %s", tls.VersionName(look.State.Version))
		f.Title = "server does not support TLS 1.2 or newer"
		f.Fix = []string{"in the server, or its proxy: enable TLS 1.2 and 1.3, and disable older versions"}
		return []check.Finding{f}
	case failure != nil &&
		(errors.As(failure, &authority) || errors.As(failure, &name) || errors.As(failure, &invalid)):
		f := check.At(&evidence.Where{Run: e.Clean.Name}, "%s", failure.Reason.Error())
		if leaf != nil {
			f.Notes = certificateNotes(leaf)
		}
		if errors.As(failure, &name) { // trusting an authority does not help
			f.Fix = []string{
				"in the server: use a certificate for this host name",
				"from outside: use the certificate's host name in the url",
			}
		}
		return []check.Finding{f}
	}
	var found []check.Finding
	if leaf != nil && time.Until(leaf.NotAfter) < soon {
		f := check.At(rawWhere(""), "it is valid until %s", daysLeft(leaf.NotAfter))
		f.Severity, f.Title = check.Warning, "server's certificate expires soon"
		found = append(found, f)
	}
	if look != nil && look.Older != 0 {
		f := check.At(rawWhere(""), "it accepts %s and %s", tls.VersionName(look.Older),
			tls.VersionName(look.State.Version))
		f.Severity, f.Title = check.Info, "server accepts obsolete TLS versions"
		f.Fix = []string{"in the server, or its proxy: disable versions before TLS 1.2"}
		found = append(found, f)
	}
	return found
}

// certificate returns the server's certificate, or nil.
func certificate(e *evidence.Evidence) *x509.Certificate {
	var chain []*x509.Certificate
	if look := e.HTTP.TLS; look != nil {
		chain = look.State.PeerCertificates
	} else if reply := e.Reply(evidence.AskedInitialize); reply != nil && reply.TLS != nil { // behind a proxy
		chain = reply.TLS.PeerCertificates
	}
	if len(chain) == 0 {
		return nil
	}
	return chain[0]
}

// certificateNotes returns a certificate's expiry, issuer and host names.
func certificateNotes(leaf *x509.Certificate) []string {
	const most = 5
	names := slices.Clone(leaf.DNSNames)
	for _, address := range leaf.IPAddresses {
		names = append(names, address.String())
	}
	if len(names) > most {
		names = append(names[:most], fmt.Sprintf("%d more", len(names)-most))
	}
	issuer := evidence.Cut(leaf.Issuer.String())
	notes := []string{"it is valid until " + daysLeft(leaf.NotAfter) + ", and was issued by " + issuer}
	if len(names) > 0 {
		notes = append(notes, "it is for "+evidence.Words(names))
	}
	return notes
}

// daysLeft formats a date and its distance in days.
func daysLeft(end time.Time) string {
	days := int(time.Until(end).Hours() / 24)
	if time.Now().After(end) {
		return fmt.Sprintf("%s, %d days ago", end.Format(time.DateOnly), -days)
	}
	return fmt.Sprintf("%s, %d days from now", end.Format(time.DateOnly), days)
}

func askRedirectDropsBody(e *evidence.Evidence) []check.Finding {
	reply := e.Reply(evidence.AskedInitialize)
	if reply == nil || reply.Status < 300 || reply.Status >= 400 || reply.Header.Get("Location") == "" {
		return nil
	}
	location := reply.Header.Get("Location")
	f := check.At(rawWhere("initialize"), "%s",
		evidence.Cut(fmt.Sprintf("%s, from %s to %s", reply.StatusText(), reply.URL.Path, location)))
	if e.Clean.Failure != nil {
		f.Severity = check.Error // toolx follows the redirects that clients can follow
	}
	if to, err := reply.URL.Parse(location); err == nil && to.Host != reply.URL.Host {
		f.Title = "server's url redirects to another host"
		f.Fix = []string{
			"from outside: if " + evidence.Label(to.Host) +
				" is a login page, the server requires a login: set its header " +
				"or token (headers: in its entry); otherwise use the final address in the config",
			"in the server: respond to unauthenticated clients with 401 and WWW-Authenticate, not with a web page",
		}
	}
	if reply.Status == http.StatusTemporaryRedirect || reply.Status == http.StatusPermanentRedirect {
		f.Notes = []string{"clients that follow this status repeat the request unchanged"}
	}
	return []check.Finding{f}
}

func askAuthChallenge(e *evidence.Evidence) []check.Finding {
	for _, x := range e.OwnExchanges() {
		if found := judgeChallenge(x.Status, x.Received, &evidence.Where{Run: "clean"}); found != nil {
			return found
		}
	}
	reply := e.Reply(evidence.AskedBare)
	if reply == nil {
		return nil
	}
	found := judgeChallenge(reply.Status, reply.Header, rawWhere("initialize"))
	for i := range found {
		found[i].Severity = cmp.Or(found[i].Severity, check.Warning) // clients with credentials work
	}
	return found
}

// judgeChallenge checks the header of a 401.
func judgeChallenge(status int, header http.Header, where *evidence.Where) []check.Finding {
	challenge := evidence.Challenges(header)
	switch {
	case status != http.StatusUnauthorized || strings.Contains(challenge, "resource_metadata"):
		return nil
	case challenge == "":
		return check.One(where, "HTTP 401 without WWW-Authenticate")
	}
	f := check.At(where, "%s", evidence.Cut("WWW-Authenticate: "+challenge))
	f.Severity, f.Title = check.Info, "server answers 401 without OAuth metadata"
	return []check.Finding{f}
}

func askAuthLate(e *evidence.Evidence) []check.Finding {
	reply := e.Reply(evidence.AskedTool)
	if reply == nil || reply.Status != http.StatusUnauthorized {
		return nil
	}
	return check.One(rawWhere("tools/call"), "initialize: HTTP 200; tools/call: %s", reply.StatusText())
}

// askOrigin reports an error for a local server that checks neither Host nor Origin, because any web page can reach it.
func askOrigin(e *evidence.Evidence) []check.Finding {
	origin, host := e.Reply(evidence.AskedOrigin), e.Reply(evidence.AskedHost)
	if origin == nil || origin.Status != http.StatusOK {
		return nil
	}
	f := check.At(rawWhere(origin.Asked()), "Origin: %s: %s", evidence.ForeignOrigin, origin.StatusText())
	if host != nil {
		f.Evidence += "; Host: " + evidence.ForeignHost + ": " + host.StatusText()
		if host.Status == http.StatusOK {
			f.Severity = check.Error
		}
	}
	return []check.Finding{f}
}

func askCorsReflects(e *evidence.Evidence) []check.Finding {
	reply := e.Reply(evidence.AskedOrigin)
	if reply == nil || reply.Header.Get("Access-Control-Allow-Origin") != evidence.ForeignOrigin ||
		reply.Header.Get("Access-Control-Allow-Credentials") != "true" {
		return nil
	}
	return check.One(rawWhere(reply.Asked()), "Access-Control-Allow-Origin: %s, Access-Control-Allow-Credentials: true",
		evidence.ForeignOrigin)
}

// askSessionLost reports that the first two messages after initialize are rejected because of an unknown session.
func askSessionLost(e *evidence.Evidence) []check.Finding {
	next, ping := e.Reply(evidence.AskedInitialized), e.Reply(evidence.AskedPing)
	if !missesSession(next) || !missesSession(ping) {
		return nil
	}
	found := objection(next, "notifications/initialized")
	if message := evidence.MemberAt(next.Message(), "error", "message"); message != nil {
		found[0].Evidence = next.StatusText() + ": " + evidence.Cut(evidence.MemberText(message))
	}
	found[0].Notes = []string{"initialize returned an Mcp-Session-Id, and the message had it"}
	if e.Reply(evidence.AskedInitialize).Header.Get(evidence.SessionHeader) == "" {
		found[0].Notes = []string{"the response to initialize had no Mcp-Session-Id"}
	}
	return found
}

// missesSession reports whether a response rejects a message because its session is unknown.
func missesSession(r *evidence.HTTPReply) bool {
	return r != nil && (r.Status == http.StatusBadRequest || r.Status == http.StatusNotFound) &&
		strings.Contains(strings.ToLower(string(r.Body[:min(len(r.Body), 200)])), "session")
}

func askSessionIDFormat(e *evidence.Evidence) []check.Finding {
	const short = 16
	id := e.Reply(evidence.AskedInitialize).Header.Get(evidence.SessionHeader)
	unprintable := strings.ContainsFunc(id, func(r rune) bool { return r < 0x21 || r > 0x7e })
	if id == "" || !unprintable && len(id) >= short {
		return nil
	}
	f := check.At(rawWhere("initialize"), "Mcp-Session-Id has %d characters", len(id))
	if !unprintable {
		f.Severity, f.Title = check.Warning, "server's session ID is short enough to guess"
	}
	return []check.Finding{f}
}

func askSessionMissing400(e *evidence.Evidence) []check.Finding {
	reply := e.Reply(evidence.AskedNoSession)
	if reply == nil || reply.Status/100 == 2 || reply.Status == http.StatusBadRequest {
		return nil // requiring the id is optional
	}
	found := objection(reply, "ping")
	if reply.Status < http.StatusInternalServerError {
		found[0].Severity = check.Info // clients treat it as an error too
	}
	return found
}

func askSessionUnknown404(e *evidence.Evidence) []check.Finding {
	reply := e.Reply(evidence.AskedOtherID)
	if reply == nil || reply.Status == http.StatusNotFound {
		return nil
	}
	found := objection(reply, "ping")
	if reply.Status/100 == 2 {
		found[0].Severity, found[0].Title = check.Info, "server accepts a session ID that it did not issue"
	}
	return found
}

func askSessionDelete(e *evidence.Evidence) []check.Finding {
	reply := e.Reply(evidence.AskedDelete)
	if reply == nil || reply.Status/100 == 2 || reply.Status == http.StatusMethodNotAllowed {
		return nil
	}
	return objection(reply, "DELETE")
}

func askSessionMintedModern(e *evidence.Evidence) []check.Finding {
	minted := func(x wire.HTTPExchange) bool {
		return x.Sent.Get(evidence.VersionHeader) == evidence.ModernRevision &&
			x.Received.Get(evidence.SessionHeader) != ""
	}
	if !slices.ContainsFunc(evidence.EventsOf[wire.HTTPExchange](e.Clean), minted) {
		return nil
	}
	return check.One(&evidence.Where{Run: "clean"}, "the response has an Mcp-Session-Id")
}

// askHeaderMismatch reports each header that the server does not compare with the body. A server may reject the
// revision in the body first.
func askHeaderMismatch(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, one := range []struct{ header, method, said, meant string }{
		{evidence.MethodHeader, "server/discover", "prompts/list", "server/discover"},
		{evidence.NameHeader, "tools/call", evidence.NoSuchTool + "_either", evidence.NoSuchTool},
		{evidence.VersionHeader, "server/discover", evidence.ModernRevision, evidence.CommonRevision},
	} {
		reply := e.Reply(evidence.AskedMismatch + one.header)
		if reply == nil || refusedWith(reply, http.StatusBadRequest, evidence.MismatchCode) ||
			one.header == evidence.VersionHeader &&
				refusedWith(reply, http.StatusBadRequest, evidence.UnsupportedCode) {
			continue
		}
		f := objection(reply, one.method)[0]
		f.Notes = []string{fmt.Sprintf("the request had %s: %s, and its body %s", one.header, one.said, one.meant)}
		found = append(found, f)
	}
	return found
}

func askUnknownMethod404(e *evidence.Evidence) []check.Finding {
	reply := e.Reply(evidence.AskedUnknown)
	if reply == nil || refusedWith(reply, http.StatusNotFound, -32601) {
		return nil
	}
	return objection(reply, evidence.NoSuchMethod)
}

// refusedWith reports whether a response has a status and a JSON-RPC error code.
func refusedWith(r *evidence.HTTPReply, status int, code int64) bool {
	got, _ := evidence.ErrorCode(evidence.ReadHead(r.Message()).Err)
	return got == code && r.Status == status
}
