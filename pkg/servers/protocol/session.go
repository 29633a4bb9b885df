// Package protocol is the client's side of MCP over any Transport: a Session agrees on a revision with a server, lists
// and calls what it has, follows tasks, and answers what it asks. Session.Request is the only way to ask a server
// anything, the handshake included.
package protocol

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/cause"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/rpc"
	"toolx/pkg/servers/stdio"
	"toolx/pkg/servers/wire"
	"toolx/pkg/words"
)

// Session is an open connection to one MCP server. It is the exec.Implementation of the server's tools. Its methods are
// safe for concurrent use.
type Session struct {
	requester
	// Info and Instructions are the server's own name and version, and its instructions for use.
	Info         mcp.Implementation
	Instructions string
	Capabilities mcp.ServerCapabilities
	// Greeting is the result of initialize or server/discover, byte for byte; nil where another process has it.
	Greeting json.RawMessage
	// Timing is how long the start took; CallMS is zero.
	Timing exec.Timing
	// PID is the process of a server that toolx started.
	PID int
	// Attached describes a server that another process keeps; nil for one that this process has started or connected
	// with.
	Attached *wire.Attached

	reopen func(ctx context.Context) (*Session, error) // see Options.Reopen
	relist relister

	mu       sync.Mutex    // guards renewals
	renewals chan struct{} // closed and replaced with each session that takes the place of another
}

// Options say how a session is opened and used. JSON of them has what a process needs that keeps a server for others.
type Options struct {
	Server *config.Server   `json:"-"` // its entry
	Launch *config.Resolved `json:"-"` // how it is started, or where it is
	Bus    *exec.Bus        `json:"-"` // may be nil
	// StartTimeout bounds the handshake, and tools/list. While a package manager fetches the server it does not count,
	// for maxFetch at most.
	StartTimeout time.Duration
	// NoStartLimit reports whether a start is not ended at StartTimeout: a StartOverdue says that it takes longer, and
	// the user stops the server.
	NoStartLimit bool
	// NoAnswerTimeout is how long to wait for a server that prints that it listens for HTTP, or asks a person a
	// question, and sends no answer; zero means defaultNoAnswer.
	NoAnswerTimeout time.Duration
	// fetching finds the package manager that is fetching the server of a process; nil means diagnose.Fetching.
	fetching func(pid int) string
	// Protocol pins the revision; empty means that it is negotiated.
	Protocol string
	// MaxMessage is the size in bytes of the largest message, and of the largest list.
	MaxMessage int64
	// Version is toolx's own version, which it sends to servers.
	Version string
	// EraFile is a file that remembers the era of servers over HTTP from one process to the next; empty means that the
	// era is found out each time.
	EraFile string
	// FirstID is the id of a session's first request; zero means that ids begin at random (see rpc.NewPeer), as
	// callers of tools want.
	FirstID int64
	// Answers say how every session answers the requests of its server.
	Answers Answers `json:"-"`
	// Memory keeps what servers list; nil means that nothing is kept.
	Memory Memory `json:"-"`
	// Relay takes what the server sends, where this process keeps it for others; else nil.
	Relay Relay `json:"-"`
	// Client is the one client of the Relay, which the server sees in place of toolx; nil for none.
	Client *wire.Client `json:"-"`
	// Reopen replaces a session whose server has ended in a process that keeps it; nil where there is none.
	Reopen func(ctx context.Context) (*Session, error) `json:"-"`
	// Started is called when others may start, perhaps several times, and Silent when the server has not answered for a
	// while; both may be nil.
	Started func() `json:"-"`
	Silent  func() `json:"-"`
	// enough ends a start that waits for an answer; nil for none.
	enough context.Context
}

// Relay passes on what a server sends to the processes that use it, instead of the session.
type Relay interface {
	Notified(m wire.Message)
	Requested(p *rpc.Peer, m wire.Message) bool
	// Sending is called with the id of each request before it is sent; ctx is that of RoundTrip.
	Sending(ctx context.Context, id int64)
	// Repeatable reports whether the request of ctx may be sent twice.
	Repeatable(ctx context.Context) bool
	// Offered returns what those processes can do for the server.
	Offered() mcp.ClientCapabilities
}

// attachTime is how much longer than StartTimeout a start may take in another process, which has the same limit and
// then looks for the reason of the failure.
const attachTime = 10 * time.Second

