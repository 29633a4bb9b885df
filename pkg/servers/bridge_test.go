package servers

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/servers/bridge"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/serverstest"
)

// bridged is a client with a Bridge before a server.
type bridged struct {
	t      *testing.T
	events *serverstest.Events
	in     io.WriteCloser
	lines  *bufio.Reader
	ended  chan struct{} // closed when Bridge has returned err
	err    error
}

// newBridged starts a Bridge; change may change its options.
func newBridged(t *testing.T, url string, change func(*Options, *bridge.Options)) *bridged {
	t.Helper()
	in, inW := io.Pipe()
	out, outW := io.Pipe()
	b := &bridged{t: t, events: &serverstest.Events{}, in: inW, lines: bufio.NewReader(out), ended: make(chan struct{})}
	bus := &exec.Bus{}
	bus.Subscribe(b.events.Take)
	pool := Options{
		Options:  protocol.Options{Bus: bus, StartTimeout: plenty, Version: "1"},
		Attempts: 3, BaseDelay: time.Millisecond,
	}
	options := bridge.Options{In: in, Out: outW}
	server := &config.Server{Name: "site", URL: url}
	if change != nil {
		change(&pool, &options)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(b.ended)
		b.err = Bridge(ctx, server, pool, options)
	}()
	t.Cleanup(func() {
		_ = inW.Close()
		go func() { _, _ = io.Copy(io.Discard, out) }()
		<-b.ended
		cancel()
		_ = out.Close()
	})
	return b
}

// send sends a line.
func (b *bridged) send(line string) {
	b.t.Helper()
	if _, err := io.WriteString(b.in, line+"\n"); err != nil {
		b.t.Fatal(err)
	}
}

// receive returns the next line.
func (b *bridged) receive() string {
	b.t.Helper()
	line, err := b.lines.ReadString('\n')
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.TrimSuffix(line, "\n")
}

// want wants the next line to be this one.
func (b *bridged) want(line string) {
	b.t.Helper()
	if got := b.receive(); got != line {
		b.t.Errorf("the client receives %s\nwant %s", got, line)
	}
}

// wantParts wants the next line to have all these parts, and returns it.
func (b *bridged) wantParts(parts ...string) string {
	b.t.Helper()
	got := b.receive()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			b.t.Errorf("the client receives %s\nwhich lacks %s", got, part)
		}
	}
	return got
}

