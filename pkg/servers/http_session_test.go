package servers

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"toolx/pkg/cause"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/serverstest"
	"toolx/pkg/servers/wire"
)

// TestExpiredSession proves that a session which the server has forgotten is begun
// anew, once, and that only what is safe is sent again.
func TestExpiredSession(t *testing.T) {
	forget := func(status int, body string, always bool) func(*site) {
		return func(s *site) {
			s.call = func(w http.ResponseWriter, _ *http.Request, m siteMessage) {
				if always || m.Header.Get("Mcp-Session-Id") == "session-1" {
					http.Error(w, body, status)
					return
				}
				respond(w, m, `{"content":[{"type":"text","text":"hi"}]}`)
			}
		}
	}
	const byWords = `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}`
	for _, test := range []struct {
		name        string
		script      func(*site)
		annotations string
		posts       int
		text        string // of the failure; empty where the call succeeds
	}{
		{"a tool that only reads", forget(404, "", false), `{"readOnlyHint":true}`, 2, ""},
		{"a tool that may be called twice", forget(404, "Session not found", false), `{"idempotentHint":true}`, 2, ""},
		{"a server that says it in words", forget(400, byWords, false), `{"readOnlyHint":true}`, 2, ""},
		{"a server that says it in words of its own", forget(400, `{"error":"unknown session"}`, false), `{"readOnlyHint":true}`, 2, ""},
		{"any other tool", forget(404, "", false), `{}`, 1, "lost the session, and tools/call was not repeated"},
		{"a server that forgets at once", forget(404, "", true), `{"readOnlyHint":true}`, 2, "the session has expired (HTTP 404)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			site := newSite(t, test.script)
			site.annotations = test.annotations
			s := newRemoteStage(t, plenty, site.URL)
			if err := s.open(); err != nil {
				t.Fatal(err)
			}
			result := s.call("site__echo", "{}")
			if test.text == "" && !result.Success ||
				test.text != "" && (result.Success || !strings.Contains(result.Err.Error(), test.text)) {
				t.Errorf("%v, want %q", result.Err, test.text)
			}
			if posts := len(site.seen("tools/call")); posts != test.posts {
				t.Errorf("the call was sent %d times", posts)
			}
			if test.text == "" && len(site.seen("initialize")) != 2 {
				t.Errorf("%d handshakes", len(site.seen("initialize")))
			}
		})
	}
}

// TestExpiredSessionOfManyCalls proves that calls which meet the end of a session at
// the same time begin one new session between them.
func TestExpiredSessionOfManyCalls(t *testing.T) {
	const calls = 8
	var together sync.WaitGroup
	together.Add(calls)
	site := newSite(t, onCall(func(w http.ResponseWriter, _ *http.Request, m siteMessage) {
		if m.Header.Get("Mcp-Session-Id") == "session-1" {
			together.Done()
			together.Wait()
			w.WriteHeader(http.StatusNotFound)
			return
		}
		respond(w, m, `{"content":[{"type":"text","text":"hi"}]}`)
	}))
	site.annotations = `{"readOnlyHint":true}`
	s := newRemoteStage(t, plenty, site.URL)
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range calls {
		wait.Go(func() {
			if result := s.call("site__echo", "{}"); !result.Success {
				t.Error(result.Err)
			}
		})
	}
	wait.Wait()
	if handshakes := len(site.seen("initialize")); handshakes != 2 {
		t.Errorf("%d handshakes", handshakes)
	}
}

