package servers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/servers/proxy"
	"toolx/pkg/servers/serverstest"
	"toolx/pkg/servers/stdio"
	"toolx/pkg/servers/wire"
)

// fakeEntry is a config's entry for a fake server in the given modes.
func fakeEntry(t *testing.T, args ...string) *config.Server {
	t.Helper()
	return &config.Server{Name: "fake", Command: serverstest.Program(t), Args: args}
}

// proxied is a client, a Proxy and a server. The client is strict: a line that is
// not exactly one JSON-RPC message fails the test.
type proxied struct {
	t      *testing.T
	events *serverstest.Events
	in     *os.File // what the client writes
	out    *os.File // what it reads
	lines  *bufio.Reader
	stderr string // the file that takes the server's stderr
	id     int

	ended chan struct{} // closed when Proxy has returned code and err
	code  int
	err   error
}

// newProxied starts a Proxy; change may change its options. It has ended when the test ends.
func newProxied(t *testing.T, server *config.Server, change func(*proxy.Options)) *proxied {
	t.Helper()
	p := &proxied{
		t: t, events: &serverstest.Events{}, stderr: filepath.Join(t.TempDir(), "stderr"), ended: make(chan struct{}),
	}
	stderr, err := os.Create(p.stderr)
	if err != nil {
		t.Fatal(err)
	}
	in, inW := pipe(t)
	out, outW := pipe(t)
	p.in, p.out, p.lines = inW, out, bufio.NewReaderSize(out, 1<<20)
	bus := &exec.Bus{}
	bus.Subscribe(p.events.Take)
	options := proxy.Options{In: in, Out: outW, Err: stderr, Bus: bus}
	if change != nil {
		change(&options)
	}
	go func() {
		defer close(p.ended)
		p.code, p.err = Proxy(server, options)
		stderr.Close()
		outW.Close()
	}()
	t.Cleanup(func() {
		p.in.Close()
		p.out.Close()
		<-p.ended
	})
	return p
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return r, w
}

// envelope is a message as a strict client reads it.
type envelope struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

// strict reads a line that must be one JSON-RPC message and nothing else.
func strict(line []byte) (envelope, error) {
	var m envelope
	content, ended := bytes.CutSuffix(line, []byte("\n"))
	switch {
	case !ended:
		return m, errors.New("it has no newline")
	case len(content) == 0 || content[0] != '{' || content[len(content)-1] != '}':
		return m, errors.New("it does not begin and end as an object")
	case bytes.ContainsAny(content, "\r\n") || !utf8.Valid(content):
		return m, errors.New("it has line breaks, or is not UTF-8")
	}
	if err := json.Unmarshal(content, &m); err != nil {
		return m, err
	}
	if m.JSONRPC != "2.0" || m.Method == "" && (m.ID == nil || (m.Result == nil) == (m.Error == nil)) {
		return m, errors.New("it is no JSON-RPC message")
	}
	return m, nil
}

// send writes a line to the server.
func (p *proxied) send(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

// request sends a request and reads up to its answer. What the server asks meanwhile is refused.
func (p *proxied) request(method, params string) envelope {
	p.t.Helper()
	p.id++
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, p.id, method, params))
	for {
		m := p.next()
		switch {
		case m.Method != "" && m.ID != nil:
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID))
		case m.Method == "" && string(m.ID) == fmt.Sprint(p.id):
			return m
		}
	}
}

// next reads one message.
func (p *proxied) next() envelope {
	p.t.Helper()
	line, err := p.lines.ReadBytes('\n')
	if err != nil {
		p.t.Fatalf("the client reads %q, %v", line, err)
	}
	m, err := strict(line)
	if err != nil {
		p.t.Fatalf("the client reads %.300q: %v", line, err)
	}
	return m
}

