// Package bridge connects a client that speaks MCP on stdio with a server over HTTP. Each may be of either era: where
// they differ, messages are translated; where they agree, they pass unchanged.
package bridge

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/proxy"
	"toolx/pkg/servers/rpc"
	"toolx/pkg/servers/wire"
)

// Options are what a bridge connects, and how.
type Options struct {
	In  io.Reader // what the client sends
	Out io.Writer // what the client receives
	// Server is the entry of the server, with its guards.
	Server *config.Server
	// Version is toolx's own, for a greeting in place of the server's.
	Version string
	// MaxMessage is the size in bytes of the largest message of the client.
	MaxMessage int64
	Bus        *exec.Bus
	// Start returns what opens sessions with the server for a client; nothing is sent before the first is opened.
	Start func(relay protocol.Relay, client *wire.Client) Backend
	// Retry is how often a request is sent that may be repeated, and the delay before the second attempt.
	Retry rpc.RetryPolicy
	// Login lets the user log in; it is nil where no login can help. It calls show with the address of the login page
	// and whether a browser has opened it, and with an empty address while another process asks the user. It is called
	// for each request that needs a login while none is under way, and decides whether to ask again. It ends with ctx.
	Login func(ctx context.Context, show func(address string, opened bool)) error
}

// Backend opens sessions with one server.
type Backend interface {
	// Open returns the session, and opens one if there is none, or it has ended.
	Open(ctx context.Context) (*protocol.Session, error)
	// Close ends the session; ctx bounds that.
	Close(ctx context.Context)
}

// The times of ending, which together last less than a second.
const (
	// drainTime is how long a client that has closed its side waits for the responses to what it has asked.
	drainTime = 500 * time.Millisecond
	// closeTime bounds ending the session.
	closeTime = 400 * time.Millisecond
)

// maxCalls is how many requests of the client may wait for their responses.
const maxCalls = 1000

var (
	errClientGone = errors.New("the client has gone")
	errCancelled  = errors.New("the client cancelled the request")
)

// bridge is one call of Run. It is the Relay of the server's sessions.
type bridge struct {
	Options
	life   context.Context //nolint:containedctx // it ends with the bridge
	going  sync.WaitGroup
	client client
	login  login
	newer  newer

	mu      sync.Mutex // guards what follows
	known   *wire.Client
	backend Backend
	session *protocol.Session // that was opened last
	calls   map[string]*call  // by the client's id
	sent    map[int64]*call   // by the id that the server knows
	// What the client has asked for lasts longer than a session.
	level       string
	subscribed  map[string]int  // resources, and how often
	resubscribe func()          // starts the stream of notifications of a server of 2026-07-28 again; nil without one
	subscribing []chan struct{} // closed when that server has acknowledged the stream, or there is none
}

// call is a request of the client.
type call struct {
	wire.Message
	ctx    context.Context //nolint:containedctx // it ends when the client cancels the request
	cancel context.CancelCauseFunc

	sentAs  int64 // the id that the server knows; guarded by bridge.mu
	visited bool  // the client has been asked to visit the login page
}

// Run passes messages between the client and the server until the client closes its side, or ctx ends. The error is
// ctx's, or that of writing to the client.
func Run(ctx context.Context, o Options) error {
	life, end := context.WithCancelCause(context.Background())
	defer end(nil)
	b := &bridge{
		Options: o, life: life, calls: make(map[string]*call), sent: make(map[int64]*call),
		subscribed: make(map[string]int),
		client: client{
			to: bufio.NewWriterSize(o.Out, 64<<10), broken: make(chan struct{}), asked: make(map[string]asked),
		},
	}
	b.login.bridge = b
	b.newer = newer{bridge: b, feeds: make(map[*feed]bool), parked: make(map[string]*pending)}
	in := o.In
	if o.Server.Guards.Says() {
		warn := func(text string) { b.notice(slog.LevelWarn, text) }
		answer := func(message []byte) { b.client.put(message) }
		b.client.guard = proxy.NewGuard(o.Server, o.MaxMessage, answer, warn)
		in = b.client.guard.Input(in)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.read(in)
	}()
	select {
	case <-ended:
		b.drain()
	case <-b.client.broken:
	case <-ctx.Done():
	}
	end(errClientGone)
	b.close()
	if wire.Closed(b.client.broken) {
		return b.client.err
	}
	return ctx.Err()
}

// drain waits for the responses that the client may still want.
func (b *bridge) drain() {
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		for b.waits() && wire.Waited(b.life, drainPoll) {
		}
	}()
	wire.WaitFor(b.life, answered, drainTime)
}

// drainPoll is how often drain looks.
const drainPoll = 5 * time.Millisecond

func (b *bridge) waits() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.calls) > b.newer.streams()
}

// close ends the session. What is blocked, because the client does not read, is left behind.
func (b *bridge) close() {
	bounded, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	b.mu.Lock()
	backend := b.backend
	b.mu.Unlock()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		if backend != nil {
			backend.Close(bounded)
		}
		b.going.Wait()
	}()
	wire.WaitFor(bounded, closed, closeTime)
}

