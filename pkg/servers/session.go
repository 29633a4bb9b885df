package servers

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
	mcphttp "toolx/pkg/servers/http"
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
	// Timing is how long the start took; CallMS is zero.
	Timing exec.Timing
	// PID is the process of a server that toolx started.
	PID int
	// Held says how a server that stays is used; nil for one that this process has started or connected with.
	Held *Held

	// reopen opens the session anew after the end of a server that stays.
	reopen func(ctx context.Context) (*Session, error)
	relist relister
	// renewing is held while a new session replaces one that has expired.
	renewing sync.Mutex

	mu       sync.Mutex    // guards renewals
	renewals chan struct{} // closed and made anew with each session that takes the place of another
}

// dial says how to make a session: the options for the server, with what its entry says and the defaults.
type dial struct {
	Options
	server *config.Server
	enough context.Context // ends a start that waits for an answer; nil for none
	// started lets other servers start; nil for a start outside any Pool. It may be called again.
	started func()
	// silent is called when the server has not answered for a while; nil for a start outside any Pool.
	silent func()
	// join connects with the process that holds the server; nil where this process starts it, or connects with it.
	join func(ctx context.Context) (*held, error)
}

// open makes one attempt: start, handshake, tools/list. The error is a *Failure, or ctx's where that ended first;
// either way nothing is left running.
func (d dial) open(ctx context.Context) (*Session, error) {
	s := &Session{
		requester: requester{Name: d.server.Name, bus: d.Bus, maxMessage: d.MaxMessage, keeping: newKeeping(d)},
		renewals:  make(chan struct{}),
	}
	s.keeping.session = s
	began := time.Now()
	if err := s.connect(ctx, d); err != nil {
		return nil, err
	}
	patient, held := d, s.link.SessionKey() != ""
	if held { // its holder has the same limits, and looks for the reason when one has passed
		patient.StartTimeout += failurePatience
	} else if d.enough == nil && !d.NoStartLimit && d.Bus != nil {
		var done func()
		patient.enough, done = d.listensElsewhere(s)
		defer done()
	}
	if err := s.link.Begin(); err != nil {
		return nil, err
	}
	s.PID = s.link.ProcessID()
	s.Timing.StartMS = exec.Milliseconds(time.Since(began))
	err := s.step(ctx, patient, mcp.MethodInitialize, &s.Timing.InitializeMS, func(ctx context.Context) error {
		return (&handshake{Session: s, dial: d}).run(ctx)
	})
	if err == nil && d.holder == nil && !s.recall(d.server) {
		s.relist.begin()
		err = s.step(ctx, d, mcp.MethodToolsList, &s.Timing.ListMS, func(ctx context.Context) error {
			err := s.listTools(ctx, d.server)
			if err != nil {
				return s.startError(mcp.MethodToolsList, err)
			}
			return nil
		})
		var failure *diagnose.Failure
		if held && errors.As(err, &failure) {
			failure.Final = true // another attempt would ask the same process
		}
	}
	if err != nil {
		// A server that failed to start gets little time to end.
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), stdio.TermGrace)
		defer cancel()
		s.link.Close(bounded)
		s.noteLateAnswer(err)
		s.link.CloseLog(ctx) // what says why it failed is worth the wait
		return nil, err
	}
	return s, nil
}

// noteLateAnswer completes the failure of a silent server that has answered since its stdin was closed. One that was
// computing then was only slow.
func (s *Session) noteLateAnswer(err error) {
	var failure *diagnose.Failure
	if errors.As(err, &failure) && failure.Ending == diagnose.EndingSilent && s.link.RPC().AnsweredLate() {
		failure.Buffered = !failure.Busy()
	}
}

