package servers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/config"
	"toolx/pkg/exec"
)

// The times of a session over HTTP. Calls are bounded by their own clocks.
const (
	// postLimit bounds messages that nobody waits for: answers, cancellations.
	postLimit = 5 * time.Second
	// deleteGrace is how long closing waits for such messages, and for the server to
	// be told that the session is over.
	deleteGrace = time.Second
	// lingerTime is how long a stream may take to end after its reply. A connection
	// whose answer is not read to its end cannot be used again; lingerWait of it is
	// waited for, since the end mostly follows at once.
	lingerTime = time.Second
	lingerWait = 5 * time.Millisecond
)

// postSlots is how many messages may be on their way that nobody waits for.
const postSlots = 64

// sdkTransport is what mcp-go's two transports over HTTP have in common.
type sdkTransport interface {
	transport.Interface
	SetProtocolVersion(version string)
}

// remote is the link to a server over HTTP. mcp-go's transports make the requests
// (endpoint, session, revision); the exchanger below them sees every exchange whole,
// takes the messages out of it as they stand on the wire, and leaves to mcp-go an
// answer that says no more than that there is one.
type remote struct {
	*peer
	launch  *config.Resolved
	address *url.URL
	max     int64
	patience
	began time.Time

	base   *HTTPBase
	client *http.Client
	// next is what the exchanger sends through; regather makes its headers anew, nil where
	// they are always the same.
	next      *configured
	regather  func(ctx context.Context) (map[string]string, error)
	gathering sync.Mutex // held meanwhile

	// life ends when the link does, and with it all that is under way.
	life context.Context
	end  context.CancelFunc

	going   sync.WaitGroup // goroutines
	slots   chan struct{}
	closeMu sync.RWMutex // held to write while no goroutine may start
	ended   bool
	once    sync.Once
	// farewell bounds the DELETE that ends a session.
	farewell context.Context

	sdkMu  sync.Mutex
	sdk    sdkTransport
	stream *oldStream // of the older HTTP with SSE, else nil
	// version is the revision that the SDK has agreed on, empty before.
	version string
	// onExpired begins a new session in the place of one that the server no longer
	// knows; repeatable says whether a request may be sent twice.
	onExpired  func(ctx context.Context, session string) error
	repeatable func(method string, params any) bool
	// standing is the standing stream of the session, nil before it is asked for; deaf is
	// closed by deafen, when the server turns out to have none.
	standing atomic.Pointer[standing]
	deaf     chan struct{}
	deafen   func()
	// asked says that the server was told that it may ask.
	asked bool
}

// patience says how a server that asks to slow down is waited for.
type patience struct {
	attempts int
	delay    time.Duration // the first; it doubles
	longest  time.Duration // of one wait
}

// newRemote makes the link; nothing is sent yet. The error is a *Failure.
func newRemote(d dial) (*remote, error) {
	t := &remote{
		peer: newPeer(d.server.Name, d.bus), launch: d.launch, max: d.maxMessage, began: time.Now(),
		patience: patience{d.attempts, d.baseDelay, d.startTimeout},
		slots:    make(chan struct{}, postSlots),
		deaf:     make(chan struct{}),
		asked:    d.answers.any(),
	}
	t.post = t.postLater
	t.deafen = sync.OnceFunc(func() { close(t.deaf) })
	var err error
	if t.address, err = parseAddress(d.launch.URL); err == nil {
		t.base, err = NewHTTPBase(d.launch, d.http)
	}
	if err != nil {
		failure := t.newFailure(EndingMisconfigured)
		failure.Reason = err
		return nil, failure
	}
	t.next = d.configure(t.base, d.headers)
	if len(d.launch.HeadersCommand) > 0 {
		t.regather = d.gatherHeaders
	}
	t.client = &http.Client{Transport: &exchanger{t}, CheckRedirect: checkRedirect}
	t.life, t.end = context.WithCancel(context.Background())
	return t, nil
}

// Start makes the SDK's transport for streamable HTTP. It sends nothing.
func (t *remote) Start(context.Context) error { return t.renew() }

// renew begins anew, without session and revision.
func (t *remote) renew() error {
	sdk, err := transport.NewStreamableHTTP(t.address.String(),
		transport.WithHTTPBasicClient(t.client), transport.WithHTTPLogger(silence()))
	if err != nil {
		return err
	}
	t.sdkMu.Lock()
	defer t.sdkMu.Unlock()
	if t.stream != nil {
		t.stream.cancel()
	}
	t.sdk, t.stream, t.version = sdk, nil, ""
	t.standing.Store(nil)
	return nil
}

// silence is the logger of the SDK: what happens is told as events.
func silence() *slog.Logger { return slog.New(slog.DiscardHandler) }

func (t *remote) transport() sdkTransport {
	t.sdkMu.Lock()
	defer t.sdkMu.Unlock()
	return t.sdk
}

