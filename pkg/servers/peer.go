package servers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/wire"
)

// peer is toolx's side of JSON-RPC with one server, whatever carries the messages: it matches answers with requests,
// answers the server's requests, and reports violations on the bus.
type peer struct {
	server string
	bus    *exec.Bus
	// onNotification takes the server's notifications, in order, on the goroutine that reads, so it must not block.
	onNotification func(method string, params json.RawMessage)
	// onRequest takes a request of the server, also on that goroutine, and reports whether it will answer it.
	onRequest func(p *peer, m wire.Message) bool
	// onSend is told the id of each request before it is sent; it runs while mu is held.
	onSend func(ctx context.Context, id int64)
	// post sends a message without waiting for a reply or blocking, and reports whether it could.
	post  func(f wire.Frame) bool
	times wire.RequestTimes

	closing chan struct{} // closed when the session is being closed
	done    chan struct{} // closed when nothing more can come; failure is set

	mu       sync.Mutex // guards what follows
	failure  *Failure
	lastID   int64
	pending  map[int64]*pending
	answered map[int64]wire.Class // what a further reply to an id would be
	// notifications counts those that were sent since the last answer to a request; nameless reports whether a request
	// was answered without its id before.
	notifications int
	nameless      bool
	late          bool // a request was answered after it was given up
}

func newPeer(server string, bus *exec.Bus) *peer {
	return &peer{
		server: server, bus: bus,
		onNotification: func(string, json.RawMessage) {},
		onRequest:      func(*peer, wire.Message) bool { return false },
		onSend:         func(context.Context, int64) {},
		lastID:         firstID(),
		closing:        make(chan struct{}),
		done:           make(chan struct{}),
		pending:        make(map[int64]*pending),
		answered:       make(map[int64]wire.Class),
	}
}

func (p *peer) rpc() *peer { return p }

// firstID returns the first id of a session. It is random, so that a text that a server passes on (a page that it
// fetched and quotes in its log, say) cannot hold the answer to a request that is waiting. Servers made with the Rust
// SDK of before September 2025 read ids as 32 bits (modelcontextprotocol/rust-sdk#416), so no more bits are used; all
// ids have nine digits, so that messages have the same length.
func firstID() int64 { return 100_000_000 + rand.Int64N(800_000_000) }

// pending is a request without an answer.
type pending struct {
	id     int64
	method string
	bytes  []byte
	reply  chan reply // buffered: the reader never waits
	detail string     // what is known should it never be answered; guarded by peer.mu
}

// detailOf returns what is known should a request never be answered.
func (p *peer) detailOf(waiting *pending) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return waiting.detail
}

// frame returns the request as it is sent.
func (p *pending) frame() wire.Frame {
	return wire.Frame{Bytes: p.bytes, ID: strconv.FormatInt(p.id, 10), Method: p.method}
}

// reply is the outcome of a request.
type reply struct {
	message wire.Message
	report  report // in place of the message, where a holder answers
	err     error
}

// maxAnswered bounds how many ids are remembered to tell late and duplicate replies from unknown ones.
const maxAnswered = 1024

