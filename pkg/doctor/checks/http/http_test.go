package http_test

import (
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/doctortest"
	"toolx/pkg/doctor/evidence"
)

// badSite is a server over HTTP, each of whose answers may be replaced.
type badSite struct {
	// before answers instead of the good server, and reports whether it did.
	before func(w http.ResponseWriter, r *http.Request, method string) bool
}

func (s badSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	method := evidence.ReadHead(body).Method
	if s.before(w, r, method) {
		return
	}
	id := evidence.ReadHead(body).ID
	switch {
	case r.Header.Get("Origin") != "":
		w.WriteHeader(http.StatusForbidden)
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case id == "":
		w.WriteHeader(http.StatusAccepted)
	case method == "initialize":
		w.Header().Set(evidence.SessionHeader, "0123456789abcdef0123456789abcdef")
		replyJSON(w, id, `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"site","version":"1"}}`)
	case r.Header.Get(evidence.VersionHeader) == evidence.InventedRevision:
		w.WriteHeader(http.StatusBadRequest)
	case r.Header.Get(evidence.SessionHeader) == evidence.InventedSession:
		w.WriteHeader(http.StatusNotFound)
	case method == "ping":
		replyJSON(w, id, `"result":{}`)
	case method == "tools/list":
		replyJSON(w, id, `"result":{"tools":[]}`)
	case method == "tools/call":
		replyJSON(w, id, `"error":{"code":-32602,"message":"no such tool"}`)
	default:
		replyJSON(w, id, `"error":{"code":-32601,"message":"no such method"}`)
	}
}

func replyJSON(w http.ResponseWriter, id, rest string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, id, rest)
}

func replyEvents(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, text)
}

