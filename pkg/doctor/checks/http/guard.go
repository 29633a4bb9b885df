package http

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

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/servers"
)

// soonExpired is how long before its end a certificate is spoken of.
const soonExpired = 14 * 24 * time.Hour

func askTLSCert(e *evidence.Evidence) []check.Finding {
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	failure, look := e.Clean.Failure, e.HTTP.TLS
	switch {
	case look != nil && look.State.Version < tls.VersionTLS12:
		return check.Sole(check.Finding{
			Where: rawWhere(""), Title: "the server speaks no TLS 1.2 or newer",
			Evidence: tls.VersionName(look.State.Version) + " is its newest",
			Fix:      []string{"in the server, or what stands before it: turn TLS 1.2 and 1.3 on, and older ones off"},
		})
	case failure != nil && (errors.As(failure, &authority) || errors.As(failure, &name) || errors.As(failure, &invalid)):
		f := check.Finding{Where: &evidence.Where{Run: e.Clean.Name}, Evidence: failure.Reason.Error(), Notes: certificateNotes(e)}
		if errors.As(failure, &name) { // which no authority that is trusted helps with
			f.Fix = []string{"in the server: show a certificate for this host's name", "from outside: write the name that the certificate is for into the url"}
		}
		return check.Sole(f)
	}
	var found []check.Finding
	if leaf := certificate(e); leaf != nil && time.Until(leaf.NotAfter) < soonExpired {
		found = append(found, check.Finding{
			Severity: check.Warning, Title: "the certificate ends soon", Where: rawWhere(""),
			Evidence: "it is valid until " + daysLeft(leaf.NotAfter),
		})
	}
	if look != nil && look.Older != 0 {
		found = append(found, check.Finding{
			Severity: check.Info, Title: "versions of TLS are still on that must not be used", Where: rawWhere(""),
			Evidence: "it takes " + tls.VersionName(look.Older) + " beside " + tls.VersionName(look.State.Version),
			Fix:      []string{"in the server, or what stands before it: turn versions before TLS 1.2 off"},
		})
	}
	return found
}

// certificate is the server's own, nil where none was seen.
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