// handshake makes the server ready for calls.
func (p *proxied) handshake() {
	p.t.Helper()
	p.request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"strict","version":"1"}}`)
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// echo calls the tool of that name and returns the text that comes back.
func (p *proxied) echo() string {
	p.t.Helper()
	answer := p.request("tools/call", `{"name":"echo","arguments":{"message":"hi"}}`)
	var result struct{ Content []struct{ Text string } }
	if err := json.Unmarshal(answer.Result, &result); err != nil || len(result.Content) != 1 {
		p.t.Fatalf("echo answers %s, %s (%v)", answer.Result, answer.Error, err)
	}
	return result.Content[0].Text
}

// end waits for the proxy's end and wants an exit code.
func (p *proxied) end(code int) {
	p.t.Helper()
	<-p.ended
	if p.code != code || p.err != nil {
		p.t.Errorf("ended with %d, %v; want %d\nstderr: %s", p.code, p.err, code, p.stderrText())
	}
}

func (p *proxied) stderrText() string {
	text, err := os.ReadFile(p.stderr)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

// TestProxyCleansStdout runs a strict client against each way to pollute stdout: it
// gets every answer, and nothing but messages (MCP-1). What was kept from it is told.
func TestProxyCleansStdout(t *testing.T) {
	table := misbehaviours()
	table["good"] = behaviour{}
	for _, mode := range []string{"banner", "json-logs", "inline-suffix", "raw-control", "text-flood-call"} {
		if table[mode].seen == "" || table[mode].open != "" {
			t.Fatalf("the table of modes has changed: %s is %+v", mode, table[mode])
		}
	}
	for mode, want := range table {
		// Sessions fail in some modes, with good reason; others break JSON-RPC itself, which no pass-through can mend.
		if want.open != "" || want.call != "" || (want.seen == "") != (mode == "good") ||
			strings.Contains(want.seen, "id-") ||
			slices.Contains([]string{"no-version", "bad-shape", "notification-reply"}, want.seen) {
			continue
		}
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p := newProxied(t, fakeEntry(t, "--bytes", "2000000", mode), nil)
			p.handshake()
			p.request("tools/list", "{}")
			if want.text == "" {
				want.text = "hi"
			}
			if text := p.echo(); text != want.text {
				t.Errorf("echo answers %q, want %q", text, want.text)
			}
			p.in.Close()
			p.end(0)
			if told := len(serverstest.Of[wire.PollutedLine](p.events)) > 0; told != (mode != "good") {
				t.Errorf("pollution was told: %v", told)
			}
		})
	}
}

// TestProxyTellsWhatItKeeps proves that foreign text is told whole, with its place.
func TestProxyTellsWhatItKeeps(t *testing.T) {
	text := strings.Repeat("log text ", 2000)
	p := newProxied(t, fakeEntry(t, "--text", text, "banner"), nil)
	p.handshake()
	told := serverstest.Of[wire.PollutedLine](p.events)
	if len(told) != 1 || string(told[0].Text) != text || told[0].Line != 1 || told[0].Phase != wire.PhaseStart ||
		told[0].Class != wire.ClassText {
		t.Errorf("told: %.200v", told)
	}
}

// TestProxyChangesNothing proves that a server which writes messages only, whatever
// they say, is the same behind a Proxy: stdout, stderr, exit status.
func TestProxyChangesNothing(t *testing.T) {
	requests := strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"message":"  <&> \u2028 ü"}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"no/such"}`,
		"not JSON", "",
	}, "\n")
	for _, args := range [][]string{
		{"good"},
		{"coalesced"},
		{"dup-keys"},
		{"big-numbers"},
		{"lone-surrogate"},
		{"both"},
		{"neither"},
		{"error-null"},
		{"rpc-version"},
		{"rpc-missing"},
		{"error-string"},
		{"id-string"},
		{"id-null"},
		{"id-dup"},
		{"term-bidi"},
		{"exit-after-list"},
		{"exit-code-on-close"},
		{"log-on-close"},
		{"--count", "5000", "stderr-flood"},
		{"--bytes", "50000000", "huge-line"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			entry := fakeEntry(t, args...)
			direct := osexec.Command(entry.Command, entry.Args...)
			direct.Stdin = strings.NewReader(requests)
			var stdout, stderr, gotOut, gotErr bytes.Buffer
			direct.Stdout, direct.Stderr = &stdout, &stderr
			_ = direct.Run() // the exit status is compared
			// A client keeps stdin open until it has what it asked for.
			out := &awaited{Writer: &gotOut, left: stdout.Len(), all: make(chan struct{})}
			in := &heldOpen{Reader: strings.NewReader(requests), until: out.all}
			code, err := Proxy(entry, proxy.Options{In: in, Out: out, Err: &gotErr})
			if err != nil || code != direct.ProcessState.ExitCode() {
				t.Errorf("ended with %d, %v; want %d", code, err, direct.ProcessState.ExitCode())
			}
			if !bytes.Equal(gotOut.Bytes(), stdout.Bytes()) {
				t.Errorf("stdout of %d bytes, want %d:\n%.600s\n%.600s", gotOut.Len(), stdout.Len(), &gotOut, &stdout)
			}
			if !bytes.Equal(gotErr.Bytes(), stderr.Bytes()) {
				t.Errorf("stderr %.300q, want %.300q", &gotErr, &stderr)
			}
		})
	}
}