// badSites are what each check is provoked by.
func badSites() map[string]func(w http.ResponseWriter, r *http.Request, method string) bool {
	refuse := func(status int, when func(r *http.Request, method string) bool) func(http.ResponseWriter, *http.Request,
		string) bool {
		return func(w http.ResponseWriter, r *http.Request, method string) bool {
			if when(r, method) {
				w.WriteHeader(status)
				return true
			}
			return false
		}
	}
	verb := func(verb string) func(*http.Request, string) bool {
		return func(r *http.Request, _ string) bool { return r.Method == verb }
	}
	asked := func(name string) func(*http.Request, string) bool {
		return func(_ *http.Request, method string) bool { return method == name }
	}
	always := func(*http.Request, string) bool { return true }
	session := func(id string) func(http.ResponseWriter, *http.Request, string) bool {
		return func(w http.ResponseWriter, r *http.Request, method string) bool {
			if method != "initialize" || r.Header.Get("Origin") != "" {
				return false
			}
			w.Header().Set(evidence.SessionHeader, id)
			replyJSON(w, "1", `"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"site","version":"1"}}`)
			return true
		}
	}
	events := func(text string) func(http.ResponseWriter, *http.Request, string) bool {
		return func(w http.ResponseWriter, _ *http.Request, method string) bool {
			if method == "tools/list" {
				replyEvents(w, text)
			}
			return method == "tools/list"
		}
	}
	oldSSE := func(endpoint string) func(http.ResponseWriter, *http.Request, string) bool {
		return func(w http.ResponseWriter, r *http.Request, _ string) bool {
			if r.Method == http.MethodGet {
				replyEvents(w, "event: endpoint\ndata: "+endpoint+"\n\n")
			} else {
				w.WriteHeader(http.StatusMethodNotAllowed)
			}
			return true
		}
	}
	return map[string]func(w http.ResponseWriter, r *http.Request, method string) bool{
		"status-unexpected":   refuse(http.StatusNotFound, always),
		"auth-challenge":      refuse(http.StatusUnauthorized, always),
		"auth-late":           refuse(http.StatusUnauthorized, asked("tools/call")),
		"notification-status": refuse(http.StatusOK, asked("notifications/initialized")),
		"get-status":          refuse(http.StatusInternalServerError, verb(http.MethodGet)),
		"session-delete":      refuse(http.StatusInternalServerError, verb(http.MethodDelete)),
		"auth-metadata": func(w http.ResponseWriter, r *http.Request, _ string) bool {
			switch host := "http://" + r.Host; r.URL.Path {
			case "/.well-known/oauth-protected-resource":
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, `{"resource":"https://elsewhere.example/mcp","authorization_servers":[%q]}`, host)
			case "/.well-known/openid-configuration":
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, `{"issuer":"http://localhost","code_challenge_methods_supported":["plain"],"response_types_supported":["code"],`+
					`"authorization_endpoint":"%s/authorize","token_endpoint":"%s/token"}`, host, host)
			case "/mcp":
				w.Header().Set("WWW-Authenticate",
					`Bearer resource_metadata="`+host+`/.well-known/oauth-protected-resource"`)
				w.WriteHeader(http.StatusUnauthorized)
			default:
				w.WriteHeader(http.StatusNotFound)
			}
			return true
		},
		"accept-strict": refuse(http.StatusNotAcceptable, func(r *http.Request, _ string) bool {
			return r.Method == http.MethodPost && r.Header.Get("Accept") == "*/*"
		}),
		"session-missing-400": refuse(http.StatusInternalServerError, func(r *http.Request, method string) bool {
			return method == "ping" && r.Header.Get(evidence.SessionHeader) == ""
		}),
		"session-unknown-404": refuse(http.StatusBadRequest, func(r *http.Request, _ string) bool {
			return r.Header.Get(evidence.SessionHeader) == evidence.InventedSession
		}),
		"session-lost": func(w http.ResponseWriter, r *http.Request, method string) bool {
			lost := r.Method == http.MethodPost && method != "initialize"
			if lost {
				http.Error(w, "Bad Request: No valid session ID provided", http.StatusBadRequest)
			}
			return lost
		},
		"session-id-format":    session("17"),
		"sse-format":           events("event: result\ndata: {}\n\n"),
		"sse-no-final":         events("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n"),
		"legacy-sse":           oldSSE("/messages"),
		"sse-endpoint-offsite": oldSSE("https://elsewhere.example/messages"),
		"redirect-drops-body": func(w http.ResponseWriter, r *http.Request, _ string) bool {
			http.Redirect(w, r, "/mcp/", http.StatusMovedPermanently)
			return true
		},
		"content-type": func(w http.ResponseWriter, _ *http.Request, _ string) bool {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<title>Log in</title>")
			return true
		},
		"body-limit": func(w http.ResponseWriter, r *http.Request, method string) bool {
			if method != "tools/list" {
				return false
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":{"tools":[],"x":%q}}`, strings.Repeat("x",
				evidence.MaxRawBody))
			return true
		},
		"gzip-bomb": func(w http.ResponseWriter, r *http.Request, method string) bool {
			if method != "tools/list" {
				return false
			}
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "gzip")
			packed := gzip.NewWriter(w)
			fmt.Fprintf(packed, `{"jsonrpc":"2.0","id":1,"result":{"tools":[],"x":%q}}`, strings.Repeat("x",
				evidence.MaxRawBody))
			_ = packed.Close() // the doctor may have read enough
			return true
		},
		"version-header": func(w http.ResponseWriter, r *http.Request, _ string) bool {
			r.Header.Del(evidence.VersionHeader)
			return false
		},
		"origin-not-checked": func(_ http.ResponseWriter, r *http.Request, _ string) bool {
			r.Header.Del("Origin")
			return false
		},
		"cors-reflects": func(w http.ResponseWriter, r *http.Request, _ string) bool {
			w.Header().Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
			w.Header().Set("Access-Control-Allow-Credentials", "true")
			return false
		},
		"keepalive": func(w http.ResponseWriter, _ *http.Request, _ string) bool {
			w.Header().Set("Connection", "close")
			return false
		},
		"session-minted-modern": modernSite(func(w http.ResponseWriter) { w.Header().Set(evidence.SessionHeader, "0123456789abcdef") }),
		"header-mismatch":       modernSite(func(http.ResponseWriter) {}),
		"unknown-method-404":    modernSite(func(http.ResponseWriter) {}),
	}
}

// modernSite is a server of 2026-07-28 that looks at no header.
func modernSite(head func(http.ResponseWriter)) func(w http.ResponseWriter, r *http.Request, method string) bool {
	return func(w http.ResponseWriter, _ *http.Request, method string) bool {
		if method == "server/discover" || method == evidence.NoSuchMethod {
			head(w)
		}
		if method != "server/discover" {
			return false
		}
		replyJSON(w, "1", `"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"serverInfo":{"name":"site","version":"1"}}`)
		return true
	}
}