// Open makes one attempt to open a session over a transport: start, handshake, tools/list. The error is a *Failure, or
// ctx's where that ended first; either way nothing is left running.
func Open(ctx context.Context, transport Transport, o Options) (*Session, error) {
	s := newSession(transport, o)
	began := time.Now()
	limits, kept := o, transport.SessionKey() != ""
	if kept {
		limits.StartTimeout += attachTime
	} else if o.enough == nil && !o.NoStartLimit && o.Bus != nil {
		var done func()
		limits.enough, done = o.listensElsewhere(transport)
		defer done()
	}
	if err := transport.Begin(); err != nil {
		return nil, err
	}
	s.PID = transport.ProcessID()
	s.Timing.StartMS = exec.Milliseconds(time.Since(began))
	err := s.step(ctx, limits, mcp.MethodInitialize, &s.Timing.InitializeMS, func(ctx context.Context) error {
		return (&handshake{Session: s, options: o}).run(ctx)
	})
	if err == nil && o.Relay == nil && !s.recall() {
		s.relist.begin()
		err = s.step(ctx, o, mcp.MethodToolsList, &s.Timing.ListMS, func(ctx context.Context) error {
			err := s.listTools(ctx)
			if err != nil {
				return s.startError(mcp.MethodToolsList, err)
			}
			return nil
		})
		var failure *diagnose.Failure
		if kept && errors.As(err, &failure) {
			failure.Final = true // another attempt would ask the same process
		}
	}
	if err != nil {
		// A server that failed to start gets little time to end.
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), stdio.TermGrace)
		defer cancel()
		transport.Close(bounded)
		s.noteLateAnswer(err)
		transport.CloseLog(ctx) // what says why it failed is worth the wait
		return nil, err
	}
	return s, nil
}

// noteLateAnswer completes the failure of a silent server that has answered since its stdin was closed. One that was
// computing then was only slow.
func (s *Session) noteLateAnswer(err error) {
	var failure *diagnose.Failure
	if errors.As(err, &failure) && failure.Ending == diagnose.EndingSilent && s.transport.RPC().AnsweredLate() {
		failure.Buffered = !failure.Busy()
	}
}

// newSession returns a session that takes what the transport receives.
func newSession(transport Transport, o Options) *Session {
	s := &Session{
		requester: requester{
			Name: o.Server.Name, bus: o.Bus, transport: transport, maxMessage: o.MaxMessage, keeping: newKeeping(o),
			clientInfo:         mcp.Implementation{Name: "toolx", Version: o.Version},
			clientCapabilities: o.Answers.Capabilities(),
			inbox:              newInbox(o.Server.Name, o.Bus, o.Answers),
		},
		reopen: o.Reopen, renewals: make(chan struct{}),
	}
	s.keeping.session = s
	s.inbox.onRoots = s.relist.rootsSent
	peer := transport.RPC()
	if o.FirstID != 0 {
		peer.FirstRequest(o.FirstID)
	}
	peer.OnNotification, peer.OnRequest = s.notified, s.inbox.take
	peer.Renew = func(ctx context.Context) error { return s.renew(ctx, o.StartTimeout) }
	peer.Ping = func(ctx context.Context) error {
		_, err := s.Ping(ctx)
		return err
	}
	peer.Repeatable = func(ctx context.Context, method string, params json.RawMessage) bool {
		return s.Repeatable(method, params) || o.Relay != nil && o.Relay.Repeatable(ctx)
	}
	if s.client = o.Client; s.client != nil {
		s.clientInfo, s.inbox.client = s.client.Info, s.client
	}
	if o.Relay != nil {
		s.clientCapabilities = o.Relay.Offered()
		peer.OnNotification, peer.OnRequest, peer.OnSend = o.Relay.Notified, o.Relay.Requested, o.Relay.Sending
	}
	return s
}

// defaultNoAnswer is the default of Options.NoAnswerTimeout.
const defaultNoAnswer = 10 * time.Second

// listensElsewhere returns a context that ends when the server has said that it listens for HTTP, or has asked a
// question on the terminal, and then has answered nothing for a while. done must be called when that is no longer of
// interest.
func (o Options) listensElsewhere(transport Transport) (enough context.Context, done func()) {
	wait := cmp.Or(o.NoAnswerTimeout, defaultNoAnswer)
	enough, cancel := context.WithCancel(context.Background())
	var once sync.Once
	var answered atomic.Bool
	unsubscribe := o.Bus.Subscribe(func(event exec.Event) {
		about, ok := event.(wire.Event)
		if !ok || about.From() != o.Server.Name {
			return
		}
		text := ""
		switch e := event.(type) {
		case wire.ProcessStarted:
			go func() {
				if asks(enough, transport, wait/2) && !answered.Load() {
					cancel()
				}
			}()
		case wire.FrameReceived:
			answered.Store(true)
		case wire.StderrLine:
			text = e.Text
		case wire.PollutedLine:
			text = string(e.Text)
		}
		if text == "" || answered.Load() || cause.ListenURL(text) == "" {
			return
		}
		once.Do(func() {
			time.AfterFunc(wait, func() {
				if !answered.Load() {
					cancel()
				}
			})
		})
	})
	return enough, func() {
		unsubscribe()
		cancel()
	}
}