// TestStreamIsResumed proves that a stream which ends before the reply is asked for
// the rest of, from the last event on, for as long as that brings anything.
func TestStreamIsResumed(t *testing.T) {
	var call siteMessage // written before the stream is resumed, and read after
	script := func(rest func(w http.ResponseWriter, asked int)) func(*site) {
		return func(s *site) {
			asked := 0
			s.head = func(w http.ResponseWriter, _ *http.Request, m siteMessage) bool {
				if m.Verb != http.MethodGet || m.Header.Get("Last-Event-ID") == "" {
					return false
				}
				asked++
				rest(w, asked)
				return true
			}
			s.call = func(w http.ResponseWriter, _ *http.Request, m siteMessage) {
				call = m
				eventStream(w, "id: first\nretry: 10\ndata:\n\n")
			}
		}
	}
	for _, test := range []struct {
		name string
		rest func(w http.ResponseWriter, asked int)
		text string // of the failure
		asks []string
	}{
		{"at once", func(w http.ResponseWriter, _ int) { eventStream(w, "id: second\ndata: "+hi(call)+"\n\n") }, "", []string{"first"}},
		{"in steps", func(w http.ResponseWriter, asked int) {
			if asked == 2 {
				eventStream(w, "data: "+hi(call)+"\n\n")
				return
			}
			eventStream(w, "id: second\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n")
		}, "", []string{"first", "second"}},
		{"never", func(w http.ResponseWriter, _ int) { eventStream(w, ": nothing\n\n") }, "ended the stream before it", []string{"first", "first", "first"}},
		{"refused", func(w http.ResponseWriter, _ int) { w.WriteHeader(http.StatusMethodNotAllowed) }, "HTTP 405", []string{"first"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			site := newSite(t, script(test.rest))
			s := newRemoteStage(t, plenty, site.URL)
			if err := s.open(); err != nil {
				t.Fatal(err)
			}
			result := s.call("site__echo", "{}")
			if test.text == "" && !result.Success ||
				test.text != "" && (result.Success || !strings.Contains(result.Err.Error(), test.text)) {
				t.Errorf("%v, want %q", result.Err, test.text)
			}
			var asks []string
			for _, get := range site.seen(http.MethodGet) {
				if id := get.Header.Get("Last-Event-ID"); id != "" {
					asks = append(asks, id)
				}
			}
			if !slices.Equal(asks, test.asks) {
				t.Errorf("asked for the rest behind %q, want %q", asks, test.asks)
			}
		})
	}
}

// oldSite is a server of the older HTTP with SSE.
type oldSite struct {
	*httptest.Server
	endpoint string
	lines    chan string // what goes on the stream; "" ends it
	call     func(site *oldSite, m siteMessage)
	// streaming is held by the one stream that takes lines: a second one waits for the end of the first, whose client
	// may have left just now, and would take an answer from it otherwise.
	streaming sync.Mutex
}

func newOldSite(t *testing.T, script func(*oldSite)) *oldSite {
	t.Helper()
	s := &oldSite{endpoint: "/messages?session=1", lines: make(chan string, 16)}
	s.call = func(s *oldSite, m siteMessage) { s.lines <- "data: " + hi(m) + "\n\n" }
	if script != nil {
		script(s)
	}
	good := &site{annotations: "{}"}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sse", func(w http.ResponseWriter, r *http.Request) {
		s.streaming.Lock()
		defer s.streaming.Unlock()
		eventStream(w)
		if s.endpoint != "" {
			eventStream(w, "event: endpoint\ndata: "+s.endpoint+"\n\n")
		}
		for {
			select {
			case line := <-s.lines:
				if line == "" {
					return
				}
				eventStream(w, line)
			case <-r.Context().Done():
				return
			}
		}
	})
	mux.HandleFunc("POST /messages", func(w http.ResponseWriter, r *http.Request) {
		m := readSiteMessage(r)
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, "Accepted")
		if m.Method == "tools/call" {
			s.call(s, m)
		} else if m.ID != nil && m.Method != "" {
			recorder := httptest.NewRecorder()
			good.behave(recorder, r, m)
			s.lines <- "event: message\ndata: " + recorder.Body.String() + "\n\n"
		}
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// TestOlderHTTP proves that a server of the older HTTP with SSE is found and used.
func TestOlderHTTP(t *testing.T) {
	for _, kind := range []string{"", config.TransportSSE} {
		site := newOldSite(t, func(s *oldSite) {
			s.call = func(s *oldSite, m siteMessage) {
				// A request of the server whose id is that of the call is no reply.
				s.lines <- fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}\n\n", m.ID)
				s.lines <- "data: " + hi(m) + "\n\n"
			}
		})
		s := newRemoteStage(t, plenty, site.URL+"/sse")
		s.dial.Server.Transport = kind
		if err := s.open(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if result := s.call("site__echo", "{}"); !result.Success {
				t.Errorf("type %q: %v", kind, result.Err)
			}
		}
		if requests := serverstest.Of[wire.ServerRequest](s.events); len(requests) != 2 {
			t.Errorf("%d requests of the server", len(requests))
		}
	}
}

