// Package rpc is the JSON-RPC peer that every transport has: it matches answers with requests, answers what servers
// ask, and reports what breaks the protocol. A transport overrides the defaults of what it does itself.
package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/wire"
)

// Peer is toolx's side of JSON-RPC with one server, whatever carries the messages: it matches answers with requests,
// answers the server's requests, and reports violations on the bus.
type Peer struct {
	defaults
	Server string
	Bus    *exec.Bus
	// OnNotification takes the server's notifications, in order, on the goroutine that reads, so it must not block.
	OnNotification func(m wire.Message)
	// OnRequest takes a request of the server, also on that goroutine, and reports whether it will answer it.
	OnRequest func(p *Peer, m wire.Message) bool
	// OnSend is called with the id of each request before it is sent, while mu is locked.
	OnSend func(ctx context.Context, id int64)
	// Repeatable reports whether a request may be sent twice.
	Repeatable func(ctx context.Context, method string, params json.RawMessage) bool
	// Renew begins a new session in place of one that the server no longer knows; nil where that is not possible.
	Renew func(ctx context.Context) error
	// Ping checks that the server responds.
	Ping func(ctx context.Context) error
	// Post sends a message without waiting for a reply or blocking, and reports whether it could.
	Post  func(f wire.Frame) bool
	times wire.RequestTimes

	Closing chan struct{} // closed when the session is being closed
	Done    chan struct{} // closed when nothing more can come; failure says why

	mu       sync.Mutex // guards what follows
	failure  error
	lastID   int64
	pending  map[int64]*Pending
	answered map[int64]wire.Class // what a further reply to an id would be
	// notifications counts those that were sent since the last answer to a request; nameless reports whether a request
	// was answered without its id before.
	notifications int
	nameless      bool
	late          bool // a request was answered after it was given up
}

// NewPeer returns a peer that reports what passes on bus.
func NewPeer(server string, bus *exec.Bus) *Peer {
	return &Peer{
		Server: server, Bus: bus,
		OnNotification: func(wire.Message) {},
		OnRequest:      func(*Peer, wire.Message) bool { return false },
		OnSend:         func(context.Context, int64) {},
		Repeatable:     func(context.Context, string, json.RawMessage) bool { return false },
		lastID:         firstID(),
		Closing:        make(chan struct{}),
		Done:           make(chan struct{}),
		pending:        make(map[int64]*Pending),
		answered:       make(map[int64]wire.Class),
	}
}

// RPC returns p, for transports that embed it.
func (p *Peer) RPC() *Peer { return p }

// firstID returns the first id of a session. It is random, so that a text that a server passes on (a page that it
// fetched and quotes in its log, say) cannot contain the answer to a request that is waiting. Servers made with the
// Rust SDK of before September 2025 read ids as 32 bits (modelcontextprotocol/rust-sdk#416), so no more bits are used;
// all ids have nine digits, so that messages have the same length.
func firstID() int64 { return 100_000_000 + rand.Int64N(800_000_000) }

// Pending is a request without an answer.
type Pending struct {
	ID     int64
	Frame  wire.Frame // as it is sent
	Reply  chan Reply // buffered: the reader never waits
	detail string     // what is known should it never be answered; guarded by Peer.mu
}

// DetailOf returns what is known should a request never be answered.
func (p *Peer) DetailOf(waiting *Pending) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return waiting.detail
}

// Reply is the outcome of a request.
type Reply struct {
	Message wire.Message
	Err     error
}

// maxAnswered bounds how many ids are remembered to tell late and duplicate replies from unknown ones.
const maxAnswered = 1024

// EncodeRequest returns the bytes of a request, on one line, for sending and for display. The error says that params
// are not JSON.
func EncodeRequest(id int64, method string, params json.RawMessage) (json.RawMessage, error) {
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

// Register gives a request its id, and notes that it waits for an answer.
func (p *Peer) Register(ctx context.Context, method string, params json.RawMessage) (*Pending, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastID++
	encoded, err := EncodeRequest(p.lastID, method, params)
	if err != nil {
		return nil, err
	}
	frame := wire.Frame{Bytes: encoded, ID: strconv.FormatInt(p.lastID, 10), Method: method}
	waiting := &Pending{ID: p.lastID, Frame: frame, Reply: make(chan Reply, 1)}
	p.pending[waiting.ID] = waiting
	p.OnSend(ctx, waiting.ID)
	return waiting, nil
}

// UpcomingID returns the id that the next request will have.
func (p *Peer) UpcomingID() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lastID + 1
}

// Settle forgets a request; further replies to it get the class further.
func (p *Peer) Settle(id int64, further wire.Class) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settleLocked(id, further)
}

func (p *Peer) settleLocked(id int64, further wire.Class) {
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

// GiveUp forgets a request whose context has ended, cancels it at the server where that is allowed and wanted, and
// returns what is known of why there was no answer.
func (p *Peer) GiveUp(ctx context.Context, waiting *Pending, tell bool) (detail string) {
	p.mu.Lock()
	p.settleLocked(waiting.ID, wire.ClassIDLate)
	detail = waiting.detail
	p.mu.Unlock()
	// The specification forbids cancelling the handshake, and tasks/cancel is what ends a task.
	if tell && !BeginsSession(waiting.Frame.Method) && !AboutTask(waiting.Frame.Method) {
		p.Cancel(ctx, waiting.ID)
	}
	return detail
}

// Cancel tells the server that a request's answer is no longer wanted.
func (p *Peer) Cancel(ctx context.Context, id int64) {
	notification, err := NewNotification(string(mcp.MethodNotificationCancelled), map[string]any{
		"requestId": id, "reason": context.Cause(ctx).Error(),
	})
	if err == nil {
		p.Notified()
		p.Post(notification) // a server that does not read cannot be told
	}
}

// Notified notes that a notification is sent. There are servers that answer it, as if it were a request without an id.
func (p *Peer) Notified() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notifications++
}