// connect makes the link.
func (s *Session) connect(ctx context.Context, d dial) error {
	switch {
	case d.join != nil:
		held, err := d.join(ctx)
		if err != nil {
			return err
		}
		held.safe = s.repeatable
		s.link = held
	case d.launch.URL == "":
		s.link = stdio.New(d.stdio())
	default:
		options := d.remote()
		headers, err := options.GatherHeaders(ctx)
		if err != nil {
			return err
		}
		remote, err := mcphttp.New(options, headers)
		if err != nil {
			return err
		}
		remote.OnExpired = func(ctx context.Context, session string) error { return s.renew(ctx, d, remote, session) }
		remote.Repeatable = func(ctx context.Context, method string, params json.RawMessage) bool {
			return s.repeatable(method, params) || d.holder != nil && d.holder.mayRepeat(ctx)
		}
		remote.Ping = func(ctx context.Context) error {
			_, err := s.Ping(ctx)
			return err
		}
		s.link, s.overHTTP = remote, true
	}
	if d.FirstID != 0 {
		s.link.RPC().FirstRequest(d.FirstID)
	}
	s.clientInfo = mcp.Implementation{Name: "toolx", Version: d.Version}
	s.clientCapabilities = d.offered()
	s.inbox = newInbox(s.Name, s.bus, d.Answers)
	s.inbox.onRoots = s.relist.rootsSent
	s.link.RPC().OnNotification = s.notified
	s.link.RPC().OnRequest = s.inbox.take
	if d.holder != nil {
		s.link.RPC().OnNotification, s.link.RPC().OnRequest = d.holder.notified, d.holder.requested
		s.link.RPC().OnSend = d.holder.sending
	}
	return nil
}

// stdio returns how the server's process is started and talked to.
func (d dial) stdio() stdio.Options {
	return stdio.Options{
		Server: d.server.Name, Bus: d.Bus, Launch: d.launch, MaxMessage: d.MaxMessage, StdinGrace: d.StdinGrace,
		StderrDir: d.StderrDir,
	}
}

// remote returns how the server is reached over HTTP.
func (d dial) remote() mcphttp.Options {
	return mcphttp.Options{
		ClientOptions: d.HTTP, Server: d.server, Bus: d.Bus, Launch: d.launch, MaxMessage: d.MaxMessage,
		Retry:   wire.RetryPolicy{Attempts: d.Attempts, Delay: d.BaseDelay, Longest: d.StartTimeout},
		Version: d.Version, Asks: d.Answers.any() || d.holder != nil,
	}
}

// NewRaw returns a Raw for a server. It sends nothing yet, but runs the headersCommand of the entry. The error is a
// *diagnose.Failure, or ctx's.
func NewRaw(
	ctx context.Context, server *config.Server, launch *config.Resolved, options Options,
) (*mcphttp.Raw, error) {
	return mcphttp.OpenRaw(ctx, options.dial(server, launch).remote())
}

// offered returns what the server is told that its client can do; where the server is held, the clients can.
func (d dial) offered() mcp.ClientCapabilities {
	if d.holder != nil {
		return d.holder.spec.Offered
	}
	return d.Answers.capabilities()
}

// elsewhereWait is how long a program is waited for that says that it listens for HTTP, or asks a person.
const elsewhereWait = 10 * time.Second