// SetProtocolVersion is told the revision that requests shall name from now on.
func (t *remote) SetProtocolVersion(version string) {
	t.sdkMu.Lock()
	defer t.sdkMu.Unlock()
	t.version = version
	t.sdk.SetProtocolVersion(version)
}

// modern says whether the revision is one without sessions.
func (t *remote) modern() bool {
	t.sdkMu.Lock()
	defer t.sdkMu.Unlock()
	return mcp.IsModernProtocol(t.version)
}

// GetSessionId is the id that the server gave the session, empty where it gave none.
func (t *remote) GetSessionId() string { return t.transport().GetSessionId() }

// SendRequest makes a round trip in the SDK's forms.
func (t *remote) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	m, err := t.roundTrip(ctx, request.Method, request.Params, request.Header)
	if err != nil {
		return nil, err
	}
	return sdkResponse(request.ID, m), nil
}

// posted travels in the context of an HTTP request: the message that it carries, and
// what became of it.
type posted struct {
	frame   []byte
	waiting *pending // nil where no reply is due
	written atomic.Bool
	got     *reply
	abort   context.CancelFunc // ends the SDK's waiting
}

type postedKey struct{}

// roundTrip makes a round trip. Where the server no longer knows the session, a new
// one is begun, once, and the request is sent again if that is safe.
func (t *remote) roundTrip(ctx context.Context, method string, params any, header http.Header) (message, error) {
	session := t.GetSessionId()
	m, err := t.tripOnce(ctx, method, params, header)
	var failure *Failure
	if !errors.As(err, &failure) || failure.Ending != EndingExpired || t.onExpired == nil || handshake(method) {
		return m, err
	}
	if err := t.onExpired(ctx, session); err != nil {
		return message{}, err
	}
	if !t.repeatable(method, params) {
		return message{}, &ExpiredError{Server: t.server, Method: method, Err: failure.Reason}
	}
	return t.tripOnce(ctx, method, params, header)
}

func (t *remote) tripOnce(ctx context.Context, method string, params any, header http.Header) (message, error) {
	waiting, err := t.register(method, params)
	if err != nil {
		return message{}, err
	}
	bounded, stop := t.within(ctx)
	defer stop()
	t.awaitStream(bounded, method)
	out := &posted{frame: waiting.frame, waiting: waiting, abort: stop}
	request := transport.JSONRPCRequest{
		JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(waiting.id), Method: method, Header: header,
	}
	err = t.patiently(bounded, method, func() error {
		return t.withFreshHeaders(bounded, func() error {
			_, err := t.transport().SendRequest(context.WithValue(bounded, postedKey{}, out), request)
			return err
		})
	})
	switch {
	case out.got != nil:
		return out.got.message, out.got.err
	case ctx.Err() != nil:
		// A revision without sessions is told by the end of the stream.
		detail := t.giveUp(ctx, waiting, out.written.Load() && !t.modern())
		return message{}, &abandonedError{err: ctx.Err(), detail: detail}
	case closed(t.done):
		return message{}, t.failed(method)
	}
	t.settle(waiting.id, ClassIDLate)
	return message{}, t.explain(method, err)
}

// within bounds a context by the life of the link.
func (t *remote) within(ctx context.Context) (context.Context, context.CancelFunc) {
	bounded, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(t.life, cancel)
	return bounded, func() {
		stop()
		cancel()
	}
}

// withFreshHeaders repeats what the server refused because of its headers (401), where
// the program that prints them prints others now: a token that has ended. The server
// has not looked at it, so this is safe for any request.
func (t *remote) withFreshHeaders(ctx context.Context, run func() error) error {
	sent := t.next.headers.Load()
	err := run()
	var refused *HTTPError
	if t.regather == nil || !errors.As(err, &refused) || refused.Status != http.StatusUnauthorized {
		return err
	}
	changed, failed := t.gatherAgain(ctx, sent)
	switch {
	case failed != nil:
		return failed
	case !changed:
		return err
	}
	return run()
}

// gatherAgain makes the headers anew, unless another request has done so since sent,
// and says whether they are others now.
func (t *remote) gatherAgain(ctx context.Context, sent *map[string]string) (changed bool, err error) {
	t.gathering.Lock()
	defer t.gathering.Unlock()
	if t.next.headers.Load() != sent {
		return true, nil
	}
	headers, err := t.regather(ctx)
	if err != nil || maps.Equal(headers, *sent) {
		return false, err
	}
	t.next.headers.Store(&headers)
	return true, nil
}

