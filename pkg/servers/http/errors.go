package http

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"toolx/pkg/cause"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/words"
)

// Error says how an exchange with a server over HTTP failed: there was no response (Err), an unusable one (Status
// and the fields after it), or one that broke off (both).
type Error struct {
	Verb    string   // GET, POST, DELETE
	URL     *url.URL // without password
	Method  string   // of MCP, or Verb where the exchange carries no request
	Err     error    // why there is no answer, or not all of it; nil where there is one
	Status  int
	Header  http.Header // of the answer
	Body    []byte      // its beginning
	Wrong   string      // what is wrong with a body that says it is JSON; empty: it says it is something else
	Expired bool        // the server no longer knows the session
	Bare    bool        // nothing was sent that could say who asks
}

// maxErrorBody is how many bytes of an unusable response are kept.
const maxErrorBody = 16 << 10

func (e *Error) Error() string {
	switch {
	case e.Err != nil:
		return networkWords(e.Err, e.URL)
	case e.Expired:
		return fmt.Sprintf("the session has expired (HTTP %d%s)", e.Status, e.quoted())
	case e.Status == http.StatusUnauthorized:
		return "HTTP 401 Unauthorized: the server " + e.challenge()
	case e.Status == http.StatusTooManyRequests:
		text := "HTTP 429 Too Many Requests"
		if after, ok := e.RetryAfter(); ok {
			text += ": it asks to wait " + waitWords(after)
		}
		return text + e.quoted()
	case e.Wrong != "":
		return fmt.Sprintf("HTTP %s to %s %s with %s", statusWords(e.Status), e.Verb, e.URL.Redacted(), e.Wrong)
	case e.hasForeignBody() || e.Status/100 == 2:
		expected := "JSON"
		if e.Verb == http.MethodGet {
			expected = "an event stream"
		}
		return fmt.Sprintf("got %s where %s was expected, from %s %s", e.foreign(), expected, e.Verb, e.URL.Redacted())
	}
	return fmt.Sprintf("HTTP %s to %s %s%s", statusWords(e.Status), e.Verb, e.URL.Redacted(), e.quoted())
}

func statusWords(status int) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}

// Unwrap returns the network's error.
func (e *Error) Unwrap() error { return e.Err }

// Kind implements the interface that fault.KindOf looks for. Authorization has errors of its own, which know their
// kind.
func (e *Error) Kind() fault.Kind {
	var kinded interface{ Kind() fault.Kind }
	switch {
	case errors.As(e.Err, &kinded):
		return kinded.Kind()
	case e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden:
		return fault.KindAuth
	case e.Err != nil && e.Status == 0 && !errors.As(e.Err, new(*redirectError)),
		e.Status >= 500, e.Status == http.StatusTooManyRequests:
		return fault.KindConnect
	}
	return fault.KindProtocol
}

// CauseKind returns the kind of cause that the error is: what is refused, misspelt or not trusted stays so (MCP-6).
func (e *Error) CauseKind() cause.Kind {
	var notFound *net.DNSError
	var proxy *proxyError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	switch {
	case e.Kind() == fault.KindAuth:
		return cause.Login
	case e.Kind() == fault.KindUsage:
		return cause.Config
	case e.Err == nil && (e.Status < 500 || e.Status == http.StatusNotImplemented): // 429 has been waited for
		return cause.NotMCP
	case errors.As(e.Err, &notFound) && notFound.IsNotFound,
		errors.As(e.Err, &proxy) && proxy.err == nil && proxy.status < 500,
		errors.As(e.Err, &authority), errors.As(e.Err, &host), errors.As(e.Err, &invalid),
		noTLS(e.Err), errors.As(e.Err, new(*redirectError)), alertOf(e.Err) != nil:
		return cause.Value
	}
	return cause.Backend
}

// ending returns what the error makes of the server for a session.
func (e *Error) ending() diagnose.Ending {
	switch e.Kind() {
	case fault.KindAuth:
		return diagnose.EndingUnauthorized
	case fault.KindConnect:
		return diagnose.EndingUnavailable
	case fault.KindUsage:
		return diagnose.EndingMisconfigured
	}
	switch {
	case e.Expired:
		return diagnose.EndingExpired
	case e.Status/100 == 2:
		return diagnose.EndingMalformed
	}
	return diagnose.EndingRefused
}

// waitWords returns how long a server asks to wait: a day at most.
func waitWords(after time.Duration) string {
	if after > 24*time.Hour {
		return "more than a day"
	}
	return diagnose.Rounded(after).String()
}

// RetryAfter returns how long the server asks to wait before the next request (RFC 9110, 10.2.3).
func (e *Error) RetryAfter() (time.Duration, bool) {
	text := e.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at)), true
	}
	return 0, false
}

// challenge says what a 401 asks for.
func (e *Error) challenge() string {
	asked := slices.Clone(e.Header.Values("WWW-Authenticate"))
	if len(asked) == 0 {
		return "requires authorization of an unknown kind (no WWW-Authenticate)" + e.quoted()
	}
	for i, one := range asked {
		// In brackets, what is asked for does not look like what is secret.
		if scheme, params, ok := strings.Cut(one, " "); ok {
			asked[i] = fmt.Sprintf("%s (%s)", scheme, params)
		}
	}
	return "asks for " + strings.Join(asked, "; ")
}

// hasForeignBody reports whether the answer is a page for people, as proxies and login forms send, and not one for
// programs.
func (e *Error) hasForeignBody() bool {
	return strings.Contains(e.Header.Get("Content-Type"), "html")
}

