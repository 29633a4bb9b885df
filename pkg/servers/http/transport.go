// Package http reaches servers over streamable HTTP, and over the older HTTP with SSE.
package http

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/rpc"
	"toolx/pkg/servers/wire"
)

// The times of a session over HTTP. Calls are bounded by their own clocks.
const (
	// postLimit bounds sending messages without a reply: answers, cancellations.
	postLimit = 5 * time.Second
	// deleteGrace is how long closing waits for such messages, and for the server to be told that the session is over.
	deleteGrace = time.Second
	// lingerTime is how long a stream may take to end after its reply. A connection whose answer is not read to its end
	// cannot be used again; lingerWait of it is waited for, since the end mostly follows at once.
	lingerTime = time.Second
	lingerWait = 5 * time.Millisecond
)

// postSlots is how many messages without a reply may be on their way.
const postSlots = 64

// Transport is the transport to a server over HTTP. It posts every message, and passes every message of the response to
// the peer as it was received.
type Transport struct {
	*rpc.Peer
	launch  *config.Resolved
	address *url.URL
	max     int64
	rpc.RetryPolicy
	began time.Time

	base   *Base
	client *http.Client // sends through next, and follows redirects
	// next adds the configured headers and the access token.
	next *configured

	// life ends when the transport does, and ends everything that is under way.
	life context.Context
	end  context.CancelFunc

	going   sync.WaitGroup // goroutines
	slots   chan struct{}
	closeMu sync.RWMutex // locked to write while no goroutine may start
	ended   bool
	once    sync.Once

	stateMu sync.Mutex // guards what follows
	// session is the id that the server gave the session, empty where it gave none.
	session string
	// version is the revision that requests name, empty before one is offered.
	version string
	stream  *oldStream // of the older HTTP with SSE, else nil

	// renewing is locked while a new session replaces one that has expired.
	renewing sync.Mutex
	// standing is the standing stream of the session, nil before it is asked for; noStream is
	// closed by markNoStream, when the server turns out to have none.
	standing     atomic.Pointer[standingStream]
	noStream     chan struct{}
	markNoStream func()
	// asked reports that toolx has advertised that the server may send requests.
	asked bool
}

// Options say how a server over HTTP is reached.
type Options struct {
	ClientOptions
	Server     *config.Server
	Bus        *exec.Bus
	Launch     *config.Resolved
	MaxMessage int64
	Retry      rpc.RetryPolicy
	Version    string // of toolx, for the User-Agent
	// Asks reports whether the server may send requests.
	Asks bool
}

// New creates the transport; it sends nothing yet. The error is a *Failure.
func New(d Options, headers map[string]string) (*Transport, error) {
	t := &Transport{
		Peer: rpc.NewPeer(d.Server.Name, d.Bus), launch: d.Launch, max: d.MaxMessage, began: time.Now(),
		RetryPolicy: d.Retry,
		slots:       make(chan struct{}, postSlots),
		noStream:    make(chan struct{}),
		asked:       d.Asks,
	}
	t.Post = t.postLater
	t.markNoStream = sync.OnceFunc(func() { close(t.noStream) })
	var err error
	if t.address, err = parseAddress(d.Launch.URL); err == nil {
		t.base, err = NewBase(d.Launch, d.ClientOptions)
	}
	if err != nil {
		failure := t.NewFailure(diagnose.EndingMisconfigured)
		failure.Reason = err
		return nil, failure
	}
	t.next = d.configure(t.base, headers)
	t.client = &http.Client{Transport: t.next, CheckRedirect: checkRedirect}
	t.life, t.end = context.WithCancel(context.Background())
	return t, nil
}

// Reset begins again, without session and revision.
func (t *Transport) Reset() {
	t.stateMu.Lock()
	defer t.stateMu.Unlock()
	if t.stream != nil {
		t.stream.cancel()
	}
	t.session, t.version, t.stream = "", "", nil
	t.standing.Store(nil)
}

// Speak sets the protocol version that requests name in their headers.
func (t *Transport) Speak(version string) {
	t.stateMu.Lock()
	defer t.stateMu.Unlock()
	t.version = version
}

// NoStream returns a channel that is closed once the server has refused a stream of its own messages.
func (t *Transport) NoStream() <-chan struct{} { return t.noStream }

// Resuming returns how a broken stream is resumed.
func (t *Transport) Resuming() rpc.RetryPolicy { return t.RetryPolicy }

// modern reports whether the revision is one without sessions.
func (t *Transport) modern() bool {
	t.stateMu.Lock()
	defer t.stateMu.Unlock()
	return mcp.IsModernProtocol(t.version)
}