// BeginsSession reports whether method is the first request of a session.
func BeginsSession(method string) bool {
	return method == string(mcp.MethodInitialize) || method == string(mcp.MethodServerDiscover)
}

// Phase returns the current phase of the session.
func (p *Peer) Phase() wire.Phase {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.phaseLocked()
}

func (p *Peer) phaseLocked() wire.Phase {
	switch {
	case wire.Closed(p.Closing):
		return wire.PhaseShutdown
	case len(p.answered) == 0:
		return wire.PhaseStart
	case len(p.pending) > 0:
		return wire.PhaseRequest
	}
	return wire.PhaseIdle
}

// Fail ends the session: every pending request gets the failure, which is a *diagnose.Failure (diagnose.Of expects it).
// Only the first call counts.
func (p *Peer) Fail(failure error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failure != nil {
		return
	}
	p.failure = failure
	close(p.Done)
}

// Failed returns why the session ended, nil while it has not.
func (p *Peer) Failed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failure
}

// FirstRequest sets the id of the first request.
func (p *Peer) FirstRequest(id int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastID = id - 1
}

// AnsweredLate reports whether a request was answered after it was given up.
func (p *Peer) AnsweredLate() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.late
}

// Busy reports whether a request waits for its answer.
func (p *Peer) Busy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.pending) > 0
}

// Suspect notes what the likely cause is, should any of the waiting requests never be answered.
func (p *Peer) Suspect(detail string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.suspectLocked(detail)
}

func (p *Peer) suspectLocked(detail string) {
	for _, waiting := range p.pending {
		waiting.detail = detail
	}
}

// Lose fails the request whose answer was lost: the one whose id is told, or the only one that waits.
func (p *Peer) Lose(reason error, isIt func(id int64) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, waiting := range p.pending {
		if isIt(id) || len(p.pending) == 1 {
			p.settleLocked(id, wire.ClassIDLate)
			answer(waiting, Malformed(waiting.Frame.Method, reason))
			return
		}
	}
}

// NoteSent reports a message that is sent now.
func (p *Peer) NoteSent(f wire.Frame) { p.Bus.Emit(p.times.Sent(p.Server, f)) }

// EndWith calls cancel when the session is being closed or has ended, unless stop is called before.
func (p *Peer) EndWith(cancel func()) (stop func()) {
	stopped := make(chan struct{})
	go func() {
		select {
		case <-p.Closing:
		case <-p.Done:
		case <-stopped:
			return
		}
		cancel()
	}()
	return func() { close(stopped) }
}

// ErrorDetails reads a reply's error, which some servers send as a bare string.
func ErrorDetails(raw json.RawMessage) *mcp.JSONRPCErrorDetails {
	var details mcp.JSONRPCErrorDetails
	if err := json.Unmarshal(raw, &details); err != nil || details.Message == "" && details.Code == 0 {
		details.Message = string(raw)
		_ = json.Unmarshal(raw, &details.Message)
	}
	return &details
}

// NewNotification returns the frame of a notification; nil params are left out.
func NewNotification(method string, params any) (wire.Frame, error) {
	encoded, err := EncodeParams(method, params)
	if err != nil {
		return wire.Frame{}, err
	}
	text := rawjson.Build("jsonrpc", mcp.JSONRPC_VERSION, "method", method, "params", encoded)
	return wire.Frame{Bytes: text, Method: method}, nil
}

// EncodeParams encodes params for a request of the given method; nil params stay nil.
func EncodeParams(method string, params any) (json.RawMessage, error) {
	if params == nil {
		return nil, nil
	}
	encoded, err := rawjson.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", method, err)
	}
	return encoded, nil
}

// AboutTask reports whether a request is about a task, which only tasks/cancel ends.
func AboutTask(method string) bool { return strings.HasPrefix(method, "tasks/") }

// Error is an error with which toolx answers a server's request.
type Error struct {
	Code    int
	Message string
}

func (e *Error) Error() string { return e.Message }

// Respond answers a request of the server with a result, or with an error.
func (p *Peer) Respond(m wire.Message, result json.RawMessage, err error) {
	answer := map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "id": m.ID}
	var known *Error
	switch {
	case err == nil:
		answer["result"] = result
	case errors.As(err, &known):
		answer["error"] = map[string]any{"code": known.Code, "message": known.Message}
	default:
		answer["error"] = map[string]any{"code": mcp.INTERNAL_ERROR, "message": err.Error()}
	}
	encoded, err := rawjson.Marshal(answer)
	if err != nil {
		return
	}
	if !p.Post(wire.Frame{Bytes: encoded, ID: string(m.ID)}) {
		// The queue is full because the server does not read; waiting here would stop reading from it as well.
		p.Bus.Emit(exec.Notice{Time: exec.Now(), Server: p.Server, Text: fmt.Sprintf(
			"server %q asked %s and does not take the answer", p.Server, m.Method)})
	}
}