// awaited closes all when left bytes were written.
type awaited struct {
	io.Writer
	left int
	all  chan struct{}
}

func (a *awaited) Write(b []byte) (int, error) {
	before := a.left
	if a.left -= len(b); a.left <= 0 && before > 0 {
		close(a.all)
	}
	return a.Writer.Write(b)
}

// heldOpen is a reader that ends only when until is closed, or after a minute.
type heldOpen struct {
	io.Reader
	until <-chan struct{}
}

func (h *heldOpen) Read(b []byte) (int, error) {
	n, err := h.Reader.Read(b)
	if err != nil {
		select {
		case <-h.until:
		case <-time.After(time.Minute):
		}
	}
	return n, err
}

// TestProxyEndsWithTheServer proves that a server's end is the proxy's, with its exit
// status, while the client still holds standard input open.
func TestProxyEndsWithTheServer(t *testing.T) {
	for _, test := range []struct {
		modes []string
		code  int
		says  bool // the client opens the session
	}{
		{[]string{"exit0-early"}, 0, false},
		{[]string{"exit1-stderr"}, 1, false},
		{[]string{"usage-stdout"}, 1, false},
		{[]string{"exit-after-init"}, 3, true},
		{[]string{"grandchild", "exit-after-init"}, 3, true},
		{[]string{"--lifetime", "20s", "grandchild-setsid", "exit-after-init"}, 3, true},
	} {
		t.Run(strings.Join(test.modes, "+"), func(t *testing.T) {
			t.Parallel()
			p := newProxied(t, fakeEntry(t, test.modes...), nil)
			if test.says {
				p.request("initialize", `{"protocolVersion":"2025-11-25"}`)
			}
			p.end(test.code)
			if rest, err := io.ReadAll(p.lines); err != nil || len(rest) > 0 {
				t.Errorf("the client reads %q, %v after the end", rest, err)
			}
			exits := serverstest.Of[wire.ProcessExited](p.events)
			if len(exits) != 1 || exits[0].Asked || exits[0].Forced != "" {
				t.Errorf("the exit was told as %+v", exits)
			}
		})
	}
}

// TestProxyPassesTheEndsOn proves that stdin's end reaches the server, and stdout's
// the client, while the other direction still works.
func TestProxyPassesTheEndsOn(t *testing.T) {
	t.Parallel()
	p := newProxied(t, fakeEntry(t, "stdout-closed-call"), nil)
	p.handshake()
	p.send(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hi"}}}`)
	if rest, err := io.ReadAll(p.lines); err != nil || len(rest) > 0 {
		t.Errorf("the client reads %q, %v", rest, err)
	}
	select {
	case <-p.ended:
		t.Error("the proxy ended with the server's stdout")
	default:
	}
	p.in.Close()
	p.end(0)
}

// TestProxyEndsTheServer proves that no server outlives its client: it gets its time after stdin's end, then signals.
func TestProxyEndsTheServer(t *testing.T) {
	for _, test := range []struct {
		args   []string
		forced string
	}{
		{[]string{"good"}, ""},
		{[]string{"slow-exit"}, ""},
		{[]string{"ignore-eof"}, "SIGTERM"},
		{[]string{"ignore-eof", "ignore-sigterm"}, "SIGKILL"},
		{[]string{"grandchild"}, ""},
	} {
		t.Run(strings.Join(test.args, "+"), func(t *testing.T) {
			t.Parallel()
			p := newProxied(t, fakeEntry(t, test.args...), nil)
			p.handshake()
			p.in.Close()
			<-p.ended
			exits := serverstest.Of[wire.ProcessExited](p.events)
			if len(exits) != 1 || exits[0].Forced != test.forced || !exits[0].Asked || p.err != nil {
				t.Errorf("ended with %d, %v: %+v, want forced %q", p.code, p.err, exits, test.forced)
			}
			gone(t, serverstest.Of[wire.ProcessStarted](p.events)[0].PID)
		})
	}
}

// gone waits until no process of a group is left: a killed one closes its pipes a moment before it is gone.
func gone(t *testing.T, group int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); groupAlive(group); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a process of the server's group is left")
		}
	}
}