// olderClient is the beginning of a client of the older era, with its capabilities.
func (b *bridged) olderClient(capabilities string) {
	b.t.Helper()
	b.send(`{"jsonrpc":"2.0","id":"first","method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":` + capabilities + `,"clientInfo":{"name":"older","version":"1"}}}`)
	b.wantParts(`"id":"first"`, `"protocolVersion":`, `"capabilities":{"tools":{}`, `"name":"site"`)
	b.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// newerMeta is the _meta of a request of 2026-07-28.
func newerMeta(capabilities string) string {
	return `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"newer","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":` + capabilities + `}`
}

const call = `"method":"tools/call","params":{"name":"echo","arguments":{"n":1.50}`

// TestBridge proves that a client of either era uses a server of either era, and that what agrees passes unchanged.
func TestBridge(t *testing.T) {
	for _, modern := range []bool{false, true} {
		t.Run(fmt.Sprintf("an older client, modern server %t", modern), func(t *testing.T) {
			site := newSite(t, func(s *site) { s.modern = modern })
			b := newBridged(t, site.URL+"/mcp", nil)
			b.olderClient(`{"experimental":{"x":{}}}`)
			b.send(`{"jsonrpc":"2.0","id":7,` + call + `}}`)
			b.want(`{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"hi"}]}}`)
			b.send(`{"jsonrpc":"2.0","id":8,"method":"ping"}`)
			if modern {
				b.want(`{"jsonrpc":"2.0","id":8,"result":{}}`)
			} else {
				b.wantParts(`"id":8`, `-32601`) // what this server says to it
			}
			sent := site.seen("tools/call")[0]
			if !strings.Contains(sent.Text, `"arguments":{"n":1.50}`) || sent.Header.Get("Mcp-Method") != "tools/call" == modern {
				t.Errorf("the call arrives as %s with %v", sent.Text, sent.Header)
			}
			if !modern && !strings.Contains(site.seen("initialize")[0].Text, `"experimental":{"x":{}}},"clientInfo":{"name":"older"`) {
				t.Errorf("the client is introduced as %s", site.seen("initialize")[0].Text)
			}
			if modern && !strings.Contains(sent.Text, `{"name":"older","version":"1"}`) {
				t.Errorf("the client is introduced as %s", sent.Text)
			}
			if len(site.seen("tools/list")) > 0 || modern && len(site.seen("initialize")) != 1 {
				t.Errorf("the server got requests that the client did not send")
			}
		})
		t.Run(fmt.Sprintf("a newer client, modern server %t", modern), func(t *testing.T) {
			site := newSite(t, func(s *site) { s.modern = modern })
			b := newBridged(t, site.URL+"/mcp", nil)
			b.send(`{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{` + newerMeta("{}") + `}}`)
			b.wantParts(`"id":0`, `"supportedVersions":["2026-07-28"]`, `"capabilities":{"tools":{}}`, `"name":"site"`)
			b.send(`{"jsonrpc":"2.0","id":7,` + call + `,` + newerMeta("{}") + `}}`)
			b.wantParts(`"id":7`, `"text":"hi"`)
			sent := site.seen("tools/call")[0].Text
			if got := strings.Contains(sent, "clientCapabilities"); got != modern {
				t.Errorf("the call arrives as %s", sent)
			}
		})
	}
}

// TestBridgeEnds proves that the end of the client ends the session, and all within a second.
func TestBridgeEnds(t *testing.T) {
	hanging := make(chan struct{})
	site := newSite(t, func(s *site) {
		s.call = func(_ http.ResponseWriter, r *http.Request, _ siteMessage) {
			close(hanging)
			<-r.Context().Done()
		}
	})
	b := newBridged(t, site.URL+"/mcp", nil)
	b.olderClient("{}")
	b.send(`{"jsonrpc":"2.0","id":7,` + call + `}}`)
	<-hanging
	b.in.Close()
	<-b.ended
	if b.err != nil || len(site.seen("DELETE")) != 1 {
		t.Errorf("%v, and the session was ended %d times", b.err, len(site.seen("DELETE")))
	}
}

// TestBridgeAnswersWhatIsWrong proves that lines that are no requests are answered, or left alone.
func TestBridgeAnswersWhatIsWrong(t *testing.T) {
	b := newBridged(t, newSite(t, nil).URL+"/mcp", nil)
	b.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	b.want(`{"jsonrpc":"2.0","id":1,"result":{}}`)
	b.send("")
	b.send("hello")
	b.wantParts(`"id":null`, `-32700`)
	b.send(`{"jsonrpc":"2.0","id":[2]}`)
	b.send(`[{"jsonrpc":"2.0","id":3,"method":"ping"}]`)
	b.want(`{"jsonrpc":"2.0","id":3,"result":{}}`)
	b.olderClient("{}")
}

// missingLogin is the error of a server that requires a login.
type missingLogin struct{}

func (missingLogin) Error() string    { return "it requires a login" }
func (missingLogin) Kind() fault.Kind { return fault.KindAuth }
func (missingLogin) Hint() string     { return "toolx auth login site" }
func (missingLogin) NeedsLogin() bool { return true }

// loginGate lets requests through once the user has logged in.
type loginGate struct {
	base http.RoundTripper
	open *atomic.Bool
}

func (g loginGate) RoundTrip(r *http.Request) (*http.Response, error) {
	if !g.open.Load() {
		return nil, missingLogin{}
	}
	return g.base.RoundTrip(r)
}

// TestBridgeLogin proves what a client gets whose server requires a login: a greeting, the address of the login page,
// errors with the command to run, and the server itself after the login, without a restart.
func TestBridgeLogin(t *testing.T) {
	const address = "https://login.example/authorize"
	for _, outcome := range []string{"no browser", "refused"} {
		t.Run(outcome, func(t *testing.T) {
			var open atomic.Bool
			logins, end := 0, make(chan struct{})
			site := newSite(t, nil)
			b := newBridged(t, site.URL+"/mcp", func(pool *Options, o *bridge.Options) {
				pool.HTTP.Authorize = func(_ *config.Server, base http.RoundTripper) http.RoundTripper {
					return loginGate{base, &open}
				}
				o.Login = func(ctx context.Context, show func(string, bool)) error {
					logins++
					if outcome == "refused" {
						show(address, true)
						return errors.New("access_denied")
					}
					show(address, false)
					select {
					case <-end:
						open.Store(true)
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				}
			})
			b.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
				`"capabilities":{"elicitation":{"url":{}}},"clientInfo":{"name":"c","version":"1"}}}`)
			b.wantParts(`"id":1,"result"`, `"protocolVersion":"2025-11-25"`, "toolx auth login site")
			b.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			if outcome == "no browser" {
				b.wantParts(`"method":"elicitation/create"`, `"mode":"url"`, address)
				b.send(`{"jsonrpc":"2.0","id":0,"result":{"action":"accept"}}`)
			}
			for id := range 2 {
				b.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, id+2))
				if outcome == "refused" {
					b.wantParts(`-32603`, "access_denied", "toolx auth login site", `"kind":"auth"`)
				} else {
					b.wantParts(`-32042`, `"url":"`+address, "toolx auth login site")
				}
			}
			if outcome == "no browser" {
				close(end)
				b.wantParts(`"method":"notifications/elicitation/complete"`)
				b.wantParts(`notifications/tools/list_changed`)
				b.wantParts(`notifications/resources/list_changed`)
				b.wantParts(`notifications/prompts/list_changed`)
			}
			open.Store(true) // another process has logged in
			b.send(`{"jsonrpc":"2.0","id":9,` + call + `}}`)
			if outcome == "refused" {
				b.wantParts(`notifications/tools/list_changed`)
				b.wantParts(`notifications/resources/list_changed`)
				b.wantParts(`notifications/prompts/list_changed`)
			}
			b.wantParts(`"id":9,"result"`)
			if want := map[string]int{"no browser": 1, "refused": 3}[outcome]; logins != want {
				t.Errorf("%d logins, want %d", logins, want)
			}
		})
	}
}