// TestHTTPChecks provokes each check of HTTP by a server of its own, and shows that
// none of them objects to the same server when it is well.
func TestHTTPChecks(t *testing.T) {
	t.Parallel()
	good := doctor.Judge(examineURL(t,
		serveHTTP(t, badSite{func(http.ResponseWriter, *http.Request, string) bool { return false }})),
		doctor.Selection{})
	for _, finding := range good.Findings {
		if one, _ := doctor.Find(finding.ID); one.Group == check.GroupHTTP {
			t.Errorf("a good server: %+v", finding)
		}
	}
	sites := badSites()
	for _, one := range doctortest.Checks(check.GroupHTTP) {
		if slices.Contains([]string{"tls-cert", "binds-all", "sse-buffered", "dns", "connect", "tls-handshake"},
			one.ID) {
			continue // TestTLSCert, TestBindsAll, TestSSEBuffered, TestNotReached
		}
		t.Run(one.ID, func(t *testing.T) {
			if sites[one.ID] == nil {
				t.Fatal("nothing provokes it")
			}
			options := doctortest.Options()
			options.Waits.Answer = time.Minute // a busy machine takes seconds for the large answers
			report := doctor.Judge(examineURLWith(t, serveHTTP(t, badSite{sites[one.ID]}), options),
				doctor.Selection{Only: []string{one.ID}})
			if len(doctortest.Findings(t, report, one.ID)) == 0 {
				t.Error("it was not found")
			}
		})
	}
}

// TestSessionLost shows that a session which does not outlive initialize is one finding,
// and that it says who has lost the id.
func TestSessionLost(t *testing.T) {
	for id, note := range map[string]string{"0123456789abcdef": "the message had it", "": "had no Mcp-Session-Id"} {
		site := badSite{func(w http.ResponseWriter, r *http.Request, method string) bool {
			switch {
			case r.Header.Get("Origin") != "":
				return false
			case method == "initialize":
				w.Header().Set(evidence.SessionHeader, id)
				replyJSON(w, "1", `"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"site","version":"1"}}`)
			default:
				http.Error(w, "Invalid or missing session ID", http.StatusBadRequest)
			}
			return true
		}}
		var found []check.Finding
		for _, finding := range doctor.Judge(examineURL(t, serveHTTP(t, site)), doctor.Selection{}).Findings {
			if one, _ := doctor.Find(finding.ID); one.Group == check.GroupHTTP {
				found = append(found, finding)
			}
		}
		if len(found) != 1 || found[0].ID != "session-lost" || !strings.Contains(found[0].Notes[0], note) {
			t.Errorf("id %q: %+v", id, found)
		}
	}
}

// TestRefusedByHTTPAlone shows that a status in place of an error is told as what it is: an
// answer, and one that no model sees.
func TestRefusedByHTTPAlone(t *testing.T) {
	site := badSite{func(w http.ResponseWriter, _ *http.Request, method string) bool {
		if method == "tools/call" {
			http.Error(w, "TypeError: x is undefined", http.StatusInternalServerError)
		}
		return method == "tools/call"
	}}
	found := doctortest.Findings(t, doctor.Judge(examineURL(t, serveHTTP(t, site)), doctor.Selection{}),
		"unknown-tool-result")
	if len(found) != 1 || found[0].Severity != check.Warning || !strings.Contains(found[0].Title,
		"with an HTTP error") ||
		!strings.Contains(found[0].Evidence, "HTTP 500") {
		t.Errorf("%+v", found)
	}
}

