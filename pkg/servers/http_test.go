package servers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/serverstest"
	"toolx/pkg/servers/wire"
)

// site is a server over HTTP, scripted by functions. What is nil behaves well: a
// stateful server of 2025-11-25 with the tool echo, which answers in JSON.
type site struct {
	*httptest.Server
	t *testing.T

	// head sees every request first and reports whether it has dealt with it.
	head func(w http.ResponseWriter, r *http.Request, m siteMessage) bool
	// call answers tools/call.
	call func(w http.ResponseWriter, r *http.Request, m siteMessage)
	// annotations of the tool, as JSON.
	annotations string
	// modern makes the server one of 2026-07-28 only.
	modern bool

	mu       sync.Mutex
	session  int
	requests []siteMessage
}

// siteMessage is a message as it reached a site.
type siteMessage struct {
	Verb   string
	Header http.Header
	Text   string
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// newSite starts a site; the server is stopped when the test ends.
func newSite(t *testing.T, script func(*site)) *site {
	t.Helper()
	s := &site{t: t, annotations: "{}"}
	if script != nil {
		script(s)
	}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m := readSiteMessage(r)
	s.mu.Lock()
	s.requests = append(s.requests, m)
	s.mu.Unlock()
	if s.head != nil && s.head(w, r, m) {
		return
	}
	s.behave(w, r, m)
}

func readSiteMessage(r *http.Request) siteMessage {
	text, _ := io.ReadAll(r.Body)
	m := siteMessage{Verb: r.Method, Header: r.Header.Clone(), Text: string(text)}
	_ = json.Unmarshal(text, &m)
	return m
}

// behave is what a good server does.
func (s *site) behave(w http.ResponseWriter, r *http.Request, m siteMessage) {
	switch {
	case m.Verb != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	case m.Method == "server/discover" && s.modern:
		respond(w, m, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"site","version":"1"}}}`)
	case m.Method == "initialize" && !s.modern:
		s.mu.Lock()
		s.session++
		w.Header().Set("Mcp-Session-Id", fmt.Sprintf("session-%d", s.session))
		s.mu.Unlock()
		respond(w, m, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"site","version":"1"}}`)
	case m.Method == "tools/list":
		respond(w, m, `{"tools":[{"name":"echo","description":"says <it>","inputSchema":{"type":"object","allOf":[true]},"annotations":`+s.annotations+`}]}`)
	case m.Method == "tools/call" && s.call != nil:
		s.call(w, r, m)
	case m.Method == "tools/call":
		respond(w, m, `{"content":[{"type":"text","text":"hi"}]}`)
	default:
		// Some servers say it with 404, others with 200.
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
	}
}

