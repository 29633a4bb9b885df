package http_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/doctortest"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	"toolx/pkg/servers/wire"
)

// TestBindsAll has a server found that the whole network can reach, and none that only
// this machine can.
func TestBindsAll(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" && !hasOtherAddress(t) {
		t.Log("this machine has no other address: nothing can be found")
		return
	}
	for address, want := range map[string]int{"0.0.0.0:0": 1, "127.0.0.1:0": 0} {
		report := doctor.Judge(examineURL(t, "http://127.0.0.1:"+serveAt(t, address, goodHandler())+"/mcp"),
			doctor.Selection{Only: []string{"binds-all"}})
		if found := doctortest.Findings(t, report, "binds-all"); len(found) != want {
			t.Errorf("a server on %s: %+v", address, found)
		}
	}
}

// streamSite is a server whose sessions have a stream that ends with them.
type streamSite struct {
	mu    sync.Mutex
	ended map[string]chan struct{} // by session
}

func (s *streamSite) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	id := r.Header.Get(evidence.SessionHeader)
	if evidence.ReadHead(body).Method == "initialize" {
		id = fmt.Sprintf("0123456789abcdef%d", len(s.ended))
		s.ended[id] = make(chan struct{})
	}
	ended, known := s.ended[id]
	if r.Method == http.MethodDelete && known {
		delete(s.ended, id)
		close(ended)
	}
	s.mu.Unlock()
	switch {
	case r.Method == http.MethodDelete:
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodGet:
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush() // a recorder has nothing to flush
		select {
		case <-ended:
		case <-r.Context().Done():
		}
	case evidence.ReadHead(body).ID == "":
		w.WriteHeader(http.StatusAccepted)
	case evidence.ReadHead(body).Method == "initialize":
		w.Header().Set(evidence.SessionHeader, id)
		replyJSON(w, evidence.ReadHead(body).ID,
			`"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"site","version":"1"}}`)
	default:
		replyJSON(w, evidence.ReadHead(body).ID, `"result":{}`)
	}
}

// buffering is a proxy that passes an answer on when it is whole.
func buffering(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		whole := httptest.NewRecorder()
		next.ServeHTTP(whole, r)
		for name, content := range whole.Header() {
			w.Header()[name] = content
		}
		w.WriteHeader(whole.Code)
		_, _ = w.Write(whole.Body.Bytes())
	})
}

// TestSSEBuffered has streams found that a proxy holds back, and none that it passes on.
func TestSSEBuffered(t *testing.T) {
	t.Parallel()
	options := doctortest.Options()
	options.Waits.Answer = time.Second / 2
	for _, held := range []bool{true, false} {
		var site http.Handler = &streamSite{ended: map[string]chan struct{}{}}
		if held {
			site = buffering(site)
		}
		fleet := doctor.Examine(t.Context(), nil, []*config.Server{config.AdHoc(nil, serveHTTP(t, site), nil)}, options)
		found := doctortest.Findings(t, doctor.Judge(fleet, doctor.Selection{Only: []string{"sse-buffered"}}),
			"sse-buffered")
		if (len(found) == 1) != held {
			t.Errorf("held back is %t, and it found %+v", held, found)
		}
	}
}

// TestSSEBufferedCalls judges when a call's reports of progress arrived.
func TestSSEBufferedCalls(t *testing.T) {
	for _, test := range []struct {
		what    string
		took    time.Duration
		reports []time.Duration
		found   bool
	}{
		{"all at the end", 3 * time.Second, []time.Duration{2990, 2991, 2992}, true},
		{"as they were made", 3 * time.Second, []time.Duration{1000, 2000, 2999}, false},
		{"two at the end, as of a tool that is done", 3 * time.Second, []time.Duration{2990, 2995}, false},
		{"a short call", time.Second / 2, []time.Duration{498, 498, 499}, false},
		{"none", 3 * time.Second, nil, false},
	} {
		at := time.Now()
		e := &evidence.Evidence{Clean: &evidence.Run{Name: "clean", Began: at}, HTTP: &evidence.HTTPEvidence{}}
		e.Clean.Exchanges = []*evidence.Exchange{{
			Method: "tools/call", At: at, Took: test.took, Frame: json.RawMessage(`{}`),
			Sent: json.RawMessage(`{"id":7,"method":"tools/call","params":{"name":"slow","_meta":{"progressToken":7}}}`),
		}}
		for i, after := range test.reports {
			e.Clean.Events = append(e.Clean.Events, wire.NewFrameReceived(at.Add(after*time.Millisecond), "", 0,
				fmt.Appendf(nil, `{"method":"notifications/progress","params":{"progressToken":7,"progress":%d}}`, i)))
		}
		if found := doctortest.Ask("sse-buffered")(e); (found != nil) != test.found ||
			found != nil && found[0].Where.Tool != "slow" {
			t.Errorf("%s: %+v", test.what, found)
		}
	}
}