// asks waits until the server has asked the same for two looks in a row, and reports whether it did before ctx ended.
func asks(ctx context.Context, transport Transport, between time.Duration) bool {
	look := time.NewTicker(between)
	defer look.Stop()
	for before := ""; ; {
		select {
		case <-ctx.Done():
			return false
		case <-look.C:
		}
		question := transport.Question()
		if question != "" && question == before {
			return true
		}
		before = question
	}
}

// step runs one part of the start within the time limit and measures it.
func (s *Session) step(
	ctx context.Context, o Options, method mcp.MCPMethod, ms *float64, run func(context.Context) error,
) error {
	overdue := &overdueStart{Session: s, options: o, began: time.Now()}
	bounded, stop := exec.WithRenewableLimit(ctx, o.StartTimeout, overdue.more)
	defer stop()
	go overdue.watch(bounded)
	if o.enough != nil {
		var cancel context.CancelFunc
		bounded, cancel = context.WithCancel(bounded)
		defer cancel()
		defer context.AfterFunc(o.enough, cancel)()
	}
	began := time.Now()
	err := run(bounded)
	*ms = exec.Milliseconds(time.Since(began))
	var refused *diagnose.Failure
	if errors.As(err, &refused) && refused.Ending == diagnose.EndingRefused {
		return refused // whatever took the rest of the time
	}
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		silent := s.transport.NewFailure(diagnose.EndingSilent)
		silent.Waiting = string(method)
		silent.Lived = cmp.Or(silent.Lived, time.Since(began))
		var abandoned *diagnose.Abandoned
		if errors.As(err, &abandoned) && abandoned.Why != "" && silent.Ending == diagnose.EndingSilent {
			silent.Reason = errors.New(abandoned.Why)
		}
		var unfinished *unfinishedError
		if errors.As(err, &unfinished) {
			silent.Ending, silent.Reason = diagnose.EndingUnfinished, unfinished
		}
		return silent
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var ended *diagnose.Failure
	if errors.As(err, &ended) && ended.Waiting == "" && ended.URL == "" { // before it could be asked
		asked := *ended
		asked.Waiting = string(method)
		return &asked
	}
	return err
}

// rpcError returns the error for a JSON-RPC error, with the server's own message.
func rpcError(details *mcp.JSONRPCErrorDetails) error {
	message := details.Message
	if data, err := rawjson.Marshal(details.Data); err == nil && details.Data != nil {
		message += " " + string(data)
	}
	if message == "" {
		message = fmt.Sprintf("error %d", details.Code)
	}
	return &exec.ToolError{Message: message, Code: details.Code}
}

// The sizes in bytes up to which short texts of a server are taken: names, and messages of progress. A longer name of
// the server itself is cut, and a tool with a longer name is left out.
const (
	maxName     = 1 << 10
	maxProgress = 4 << 10
)

// CallTool implements exec.Implementation. It always sends a progress token, and returns the server's reply byte for
// byte. A JSON-RPC error is an *exec.ToolError with the server's own message (NORM-6).
func (s *Session) CallTool(ctx context.Context, request exec.Request) (json.RawMessage, error) {
	result, err := s.callTool(ctx, request)
	if err == nil || s.transport.SessionKey() == "" || !s.lost(err) {
		return result, err
	}
	if !s.Repeatable(string(mcp.MethodToolsCall), CallParams(request.Name, nil)) {
		return nil, unknownOutcome(err)
	}
	s.notice(slog.LevelWarn, fmt.Sprintf("server %q ended in mid-call; %s may be repeated, and is: %v", s.Name,
		request.Name, err))
	next, again := s.reopen(ctx)
	if again != nil {
		return nil, again
	}
	return next.callTool(ctx, request)
}

// unknownOutcome returns the error of a server that another process keeps and that ended in mid-call, so that it is not
// known what the call has done. Such a call is repeated only if its tool says that this does no harm.
func unknownOutcome(err error) error {
	return &diagnose.Hinted{
		Text: err.Error() + "; outcome unknown", Err: err,
		Fix: "the call may have had its effect: look before you repeat it " +
			"(toolx automatically repeats calls of tools with readOnlyHint or idempotentHint)",
	}
}

// lost reports whether err says that the server, or the process that keeps it, ended while a request was under way.
func (s *Session) lost(err error) bool {
	var failure *diagnose.Failure
	return errors.As(err, &failure) && wire.Closed(s.Done()) && !wire.Closed(s.transport.RPC().Closing)
}

// CallParams returns the params of a tools/call; nil arguments are left out.
func CallParams(name string, arguments json.RawMessage) json.RawMessage {
	return rawjson.Build("name", name, "arguments", arguments)
}

