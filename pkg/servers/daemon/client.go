package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/rpc"
	"toolx/pkg/servers/wire"
)

// answerTime is how long a client waits for what a daemon answers at once.
const answerTime = time.Second

// silenceLimit is how long a client waits for a server to be ready before it asks whether the daemon answers, and then
// for the answer: a process that is stopped still accepts connections.
const silenceLimit = 3 * time.Second

// diagnoseTime is how long a client waits while a daemon that answers looks for the reason of a failure.
const diagnoseTime = 10 * time.Second

// Client is the transport to a server that a daemon keeps. The daemon passes on what it sees while a request of this
// client runs, so that the same events are emitted as if the server were this process's own.
type Client struct {
	*rpc.Peer
	options ClientOptions
	conn    lineConn
	key     string // of the session

	hello atomic.Pointer[hello] // set once attached
	last  atomic.Pointer[Info]
	// startedPID is the process of the server that the daemon is starting, zero if it has reported none.
	startedPID atomic.Int64
	once       sync.Once

	recorded io.Writer // takes a recording; nil where none is wanted

	mu       sync.Mutex // guards what follows
	lastID   int64
	requests map[int64]chan answer // to the daemon, by id
}

// ClientOptions say how a client uses a session; the zero value suffices to ask the daemon about it.
type ClientOptions struct {
	Server  *config.Server // its entry
	Bus     *exec.Bus
	Version string // of toolx
	// Offered is what this process can do for the server.
	Offered mcp.ClientCapabilities
	// Watch reports whether what the server does between requests is wanted.
	Watch bool
}

// answer is the response of a daemon to a request; err says that it cannot be read.
type answer struct {
	response response
	err      error
}

// newClient makes the transport over a connection with the daemon; Begin starts it.
func newClient(conn net.Conn, key string, options ClientOptions) *Client {
	server := ""
	if options.Server != nil {
		server = options.Server.Name
	}
	c := &Client{
		Peer: rpc.NewPeer(server, options.Bus), options: options, conn: newLineConn(conn, math.MaxInt), key: key,
		requests: make(map[int64]chan answer),
	}
	c.Post = func(f wire.Frame) bool {
		c.conn.put(asLine(f.Bytes))
		return true
	}
	return c
}

// Begin starts reading.
func (c *Client) Begin() error {
	go func() { c.lost(c.conn.read(c.handle)) }()
	return nil
}

// handle handles a message of the daemon.
func (c *Client) handle(m wire.Message) {
	switch m.Kind() {
	case wire.KindReply:
		r, err := readResponse(m.Result)
		if r.Received != nil {
			r.Received.Bytes = r.message
			c.Bus.Emit(*r.Received)
		}
		id, _, _ := wire.RequestID(m.ID)
		c.mu.Lock()
		waiting := c.requests[id]
		delete(c.requests, id)
		c.mu.Unlock()
		if waiting != nil {
			waiting <- answer{r, err}
		}
	case wire.KindRequest:
		c.AnswerRequest(m)
	case wire.KindNotification:
		c.notified(m.Method, m.Params)
	}
}

// notified handles a notification of the daemon.
func (c *Client) notified(method string, params json.RawMessage) {
	switch method {
	case methodEvent:
		event := readEvent(params)
		if started, ok := event.(wire.ProcessStarted); ok {
			c.startedPID.Store(int64(started.PID))
		}
		if event != nil {
			c.Bus.Emit(event)
		}
	case methodNotification:
		c.OnNotification(wire.Message{Method: rawjson.GetText(params, "method"), Params: rawjson.Get(params, "params")})
	case methodRecorded:
		if c.recorded != nil {
			_, _ = c.recorded.Write(asLine(params)) // a reader that has gone misses nothing
		}
	case methodLast:
		if r, err := readResponse(params); err == nil {
			c.last.Store(r.Info)
		}
	case methodEnded:
		if r, err := readResponse(params); err == nil && r.Failure != nil {
			c.Fail(r.Failure.failure())
		}
	}
}

// lost ends the transport when no more can come from the daemon.
func (c *Client) lost(err error) {
	if wire.Closed(c.Closing) {
		c.Fail(c.localFailure(diagnose.EndingClosed))
		return
	}
	failure := c.localFailure(diagnose.EndingDaemonGone)
	switch {
	case c.last.Load() != nil:
		failure.Reason = errors.New("its session was ended")
	case !errors.Is(err, io.EOF):
		failure.Reason = err
	}
	c.Fail(failure)
}