func respond(w http.ResponseWriter, m siteMessage, result string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// events writes a stream of events, as far as they are given.
func eventStream(w http.ResponseWriter, events ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range events {
		_, _ = io.WriteString(w, event)
		w.(http.Flusher).Flush()
	}
}

// hi is the reply to a call.
func hi(m siteMessage) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"hi"}]}}`, m.ID)
}

// seen are the messages that reached the site, of one method, or of one verb.
func (s *site) seen(what string) []siteMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []siteMessage
	for _, m := range s.requests {
		if m.Method == what || m.Verb == what {
			found = append(found, m)
		}
	}
	return found
}

// newRemoteStage prepares a client of a url; limit bounds its start and each call.
func newRemoteStage(t *testing.T, limit time.Duration, url string) *stage {
	t.Helper()
	bus := &exec.Bus{}
	s := &stage{t: t, events: &serverstest.Events{}, registry: exec.NewRegistry(bus)}
	bus.Subscribe(s.events.Take)
	s.executor = &exec.Executor{Registry: s.registry, Bus: bus, Defaults: exec.Defaults{Timeout: limit}}
	s.dial = Options{
		Options:  protocol.Options{Bus: bus, StartTimeout: limit, MaxMessage: 1 << 20, Version: "1"},
		Attempts: 3, BaseDelay: time.Millisecond,
	}.dial(&config.Server{Name: "site", URL: url}, &config.Resolved{URL: url})
	return s
}

const plenty = 20 * time.Second

// TestRemoteSession proves what a session over HTTP is to the rest of toolx: the same
// as one over stdio, in both eras, with its messages as events.
func TestRemoteSession(t *testing.T) {
	for _, test := range []struct {
		name     string
		modern   bool
		protocol string
	}{{"legacy", false, "2025-11-25"}, {"modern", true, "2026-07-28"}} {
		t.Run(test.name, func(t *testing.T) {
			site := newSite(t, func(s *site) { s.modern = test.modern })
			s := newRemoteStage(t, plenty, site.URL+"/mcp")
			s.dial.Launch.Headers = map[string]string{"X-Team": "blue"}
			if err := s.open(); err != nil {
				t.Fatal(err)
			}
			if s.session.Protocol != test.protocol || s.session.Info.Name != "site" {
				t.Errorf("protocol %s of %s", s.session.Protocol, s.session.Info.Name)
			}
			if got := string(s.session.Tools()[0].Definition); !strings.Contains(got, `"says <it>"`) || !strings.Contains(got, `"allOf":[true]`) {
				t.Errorf("the definition is not the server's: %s", got)
			}
			if result := s.call("site__echo", `{"message":"<&>"}`); !result.Success || string(result.Value) != `"hi"` {
				t.Errorf("%s %v", result.Value, result.Err)
			}
			s.close()
			checkRemoteTraffic(t, s, site, test.modern)
		})
	}
}

// checkRemoteTraffic checks what went over the wire in a session with one call.
func checkRemoteTraffic(t *testing.T, s *stage, site *site, modern bool) {
	t.Helper()
	call := site.seen("tools/call")[0]
	if !strings.Contains(call.Text, `"arguments":{"message":"<&>"}`) || call.Header.Get("X-Team") != "blue" || call.Header.Get("User-Agent") != "toolx/1" {
		t.Errorf("the call is %s with %v", call.Text, call.Header)
	}
	if got := call.Header.Get("Mcp-Protocol-Version"); got != s.session.Protocol {
		t.Errorf("the revision in the header is %q", got)
	}
	if modern {
		if call.Header.Get("Mcp-Name") != "echo" || call.Header.Get("Mcp-Method") != "tools/call" ||
			call.Header.Get("Mcp-Session-Id") != "" {
			t.Errorf("headers of the modern era: %v", call.Header)
		}
		if len(site.seen("initialize"))+len(site.seen(http.MethodDelete))+len(site.seen(http.MethodGet)) > 0 {
			t.Error("a modern server is asked in the old way")
		}
	} else if call.Header.Get("Mcp-Session-Id") != "session-1" || len(site.seen(http.MethodDelete)) != 1 {
		t.Errorf("the session %q was ended %d times", call.Header.Get("Mcp-Session-Id"),
			len(site.seen(http.MethodDelete)))
	}
	posts := site.seen(http.MethodPost)
	var sent []string
	for _, frame := range serverstest.Of[wire.FrameSent](s.events) {
		sent = append(sent, string(frame.Bytes))
	}
	for _, post := range posts {
		if !slices.Contains(sent, post.Text) {
			t.Errorf("no event has the message %s", post.Text)
		}
	}
	exchanges := serverstest.Of[wire.HTTPExchange](s.events)
	if len(exchanges) < len(posts) || exchanges[0].Verb != "POST" || exchanges[0].Status == 0 {
		t.Errorf("%d exchanges of %d posts: %+v", len(exchanges), len(posts), exchanges)
	}
	if received := serverstest.Of[wire.FrameReceived](s.events); string(received[len(received)-1].Bytes) != hi(call) {
		t.Errorf("received %s", received[len(received)-1].Bytes)
	}
}

// TestEraIsFoundOut proves the chain of ways to begin: server/discover, initialize,
// the older HTTP with SSE; each is left for the next only for an answer that means it.
func TestEraIsFoundOut(t *testing.T) {
	discover := func(answer func(w http.ResponseWriter, m siteMessage)) func(*site) {
		return func(s *site) {
			s.head = func(w http.ResponseWriter, _ *http.Request, m siteMessage) bool {
				if m.Method == "server/discover" {
					answer(w, m)
				}
				return m.Method == "server/discover"
			}
		}
	}
	status := func(code int, body string) func(w http.ResponseWriter, m siteMessage) {
		return func(w http.ResponseWriter, _ siteMessage) { http.Error(w, body, code) }
	}
	for _, test := range []struct {
		name     string
		script   func(*site)
		pin      string
		protocol string // agreed on; empty where that fails
		text     string // of the failure
	}{
		{"unknown method", nil, "", "2025-11-25", ""},
		{"an empty result is not modern", discover(func(w http.ResponseWriter, m siteMessage) { respond(w, m, `{}`) }), "", "2025-11-25", ""},
		{"400 in plain words", discover(status(400, "Bad Request: no session")), "", "2025-11-25", ""},
		{"it hangs up", discover(func(w http.ResponseWriter, _ siteMessage) { raw(w, "") }), "", "2025-11-25", ""},
		{"it resets the connection", discover(func(w http.ResponseWriter, _ siteMessage) {
			if connection, _, err := w.(http.Hijacker).Hijack(); err == nil {
				_ = connection.(*net.TCPConn).SetLinger(0)
				_ = connection.Close()
			}
		}), "", "2025-11-25", ""},
		{"only older revisions", discover(func(w http.ResponseWriter, m siteMessage) {
			respond(w, m, `{"supportedVersions":["2025-06-18"]}`)
		}), "", "2025-11-25", ""},
		{"an error of the modern era is no reason to go back", discover(func(w http.ResponseWriter, m siteMessage) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"no","data":{"supported":["2030-01-01"],"requested":"2026-07-28"}}}`, m.ID)
		}), "", "", "refused"},
		{"401 is no reason to go back", discover(status(401, "")), "", "", "refuses access: HTTP 401"},
		{"modern", func(s *site) { s.modern = true }, "", "2026-07-28", ""},
		{"legacy is pinned", func(s *site) { s.modern = true }, "legacy", "", "refused initialize"},
		{"modern is pinned", nil, "2026-07-28", "", "it does not speak 2026-07-28"},
		{"a revision is pinned", nil, "2025-06-18", "2025-11-25", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			site := newSite(t, test.script)
			s := newRemoteStage(t, plenty, site.URL)
			s.dial.Protocol = test.pin
			err := s.open()
			if test.protocol == "" {
				if err == nil || !strings.Contains(err.Error(), test.text) {
					t.Errorf("%v, want %s", err, test.text)
				}
				if hint := fault.HintOf(err); test.pin != "" && !strings.Contains(hint, "--protocol") {
					t.Errorf("hint %q", hint)
				}
				return
			}
			if err != nil || s.session.Protocol != test.protocol {
				t.Fatalf("%v", err)
			}
			if test.pin != "" && len(site.seen("server/discover")) > 0 {
				t.Error("a pinned revision was not taken at its word")
			}
		})
	}
}