// TestRedirects shows that a request which is led on within the server is one request,
// and that a login page of another host is told apart from a server that has moved.
func TestRedirects(t *testing.T) {
	t.Parallel()
	within := badSite{func(w http.ResponseWriter, r *http.Request, _ string) bool {
		if r.URL.Path == "/mcp" {
			http.Redirect(w, r, "/mcp/", http.StatusTemporaryRedirect)
			return true
		}
		return false
	}}
	report := doctor.Judge(examineURL(t, serveHTTP(t, within)), doctor.Selection{})
	for _, finding := range report.Findings {
		if finding.Severity != check.Info && finding.ID != "redirect-drops-body" && finding.ID != "tools-empty" {
			t.Errorf("within the server: %+v", finding)
		}
	}
	if found := doctortest.Findings(t, report, "redirect-drops-body"); len(found) != 1 ||
		found[0].Severity != check.Warning {
		t.Errorf("within the server: %+v", found)
	}
	login := badSite{func(w http.ResponseWriter, r *http.Request, _ string) bool {
		http.Redirect(w, r, "https://sso.example/login", http.StatusFound)
		return true
	}}
	found := doctortest.Findings(t, doctor.Judge(examineURL(t, serveHTTP(t, login)), doctor.Selection{}),
		"redirect-drops-body")
	if len(found) != 1 || found[0].Severity != check.Error ||
		!strings.Contains(found[0].Fix[0], "if sso.example is a login page") {
		t.Errorf("to a login page: %+v", found)
	}
}

// TestHTTPOlderRevision shows that raw requests name the revision that was agreed on: a
// server of an older one may refuse any other.
func TestHTTPOlderRevision(t *testing.T) {
	t.Parallel()
	const older = "2025-03-26"
	site := badSite{func(w http.ResponseWriter, r *http.Request, method string) bool {
		switch version := r.Header.Get(evidence.VersionHeader); {
		case method == "initialize" && r.Header.Get("Origin") == "":
			replyJSON(w, "1", `"result":{"protocolVersion":"`+older+`","capabilities":{},"serverInfo":{"name":"site","version":"1"}}`)
			return true
		case version != "" && version != older && version != evidence.ModernRevision:
			w.WriteHeader(http.StatusBadRequest)
			return true
		}
		return false
	}}
	fleet := examineURL(t, serveHTTP(t, site))
	if reply := fleet.Servers[0].Reply(evidence.AskedPing); reply == nil || reply.Status != http.StatusOK {
		t.Errorf("ping in the session: %+v", reply)
	}
	for _, finding := range doctor.Judge(fleet, doctor.Selection{}).Findings {
		if one, _ := doctor.Find(finding.ID); one.Group == check.GroupHTTP {
			t.Errorf("found %+v", finding)
		}
	}
}

// TestTLSCert shows a certificate that nobody trusts, and one that is soon over.
func TestTLSCert(t *testing.T) {
	t.Parallel()
	site := httptest.NewUnstartedServer(goodHandler())
	site.Config.ErrorLog = log.New(io.Discard, "", 0)
	site.StartTLS()
	t.Cleanup(site.Close)
	report := doctor.Judge(examineURL(t, site.URL+"/mcp"), doctor.Selection{Only: []string{"tls-cert"}})
	if found := doctortest.Findings(t, report, "tls-cert"); len(found) != 1 || found[0].Severity != check.Error {
		t.Errorf("an unknown authority: %+v", found)
	}
	for _, test := range []struct {
		left  time.Duration
		found int
	}{{(14*24 - 1) * time.Hour, 1}, {(14*24 + 1) * time.Hour, 0}} {
		leaf := &x509.Certificate{NotAfter: time.Now().Add(test.left)}
		reply := &evidence.HTTPReply{TLS: &tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}}}
		e := &evidence.Evidence{
			Clean: &evidence.Run{},
			HTTP:  &evidence.HTTPEvidence{Replies: map[string]*evidence.HTTPReply{evidence.AskedInitialize: reply}},
		}
		if found := doctortest.Ask("tls-cert")(e); len(found) != test.found {
			t.Errorf("%s before its end: %+v", test.left, found)
		}
	}
}

// TestTLSVersions shows a server that has old versions of TLS alone, and one that has
// them still.
func TestTLSVersions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		least, most uint16
		found       check.Severity
	}{
		{tls.VersionTLS10, tls.VersionTLS11, check.Error},
		{tls.VersionTLS10, tls.VersionTLS13, check.Info},
		{tls.VersionTLS12, tls.VersionTLS13, ""},
	} {
		site := httptest.NewUnstartedServer(goodHandler())
		site.Config.ErrorLog = log.New(io.Discard, "", 0) // a refused handshake is what is tried
		site.TLS = &tls.Config{MinVersion: test.least, MaxVersion: test.most}
		site.StartTLS()
		t.Cleanup(site.Close)
		options := doctortest.Options()
		options.HTTP.Insecure = true // the authority is that of the test
		fleet := doctor.Examine(t.Context(), nil, []*config.Server{config.AdHoc(nil, site.URL+"/mcp", nil)}, options)
		found := doctortest.Findings(t, doctor.Judge(fleet, doctor.Selection{Only: []string{"tls-cert"}}), "tls-cert")
		if len(found) == 0 && test.found == "" || len(found) == 1 && found[0].Severity == test.found {
			continue
		}
		t.Errorf("%s to %s: %+v", tls.VersionName(test.least), tls.VersionName(test.most), found)
	}
}