// encodeRequest returns the bytes of a request, on one line, for sending and for display. The error says that params
// are not JSON.
func encodeRequest(id int64, method string, params json.RawMessage) (json.RawMessage, error) {
	var out bytes.Buffer
	out.Grow(len(params) + len(method) + 64)
	out.WriteString(`{"jsonrpc":"` + mcp.JSONRPC_VERSION + `","id":` + strconv.FormatInt(id, 10) + `,"method":`)
	out.Write(rawjson.Quote(method))
	if len(params) > 0 {
		out.WriteString(`,"params":`)
		if err := json.Compact(&out, params); err != nil {
			return nil, fmt.Errorf("encode %s: %w", method, err)
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// register gives a request its id, and notes that it waits for an answer.
func (p *peer) register(ctx context.Context, method string, params json.RawMessage) (*pending, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastID++
	encoded, err := encodeRequest(p.lastID, method, params)
	if err != nil {
		return nil, err
	}
	waiting := &pending{id: p.lastID, method: method, bytes: encoded, reply: make(chan reply, 1)}
	p.pending[waiting.id] = waiting
	p.onSend(ctx, waiting.id)
	return waiting, nil
}

// upcomingID returns the id that the next request will have.
func (p *peer) upcomingID() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lastID + 1
}

// settle forgets a request; further replies to it get the class further.
func (p *peer) settle(id int64, further wire.Class) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settleLocked(id, further)
}

func (p *peer) settleLocked(id int64, further wire.Class) {
	delete(p.pending, id)
	if len(p.answered) >= maxAnswered {
		for old := range p.answered {
			if old < id-maxAnswered/2 {
				delete(p.answered, old)
			}
		}
	}
	p.answered[id] = further
}

// giveUp forgets a request whose context has ended, cancels it at the server where that is allowed and wanted, and
// returns what is known of why there was no answer.
func (p *peer) giveUp(ctx context.Context, waiting *pending, tell bool) (detail string) {
	p.mu.Lock()
	p.settleLocked(waiting.id, wire.ClassIDLate)
	detail = waiting.detail
	p.mu.Unlock()
	// The specification forbids cancelling the handshake, and tasks/cancel is what ends a task.
	if tell && !beginsSession(waiting.method) && !aboutTask(waiting.method) {
		p.cancel(ctx, waiting.id)
	}
	return detail
}

// cancel tells the server that a request's answer is no longer wanted.
func (p *peer) cancel(ctx context.Context, id int64) {
	notification, err := newNotification(string(mcp.MethodNotificationCancelled), map[string]any{
		"requestId": id, "reason": context.Cause(ctx).Error(),
	})
	if err == nil {
		p.notified()
		p.post(notification) // a server that does not read cannot be told
	}
}

// notified notes that a notification is sent. There are servers that answer it, as if it were a request without an id.
func (p *peer) notified() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notifications++
}

func beginsSession(method string) bool {
	return method == string(mcp.MethodInitialize) || method == string(mcp.MethodServerDiscover)
}

// phase returns the current phase of the session; p.mu is held.
func (p *peer) phase() wire.Phase {
	switch {
	case closed(p.closing):
		return wire.PhaseShutdown
	case len(p.answered) == 0:
		return wire.PhaseStart
	case len(p.pending) > 0:
		return wire.PhaseRequest
	}
	return wire.PhaseIdle
}

// fail ends the session: every pending request gets the failure. Only the first call counts.
func (p *peer) fail(failure *Failure) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure != nil {
		return
	}
	p.failure = failure
	close(p.done)
}

// failed returns the session's failure with method as the request that was waiting.
func (p *peer) failed(method string) *Failure {
	p.mu.Lock()
	defer p.mu.Unlock()
	failure := *p.failure
	failure.Waiting = method
	return &failure
}

// endWith calls cancel when the session is being closed or has ended, unless stop is called before.
func (p *peer) endWith(cancel func()) (stop func()) {
	stopped := make(chan struct{})
	go func() {
		select {
		case <-p.closing:
		case <-p.done:
		case <-stopped:
			return
		}
		cancel()
	}()
	return func() { close(stopped) }
}

// errorDetails reads a reply's error, which some servers send as a bare string.
func errorDetails(raw json.RawMessage) *mcp.JSONRPCErrorDetails {
	var details mcp.JSONRPCErrorDetails
	if err := json.Unmarshal(raw, &details); err != nil || details.Message == "" && details.Code == 0 {
		details.Message = string(raw)
		_ = json.Unmarshal(raw, &details.Message)
	}
	return &details
}

// newNotification returns the frame of a notification; nil params are left out.
func newNotification(method string, params any) (wire.Frame, error) {
	encoded, err := encodeParams(method, params)
	if err != nil {
		return wire.Frame{}, err
	}
	text := rawjson.Build("jsonrpc", mcp.JSONRPC_VERSION, "method", method, "params", encoded)
	return wire.Frame{Bytes: text, Method: method}, nil
}