// localFailure returns a Failure with what is known without the daemon.
func (c *Client) localFailure(ending diagnose.Ending) *diagnose.Failure {
	failure := &diagnose.Failure{Server: c.Server, Ending: ending}
	if h := c.hello.Load(); h != nil {
		failure.Command, failure.Cwd, failure.URL = h.Command, h.Cwd, h.URL
		failure.StderrPath = h.StderrPath
	}
	return failure
}

// ask sends the daemon a request and returns its response. The error is ctx's, or a *Failure where the daemon has
// ended.
func (c *Client) ask(ctx context.Context, method string, params json.RawMessage) (response, error) {
	c.mu.Lock()
	c.lastID++
	id, answered := c.lastID, make(chan answer, 1)
	c.requests[id] = answered
	c.mu.Unlock()
	defer c.forget(id)
	line, err := rpc.EncodeRequest(id, method, params)
	if err != nil {
		return response{}, err
	}
	c.conn.put(asLine(line))
	select {
	case r := <-answered:
		return r.response, r.err
	case <-c.Done:
		return c.after(answered)
	case <-ctx.Done():
	}
	if method != methodRequest && method != methodAttach {
		return response{}, ctx.Err()
	}
	// The daemon cancels the request, and reports what is known of why there was no answer.
	c.Cancel(ctx, id)
	select {
	case r := <-answered:
		return r.response, r.err
	case <-c.Done:
		return c.after(answered)
	case <-time.After(answerTime):
		return response{}, &diagnose.Abandoned{Err: ctx.Err(), Why: "the process that keeps the server does not answer"}
	}
}

func (c *Client) forget(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.requests, id)
}

// after returns the answer to a request that came with the end of the connection, else the reason of that end.
func (c *Client) after(answered <-chan answer) (response, error) {
	select {
	case r := <-answered:
		return r.response, r.err
	default:
		return response{}, diagnose.Of(c.Peer, "")
	}
}

// Attach makes the server ready, and returns what the daemon has agreed on with it. The error is a *Failure, or ctx's.
func (c *Client) Attach(ctx context.Context) (*wire.Attached, error) {
	hello, err := c.attach(ctx)
	var failure *diagnose.Failure
	switch {
	case errors.As(err, &failure) || err != nil && ctx.Err() != nil:
		return nil, err
	case err != nil:
		failure = c.localFailure(diagnose.EndingUnusable)
		failure.Reason = fmt.Errorf("server '%s': %w", c.Server, err)
		return nil, failure
	}
	c.reportDifferences(hello)
	return &hello.Attached, nil
}

func (c *Client) attach(ctx context.Context) (*hello, error) {
	bounded, stop := c.whileAnswering(ctx)
	defer stop()
	r, err := c.ask(bounded, methodAttach, rawjson.Build("watch", c.options.Watch))
	switch {
	case bounded.Err() != nil && ctx.Err() == nil && !wire.Closed(c.Done):
		return nil, c.silent()
	case err != nil:
		return nil, err
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case r.Failure != nil:
		return nil, r.Failure.failure()
	case r.Err != nil:
		return nil, r.Err.err()
	case r.Hello == nil:
		return nil, ErrOtherVersion
	}
	c.hello.Store(r.Hello)
	return r.Hello, nil
}

// whileAnswering returns a context that also ends when the daemon turns out to answer nothing.
func (c *Client) whileAnswering(ctx context.Context) (bounded context.Context, stop func()) {
	bounded, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(silenceLimit, func() {
		if !c.answers(bounded) {
			cancel()
		}
	})
	return bounded, func() {
		timer.Stop()
		cancel()
	}
}

// answers reports whether the daemon answers anything.
func (c *Client) answers(ctx context.Context) bool {
	bounded, cancel := context.WithTimeout(ctx, silenceLimit)
	defer cancel()
	_, err := c.info(bounded, methodInfo)
	return err == nil || bounded.Err() == nil
}

// silent returns the Failure of a server whose daemon does not answer. Another attempt would ask the same process.
func (c *Client) silent() *diagnose.Failure {
	failure := c.localFailure(diagnose.EndingDaemonSilent)
	failure.Final = true
	return failure
}