// read reads what the client sends, to its end. It writes nothing itself: a client that does not read must not keep its
// end from being seen.
func (b *bridge) read(in io.Reader) {
	lines := wire.Framer{Max: b.MaxMessage, Emit: b.line}
	chunk := make([]byte, 64<<10)
	for {
		n, err := in.Read(chunk)
		lines.Feed(chunk[:n])
		if err != nil {
			lines.Flush(wire.EndEOF)
			return
		}
	}
}

// line takes a line of the client: a message, or a batch of them (2025-03-26).
func (b *bridge) line(l wire.Line) {
	text := bytes.TrimSpace(l.Bytes)
	if l.End == wire.EndTooLong {
		b.refuse(nil, mcp.INVALID_REQUEST, "a message is larger than the limit of "+exec.Bytes(b.MaxMessage))
		return
	}
	if batch, ok := rawjson.Elements(text); ok && json.Valid(text) {
		for _, one := range batch {
			b.take(one)
		}
		return
	}
	if len(text) > 0 {
		b.take(text)
	}
}

// take takes a message of the client.
func (b *bridge) take(text []byte) {
	m, ok := wire.Parse(text)
	switch kind := m.Kind(); {
	case !ok:
		b.refuse(nil, mcp.PARSE_ERROR, "the message is not a JSON object")
	case kind == wire.KindRequest:
		b.begin(m)
	case kind == wire.KindNotification:
		b.clientNotified(m)
	case kind == wire.KindReply:
		b.client.answered(m)
	default:
		b.refuse(m.ID, mcp.INVALID_REQUEST, "the message is not a request, a notification or a response")
	}
}

// refuse answers a message that is not acted on.
func (b *bridge) refuse(id json.RawMessage, code int, text string) {
	if id == nil {
		id = json.RawMessage("null")
	}
	b.going.Go(func() { b.client.write(errorMessage(code, text, nil), id) })
}

// begin answers a request on a goroutine of its own.
func (b *bridge) begin(m wire.Message) {
	b.introduce(m)
	c := &call{Message: m}
	ctx, cancel := context.WithCancelCause(context.WithValue(b.life, callKey{}, c))
	c.ctx, c.cancel = ctx, cancel
	id := string(m.ID)
	b.mu.Lock()
	twice, full := b.calls[id] != nil, len(b.calls) >= maxCalls
	if !twice && !full {
		b.calls[id] = c
	}
	b.mu.Unlock()
	switch {
	case twice:
		cancel(nil)
		b.refuse(m.ID, mcp.INVALID_REQUEST, "a request with the same id is waiting for its response")
		return
	case full:
		cancel(nil)
		b.refuse(m.ID, mcp.INTERNAL_ERROR, "too many requests are waiting for their responses")
		return
	}
	b.going.Go(func() {
		defer cancel(nil)
		answer, err := b.answer(c)
		if err != nil {
			answer = failed(err)
		}
		b.mu.Lock()
		delete(b.calls, id)
		delete(b.sent, c.sentAs)
		b.mu.Unlock()
		size := len(answer.Raw)
		if ctx.Err() == nil {
			b.client.write(answer, m.ID)
		}
		proxy.Release(size)
	})
}

// introduce notes who the client is: by its initialize, else by the _meta of its first request.
func (b *bridge) introduce(m wire.Message) {
	b.mu.Lock()
	known, before := b.known != nil, b.backend
	b.mu.Unlock()
	client := &wire.Client{Protocol: mcp.LATEST_LEGACY_PROTOCOL_VERSION, Answer: b.answerFor}
	about := m.Params
	var version string
	meta := rawjson.Get(m.Params, "_meta")
	switch {
	case m.Method == string(mcp.MethodInitialize):
		version, client.Initialize = rawjson.GetText(about, "protocolVersion"), about
		_ = json.Unmarshal(rawjson.Get(about, "clientInfo"), &client.Info) // what cannot be read is not told
		_ = json.Unmarshal(rawjson.Get(about, "capabilities"), &client.Capabilities)
	case known || m.Method == string(mcp.MethodPing):
		return
	default:
		version = rawjson.GetText(meta, mcp.MetaKeyProtocolVersion)
		_ = json.Unmarshal(rawjson.Get(meta, mcp.MetaKeyClientInfo), &client.Info)
		_ = json.Unmarshal(rawjson.Get(meta, mcp.MetaKeyClientCapabilities), &client.Capabilities)
	}
	if mcp.IsValidProtocolVersion(version) && (client.Initialize == nil || !mcp.IsModernProtocol(version)) {
		client.Protocol = version
	}
	b.client.setReady(client.Modern())
	b.mu.Lock()
	b.known, b.session = client, nil
	b.backend = b.Start(b, client)
	b.mu.Unlock()
	if before != nil {
		b.going.Go(func() {
			bounded, cancel := context.WithTimeout(context.Background(), closeTime)
			defer cancel()
			before.Close(bounded)
		})
	}
}

func (b *bridge) notice(level slog.Level, text string) {
	b.Bus.Emit(exec.Notice{Time: exec.Now(), Level: level, Text: text, Server: b.Server.Name})
}