// TestBridgeReconnects proves that what may be repeated is repeated when the connection is lost before or within the
// response, and that the rest is an error.
func TestBridgeReconnects(t *testing.T) {
	half := func(w http.ResponseWriter, m siteMessage) {
		w.Header().Set("Content-Length", "1000")
		respond(w, m, `{"content":[]}`)
		w.(http.Flusher).Flush()
	}
	for _, test := range []struct {
		name       string
		repeatable bool
		begin      func(http.ResponseWriter, siteMessage)
		sent       int
		parts      []string
	}{
		{"no response to what may be repeated", true, nil, 2, []string{`"id":2,"result"`}},
		{"no response", false, nil, 1, []string{`"id":2,"error"`, "outcome is unknown"}},
		{"half the response to what may be repeated", true, half, 2, []string{`"id":2,"result"`}},
		{"half the response", false, half, 1, []string{`"id":2,"error"`, "outcome is unknown"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var lost atomic.Bool
			site := newSite(t, func(s *site) {
				s.annotations = fmt.Sprintf(`{"readOnlyHint":%t}`, test.repeatable)
				s.call = func(w http.ResponseWriter, _ *http.Request, m siteMessage) {
					if !lost.Swap(true) {
						if test.begin != nil {
							test.begin(w, m)
						}
						panic(http.ErrAbortHandler)
					}
					respond(w, m, `{"content":[]}`)
				}
			})
			b := newBridged(t, site.URL+"/mcp", nil)
			b.olderClient("{}")
			b.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			b.wantParts(`"says <it>"`)
			b.send(`{"jsonrpc":"2.0","id":2,` + call + `}}`)
			b.wantParts(test.parts...)
			if sent := len(site.seen("tools/call")); sent != test.sent {
				t.Errorf("the call was sent %d times", sent)
			}
		})
	}
}