// foreign describes such an answer: text/html (502, "Bad gateway").
func (e *Error) foreign() string {
	kind, _, _ := strings.Cut(e.Header.Get("Content-Type"), ";")
	if kind == "" {
		kind = "no content type"
	}
	text := fmt.Sprintf("%s (%d", kind, e.Status)
	if title := headline(e.Body); title != "" {
		text += fmt.Sprintf(", %q", title)
	}
	return text + ")"
}

// quoted returns what the answer says of itself: a JSON-RPC or other error's message, or its first line; with ": "
// before it, empty where there is nothing.
func (e *Error) quoted() string {
	if said := said(e.Body); said != "" {
		return ": " + said
	}
	return ""
}

// said finds the words of an error in a body.
func said(body []byte) string {
	text := bytes.TrimSpace(body)
	if !json.Valid(text) || text[0] != '{' {
		return headline(body)
	}
	for member := range rawjson.Each(text) {
		switch member.Name {
		case "error", "message", "detail", "error_description", "title":
			if member.Value[0] == '"' {
				return Shortened(rawjson.Unquote(member.Value))
			}
			if member.Value[0] == '{' {
				return said(member.Value)
			}
		}
	}
	return Shortened(string(text))
}

// headline returns the title of a page, else its first line of text.
func headline(body []byte) string {
	if title := pageTitle().FindSubmatch(body); title != nil {
		return Shortened(string(title[1]))
	}
	for line := range strings.Lines(string(pageTags().ReplaceAll(body, nil))) {
		if line = strings.TrimSpace(line); line != "" {
			return Shortened(line)
		}
	}
	return ""
}

var (
	pageTitle = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`) })
	pageTags  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)<[^>]*>`) })
)

// Shortened cuts a server's words to what fits a line.
func Shortened(text string) string {
	const most = 121 // with the sign that says so
	return words.Shorten(strings.Join(strings.Fields(text), " "), most)
}

// Hint says what to do about it, empty where nothing is known.
func (e *Error) Hint() string {
	var authority x509.UnknownAuthorityError
	if hint := fault.HintOf(e.Err); hint != "" {
		return hint
	}
	switch {
	case e.Expired:
		return "servers behind one address must share sessions, or route each client to the same server"
	case errors.As(e.Err, &authority):
		return "trust its authority: --cacert FILE, or NODE_EXTRA_CA_CERTS=FILE"
	case noTLS(e.Err):
		return "if the server uses plain HTTP, its url must begin with http://"
	case alertOf(e.Err) != nil:
		return "set clientCert and clientKey in the server's entry"
	case errors.Is(e.Err, errRefused) && proxyFor(e.URL) != nil:
		return "check HTTPS_PROXY and HTTP_PROXY; NO_PROXY=" + e.URL.Hostname() + " bypasses the proxy"
	case errors.Is(e.Err, errRefused):
		return "check that the server is running and listens on " + e.URL.Host
	case speaksTLS(e.Err), e.Status == http.StatusBadRequest &&
		bytes.Contains(e.Body, []byte("HTTP request to an HTTPS server")):
		return "the server uses TLS: its url must begin with https://"
	case e.refusesHost():
		return HostHint(e.URL.Host)
	case e.Status == http.StatusUnauthorized && !e.Bare:
		return "it rejects the credentials: they may have expired, or belong to another server or account"
	case e.Status == http.StatusUnauthorized:
		return "send the required credentials: -H 'NAME: VALUE', or headers in the server's entry"
	case e.Status == http.StatusForbidden && e.Bare:
		return "no credentials were sent: add -H 'NAME: VALUE', or headers in the server's entry"
	case e.Status == http.StatusForbidden:
		return "the credentials are not sufficient"
	case e.Status == http.StatusNotFound, e.Status == http.StatusMethodNotAllowed,
		e.Status == http.StatusSwitchingProtocols:
		return "check that the url is the MCP endpoint's: its path is often /mcp, or /sse"
	case e.Status == http.StatusProxyAuthRequired:
		return proxyHint
	}
	return ""
}

// HostHint says what to do about a server that refuses the host by which it is reached.
func HostHint(host string) string {
	return "in the server: add " + host + " to its allowed hosts (allowedHosts or allowed_hosts in the MCP SDKs); " +
		"from outside: use a name that it allows, such as localhost, or let the proxy send one as Host"
}

// refusesHost reports whether the server refuses the name by which it is reached, as guards against DNS rebinding do.
func (e *Error) refusesHost() bool {
	return RefusesHost(e.Status, e.Body)
}

// RefusesHost reports whether a response refuses the host that was asked.
func RefusesHost(status int, body []byte) bool {
	return status == http.StatusMisdirectedRequest || status/100 == 4 && hostRefused().Match(body)
}

var hostRefused = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:invalid|disallowed|unknown|untrusted) host\b|` +
		`\bhost (?:header )?[^\s"]* ?(?:is )?not allowed`)
})

// Exchange describes the exchange, a fact a line.
func (e *Error) Exchange() []string {
	var details []string
	if e.Status != 0 {
		details = append(details, "http     "+statusWords(e.Status))
	}
	if kind := e.Header.Get("Content-Type"); kind != "" {
		details = append(details, "type     "+kind)
	}
	if body := Shortened(string(e.Body)); body != "" {
		details = append(details, "body     "+body)
	}
	return details
}

// sessionExpired returns the error of a request that is not repeated in a new session, because that may do harm. why
// is the server's error about the lost session.
func sessionExpired(server, method string, why error) error {
	return &diagnose.Hinted{
		Text: fmt.Sprintf("server %q lost the session, and %s was not repeated: %v", server, method, why),
		Fix:  "call again if that does no harm; toolx repeats only calls of tools with readOnlyHint or idempotentHint",
		Err:  why,
	}
}