// SessionID returns the id that the server gave the session, empty where it gave none.
func (t *Transport) SessionID() string {
	t.stateMu.Lock()
	defer t.stateMu.Unlock()
	return t.session
}

// posted is stored in the context of an HTTP request: the message that it carries, and its outcome.
type posted struct {
	wire.Frame
	waiting *rpc.Pending // nil where no reply is due
	written atomic.Bool
	got     *rpc.Reply
}

type postedKey struct{}

// RoundTrip sends a request and waits for its reply. Where the server no longer knows the session, it begins a new one,
// once, and sends the request again if that is safe.
func (t *Transport) RoundTrip(
	ctx context.Context, method string, params json.RawMessage, header http.Header,
) (wire.Message, error) {
	session := t.SessionID()
	m, err := t.tripOnce(ctx, method, params, header)
	var failure *diagnose.Failure
	if !errors.As(err, &failure) || failure.Ending != diagnose.EndingExpired || t.Renew == nil ||
		rpc.BeginsSession(method) {
		return m, err
	}
	if err := t.renew(ctx, session); err != nil {
		return wire.Message{}, err
	}
	if !t.Repeatable(ctx, method, params) {
		return wire.Message{}, sessionExpired(t.Server, method, failure.Reason)
	}
	return t.tripOnce(ctx, method, params, header)
}

// renew begins a new session in place of one that the server has forgotten, unless another request has done so already.
// Until the server has given it an id, requests name the old session, so that the next one tries again if this fails.
func (t *Transport) renew(ctx context.Context, session string) error {
	t.renewing.Lock()
	defer t.renewing.Unlock()
	if t.SessionID() != session {
		return nil
	}
	t.tell(slog.LevelWarn, "lost the session; toolx starts a new one")
	t.standing.Store(nil)
	return t.Renew(ctx)
}

// OverHTTP reports that the rules of MCP for HTTP apply.
func (t *Transport) OverHTTP() bool { return true }

func (t *Transport) tripOnce(
	ctx context.Context, method string, params json.RawMessage, header http.Header,
) (wire.Message, error) {
	waiting, err := t.Register(ctx, method, params)
	if err != nil {
		return wire.Message{}, err
	}
	bounded, stop := t.within(ctx)
	defer stop()
	t.awaitStream(bounded, method)
	out := &posted{Frame: waiting.Frame, waiting: waiting}
	err = t.retryBusy(bounded, method, func() error {
		return t.next.withFreshHeaders(bounded, func() error { return t.exchange(bounded, out, header) })
	})
	switch {
	case out.got != nil:
		return out.got.Message, out.got.Err
	case ctx.Err() != nil:
		// A revision without sessions is told by the end of the stream.
		detail := t.GiveUp(ctx, waiting, out.written.Load() && !t.modern())
		return wire.Message{}, &diagnose.Abandoned{Err: ctx.Err(), Why: detail}
	case wire.Closed(t.Done):
		return wire.Message{}, diagnose.Of(t.Peer, method)
	}
	t.Settle(waiting.ID, wire.ClassIDLate)
	return wire.Message{}, t.explain(method, err)
}

// within bounds a context by the life of the transport.
func (t *Transport) within(ctx context.Context) (context.Context, context.CancelFunc) {
	bounded, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(t.life, cancel)
	return bounded, func() {
		stop()
		cancel()
	}
}

// retryBusy repeats what the server refused for now (429): it has not looked at it, so
// this is safe for any request. It waits as long as the server asks, within limits.
func (t *Transport) retryBusy(ctx context.Context, method string, run func() error) error {
	delay := t.Delay
	for attempt := 1; ; attempt++ {
		err := run()
		var refused *Error
		if !errors.As(err, &refused) || refused.Status != http.StatusTooManyRequests || attempt >= t.Attempts {
			return err
		}
		wait, asked := refused.RetryAfter()
		if !asked {
			wait = delay
		}
		if deadline, ok := ctx.Deadline(); wait > t.Longest || ok && time.Until(deadline) < wait {
			return err
		}
		t.tell(slog.LevelWarn, "asks to slow down (HTTP 429); toolx sends %s again in %s", method,
			diagnose.Rounded(wait))
		if !wire.Waited(ctx, wait) {
			return err
		}
		delay *= 2
	}
}

// Send posts a message. It returns once the response has begun, or the message has been accepted.
func (t *Transport) Send(ctx context.Context, f wire.Frame) error {
	if wire.Closed(t.Done) {
		return diagnose.Of(t.Peer, "")
	}
	bounded, stop := t.within(ctx)
	defer stop()
	err := t.exchange(bounded, &posted{Frame: f}, nil)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return &diagnose.Abandoned{Err: ctx.Err()}
	case wire.Closed(t.Done):
		return diagnose.Of(t.Peer, "")
	}
	return t.explain("", err)
}