// TestModernHeaders proves that parameters are mirrored into headers where a tool
// says so, and that a tool which says it wrongly is left out.
func TestModernHeaders(t *testing.T) {
	site := newSite(t, func(s *site) {
		s.modern = true
		s.head = func(w http.ResponseWriter, _ *http.Request, m siteMessage) bool {
			if m.Method != "tools/list" {
				return false
			}
			respond(w, m, `{"tools":[
				{"name":"good","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}},
				{"name":"bad","inputSchema":{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A B"}}}}]}`)
			return true
		}
	})
	s := newRemoteStage(t, plenty, site.URL)
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	if tools := s.session.Tools(); len(tools) != 1 || tools[0].Plain != "good" {
		t.Errorf("%d tools", len(tools))
	}
	if result := s.call("site__good", `{"region":"eu"}`); !result.Success {
		t.Fatal(result.Err)
	}
	if got := site.seen("tools/call")[0].Header.Get("Mcp-Param-Region"); got != "eu" {
		t.Errorf("Mcp-Param-Region is %q", got)
	}
}

// TestNotificationsAndRequestsOverHTTP proves that what a server sends besides replies
// is taken as on stdio: on the stream of a request, and on the standing one.
func TestNotificationsAndRequestsOverHTTP(t *testing.T) {
	answered := make(chan string, 2)
	listening := make(chan struct{})
	site := newSite(t, func(s *site) {
		s.head = func(w http.ResponseWriter, r *http.Request, m siteMessage) bool {
			switch {
			case m.Verb == http.MethodGet:
				eventStream(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\"}\n\n")
				close(listening)
				<-r.Context().Done()
			case m.Verb == http.MethodPost && m.Method == "":
				answered <- m.Text
				w.WriteHeader(http.StatusAccepted)
			default:
				return false
			}
			return true
		}
		s.call = func(w http.ResponseWriter, _ *http.Request, m siteMessage) {
			<-listening
			var params struct {
				Meta struct {
					Token json.RawMessage `json:"progressToken"`
				} `json:"_meta"`
			}
			_ = json.Unmarshal(m.Params, &params)
			eventStream(w,
				": a remark\n\n",
				fmt.Sprintf(
					"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,\"progress\":1}}\n\n",
					params.Meta.Token,
				),
				"event: message\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"id\":1,\"method\":\"sampling/createMessage\"}\n\n",
				"data: "+hi(m)+"\n\n")
		}
	})
	s := newRemoteStage(t, plenty, site.URL)
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	if result := s.call("site__echo", "{}"); !result.Success {
		t.Fatal(result.Err)
	}
	got := []string{<-answered, <-answered}
	slices.Sort(got)
	want := []string{
		`{"error":{"code":-32601,"message":"Method not found: sampling/createMessage"},"id":1,"jsonrpc":"2.0"}`,
		`{"id":"a","jsonrpc":"2.0","result":{}}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("answered %q", got)
	}
	if progress := serverstest.Of[exec.CallProgress](s.events); len(progress) != 1 {
		t.Errorf("%d reports of progress", len(progress))
	}
}

// TestCallsWaitForTheStandingStream holds back a call in the midst of which the server may
// ask: what it asks on the standing stream is lost where nobody listens yet.
func TestCallsWaitForTheStandingStream(t *testing.T) {
	called := make(chan struct{})
	var listening atomic.Bool
	var home *site
	home = newSite(t, func(s *site) {
		s.head = func(w http.ResponseWriter, r *http.Request, m siteMessage) bool {
			if m.Verb != http.MethodGet {
				return false
			}
			<-called
			for range 20 { // the head comes late, by exchanges that a call could overtake
				response, err := http.Head(home.URL)
				if err != nil {
					t.Error(err)
					break
				}
				response.Body.Close()
			}
			listening.Store(true)
			eventStream(w, ": open\n\n")
			<-r.Context().Done()
			return true
		}
		s.call = func(w http.ResponseWriter, _ *http.Request, m siteMessage) {
			if !listening.Load() {
				t.Error("called before the standing stream was open")
			}
			eventStream(w, "data: "+hi(m)+"\n\n")
		}
	})
	s := newRemoteStage(t, plenty, home.URL)
	s.dial.Answers = protocol.Answers{Roots: []protocol.Root{}}
	s.dial.Bus.Subscribe(func(event exec.Event) {
		if _, is := event.(exec.CallStarted); is {
			close(called)
		}
	})
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	if result := s.call("site__echo", "{}"); !result.Success {
		t.Fatal(result.Err)
	}
}

// TestCancelOverHTTP proves that the server is told of a call that is given up, in the
// way of its era: by a notification, or by the end of the stream (EXEC-10).
func TestCancelOverHTTP(t *testing.T) {
	for _, modern := range []bool{false, true} {
		t.Run(fmt.Sprintf("modern %v", modern), func(t *testing.T) {
			begun, gone := make(chan struct{}), make(chan struct{})
			site := newSite(t, func(s *site) {
				s.modern = modern
				s.call = func(w http.ResponseWriter, r *http.Request, _ siteMessage) {
					eventStream(w, ": wait\n\n")
					close(begun)
					<-r.Context().Done()
					close(gone)
				}
			})
			s := newRemoteStage(t, plenty, site.URL)
			if err := s.open(); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			go func() {
				<-begun
				cancel()
			}()
			result := s.executor.Call(ctx, exec.Call{Tool: "site__echo", Arguments: json.RawMessage("{}")})
			if fault.KindOf(result.Err) != fault.KindInterrupted {
				t.Errorf("%v", result.Err)
			}
			<-gone
			s.close()
			told := site.seen(string(mcp.MethodNotificationCancelled))
			if modern && len(told) != 0 || !modern && (len(told) != 1 || !strings.Contains(told[0].Text, `"requestId":`+string(site.seen("tools/call")[0].ID))) {
				t.Errorf("told %+v", told)
			}
		})
	}
}

// TestEraIsRemembered proves that the second start asks a server of the older era in
// its own way at once, and that a server which has changed since is found out anew.
func TestEraIsRemembered(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state", "eras.json")
	old := newOldSite(t, nil)
	var modern atomic.Bool
	legacy := newSite(t, func(s *site) {
		s.head = func(w http.ResponseWriter, r *http.Request, m siteMessage) bool {
			if !modern.Load() {
				return false
			}
			(&site{annotations: "{}", modern: true}).behave(w, r, m)
			return true
		}
	})
	start := func(url string) (protocol string, sent []string) {
		s := newRemoteStage(t, plenty, url)
		s.dial.EraFile = file
		if err := s.open(); err != nil {
			t.Fatal(err)
		}
		for _, one := range serverstest.Of[wire.HTTPExchange](s.events) {
			sent = append(sent, one.Verb)
		}
		for _, frame := range serverstest.Of[wire.FrameSent](s.events) {
			sent = append(sent, rawjson.GetText(frame.Bytes, "method"))
		}
		s.close()
		return s.session.Protocol, sent
	}
	for _, url := range []string{legacy.URL, old.URL + "/sse"} {
		if _, sent := start(url); !slices.Contains(sent, "server/discover") {
			t.Errorf("%s was not asked at first: %q", url, sent)
		}
		if _, sent := start(url); slices.Contains(sent, "server/discover") {
			t.Errorf("%s was asked again: %q", url, sent)
		}
	}
	if _, sent := start(old.URL + "/sse"); sent[0] != http.MethodGet {
		t.Errorf("the older HTTP was not asked first: %q", sent)
	}
	modern.Store(true)
	if protocol, _ := start(legacy.URL); protocol != "2026-07-28" {
		t.Errorf("a server that has changed: %s", protocol)
	}
	text, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(text), "127.0.0.1") || !strings.Contains(string(text), `"way":"modern"`) {
		t.Errorf("%s %v", text, err)
	}
	if err := os.WriteFile(file, []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if protocol, _ := start(legacy.URL); protocol != "2026-07-28" {
		t.Errorf("with a broken file: %s", protocol)
	}
}

// TestShownRequestIsTheSentOne proves that NextRequest returns the very frame that is sent next,
// over both transports and in both eras.
func TestShownRequestIsTheSentOne(t *testing.T) {
	stages := map[string]func(t *testing.T) *stage{
		"http legacy": func(t *testing.T) *stage { return newRemoteStage(t, plenty, newSite(t, nil).URL) },
		"http modern": func(t *testing.T) *stage {
			return newRemoteStage(t, plenty, newSite(t, func(s *site) { s.modern = true }).URL)
		},
	}
	for era, modes := range map[string][]string{"legacy": {"features"}, "modern": {"stateless-only", "features"}} {
		stages["stdio "+era] = func(t *testing.T) *stage { return newStage(t, serverstest.Ample, modes...) }
	}
	for name, make := range stages {
		t.Run(name, func(t *testing.T) {
			s := make(t)
			if err := s.open(); err != nil {
				t.Fatal(err)
			}
			ctx, session := t.Context(), s.session
			ignore := func(exec.Progress) {}
			for method, ask := range map[string]struct {
				params json.RawMessage
				send   func() error
			}{
				"tools/call": {protocol.CallParams("echo", json.RawMessage(`{"message":"<&> ü 1.0"}`)), func() error {
					_, err := session.CallTool(ctx, exec.Request{Name: "echo", Arguments: json.RawMessage(`{"message":"<&> ü 1.0"}`), Progress: ignore})
					return err
				}},
				"prompts/get": {protocol.PromptParams("greet", json.RawMessage(`{"name":"Ada"}`)), func() error {
					_, err := session.GetPrompt(ctx, "greet", json.RawMessage(`{"name":"Ada"}`), ignore)
					return err
				}},
				"resources/read": {protocol.ReadParams("test://text"), func() error {
					_, err := session.ReadResource(ctx, "test://text", ignore)
					return err
				}},
			} {
				var shown [2]json.RawMessage
				for after := range shown {
					var err error
					if shown[after], err = session.NextRequest(method, ask.params, after); err != nil {
						t.Fatal(err)
					}
				}
				for _, shown := range shown {
					var refused *exec.ToolError // the site has no prompts and no resources
					if err := ask.send(); err != nil && !errors.As(err, &refused) {
						t.Errorf("%s: %v", method, err)
					}
					sent := serverstest.Of[wire.FrameSent](s.events)
					if last := sent[len(sent)-1].Bytes; string(last) != string(shown) {
						t.Errorf("%s: sent %s, shown %s", method, last, shown)
					}
				}
				if modern := strings.Contains(name, "modern"); modern != strings.Contains(string(shown[0]), `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`) {
					t.Errorf("%s: %s", method, shown[0])
				}
			}
		})
	}
}