// notified takes a notification; it runs on the goroutine that reads.
func (s *Session) notified(m wire.Message) {
	method, params := m.Method, m.Params
	s.keeping.changed(method)
	switch method {
	case "notifications/progress":
		if !s.progress.report(params) {
			s.bus.Emit(wire.Notification{Head: wire.Now(s.Name), Method: method, Params: params})
		}
	case "notifications/message":
		var message struct {
			Level  string          `json:"level"`
			Logger string          `json:"logger"`
			Data   json.RawMessage `json:"data"`
		}
		// A malformed member does not affect the others.
		_ = json.Unmarshal(params, &message)
		s.bus.Emit(wire.LogMessage{
			Head: wire.Now(s.Name), Level: message.Level, Logger: message.Logger,
			Data: message.Data,
		})
	case "notifications/cancelled":
		s.inbox.cancelled(params)
		s.bus.Emit(wire.Notification{Head: wire.Now(s.Name), Method: method, Params: params})
	case mcp.MethodNotificationToolsListChanged:
		s.bus.Emit(wire.Notification{Head: wire.Now(s.Name), Method: method, Params: params})
		s.relist.notified()
	default:
		s.bus.Emit(wire.Notification{Head: wire.Now(s.Name), Method: method, Params: params})
	}
}

// progressTokens are the tokens of the requests that want to know of their progress. The zero value is ready.
type progressTokens struct {
	last atomic.Int64
	mu   sync.Mutex
	on   map[string]func(exec.Progress) // by token, as text
}

// expect passes progress reports for a new token to on, until forget is called.
func (p *progressTokens) expect(on func(exec.Progress)) (token int64, forget func()) {
	token = p.last.Add(1)
	key := strconv.FormatInt(token, 10)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.on == nil {
		p.on = make(map[string]func(exec.Progress))
	}
	p.on[key] = on
	return token, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.on, key)
	}
}

// report passes a report to the call that its token names, and reports whether there is one. The token may come back as
// a string.
func (p *progressTokens) report(params json.RawMessage) bool {
	var report struct {
		Token    json.RawMessage `json:"progressToken"`
		Progress float64         `json:"progress"`
		Total    float64         `json:"total"`
		Message  string          `json:"message"`
	}
	_ = json.Unmarshal(params, &report)
	p.mu.Lock()
	on := p.on[strings.Trim(string(bytes.TrimSpace(report.Token)), `"`)]
	p.mu.Unlock()
	if on == nil {
		return false
	}
	on(exec.Progress{
		Progress: report.Progress, Total: report.Total, Message: words.Clip(report.Message, maxProgress),
	})
	return true
}

// Done returns a channel that is closed when the server has ended or can no longer be talked to.
func (s *Session) Done() <-chan struct{} { return s.transport.RPC().Done }

// Err returns why the session can no longer be used; nil while it is open, and once toolx has closed it.
func (s *Session) Err() *diagnose.Failure {
	if !wire.Closed(s.Done()) {
		return nil
	}
	failure := diagnose.Of(s.transport.RPC(), "")
	switch failure.Ending {
	case diagnose.EndingClosed:
		return nil
	case diagnose.EndingExited, diagnose.EndingKilled:
		if wire.Closed(s.transport.RPC().Closing) { // which is what was asked of it
			return nil
		}
	}
	return failure
}

// Failure returns how the session ended, nil while it is open.
func (s *Session) Failure() *diagnose.Failure { return s.Wire().Failure() }

// SessionKey returns the key of the session that another process keeps; empty where this process has the server.
func (s *Session) SessionKey() string { return s.transport.SessionKey() }

// Transport returns what carries the session's messages.
func (s *Session) Transport() Transport { return s.transport }

// Announce notes that the session has been announced, so that its end is reported as well. It is called once.
func (s *Session) Announce() {
	s.transport.Announce()
	go s.reportLoss()
}

// reportLoss waits for the session's end, and reports it where nothing else does.
func (s *Session) reportLoss() {
	<-s.Done()
	failure := s.Err()
	if failure == nil || failure.Ending == diagnose.EndingExited || failure.Ending == diagnose.EndingKilled {
		return
	}
	s.bus.Emit(SessionLost{Head: wire.Now(s.Name), Why: failure})
}

// Stderr returns the last n lines of the server's stderr, how many lines there
// were in all, and the path of the full log (empty where there is none).
func (s *Session) Stderr(n int) (lines []string, total int, path string) {
	return s.transport.Stderr(n)
}

// Kill ends the session at once and does not wait.
func (s *Session) Kill() { s.transport.Kill() }

// Close ends the session: it closes stdin, sends SIGTERM, then SIGKILL, each after a bounded wait, which ends early
// when ctx does. It returns when the process is gone.
func (s *Session) Close(ctx context.Context) { s.transport.Close(ctx) }
