//go:build unix

package cmd_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// cutRelay is a network between toolx and a server, which is cut at one place.
type cutRelay struct {
	to     string
	listen net.Listener

	mu    sync.Mutex
	cut   cut
	left  int             // how often it is still cut
	sent  strings.Builder // what toolx has sent, on all connections
	fired chan struct{}   // closed when it was first cut
	dead  bool            // no connection passes anything
	open  map[net.Conn]bool
}

// cut is a place at which a connection is cut, found by what passes.
type cut struct {
	after string // what toolx must have sent on the connection before; empty for anything
	up    bool   // mark is in what toolx sends, and not in what the server sends
	mark  string
	keep  int  // how many bytes pass, from the beginning of mark
	stall bool // nothing passes any more, on any connection, and none is closed
}

func newCutRelay(t *testing.T, to string) *cutRelay {
	t.Helper()
	listen, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &cutRelay{to: to, listen: listen, open: make(map[net.Conn]bool)}
	go func() {
		for {
			from, err := listen.Accept()
			if err != nil {
				return
			}
			go r.serve(from)
		}
	}()
	t.Cleanup(func() {
		_ = listen.Close()
		r.mu.Lock()
		defer r.mu.Unlock()
		for c := range r.open {
			_ = c.Close()
		}
	})
	return r
}

// at sets where the network is cut, and how often.
func (r *cutRelay) at(c cut, times int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut, r.left, r.fired, r.dead = c, times, make(chan struct{}), false
}

// times returns how often toolx has sent a text.
func (r *cutRelay) times(text string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Count(r.sent.String(), text)
}

func (r *cutRelay) serve(from net.Conn) {
	to, err := net.Dial("tcp", r.to)
	if err != nil {
		_ = from.Close()
		return
	}
	r.mu.Lock()
	r.open[from], r.open[to] = true, true
	r.mu.Unlock()
	sent := &bytes.Buffer{} // guarded by mu
	var both sync.WaitGroup
	for _, up := range []bool{true, false} {
		both.Go(func() {
			in, out := from, to
			if !up {
				in, out = to, from
			}
			r.pass(in, out, up, sent)
		})
	}
	both.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, from)
	delete(r.open, to)
}

// pass passes bytes on until the connection ends, or is cut.
func (r *cutRelay) pass(in, out net.Conn, up bool, sent *bytes.Buffer) {
	defer func() { _, _ = in.Close(), out.Close() }()
	var tail []byte
	chunk := make([]byte, 64<<10)
	for {
		n, err := in.Read(chunk)
		keep, ends := r.keeps(chunk[:n], tail, up, sent)
		tail = append(tail[:0], chunk[max(0, n-100):n]...)
		if ends == "stall" {
			_, _ = out.Write(chunk[:keep])
			_, _ = io.Copy(io.Discard, in)
			return
		}
		if _, failed := out.Write(chunk[:keep]); failed != nil || err != nil || ends == "cut" {
			if ends == "cut" {
				_ = in.(*net.TCPConn).SetLinger(0)
				_ = out.(*net.TCPConn).SetLinger(0)
			}
			return
		}
	}
}

// keeps returns how many bytes of a chunk pass, and how the connection ends with it.
func (r *cutRelay) keeps(chunk, tail []byte, up bool, sent *bytes.Buffer) (keep int, ends string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if up {
		r.sent.Write(chunk)
		sent.Write(chunk)
	}
	if r.dead {
		return 0, "stall"
	}
	if r.left == 0 || r.cut.up != up || !strings.Contains(sent.String(), r.cut.after) {
		return len(chunk), ""
	}
	all := append(bytes.Clone(tail), chunk...)
	found := bytes.Index(all, []byte(r.cut.mark))
	if found < 0 || found+len(r.cut.mark) <= len(tail) {
		return len(chunk), ""
	}
	if r.left--; !wireClosed(r.fired) {
		close(r.fired)
	}
	keep = min(len(chunk), max(0, found-len(tail)+r.cut.keep))
	if r.dead = r.cut.stall; r.dead {
		return keep, "stall"
	}
	return keep, "cut"
}

func wireClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// bridgeClient is a client that answers what a server asks.
type bridgeClient struct {
	*proxyClient
	called string // the params of the last call
}

const bridgeCapabilities = `{"sampling":{},"elicitation":{"form":{}},"roots":{}}`

// newBridgeClient starts toolx proxy for the server at an address; it retries without a delay.
func newBridgeClient(t *testing.T, url string, modern bool) *bridgeClient {
	t.Helper()
	config := filepath.Join(t.TempDir(), "toolx.yaml")
	text := fmt.Sprintf("servers:\n  site:\n    url: %s\n    retry: {attempts: 3, baseDelay: 1ms}\n", url)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := append(os.Environ(), append(homeVariables(t.TempDir()), "TOOLX_KEYRING=off")...)
	return &bridgeClient{
		proxyClient: startProxyClient(t, modern, bridgeCapabilities, environ, "--config", config, "-v", "site"),
	}
}

// send sends a request and returns its id. members are those of its params.
func (c *bridgeClient) send(method, members string) (id int) {
	c.t.Helper()
	if method == "tools/call" && !strings.Contains(members, "inputResponses") {
		c.called = members
	}
	return c.proxyClient.send(method, members)
}

// begin sends the first request.
func (c *bridgeClient) begin() (id int) {
	c.t.Helper()
	return c.proxyClient.begin(bridgeCapabilities)
}

// bridgeMessage is a message that a client receives.
type bridgeMessage struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
	text string
}

// next returns the next message.
func (c *bridgeClient) next() bridgeMessage {
	c.t.Helper()
	m := bridgeMessage{text: c.proxyClient.next()}
	if err := json.Unmarshal([]byte(m.text), &m); err != nil {
		c.t.Fatalf("%v: %s", err, m.text)
	}
	return m
}