// listensElsewhere returns a context that ends when the server has said that it listens for HTTP, or has asked a
// question on the terminal, and then has answered nothing for a while. done must be called when that is no longer of
// interest.
func (d dial) listensElsewhere(s *Session) (enough context.Context, done func()) {
	enough, cancel := context.WithCancel(context.Background())
	var once sync.Once
	var answered atomic.Bool
	unsubscribe := d.Bus.Subscribe(func(event exec.Event) {
		about, ok := event.(wire.Event)
		if !ok || about.From() != d.server.Name {
			return
		}
		text := ""
		switch e := event.(type) {
		case wire.ProcessStarted:
			go func() {
				if asks(enough, s.link, d.Elsewhere/2) && !answered.Load() {
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
		if text == "" || answered.Load() || cause.Listens(text) == "" {
			return
		}
		once.Do(func() {
			time.AfterFunc(d.Elsewhere, func() {
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
func asks(ctx context.Context, l link, between time.Duration) bool {
	look := time.NewTicker(between)
	defer look.Stop()
	for before := ""; ; {
		select {
		case <-ctx.Done():
			return false
		case <-look.C:
		}
		question := l.Question()
		if question != "" && question == before {
			return true
		}
		before = question
	}
}

// step runs one part of the start within the time limit and measures it.
func (s *Session) step(
	ctx context.Context, d dial, method mcp.MCPMethod, ms *float64, run func(context.Context) error,
) error {
	overdue := &overdueStart{Session: s, dial: d, began: time.Now()}
	bounded, stop := exec.WithRenewableLimit(ctx, d.StartTimeout, overdue.more)
	defer stop()
	go overdue.watch(bounded)
	if d.enough != nil {
		var cancel context.CancelFunc
		bounded, cancel = context.WithCancel(bounded)
		defer cancel()
		defer context.AfterFunc(d.enough, cancel)()
	}
	began := time.Now()
	err := run(bounded)
	*ms = exec.Milliseconds(time.Since(began))
	var refused *diagnose.Failure
	if errors.As(err, &refused) && refused.Ending == diagnose.EndingRefused {
		return refused // whatever took the rest of the time
	}
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		silent := s.link.NewFailure(diagnose.EndingSilent)
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
	if err == nil || s.link.SessionKey() == "" || !s.lost(err) {
		return result, err
	}
	if !s.repeatable(string(mcp.MethodToolsCall), CallParams(request.Name, nil)) {
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

// lost reports whether err says that the server, or its holder, ended while a request was under way.
func (s *Session) lost(err error) bool {
	var failure *diagnose.Failure
	return errors.As(err, &failure) && wire.Closed(s.Done()) && !wire.Closed(s.link.RPC().Closing)
}

// CallParams returns the params of a tools/call; nil arguments are left out.
func CallParams(name string, arguments json.RawMessage) json.RawMessage {
	return rawjson.Build("name", name, "arguments", arguments)
}

// notified takes a notification; it runs on the goroutine that reads.
func (s *Session) notified(method string, params json.RawMessage) {
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
	on   sync.Map // func(exec.Progress) by token, as text
}

// expect passes progress reports for a new token to on, until forget is called.
func (p *progressTokens) expect(on func(exec.Progress)) (token int64, forget func()) {
	token = p.last.Add(1)
	key := strconv.FormatInt(token, 10)
	p.on.Store(key, on)
	return token, func() { p.on.Delete(key) }
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
	on, known := p.on.Load(strings.Trim(string(bytes.TrimSpace(report.Token)), `"`))
	if known {
		on.(func(exec.Progress))(exec.Progress{
			Progress: report.Progress, Total: report.Total, Message: words.Clip(report.Message, maxProgress),
		})
	}
	return known
}

// Done returns a channel that is closed when the server has ended or can no longer be talked to.
func (s *Session) Done() <-chan struct{} { return s.link.RPC().Done }

// Err returns why the session can no longer be used; nil while it is open, and once toolx has closed it.
func (s *Session) Err() *diagnose.Failure {
	if !wire.Closed(s.Done()) {
		return nil
	}
	failure := diagnose.Of(s.link.RPC(), "")
	switch failure.Ending {
	case diagnose.EndingClosed:
		return nil
	case diagnose.EndingExited, diagnose.EndingKilled:
		if wire.Closed(s.link.RPC().Closing) { // which is what was asked of it
			return nil
		}
	}
	return failure
}

// tellLoss waits for the session's end, and reports it where nothing else does.
func (s *Session) tellLoss() {
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
	return s.link.Stderr(n)
}

// Close ends the session: it closes stdin, sends SIGTERM, then SIGKILL, each after a bounded wait, which ends early
// when ctx does. It returns when the process is gone.
func (s *Session) Close(ctx context.Context) { s.link.Close(ctx) }