// patiently repeats what the server refused for now (429): it has not looked at it, so
// this is safe for any request. It waits as long as the server asks, within limits.
func (t *remote) patiently(ctx context.Context, method string, run func() error) error {
	delay := t.delay
	for attempt := 1; ; attempt++ {
		err := run()
		var refused *HTTPError
		if !errors.As(err, &refused) || refused.Status != http.StatusTooManyRequests || attempt >= t.attempts {
			return err
		}
		wait, asked := refused.RetryAfter()
		if !asked {
			wait = delay
		}
		if deadline, ok := ctx.Deadline(); wait > t.longest || ok && time.Until(deadline) < wait {
			return err
		}
		t.tell(slog.LevelWarn, "asks to slow down (HTTP 429); toolx sends %s again in %s", method, rounded(wait))
		if !waited(ctx, wait) {
			return err
		}
		delay *= 2
	}
}

// SendNotification posts a notification. Once the handshake is complete, the standing
// stream of a legacy session is opened.
func (t *remote) SendNotification(ctx context.Context, notification mcp.JSONRPCNotification) error {
	if notification.Method == string(mcp.MethodNotificationCancelled) {
		return nil // giveUp has said so, with the id that is on the wire
	}
	frame, err := notificationFrame(notification)
	if err != nil {
		return err
	}
	if err := t.send(ctx, frame); err != nil {
		return err
	}
	if notification.Method == string(mcp.MethodNotificationInitialized) {
		t.listen()
	}
	return nil
}

func (t *remote) send(ctx context.Context, frame []byte) error {
	if closed(t.done) {
		return t.failed("")
	}
	bounded, stop := t.within(ctx)
	defer stop()
	// The exchanger sends the frame; the SDK's own form of it does not matter.
	err := t.transport().SendNotification(
		context.WithValue(bounded, postedKey{}, &posted{frame: frame}), mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return &abandonedError{err: ctx.Err()}
	case closed(t.done):
		return t.failed("")
	}
	return t.explain("", err)
}

// postLater sends a message that nobody waits for.
func (t *remote) postLater(frame []byte) bool {
	select {
	case t.slots <- struct{}{}:
	default:
		return false
	}
	return t.start(func() {
		defer func() { <-t.slots }()
		ctx, cancel := context.WithTimeout(t.life, postLimit)
		defer cancel()
		if err := t.send(ctx, frame); err != nil && t.life.Err() == nil {
			t.tell(slog.LevelDebug, "did not take a message: %v", err)
		}
	})
}

// tell gives notice of what the server does.
func (t *remote) tell(level slog.Level, format string, values ...any) {
	t.bus.Emit(exec.Notice{Time: exec.Now(), Level: level, Text: fmt.Sprintf("server %q ", t.server) + fmt.Sprintf(format, values...), Server: t.server})
}

// start runs f on a goroutine that shutdown waits for, unless that has begun.
func (t *remote) start(f func()) bool {
	t.closeMu.RLock()
	defer t.closeMu.RUnlock()
	if !t.ended {
		t.going.Go(f)
	}
	return !t.ended
}

// Close ends the session as shutdown does with no deadline of its own.
func (t *remote) Close() error {
	t.shutdown(context.Background())
	return nil
}

// shutdown lets messages that are on their way arrive, tells the server that the
// session is over, and ends everything. It takes deleteGrace for each at most.
func (t *remote) shutdown(ctx context.Context) {
	t.once.Do(func() {
		close(t.closing)
		t.settlePosts(ctx)
		bounded, cancel := context.WithTimeout(ctx, deleteGrace)
		defer cancel()
		t.farewell = bounded
		if sdk := t.transport(); sdk != nil && !closed(t.done) && t.life.Err() == nil {
			_ = sdk.Close() // a server that does not know DELETE has nothing to end
		}
		t.kill()
		t.closeMu.Lock()
		t.ended = true
		t.closeMu.Unlock()
		t.going.Wait()
		t.base.CloseIdleConnections()
	})
}

// settlePosts waits until the messages that nobody waits for are sent, for a moment.
func (t *remote) settlePosts(ctx context.Context) {
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

func (t *remote) kill() {
	t.fail(t.newFailure(EndingClosed))
	t.end()
}

func (t *remote) newFailure(ending Ending) *Failure {
	failure := &Failure{Server: t.server, Ending: ending, URL: t.launch.URL, Lived: time.Since(t.began)}
	if t.address != nil {
		failure.URL = t.address.Redacted()
	}
	if ending == EndingSilent {
		failure.Ending = EndingUnanswered
	}
	return failure
}

// explain makes a Failure of what an exchange failed by. An answer that breaks the
// protocol is an *exec.MalformedError, as it is on stdio.
func (t *remote) explain(method string, err error) error {
	var broken *exec.MalformedError
	if errors.As(err, &broken) {
		return broken
	}
	var already *Failure
	if errors.As(err, &already) {
		return already
	}
	var failed *HTTPError
	if !errors.As(err, &failed) {
		failed = &HTTPError{Verb: http.MethodPost, URL: t.address, Err: err}
	}
	told := *failed
	told.Method = method
	failure := t.newFailure(told.ending())
	failure.Waiting, failure.Reason = method, &told
	return failure
}