// response waits for the response to a request, and answers what is asked meanwhile.
func (c *bridgeClient) response(id int) bridgeMessage {
	c.t.Helper()
	for {
		switch m := c.next(); {
		case m.Method == "elicitation/create":
			c.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"decline"}}`, m.ID))
		case m.Method == "" && string(m.ID) == fmt.Sprint(id) && strings.Contains(m.text, `"input_required"`):
			id = c.repeat(m)
		case m.Method == "" && string(m.ID) == fmt.Sprint(id):
			return m
		case m.Method == "":
			c.t.Errorf("a response to nothing: %s", m.text)
		}
	}
}

// repeat repeats the call that has asked for input, with what was asked for.
func (c *bridgeClient) repeat(m bridgeMessage) (id int) {
	c.t.Helper()
	var asked struct {
		InputRequests map[string]struct{ Method string }
		RequestState  string
	}
	if err := json.Unmarshal(m.Result, &asked); err != nil {
		c.t.Fatalf("%v: %s", err, m.text)
	}
	var answers []string
	for key, one := range asked.InputRequests {
		answer := `{"roots":[]}`
		if one.Method == "elicitation/create" {
			answer = `{"action":"decline"}`
		}
		answers = append(answers, fmt.Sprintf("%q:%s", key, answer))
	}
	return c.send("tools/call", fmt.Sprintf(`%s,"inputResponses":{%s},"requestState":%q`, c.called,
		strings.Join(answers, ","), asked.RequestState))
}

// want wants the response to a request to have a part.
func (c *bridgeClient) want(id int, part string) {
	c.t.Helper()
	if m := c.response(id); !strings.Contains(m.text, part) {
		c.t.Errorf("the response is %s\nwhich lacks %s", m.text, part)
	}
}

// The calls of TestBridgeNetworkCut: one that may be repeated, and two that may not.
const (
	echoM1    = `"name":"echo","arguments":{"message":"m1"}`
	toggleLog = `"name":"toggle-simulated-logging","arguments":{}`
	greet     = `"name":"greet","arguments":{"name":"you"}`
	askUser   = `"name":"trigger-elicitation-request","arguments":{}`
)

// networkCut is a step at which the network is cut, and what comes of a call.
type networkCut struct {
	name  string
	cut   cut
	times int
	call  string // its params
	want  string // in the response to the call
	sent  int    // how often the call is sent
}

// networkCuts are the steps of a session at which the network is cut.
var networkCuts = []networkCut{
	{"initialize", cut{up: true, mark: `"method":"initialize"`}, 1, echoM1, "Echo: m1", 1},
	{"half of initialize", cut{up: true, mark: `"method":"initialize"`, keep: 10}, 1, echoM1, "Echo: m1", 1},
	{"response to initialize", cut{after: `"method":"initialize"`, mark: "HTTP/1.1"}, 1, echoM1, "Echo: m1", 1},
	{"half the response to initialize", cut{after: `"method":"initialize"`, mark: `"result":{`, keep: 5}, 1, echoM1, "Echo: m1", 1},
	{"initialized", cut{up: true, mark: `"notifications/initialized"`}, 1, echoM1, "Echo: m1", 1},
	{"response to initialized", cut{after: `"notifications/initialized"`, mark: "HTTP/1.1 202"}, 1, echoM1, "Echo: m1", 1},
	{"GET", cut{up: true, mark: "GET /"}, 1, echoM1, "Echo: m1", 1},
	{"response to GET", cut{after: "GET /", mark: "HTTP/1.1 200"}, 1, echoM1, "Echo: m1", 1},
	{"list", cut{up: true, mark: `"tools/list"`}, 1, echoM1, "Echo: m1", 1},
	{"response to list", cut{after: `"tools/list"`, mark: `HTTP/1.1 20`}, 1, echoM1, "Echo: m1", 1},
	{"half the response to list", cut{mark: `"tools":[`, keep: 5}, 1, echoM1, "Echo: m1", 1},
	{"call", cut{up: true, mark: `"name":"echo"`}, 1, echoM1, "Echo: m1", 2},
	{"half a call", cut{up: true, mark: `"name":"echo"`, keep: 5}, 1, echoM1, "Echo: m1", 2},
	{"call, always", cut{up: true, mark: `"name":"echo"`}, 100, echoM1, `"error"`, 3},
	{"response", cut{after: `"name":"echo"`, mark: "HTTP/1.1 20"}, 1, echoM1, "Echo: m1", 2},
	{"response after its first event", cut{after: `"name":"echo"`, mark: "data: \n\n", keep: 8}, 1, echoM1, "Echo: m1", 1},
	{"half the response", cut{mark: "Echo: m", keep: 3}, 1, echoM1, "Echo: m1", 1},
	{"half the response, twice", cut{mark: "Echo: m", keep: 3}, 2, echoM1, "Echo: m1", 1},
	{"unrepeated call", cut{up: true, mark: `"name":"toggle`}, 1, toggleLog, "outcome is unknown", 1},
	{"half an unrepeated call", cut{up: true, mark: `"name":"toggle`, keep: 5}, 1, toggleLog, "outcome is unknown", 1},
	{"unrepeated response", cut{after: `"name":"toggle`, mark: "HTTP/1.1 20"}, 1, toggleLog, "outcome is unknown", 1},
	{"unrepeated response after its first event", cut{after: `"name":"toggle`, mark: "data: \n\n", keep: 8}, 1, toggleLog, "Started simulated", 1},
	{"half an unrepeated response", cut{mark: "Started simulated", keep: 3}, 1, toggleLog, "Started simulated", 1},
	{"answer", cut{up: true, mark: `"action":"decline"`}, 1, askUser, "User declined", 1},
	{"half an answer", cut{up: true, mark: `"action":"decline"`, keep: 5}, 1, askUser, "User declined", 1},
	{"response to the answer", cut{after: `"action":"decline"`, mark: `HTTP/1.1 202`}, 1, askUser, "User declined", 1},
}

// otherCuts are those of other servers and clients.
var otherCuts = map[string][]networkCut{
	"HTTP with SSE": {
		{"GET", cut{up: true, mark: "GET /"}, 1, echoM1, "Echo: m1", 1},
		{"initialize", cut{up: true, mark: `"method":"initialize"`}, 1, echoM1, "Echo: m1", 1},
		{"list", cut{mark: `"tools":[`, keep: 5}, 1, echoM1, "Echo: m1", 1},
		{"call", cut{up: true, mark: `"name":"echo"`}, 1, echoM1, "Echo: m1", 2},
		{"response to the POST", cut{after: `"name":"echo"`, mark: "HTTP/1.1 202"}, 1, echoM1, "Echo: m1", 2},
		{"half the response", cut{mark: "Echo: m", keep: 3}, 1, echoM1, "Echo: m1", 2},
		{"half an unrepeated response", cut{mark: "Started simulated", keep: 3}, 1, toggleLog, "outcome is unknown", 1},
		{"answer", cut{up: true, mark: `"action":"decline"`}, 1, askUser, "User declined", 1},
	},
	"a newer client, streamable HTTP": {
		{"initialize", cut{mark: `"serverInfo"`, keep: 3}, 1, echoM1, "Echo: m1", 1},
		{"list", cut{mark: `"tools":[`, keep: 5}, 1, echoM1, "Echo: m1", 1},
		{"half the response", cut{mark: "Echo: m", keep: 3}, 1, echoM1, "Echo: m1", 1},
		{"call", cut{up: true, mark: `"name":"echo"`}, 1, echoM1, "Echo: m1", 2},
		{"unrepeated call", cut{up: true, mark: `"name":"toggle`}, 1, toggleLog, "outcome is unknown", 1},
		{"answer", cut{up: true, mark: `"action":"decline"`}, 1, askUser, "User declined", 1},
	},
	"a newer server": {
		{"list", cut{mark: `"tools":[`, keep: 5}, 1, greet, "hello you", 1},
		{"call", cut{up: true, mark: `"name":"greet"`}, 1, greet, "outcome is unknown", 1},
		{"half the response", cut{mark: "hello you", keep: 3}, 1, greet, "outcome is unknown", 1},
		{"a newer client, list", cut{mark: `"tools":[`, keep: 5}, 1, greet, "hello you", 1},
		{"a newer client, discover", cut{mark: `"supportedVersions"`, keep: 5}, 1, greet, "hello you", 1},
		{"a newer client, call", cut{up: true, mark: `"name":"greet"`}, 1, greet, "outcome is unknown", 1},
		{"a newer client, half the response", cut{mark: "hello you", keep: 3}, 1, greet, "outcome is unknown", 1},
	},
}

// TestBridgeNetworkCut cuts the network at each step of a session: each request gets one response, what may not be
// repeated is sent once, and the next request is served.
func TestBridgeNetworkCut(t *testing.T) {
	t.Parallel()
	folder := serversFolder(t)
	streamable := startEverything(t, folder, "streamableHttp") + "/mcp"
	for _, test := range networkCuts {
		t.Run(test.name, func(t *testing.T) { test.run(t, streamable, false) })
	}
	urls := map[string]string{
		"HTTP with SSE":                   startEverything(t, folder, "sse") + "/sse",
		"a newer client, streamable HTTP": streamable,
		"a newer server":                  startTypeScript(t, folder, "reject"),
	}
	for name, tests := range otherCuts {
		for _, test := range tests {
			modern := strings.Contains(name+test.name, "newer client")
			t.Run(name+"/"+test.name, func(t *testing.T) { test.run(t, urls[name], modern) })
		}
	}
}

// TestBridgeQuestionCut cuts the network within a question of the server: the client gets the question once more, and
// when it cancels its call, the next one is served. This server loses the response to a call whose stream was resumed
// (its event store returns the wrong stream), so that there is none to wait for.
func TestBridgeQuestionCut(t *testing.T) {
	t.Parallel()
	relay, c := newCutBridge(t, startEverything(t, serversFolder(t), "streamableHttp")+"/mcp", false,
		cut{mark: "elicitation/create", keep: 5}, 1)
	c.want(c.begin(), `"capabilities":{`)
	c.initialized()
	call := c.send("tools/call", askUser)
	<-relay.fired
	for asked := false; !asked; {
		asked = c.next().Method == "elicitation/create"
	}
	c.line(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, call))
	c.want(c.send("tools/call", echoM1), "Echo: m1")
	if sent := relay.times(`"name":"trigger-elicitation-request"`); sent != 1 {
		t.Errorf("the call is sent %d times", sent)
	}
	c.end()
}

// newCutBridge starts a client whose network to the server is cut.
func newCutBridge(t *testing.T, server string, modern bool, at cut, times int) (*cutRelay, *bridgeClient) {
	t.Helper()
	address, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	relay := newCutRelay(t, address.Host)
	relay.at(at, times)
	return relay, newBridgeClient(t, "http://"+relay.listen.Addr().String()+address.Path, modern)
}

func (test networkCut) run(t *testing.T, server string, modern bool) {
	t.Parallel()
	relay, c := newCutBridge(t, server, modern, test.cut, test.times)
	c.want(c.begin(), `"capabilities":{`)
	c.initialized()
	c.want(c.send("tools/list", ""), `"tools":[`)
	c.want(c.send("tools/call", test.call), test.want)
	tool, _, _ := strings.Cut(test.call, `,"arguments"`)
	if sent := relay.times(tool); sent != test.sent {
		t.Errorf("the call is sent %d times, want %d", sent, test.sent)
	}
	<-relay.fired
	relay.at(cut{}, 0)
	c.want(c.send("tools/list", ""), `"tools":[`)
	again := strings.NewReplacer("m1", "again", "you", "again").Replace(test.call)
	c.want(c.send("tools/call", again), `"result"`)
	c.end()
}

// TestBridgeEndsWithAStalledNetwork proves that toolx ends when its client does, whatever the network still owes it.
func TestBridgeEndsWithAStalledNetwork(t *testing.T) {
	t.Parallel()
	folder := serversFolder(t)
	streamable, sse := startEverything(t, folder, "streamableHttp")+"/mcp", startEverything(t, folder, "sse")+"/sse"
	newer := startTypeScript(t, folder, "reject")
	for _, test := range []struct {
		name, server string
		modern       bool
		stall        cut
		begun        bool   // the handshake is done before
		call         string // its params; empty for none
	}{
		{"initialize", streamable, false, cut{up: true, mark: `"method":"initialize"`}, false, ""},
		{"response to initialize", streamable, false, cut{mark: `"serverInfo"`}, false, ""},
		{"GET", streamable, false, cut{up: true, mark: "GET /"}, true, ""},
		{"GET of HTTP with SSE", sse, false, cut{up: true, mark: "GET /"}, false, ""},
		{"call", streamable, false, cut{up: true, mark: `"name":"echo"`}, true, echoM1},
		{"half a response", streamable, false, cut{mark: "Echo: m", keep: 3}, true, echoM1},
		{"call over HTTP with SSE", sse, false, cut{up: true, mark: `"name":"echo"`}, true, echoM1},
		{"question", streamable, false, cut{mark: "elicitation/create", keep: 1 << 20}, true, askUser},
		{"answer", streamable, false, cut{up: true, mark: `"action":"decline"`}, true, askUser},
		{"DELETE", streamable, false, cut{up: true, mark: "DELETE /"}, true, ""},
		{"a newer client's call", streamable, true, cut{up: true, mark: `"name":"echo"`}, true, echoM1},
		{"a newer server's call", newer, false, cut{up: true, mark: `"name":"greet"`}, true, greet},
		{"a newer client, a newer server", newer, true, cut{mark: "hello you"}, true, greet},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.stall.stall = true
			relay, c := newCutBridge(t, test.server, test.modern, test.stall, 1)
			first := c.begin()
			if test.begun {
				c.want(first, `"capabilities":{`)
				c.initialized()
			}
			if test.call != "" {
				c.send("tools/call", test.call)
			}
			for test.name == "answer" && !wireClosed(relay.fired) {
				if m := c.next(); m.Method == "elicitation/create" {
					c.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"decline"}}`, m.ID))
					<-relay.fired
				}
			}
			if test.name != "DELETE" { // which the end sends
				<-relay.fired
			}
			c.end()
			<-relay.fired
		})
	}
}