// postLater sends a message without a reply.
func (t *Transport) postLater(f wire.Frame) bool {
	select {
	case t.slots <- struct{}{}:
	default:
		return false
	}
	return t.start(func() {
		defer func() { <-t.slots }()
		ctx, cancel := context.WithTimeout(t.life, postLimit)
		defer cancel()
		err := t.Send(ctx, f)
		// A server waits for the answer to its request, and drops a second one.
		delay := t.Delay
		for attempt := 1; attempt < t.Attempts && IsUnreachable(err) && wire.Waited(ctx, delay); attempt++ {
			err = t.Send(ctx, f)
			delay *= 2
		}
		if err != nil && t.life.Err() == nil {
			t.tell(slog.LevelDebug, "did not accept a message: %v", err)
		}
	})
}

// tell emits a notice about the server.
func (t *Transport) tell(level slog.Level, format string, values ...any) {
	t.Bus.Emit(exec.Notice{Time: exec.Now(), Level: level, Text: fmt.Sprintf("server %q ", t.Server) +
		fmt.Sprintf(format, values...), Server: t.Server})
}

// start runs f on a goroutine that Close waits for, unless that has begun.
func (t *Transport) start(f func()) bool {
	t.closeMu.RLock()
	defer t.closeMu.RUnlock()
	if !t.ended {
		t.going.Go(f)
	}
	return !t.ended
}

// Close lets messages that are on their way arrive, tells the server that the
// session is over, and ends everything. It takes deleteGrace for each at most.
func (t *Transport) Close(ctx context.Context) {
	t.once.Do(func() {
		close(t.Closing)
		t.settlePosts(ctx)
		if !wire.Closed(t.Done) && t.life.Err() == nil {
			t.endSession(ctx)
		}
		t.Kill()
		t.closeMu.Lock()
		t.ended = true
		t.closeMu.Unlock()
		t.going.Wait()
		t.base.CloseIdleConnections()
	})
}

// endSession tells the server that the session is over (MCP up to 2025-11-25, streamable
// HTTP, "Session Management"). A server that does not know DELETE has nothing to end.
func (t *Transport) endSession(ctx context.Context) {
	if t.SessionID() == "" || t.modern() {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, deleteGrace)
	defer cancel()
	request, err := t.newRequest(bounded, http.MethodDelete, t.address, nil)
	if err != nil {
		return
	}
	if response, err := t.client.Do(request); err == nil {
		_ = response.Body.Close()
	}
}

// newRequest makes a request that names the session and the revision.
func (t *Transport) newRequest(ctx context.Context, verb string, address *url.URL, body []byte) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, verb, address.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	t.stateMu.Lock()
	defer t.stateMu.Unlock()
	if t.session != "" && !mcp.IsModernProtocol(t.version) {
		request.Header.Set(mcp.HeaderSessionID, t.session)
	}
	if t.version != "" {
		request.Header.Set(mcp.HeaderProtocolVersion, t.version)
	}
	return request, nil
}

// settlePosts waits a moment for the messages without a reply to be sent.
func (t *Transport) settlePosts(ctx context.Context) {
	bounded, cancel := context.WithTimeout(ctx, deleteGrace)
	defer cancel()
	for range postSlots {
		select {
		case t.slots <- struct{}{}:
		case <-bounded.Done():
			return
		}
	}
}

// Kill ends the connection at once, without asking the server to end its session.
func (t *Transport) Kill() {
	t.Fail(t.NewFailure(diagnose.EndingClosed))
	t.end()
}

// NewFailure returns why the connection ended.
func (t *Transport) NewFailure(ending diagnose.Ending) *diagnose.Failure {
	failure := &diagnose.Failure{Server: t.Server, Ending: ending, URL: t.launch.URL, Lived: time.Since(t.began)}
	if t.address != nil {
		failure.URL = t.address.Redacted()
	}
	if ending == diagnose.EndingSilent {
		failure.Ending = diagnose.EndingUnanswered
	}
	return failure
}

// explain makes a Failure of what an exchange failed by. An answer that breaks the
// protocol is an *exec.MalformedError, as it is on stdio.
func (t *Transport) explain(method string, err error) error {
	var broken *exec.MalformedError
	if errors.As(err, &broken) {
		return broken
	}
	var already *diagnose.Failure
	if errors.As(err, &already) {
		return already
	}
	var failed *Error
	if !errors.As(err, &failed) {
		failed = &Error{Verb: http.MethodPost, URL: t.address, Err: err}
	}
	told := *failed
	told.Method = method
	failure := t.NewFailure(told.ending())
	failure.Waiting, failure.Reason = method, &told
	return failure
}