// certificateNotes say what the certificate says of itself.
func certificateNotes(e *evidence.Evidence) []string {
	leaf := certificate(e)
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
	notes := []string{"it is valid until " + daysLeft(leaf.NotAfter) + ", and was issued by " + evidence.Excerpt(leaf.Issuer.String(), evidence.MaxExcerpt)}
	if len(names) > 0 {
		notes = append(notes, "it is for "+evidence.Words(names))
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
func redirectedTo(r *evidence.HTTPReply) *url.URL {
	to, err := r.URL.Parse(r.Header.Get("Location"))
	if err != nil {
		return nil
	}
	return to
}

func askRedirectDropsBody(e *evidence.Evidence) []check.Finding {
	reply := e.Reply(evidence.AskedInitialize)
	if reply == nil || reply.Status < 300 || reply.Status >= 400 || reply.Header.Get("Location") == "" {
		return nil
	}
	found := objection(reply, "initialize")
	if e.Clean.Failure != nil {
		found[0].Severity = check.Error // toolx follows what a client can follow
	}
	if to := redirectedTo(reply); to != nil && to.Host != reply.URL.Host {
		found[0].Title = "the url leads on to another host"
		found[0].Fix = []string{
			"from outside: where " + evidence.Excerpt(to.Host, evidence.MaxLabel) + " is a login page, the server wants to be logged in to: give the header or the token that gets past it (headers: in its entry); else put the final address into the config",
			"in the server: answer clients that are not logged in with 401 and WWW-Authenticate, not with a page for people",
		}
	}
	found[0].Evidence = evidence.Cut(fmt.Sprintf("%s, from %s to %s", reply.StatusText(), reply.URL.Path, reply.Header.Get("Location")))
	if reply.Status == http.StatusTemporaryRedirect || reply.Status == http.StatusPermanentRedirect {
		found[0].Notes = []string{"this status keeps the request as it is, where a client follows at all"}
	}
	return found
}

func askAuthChallenge(e *evidence.Evidence) []check.Finding {
	for _, x := range e.OwnExchanges() {
		if found := judgeChallenge(x.Status, x.Received, &evidence.Where{Run: "clean"}); found != nil {
			return found
		}
	}
	if reply := e.Reply(evidence.AskedBare); reply != nil {
		found := judgeChallenge(reply.Status, reply.Header, rawWhere("initialize"))
		for i := range found {
			if found[i].Severity == "" {
				found[i].Severity = check.Warning // who has a key is let in
			}
		}
		return found
	}
	return nil
}

// judgeChallenge looks at what a 401 says.
func judgeChallenge(status int, header http.Header, where *evidence.Where) []check.Finding {
	challenge := evidence.Challenges(header)
	switch {
	case status != http.StatusUnauthorized || strings.Contains(challenge, "resource_metadata"):
		return nil
	case challenge == "":
		return check.Sole(check.Finding{Where: where, Evidence: "HTTP 401 without WWW-Authenticate"})
	}
	return check.Sole(check.Finding{
		Severity: check.Info, Title: "401 names no metadata of OAuth", Where: where, Evidence: evidence.Cut("WWW-Authenticate: " + challenge),
	})
}

func askAuthLate(e *evidence.Evidence) []check.Finding {
	reply := e.Reply(evidence.AskedTool)
	if reply == nil || reply.Status != http.StatusUnauthorized {
		return nil
	}
	return check.Sole(check.Finding{Where: rawWhere("tools/call"), Evidence: "initialize: HTTP 200; tools/call: " + reply.StatusText()})
}

// askOrigin is graver for a server of this machine that looks at Host no more than at
// Origin: only there a page from elsewhere gets through.
func askOrigin(e *evidence.Evidence) []check.Finding {
	origin, host := e.Reply(evidence.AskedOrigin), e.Reply(evidence.AskedHost)
	if origin == nil || origin.Status != http.StatusOK {
		return nil
	}
	f := check.Finding{Where: rawWhere(origin.Asked()), Evidence: "Origin: " + evidence.ForeignOrigin + ": " + origin.StatusText()}
	if host != nil {
		f.Evidence += "; Host: " + evidence.ForeignHost + ": " + host.StatusText()
		if host.Status == http.StatusOK {
			f.Severity = check.Error
		}
	}
	return check.Sole(f)
}

func askCorsReflects(e *evidence.Evidence) []check.Finding {
	reply := e.Reply(evidence.AskedOrigin)
	if reply == nil || reply.Header.Get("Access-Control-Allow-Origin") != evidence.ForeignOrigin ||
		reply.Header.Get("Access-Control-Allow-Credentials") != "true" {
		return nil
	}
	return check.Sole(check.Finding{Where: rawWhere(reply.Asked()), Evidence: "Access-Control-Allow-Origin: " + evidence.ForeignOrigin + ", Access-Control-Allow-Credentials: true"})
}

// askSessionLost goes by the first two messages behind initialize: both are refused with
// the statuses of a session that is not known, and in words of it.
func askSessionLost(e *evidence.Evidence) []check.Finding {
	next, ping := e.Reply(evidence.AskedInitialized), e.Reply(evidence.AskedPing)
	if !missesSession(next) || !missesSession(ping) {
		return nil
	}
	found := objection(next, "notifications/initialized")
	if message := evidence.MemberAt(next.Message(), "error", "message"); message != nil {
		found[0].Evidence = next.StatusText() + ": " + evidence.Cut(evidence.MemberText(message))
	}
	note := "initialize gave an id (Mcp-Session-Id), and the message had it"
	if e.Reply(evidence.AskedInitialize).Header.Get(evidence.SessionHeader) == "" {
		note = "the answer to initialize came without an id (Mcp-Session-Id)"
	}
	found[0].Notes = []string{note}
	return found
}

// missesSession reports whether an answer refuses a message since its session is not known.
func missesSession(r *evidence.HTTPReply) bool {
	return r != nil && (r.Status == http.StatusBadRequest || r.Status == http.StatusNotFound) &&
		strings.Contains(strings.ToLower(string(r.Body[:min(len(r.Body), evidence.MaxQuoted)])), "session")
}

func askSessionIDFormat(e *evidence.Evidence) []check.Finding {
	const short = 16
	id := e.Reply(evidence.AskedInitialize).Header.Get(evidence.SessionHeader)
	f := check.Finding{Where: rawWhere("initialize"), Evidence: fmt.Sprintf("Mcp-Session-Id has %d characters", len(id))}
	switch {
	case id == "":
		return nil
	case strings.ContainsFunc(id, func(r rune) bool { return r < 0x21 || r > 0x7e }):
		return check.Sole(f)
	case len(id) < short:
		f.Severity, f.Title = check.Warning, "the session's id is so short that it can be guessed"
		return check.Sole(f)
	}
	return nil
}

func askSessionMissing400(e *evidence.Evidence) []check.Finding {
	reply := e.Reply(evidence.AskedNoSession)
	if reply == nil || reply.Status/100 == 2 || reply.Status == http.StatusBadRequest {
		return nil // a server need not want the id
	}
	found := objection(reply, "ping")
	if reply.Status < http.StatusInternalServerError {
		found[0].Severity = check.Info // clients take it for a refusal as well
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
		found[0].Severity, found[0].Title = check.Info, "an id is answered that the server has not given"
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
	minted := func(x servers.HTTPExchange) bool {
		return x.Sent.Get(evidence.VersionHeader) == evidence.ModernRevision && x.Received.Get(evidence.SessionHeader) != ""
	}
	if !slices.ContainsFunc(evidence.EventsOf[servers.HTTPExchange](e.Clean), minted) {
		return nil
	}
	return check.Sole(check.Finding{Where: &evidence.Where{Run: "clean"}, Evidence: "the answer has Mcp-Session-Id"})
}

// askHeaderMismatch tells of each header that the server does not compare. A server may
// look at the revision of the body first, and refuse that.
func askHeaderMismatch(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, one := range []struct{ header, method, said, meant string }{
		{evidence.MethodHeader, "server/discover", "prompts/list", "server/discover"},
		{evidence.NameHeader, "tools/call", evidence.NoSuchTool + "_either", evidence.NoSuchTool},
		{evidence.VersionHeader, "server/discover", evidence.ModernRevision, evidence.CommonRevision},
	} {
		reply := e.Reply(evidence.AskedMismatch + one.header)
		if one.header == evidence.VersionHeader && refusedWith(reply, http.StatusBadRequest, evidence.UnsupportedCode) {
			continue
		}
		for _, f := range notRefusedWith(reply, one.method, http.StatusBadRequest, evidence.MismatchCode) {
			f.Notes = []string{fmt.Sprintf("the request had %s: %s, and its body %s", one.header, one.said, one.meant)}
			found = append(found, f)
		}
	}
	return found
}

func askUnknownMethod404(e *evidence.Evidence) []check.Finding {
	return notRefusedWith(e.Reply(evidence.AskedUnknown), evidence.NoSuchMethod, http.StatusNotFound, -32601)
}

// refusedWith reports whether an answer is of that status and JSON-RPC error.
func refusedWith(r *evidence.HTTPReply, status int, code int64) bool {
	got, ok := evidence.ErrorCode(evidence.ReadHead(r.Message()).Err)
	return ok && got == code && r.Status == status
}

// notRefusedWith finds an answer that is not of that status and JSON-RPC error.
func notRefusedWith(reply *evidence.HTTPReply, method string, status int, code int64) []check.Finding {
	if reply == nil || refusedWith(reply, status, code) {
		return nil
	}
	return objection(reply, method)
}