// TestHeaderMismatch has each header named that a server does not compare with the body.
func TestHeaderMismatch(t *testing.T) {
	t.Parallel()
	compared := func(r *http.Request, body []byte, header string) bool {
		var message struct {
			Method string
			Params struct {
				Name string
				Meta map[string]any `json:"_meta"`
			}
		}
		_ = json.Unmarshal(body, &message) // a GET has none
		said := r.Header.Get(header)
		switch header {
		case evidence.MethodHeader:
			return said == message.Method
		case evidence.NameHeader:
			return said == message.Params.Name
		}
		return said == message.Params.Meta["io.modelcontextprotocol/protocolVersion"]
	}
	all := []string{evidence.MethodHeader, evidence.NameHeader, evidence.VersionHeader}
	for _, looked := range [][]string{all, {evidence.MethodHeader}, nil} {
		site := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			switch method := evidence.ReadHead(body).Method; {
			case slices.ContainsFunc(looked, func(header string) bool { return !compared(r, body, header) }):
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32020,"message":"not what the body says"}}`)
			case method == "server/discover":
				replyJSON(w, evidence.ReadHead(body).ID,
					`"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"site","version":"1"}}`)
			case method == "tools/list":
				replyJSON(w, evidence.ReadHead(body).ID, `"result":{"resultType":"complete","tools":[]}`)
			default:
				w.WriteHeader(http.StatusNotFound)
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`,
					evidence.ReadHead(body).ID)
			}
		})
		report := doctor.Judge(examineURL(t, serveHTTP(t, site)), doctor.Selection{Only: []string{"header-mismatch"}})
		if found := doctortest.Findings(t, report, "header-mismatch"); len(found) != len(all)-len(looked) {
			t.Errorf("a server that looks at %q: %+v", looked, found)
		}
	}
}

// TestNotReached says at which step a server is not reached.
func TestNotReached(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	silent := serveHTTP(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else the end of the connection is not seen
		<-r.Context().Done()
	}))
	half := serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	plain := serveHTTP(t, goodHandler())
	for _, test := range []struct{ id, url string }{
		{"connect", half},
		{"connect", gone.URL + "/mcp"},
		{"connect", silent},
		{"dns", "http://no-such-host.invalid/mcp"},
		{"tls-handshake", strings.Replace(plain, "http:", "https:", 1)},
	} {
		options := doctortest.Options()
		options.Limit, options.Waits.Answer = time.Second, time.Second
		fleet := doctor.Examine(t.Context(), nil, []*config.Server{config.AdHoc(nil, test.url, nil)}, options)
		report := doctor.Judge(fleet, doctor.Selection{Only: []string{"dns", "connect", "tls-*"}})
		if len(report.Findings) != 1 || report.Findings[0].ID != test.id || report.Status != doctor.StatusUnreachable {
			t.Errorf("%s: %s, %+v", test.id, report.Status, report.Findings)
		}
	}
}

// TestRefusedIsNotSilent tells requests that HTTP refuses from those that are not
// answered, of which two in a row are the last.
func TestRefusedIsNotSilent(t *testing.T) {
	site := badSite{func(w http.ResponseWriter, _ *http.Request, method string) bool {
		refused := slices.Contains([]string{"resources/list", "prompts/list", evidence.NoSuchMethod}, method)
		if refused {
			http.Error(w, "no such method", http.StatusBadRequest)
		}
		return refused
	}}
	found := doctortest.Findings(t, doctor.Judge(examineURL(t, serveHTTP(t, site)), doctor.Selection{}),
		"unknown-method-code")
	if len(found) != 1 || !strings.Contains(found[0].Evidence, "was refused with HTTP 400") ||
		strings.Contains(found[0].Evidence, " in 2") {
		t.Errorf("found %+v", found)
	}
}