// gate is a client that does not read until it is opened.
type gate struct {
	begun, open chan struct{}
	once        sync.Once
	read        bytes.Buffer
}

func (g *gate) Write(b []byte) (int, error) {
	g.once.Do(func() { close(g.begun) })
	<-g.open
	return g.read.Write(b)
}

// TestProxyWaitsForTheClient proves that a client which does not read holds the
// server up, also after stdin's end, and loses nothing when it reads at last.
func TestProxyWaitsForTheClient(t *testing.T) {
	t.Parallel()
	const count = 20000
	client := &gate{begun: make(chan struct{}), open: make(chan struct{})}
	p := newProxied(t, fakeEntry(t, "--count", fmt.Sprint(count), "notification-flood"),
		func(o *proxy.Options) { o.Out = client })
	p.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hi"}}}`)
	p.in.Close()
	<-client.begun
	select {
	case <-p.ended:
		t.Error("the server was read on")
	case <-time.After(stdio.StdinGrace + serverstest.Brief): // by when a server would be ended that nobody waits for
	}
	close(client.open)
	p.end(0)
	if lines := bytes.Count(client.read.Bytes(), []byte("\n")); lines != count+1 {
		t.Errorf("the client reads %d messages, want %d", lines, count+1)
	}
}

// TestProxyHasNoLimitToTheServer proves that a message of any size reaches a server.
func TestProxyHasNoLimitToTheServer(t *testing.T) {
	t.Parallel()
	p := newProxied(t, fakeEntry(t, "good"), func(o *proxy.Options) { o.MaxMessage = 1 << 20 })
	p.handshake()
	// An unknown method, so that the answer is small.
	answer := p.request("large", `"`+strings.Repeat("x", 5<<20)+`"`)
	if !strings.Contains(string(answer.Error), "-32601") {
		t.Errorf("the answer is %s, %s", answer.Result, answer.Error)
	}
}

// TestProxyDropsWhatIsTooLong proves that a message over the limit is told of, and that what follows it passes.
func TestProxyDropsWhatIsTooLong(t *testing.T) {
	t.Parallel()
	p := newProxied(t, fakeEntry(t, "--bytes", "2000000", "huge-line"),
		func(o *proxy.Options) { o.MaxMessage = 1 << 20 })
	p.handshake()
	p.send(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hi"}}}`)
	p.request("ping", "{}")
	told := serverstest.Of[wire.PollutedLine](p.events)
	if len(told) != 1 || told[0].Class != wire.ClassTooLong || !bytes.HasPrefix(told[0].Text, []byte(`{"jsonrpc":"2.0","id":9`)) {
		t.Errorf("told: %.300v", told)
	}
}

// TestProxyTrace proves that both directions can be watched.
func TestProxyTrace(t *testing.T) {
	t.Parallel()
	p := newProxied(t, fakeEntry(t, "good"), func(o *proxy.Options) { o.Trace = true })
	p.request("ping", "{}")
	sent, received := serverstest.Of[wire.FrameSent](p.events), serverstest.Of[wire.FrameReceived](p.events)
	if len(sent) != 1 || string(sent[0].Bytes) != `{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}` ||
		len(received) != 1 || string(received[0].Bytes) != `{"jsonrpc":"2.0","id":1,"result":{}}` {
		t.Errorf("sent %+v, received %+v", sent, received)
	}
}

// TestProxyCannotStart holds the failures of a start.
func TestProxyCannotStart(t *testing.T) {
	for _, test := range []struct {
		server *config.Server
		kind   fault.Kind
		text   string
	}{
		{&config.Server{Name: "s", Command: "nope-xyz"}, fault.KindConnect, `server s failed to start: command not found: nope-xyz`},
		{&config.Server{Name: "s", URL: "https://localhost/mcp"}, fault.KindConnect, `server "s" cannot be proxied: the proxy stands before a program, and this server has a url`},
		{&config.Server{Name: "s", Command: "x", Args: []string{"${TOOLX_NOT_SET}"}}, fault.KindUsage, "server 's': variable is not set: TOOLX_NOT_SET (args[0])"},
	} {
		_, err := Proxy(test.server, proxy.Options{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard})
		if err == nil || err.Error() != test.text || fault.KindOf(err) != test.kind {
			t.Errorf("%v (%s), want %s (%s)", err, fault.KindOf(err), test.text, test.kind)
		}
	}
}