// TestAuthMetadata lists all that is wrong with the documents, and where.
func TestAuthMetadata(t *testing.T) {
	report := doctor.Judge(examineURL(t, serveHTTP(t, badSite{badSites()["auth-metadata"]})),
		doctor.Selection{Only: []string{"auth-metadata"}})
	var fields []string
	for _, finding := range doctortest.Findings(t, report, "auth-metadata") {
		fields = append(fields, finding.Where.Pointer)
		byHand := finding.Where.Pointer == "/registration_endpoint"
		if (finding.Severity == check.Warning) != byHand || !strings.HasPrefix(finding.Evidence, "http://127.0.0.1:") {
			t.Errorf("found %+v", finding)
		}
	}
	want := []string{"/resource", "/issuer", "/code_challenge_methods_supported", "/registration_endpoint"}
	if !slices.Equal(fields, want) {
		t.Errorf("found %q, want %q", fields, want)
	}
	if report.Status != doctor.StatusAuth {
		t.Errorf("status %s", report.Status)
	}
}

// TestLoginIsInspectedFromOutside shows that a server which the entry has a key for is
// asked, once and without the key, how others get in.
func TestLoginIsInspectedFromOutside(t *testing.T) {
	bare := 0
	site := serveHTTP(t, badSite{func(w http.ResponseWriter, r *http.Request, _ string) bool {
		if r.Header.Get("X-Api-Key") == "let me in" {
			return false
		}
		if r.URL.Path == "/mcp" {
			bare++
		}
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}})
	server := config.AdHoc(nil, site, map[string]string{"X-Api-Key": "let me in"})
	report := doctor.Judge(doctor.Examine(t.Context(), nil, []*config.Server{server}, doctortest.Options()),
		doctor.Selection{Only: []string{"auth-*"}})
	warnings, all := doctortest.IDs(report, check.Warning), doctortest.IDs(report, check.Info)
	if warnings != "auth-challenge" || all != "auth-challenge auth-metadata" || bare != 1 {
		t.Errorf("found %s, and %d requests without the key", all, bare)
	}
}

// TestChallenges judges what a 401 says by all of its headers, and the server by none that
// an authorization server gave.
func TestChallenges(t *testing.T) {
	const url, other = "https://host/mcp", "https://login.example/token"
	for _, test := range []struct {
		what, url string
		request   int64
		headers   []string
		found     string
	}{
		{"a bare 401", url, 1, nil, "HTTP 401 without WWW-Authenticate"},
		{"a bare 401 to a notification", url, 0, nil, "HTTP 401 without WWW-Authenticate"},
		{"one behind a redirect", url + "/", 1, nil, "HTTP 401 without WWW-Authenticate"},
		{"one of an authorization server", other, 0, nil, ""},
		{"another way in", url, 1, []string{"Basic realm=x"}, "WWW-Authenticate: Basic realm=x"},
		{"two ways in", url, 1, []string{"Basic realm=x", `Bearer resource_metadata="https://host/m"`}, ""},
	} {
		refused := wire.HTTPExchange{
			URL: test.url, Request: test.request, Status: http.StatusUnauthorized,
			Received: http.Header{"Www-Authenticate": test.headers},
		}
		e := &evidence.Evidence{
			Launch: &config.Resolved{URL: url}, Clean: &evidence.Run{Name: "clean", Events: []exec.Event{refused}},
			HTTP: &evidence.HTTPEvidence{},
		}
		found, got := doctortest.Ask("auth-challenge")(e), ""
		if len(found) > 0 {
			got = found[0].Evidence
		}
		if got != test.found {
			t.Errorf("%s: %q, want %q", test.what, got, test.found)
		}
	}
}

// serveAt serves a handler at an address of TCP until the test ends, and returns the port.
func serveAt(t *testing.T, address string, handler http.Handler) string {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewUnstartedServer(handler)
	_ = site.Listener.Close()
	site.Listener = listener
	site.Start()
	t.Cleanup(site.Close)
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return port
}

// hasOtherAddress reports whether this machine has an address besides those of itself alone.
func hasOtherAddress(t *testing.T) bool {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(addresses, func(address net.Addr) bool {
		network, is := address.(*net.IPNet)
		return is && network.IP.IsGlobalUnicast()
	})
}