// TestOlderHTTPMisbehaves proves that no such server keeps anyone waiting.
func TestOlderHTTPMisbehaves(t *testing.T) {
	for _, test := range []struct {
		name   string
		script func(*oldSite)
		open   string // text of the failure to open
		call   string // text of the call's
	}{
		{"an endpoint elsewhere", func(s *oldSite) { s.endpoint = "http://other.example/messages" }, "has another origin", ""},
		{"an endpoint that is none", func(s *oldSite) { s.endpoint = "http://[" }, "has no address", ""},
		{"an endpoint that is unknown", func(s *oldSite) { s.endpoint = "/nowhere" }, "HTTP 404 Not Found to POST", ""},
		{"the stream ends at once", func(s *oldSite) { s.endpoint, s.lines = "", closedLines() }, "is unavailable", ""},
		{"the stream ends in a call", func(s *oldSite) { s.call = func(s *oldSite, _ siteMessage) { s.lines <- "" } }, "", "is no longer reachable: it ended the event stream"},
	} {
		t.Run(test.name, func(t *testing.T) {
			site := newOldSite(t, test.script)
			s := newRemoteStage(t, plenty, site.URL+"/sse")
			s.dial.Server.Transport = config.TransportSSE
			err := s.open()
			if test.open != "" {
				if err == nil || !strings.Contains(err.Error(), test.open) {
					t.Errorf("%v, want %s", err, test.open)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if result := s.call("site__echo", "{}"); result.Success ||
				!strings.Contains(result.Err.Error(), test.call) {
				t.Errorf("%v, want %s", result.Err, test.call)
			}
			<-s.session.Done()
		})
	}
}

func closedLines() chan string {
	lines := make(chan string)
	close(lines)
	return lines
}

// TestConnectionsAreUsedAgain proves that a session's requests share a connection, whichever way the server answers.
func TestConnectionsAreUsedAgain(t *testing.T) {
	for _, events := range []bool{false, true} {
		site := newSite(t, func(s *site) {
			s.modern = true // a session of the older era has a standing stream besides
			s.call = func(w http.ResponseWriter, _ *http.Request, m siteMessage) {
				if events {
					eventStream(w, "data: "+hi(m)+"\n\n")
					return
				}
				respondRaw(w, hi(m))
			}
		})
		s := newRemoteStage(t, plenty, site.URL)
		if err := s.open(); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			if result := s.call("site__echo", "{}"); !result.Success {
				t.Fatal(result.Err)
			}
		}
		opened := 0
		for _, one := range serverstest.Of[wire.HTTPExchange](s.events) {
			if !one.Reused {
				opened++
			}
		}
		// The end of a stream may be late once; that is no failure.
		if opened > 2 {
			t.Errorf("streams %v: %d connections for %d exchanges", events, opened,
				len(serverstest.Of[wire.HTTPExchange](s.events)))
		}
	}
}

// TestAuthorizeWrapsTheWire proves the place of what gets access tokens: it sees the
// configured headers, and what it sends is told.
func TestAuthorizeWrapsTheWire(t *testing.T) {
	site := newSite(t, nil)
	s := newRemoteStage(t, plenty, site.URL)
	s.dial.Launch.Headers = map[string]string{"X-Given": "yes"}
	s.dial.HTTP.Authorize = func(server *config.Server, base http.RoundTripper) http.RoundTripper {
		return tripper(func(request *http.Request) (*http.Response, error) {
			if server.Name != "site" || request.Header.Get("X-Given") != "yes" {
				t.Errorf("%s %v", server.Name, request.Header)
			}
			request = request.Clone(request.Context())
			request.Header.Set("Authorization", "Bearer told")
			return base.RoundTrip(request)
		})
	}
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	for _, m := range site.seen(http.MethodPost) {
		if m.Header.Get("Authorization") != "Bearer told" {
			t.Errorf("%s without authorization", m.Method)
		}
	}
	s.dial.HTTP.Authorize = func(*config.Server, http.RoundTripper) http.RoundTripper {
		return tripper(func(*http.Request) (*http.Response, error) { return nil, &refusal{} })
	}
	_, err := s.dial.open(context.Background())
	connect := &ConnectError{Server: "site", Attempts: 1, Last: err}
	if fault.KindOf(connect) != fault.KindAuth || connect.Hint() != "log in" ||
		!strings.Contains(connect.Error(), "no token") {
		t.Errorf("%v (%s): %s", connect, fault.KindOf(connect), connect.Hint())
	}
}

// TestPasswordInTheAddress proves that every request has it, the one for the standing
// stream too, unless a header of the user's own says otherwise.
func TestPasswordInTheAddress(t *testing.T) {
	for own, want := range map[string]string{"": "Basic dTpw", "Bearer mine": "Bearer mine"} {
		asked := make(chan struct{})
		site := newSite(t, func(s *site) {
			s.head = func(w http.ResponseWriter, _ *http.Request, m siteMessage) bool {
				if m.Verb == http.MethodGet {
					w.WriteHeader(http.StatusMethodNotAllowed)
					close(asked)
				}
				return m.Verb == http.MethodGet
			}
		})
		s := newRemoteStage(t, plenty, strings.Replace(site.URL, "//", "//u:p@", 1))
		if own != "" {
			s.dial.Launch.Headers = map[string]string{"Authorization": own}
		}
		if err := s.open(); err != nil {
			t.Fatal(err)
		}
		<-asked
		for _, m := range append(site.seen(http.MethodPost), site.seen(http.MethodGet)...) {
			if got := m.Header.Get("Authorization"); got != want {
				t.Errorf("%s %s has %q, want %q", m.Verb, m.Method, got, want)
			}
		}
		s.close()
		for _, one := range serverstest.Of[wire.HTTPExchange](s.events) {
			if strings.Contains(one.URL, ":p@") {
				t.Errorf("the password is told: %s", one.URL)
			}
		}
	}
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// refusal is an error of what gets tokens.
type refusal struct{}

func (*refusal) Error() string    { return "no token" }
func (*refusal) Kind() fault.Kind { return fault.KindAuth }
func (*refusal) Hint() string     { return "log in" }

// TestCertificates proves whose certificates are trusted: those of an authority that is given in any of the ways, and
// that a server is shown one which asks. SSL_CERT_FILE is read once in a process: TestRemoteProcess proves it.
func TestCertificates(t *testing.T) {
	folder := t.TempDir()
	authority, client := newPair(t, folder, "toolx test authority", time.Now().Add(time.Hour))
	address := map[bool]string{
		false: newSecureSite(t, authority, client, tls.VerifyClientCertIfGiven),
		true:  newSecureSite(t, authority, client, tls.RequireAndVerifyClientCert),
	}
	for _, test := range []struct {
		name    string
		set     func(d *dial)
		env     string
		demand  bool
		failure string
	}{
		{"nobody's", func(*dial) {}, "", false, `is signed by "toolx test authority", which is not trusted`},
		{"--cacert", func(d *dial) { d.HTTP.CACert = authority }, "", false, ""},
		{"caCert", func(d *dial) { d.Launch.CACert = authority }, "", false, ""},
		{"--insecure", func(d *dial) { d.HTTP.Insecure = true }, "", false, ""},
		{"NODE_EXTRA_CA_CERTS", func(*dial) {}, "NODE_EXTRA_CA_CERTS", false, ""},
		{"no such file", func(d *dial) { d.HTTP.CACert = authority + "x" }, "", false, "is misconfigured: cannot read the CA certificate: open"},
		{"no certificate", func(d *dial) { d.HTTP.CACert = client }, "", false, "has no certificate in PEM form"},
		{"a client without one", func(d *dial) { d.HTTP.CACert = authority }, "", true, "refused TLS"},
		{"a client with one", func(d *dial) {
			d.HTTP.CACert, d.Launch.ClientCert, d.Launch.ClientKey = authority, authority, client
		}, "", true, ""},
		{"a key that is none", func(d *dial) { d.Launch.ClientCert = authority }, "", false, "clientCert"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.env != "" {
				t.Setenv(test.env, authority)
			}
			s := newRemoteStage(t, plenty, address[test.demand])
			test.set(&s.dial)
			err := s.open()
			if test.failure == "" && err != nil ||
				test.failure != "" && (err == nil || !strings.Contains(err.Error(), test.failure)) {
				t.Errorf("%v, want %q", err, test.failure)
			}
		})
	}
}

// TestCertificatesOfOthers proves what is said of a certificate that is not valid, or is for another host.
func TestCertificatesOfOthers(t *testing.T) {
	now := time.Now()
	for _, test := range []struct {
		name, text string
		until      time.Time
		address    func(url string) string
	}{
		{"it is over", "is valid from " + now.Add(-48*time.Hour).UTC().Format(time.DateOnly) + " to", now.Add(-time.Hour), strings.Clone},
		{"another host", "is for another host: 127.0.0.1", now.Add(time.Hour), func(url string) string {
			return strings.Replace(url, "127.0.0.1", "localhost", 1)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			certificate, key := newPair(t, t.TempDir(), "toolx test authority", test.until)
			s := newRemoteStage(t, plenty, test.address(newSecureSite(t, certificate, key, tls.NoClientCert)))
			s.dial.HTTP.CACert = certificate
			err := s.open()
			var failure *diagnose.Failure
			if !errors.As(err, &failure) || !strings.Contains(err.Error(), test.text) ||
				failure.Policy() != cause.Permanent {
				t.Errorf("%v, want %s", err, test.text)
			}
		})
	}
}

// newSecureSite starts a site that speaks TLS and returns its address.
func newSecureSite(t *testing.T, certificate, key string, clients tls.ClientAuthType) string {
	t.Helper()
	server := httptest.NewUnstartedServer(&site{t: t, annotations: "{}"})
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(mustRead(t, certificate))
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: clients}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL
}