// RoundTrip lets the daemon send a request, and returns the answer.
func (c *Client) RoundTrip(
	ctx context.Context, method string, params json.RawMessage, header http.Header,
) (wire.Message, error) {
	r, err := c.ask(ctx, methodRequest, rawjson.Build("method", method, "safe", c.Repeatable(ctx, method, params),
		"header", json.RawMessage(asJSON(header)), "params", params))
	var ended *diagnose.Failure
	switch {
	case errors.As(err, &ended):
		ended.Waiting = method
		return wire.Message{}, ended
	case err != nil:
		return wire.Message{}, err
	case r.Failure != nil:
		failure := r.Failure.failure()
		if failure.Ends() {
			c.Fail(failure) // before the daemon says so
		}
		return wire.Message{}, failure
	case r.Err != nil && r.Err.Abandoned:
		return wire.Message{}, &diagnose.Abandoned{
			Err: cmp.Or(ctx.Err(), context.Canceled), Why: r.Err.Text, Printed: r.Err.Facts,
		}
	case r.Err != nil && ctx.Err() != nil:
		return wire.Message{}, ctx.Err()
	case r.Err != nil:
		return wire.Message{}, r.Err.err()
	}
	return wire.Read(r.message), nil // the daemon has checked it
}

// Send lets the daemon send a message as it is.
func (c *Client) Send(_ context.Context, f wire.Frame) error {
	notification, err := rpc.NewNotification(methodSend, map[string][]byte{"frame": f.Bytes})
	if err != nil {
		return err
	}
	c.Post(notification)
	return nil
}

// Close leaves the server to its daemon.
func (c *Client) Close(context.Context) {
	c.once.Do(func() { close(c.Closing) })
	c.conn.cut()
}

// Kill ends the connection at once.
func (c *Client) Kill() { _ = c.conn.Close() }

// NewFailure gathers what the daemon knows of the server now.
func (c *Client) NewFailure(ending diagnose.Ending) *diagnose.Failure {
	limited, cancel := context.WithTimeout(context.Background(), diagnoseTime)
	defer cancel()
	ctx, stop := c.whileAnswering(limited)
	defer stop()
	r, err := c.ask(ctx, methodFailure, rawjson.Build("ending", string(ending)))
	switch {
	case ctx.Err() != nil:
		return c.silent()
	case err != nil || r.Failure == nil:
		return c.localFailure(ending)
	}
	return r.Failure.failure()
}

// info asks the daemon something whose response is a description of the session.
func (c *Client) info(ctx context.Context, method string) (*Info, error) {
	r, err := c.ask(ctx, method, nil)
	if err == nil && r.Info == nil {
		err = ErrOtherVersion
	}
	return r.Info, err
}

// ProcessID returns the process that the daemon is starting.
func (c *Client) ProcessID() int { return int(c.startedPID.Load()) }

// SessionKey returns the key of the session.
func (c *Client) SessionKey() string { return c.key }

// OverHTTP reports whether the daemon reaches the server over HTTP.
func (c *Client) OverHTTP() bool {
	h := c.hello.Load()
	return h != nil && h.URL != ""
}

// Stderr returns the last lines of the server's stderr, as the daemon has them.
func (c *Client) Stderr(n int) (lines []string, total int, path string) {
	failure := c.NewFailure(diagnose.EndingClosed)
	lines = diagnose.LastOf(failure.StderrTail, n)
	return lines, failure.StderrLines, failure.StderrPath
}

// reportDifferences reports that the server was running already, and how it differs from one that was started now.
func (c *Client) reportDifferences(w *hello) {
	notice := func(level slog.Level, text string) {
		c.Bus.Emit(exec.Notice{Time: exec.Now(), Level: level, Text: text, Server: c.Server})
	}
	if w.Reused {
		notice(slog.LevelInfo, fmt.Sprintf("server %q runs for %s already: its session is used", c.Server,
			diagnose.Rounded(w.Age)))
	}
	for _, file := range w.Files {
		if w.Reused && file.changed() {
			notice(slog.LevelWarn, fmt.Sprintf("%s has changed since the session of server %q was started; "+
				"--fresh restarts it", file.Path, c.Server))
		}
	}
	restart := "; toolx session restart " + exec.ShellLine(c.Server) + " restarts it"
	if w.Identity != "" && w.Identity != c.options.Server.Identity() {
		notice(slog.LevelWarn, fmt.Sprintf("the entry of server %q has changed since its session was started%s",
			c.Server, restart))
	}
	if w.Toolx != c.options.Version {
		notice(slog.LevelWarn, fmt.Sprintf("the session of server %q was started by toolx %s, and this is %s%s",
			c.Server, w.Toolx, c.options.Version, restart))
	}
	if wanted := c.options.Offered; !mcp.IsModernProtocol(w.Protocol) &&
		(wanted.Sampling != nil && w.Offered.Sampling == nil || wanted.Roots != nil && w.Offered.Roots == nil) {
		notice(slog.LevelWarn, fmt.Sprintf("the session of server %q was started without sampling or roots, "+
			"so the server does not ask for them; --no-session starts another server", c.Server))
	}
}