// newPair writes a certificate that signs itself, for 127.0.0.1, and its key.
func newPair(t *testing.T, folder, name string, until time.Time) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: until,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	for path, block := range map[string]*pem.Block{
		certificate: {Type: "CERTIFICATE", Bytes: signed}, key: {Type: "PRIVATE KEY", Bytes: encoded},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestPoolWaitsAsAsked proves that connecting over HTTP is tried again with the same
// patience as a process, and as long as the server asks (MCP-3).
func TestPoolWaitsAsAsked(t *testing.T) {
	site := newSite(t, func(s *site) {
		s.head = func(w http.ResponseWriter, _ *http.Request, _ siteMessage) bool {
			if len(s.seen(http.MethodPost)) > 1 {
				return false
			}
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
	})
	bus := &exec.Bus{}
	kept := &serverstest.Events{}
	bus.Subscribe(kept.Take)
	pool := NewPool([]*config.Server{{Name: "site", URL: site.URL}}, Options{
		Options: protocol.Options{Bus: bus}, Registry: exec.NewRegistry(bus), BaseDelay: time.Millisecond,
	})
	defer pool.Close(context.Background())
	if _, err := pool.Open(context.Background(), "site"); err != nil {
		t.Fatal(err)
	}
	if retries := serverstest.Of[Retry](kept); len(retries) != 1 || retries[0].Delay != time.Second {
		t.Errorf("retries %+v", retries)
	}
}
