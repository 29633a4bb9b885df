package servers

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
)

// The times of a stdio session. None is a limit that a user waits for in vain:
// each bounds a step that normally takes no time at all.
const (
	// drainTime is how long the pipes of an ended server are read on.
	drainTime = 200 * time.Millisecond
	// idleTime is how long a message may lack its newline before it is taken.
	idleTime = 250 * time.Millisecond
	// stdinGrace, termGrace bound the steps of closing: stdin's end, SIGTERM,
	// then SIGKILL (MCP, basic/lifecycle, shutdown of stdio).
	stdinGrace = 2 * time.Second
	termGrace  = time.Second
	// flushTime is how long closing waits for messages that are still queued.
	flushTime = 200 * time.Millisecond
)

// DefaultMaxMessage is the size in bytes of the largest message that is accepted
// from a server unless configured.
const DefaultMaxMessage = 64 << 20

// writeQueue is how many messages may wait for a server to read.
const writeQueue = 64

// stdio is toolx's transport to one server process. It implements mcp-go's
// transport.BidirectionalInterface; mcp.md lists what its own one gets wrong.
type stdio struct {
	server string
	bus    *exec.Bus
	launch *config.Resolved
	max    int64
	log    *stderrLog
	// onNotification takes the server's notifications, in order, on the goroutine
	// that reads: it must not block.
	onNotification func(method string, params json.RawMessage)

	process *process
	writes  chan *outgoing
	closing chan struct{} // closed when the session is being closed
	done    chan struct{} // closed when nothing more can come; failure is set

	// Each is closed when the goroutine that serves the pipe has ended.
	stdinEnded, stdoutEnded, stderrEnded chan struct{}

	mu       sync.Mutex // guards what follows
	failure  *Failure
	nextID   int64
	pending  map[int64]*pending
	answered map[int64]Class // what a further reply to an id would be
	stray    []string        // the first foreign lines, for forensics

	closeOnce sync.Once
	stdout    *stream
}

// outgoing is a message on its way to the server.
type outgoing struct {
	bytes   []byte
	written atomic.Bool
	last    bool // close stdin instead of writing
}

// pending is a request without an answer.
type pending struct {
	method string
	reply  chan reply // buffered: the reader never waits
	sent   *outgoing
	detail string // what is known should it never be answered; guarded by stdio.mu
}

// reply is how a request ended.
type reply struct {
	message message
	err     error
}

// maxAnswered bounds how many ids are remembered for telling late and duplicate
// replies from unknown ones.
const maxAnswered = 1024

// newStdio makes the transport; Start starts the process.
func newStdio(server string, launch *config.Resolved, limit int64, bus *exec.Bus, stderrDir string) *stdio {
	t := &stdio{
		server: server, bus: bus, launch: launch, max: limit,
		onNotification: func(string, json.RawMessage) {},
		writes:         make(chan *outgoing, writeQueue),
		closing:        make(chan struct{}),
		done:           make(chan struct{}),
		stdinEnded:     make(chan struct{}),
		stdoutEnded:    make(chan struct{}),
		stderrEnded:    make(chan struct{}),
		pending:        make(map[int64]*pending),
		answered:       make(map[int64]Class),
	}
	t.log = &stderrLog{onLine: func(text string) {
		bus.Emit(StderrLine{Time: exec.Now(), Server: server, Text: text})
	}}
	if stderrDir != "" {
		t.log.open = func() (*os.File, error) { return stderrFile(stderrDir, server) }
	}
	t.stdout = newStream(limit, t.takeMessage, t.takeFinding)
	return t
}

// Start starts the server's process. The error is a *Failure.
func (t *stdio) Start(context.Context) error {
	p, err := startProcess(t.launch, nil)
	if err != nil {
		return startFailure(t.newFailure(EndingNotStarted), err)
	}
	t.process = p
	t.bus.Emit(ProcessStarted{
		Time: exec.Now(), Server: t.server, PID: p.cmd.Process.Pid,
		Command: t.command(), Cwd: t.launch.Cwd,
	})
	go func() {
		defer close(t.stdoutEnded)
		t.stdout.read(p.stdout)
	}()
	go func() {
		defer close(t.stderrEnded)
		t.log.read(p.stderr)
	}()
	go t.write()
	go t.watch()
	return nil
}

// SendRequest makes a round trip in the SDK's forms.
func (t *stdio) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	m, err := t.roundTrip(ctx, request.Method, request.Params)
	if err != nil {
		return nil, err
	}
	response := &transport.JSONRPCResponse{JSONRPC: mcp.JSONRPC_VERSION, ID: request.ID, Result: m.result}
	if m.err != nil {
		response.Error = errorDetails(m.err)
	}
	return response, nil
}

// roundTrip writes a request and waits for its answer, ctx's end, or the server's.
// When ctx ends, the server is told so (notifications/cancelled).
func (t *stdio) roundTrip(ctx context.Context, method string, params any) (message, error) {
	id, p, err := t.register(method, params)
	if err != nil {
		return message{}, err
	}
	if err := t.enqueue(ctx, p.sent); err != nil {
		t.settle(id, ClassIDUnknown)
		return message{}, err
	}
	select {
	case r := <-p.reply:
		return r.message, r.err
	case <-ctx.Done():
		return message{}, t.abandon(ctx, id, p)
	case <-t.done:
		select { // the answer may have come with the end
		case r := <-p.reply:
			return r.message, r.err
		default:
			return message{}, t.failed(method)
		}
	}
}

// requestFrame is a request as it goes over the wire.
type requestFrame struct {
	JSONRPC string `json:"jsonrpc"`
	ID      int64  `json:"id"`
	Method  string `json:"method"`
	Params  any    `json:"params,omitempty"`
}

// register gives the request an id of this transport's own, so that several SDK
// clients can share one process.
func (t *stdio) register(method string, params any) (int64, *pending, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.nextID++
	id := t.nextID
	encoded, err := rawjson.Marshal(requestFrame{mcp.JSONRPC_VERSION, id, method, params})
	if err != nil {
		return 0, nil, fmt.Errorf("encode %s: %w", method, err)
	}
	p := &pending{method: method, reply: make(chan reply, 1), sent: &outgoing{bytes: encoded}}
	t.pending[id] = p
	return id, p, nil
}

func handshake(method string) bool {
	return method == string(mcp.MethodInitialize) || method == string(mcp.MethodServerDiscover)
}

// abandon gives a request up after ctx's end.
func (t *stdio) abandon(ctx context.Context, id int64, p *pending) error {
	t.mu.Lock()
	t.settleLocked(id, ClassIDLate)
	detail := p.detail
	t.mu.Unlock()
	if !p.sent.written.Load() {
		return &abandonedError{ctx.Err(), notReading}
	}
	// The specification forbids cancelling the handshake.
	if !handshake(p.method) {
		t.cancel(ctx, id)
	}
	return &abandonedError{ctx.Err(), detail}
}

// cancel tells the server that a request's answer is no longer wanted. It does
// so here and not through mcp-go, which sends the message from a goroutine that
// the process may not live long enough to run.
func (t *stdio) cancel(ctx context.Context, id int64) {
	encoded, err := rawjson.Marshal(map[string]any{
		"jsonrpc": mcp.JSONRPC_VERSION,
		"method":  mcp.MethodNotificationCancelled,
		"params":  map[string]any{"requestId": id, "reason": context.Cause(ctx).Error()},
	})
	if err != nil {
		return
	}
	select {
	case t.writes <- &outgoing{bytes: encoded}:
	default: // a server that does not read cannot be told
	}
}

// settle forgets a request; further replies to it are of the given class.
func (t *stdio) settle(id int64, further Class) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.settleLocked(id, further)
}

func (t *stdio) settleLocked(id int64, further Class) {
	delete(t.pending, id)
	if len(t.answered) >= maxAnswered {
		for old := range t.answered {
			if old < id-maxAnswered/2 {
				delete(t.answered, old)
			}
		}
	}
	t.answered[id] = further
}

// phase is where in the session's life it is now; t.mu is held.
func (t *stdio) phase() Phase {
	select {
	case <-t.closing:
		return PhaseShutdown
	default:
	}
	switch {
	case len(t.answered) == 0:
		return PhaseStart
	case len(t.pending) > 0:
		return PhaseRequest
	}
	return PhaseIdle
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

// SendNotification writes a notification.
func (t *stdio) SendNotification(ctx context.Context, notification mcp.JSONRPCNotification) error {
	if notification.Method == string(mcp.MethodNotificationCancelled) {
		return nil // abandon has said so, with the id that is on the wire
	}
	message := map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "method": notification.Method}
	params, err := rawjson.Marshal(notification.Params)
	if err != nil {
		return fmt.Errorf("encode %s: %w", notification.Method, err)
	}
	if string(params) != "{}" && string(params) != "null" {
		message["params"] = params
	}
	encoded, err := rawjson.Marshal(message)
	if err != nil {
		return fmt.Errorf("encode %s: %w", notification.Method, err)
	}
	return t.enqueue(ctx, &outgoing{bytes: encoded})
}

// enqueue hands a message to the writer, which waits for a server that does not
// read; this method waits no longer than ctx.
func (t *stdio) enqueue(ctx context.Context, message *outgoing) error {
	select {
	case <-t.done:
		return t.failed("")
	default:
	}
	select {
	case t.writes <- message:
		return nil
	case <-ctx.Done():
		return &abandonedError{ctx.Err(), notReading}
	case <-t.done:
		return t.failed("")
	}
}

// write is the writer: it alone writes to the server's stdin.
func (t *stdio) write() {
	defer close(t.stdinEnded)
	for {
		select {
		case message := <-t.writes:
			if message.last {
				_ = t.process.stdin.Close()
				return
			}
			t.bus.Emit(FrameSent{Time: exec.Now(), Server: t.server, Bytes: message.bytes})
			if _, err := t.process.stdin.Write(append(message.bytes, '\n')); err != nil {
				t.stdinBroken(err)
				return
			}
			message.written.Store(true)
		case <-t.done:
			return
		}
	}
}

// stdinBroken handles a server that no longer reads. Mostly it is ending, and its
// exit says more than the broken pipe: only a server that lives on is failed.
func (t *stdio) stdinBroken(err error) {
	select {
	case <-t.closing:
		return
	case <-t.done:
		return
	case <-t.process.exited:
		return // watch tells
	case <-time.After(drainTime):
	}
	failure := t.newFailure(EndingClosedStdin)
	failure.Reason = err
	t.fail(failure)
}

// watch sees the process end and fails the session with all that is known.
func (t *stdio) watch() {
	select {
	case <-t.process.exited:
	case <-t.stdoutEnded:
		// Mostly the exit follows at once, and says more.
		if !t.process.ended(drainTime) {
			t.fail(t.newFailure(EndingClosedStdout))
			<-t.process.exited
		}
	}
	t.drain()
	ending := EndingExited
	if signalName(t.process.state) != "" {
		ending = EndingKilled
	}
	t.fail(t.newFailure(ending))
}

// drain reads what an ended server left in its pipes. Where a process that it
// started holds them open, the group is killed and the pipes are closed.
func (t *stdio) drain() {
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	for _, pipe := range []struct {
		name  string
		ended chan struct{}
	}{{"stdout", t.stdoutEnded}, {"stderr", t.stderrEnded}} {
		ended := pipe.ended
		select {
		case <-ended:
		case <-timer.C:
			t.bus.Emit(PipeHeld{Time: exec.Now(), Server: t.server, Pipe: pipe.name})
			t.process.group.kill()
			timer.Reset(drainTime)
			select {
			case <-ended:
			case <-timer.C: // held from outside the group
				_ = t.process.stdout.Close()
				_ = t.process.stderr.Close()
				<-ended
			}
			timer.Reset(drainTime)
		}
	}
}

// fail ends the session: every pending request gets the failure. Only the first
// call counts.
func (t *stdio) fail(failure *Failure) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.failure != nil {
		return
	}
	t.failure = failure
	close(t.done)
}

// failed is the session's failure, as a request of the given method meets it.
func (t *stdio) failed(method string) *Failure {
	t.mu.Lock()
	defer t.mu.Unlock()
	failure := *t.failure
	failure.Waiting = method
	return &failure
}

// newFailure gathers what is known now.
func (t *stdio) newFailure(ending Ending) *Failure {
	failure := &Failure{Server: t.server, Ending: ending, Command: t.command(), Cwd: t.launch.Cwd}
	if failure.Cwd == "" {
		failure.Cwd, _ = os.Getwd() // a folder that is gone has no name
	}
	failure.StderrTail, failure.StderrLines, failure.StderrPath = t.log.last(stderrTailLines)
	failure.Stderr = telling(failure.StderrTail, failureLines)
	t.mu.Lock()
	failure.Stdout = append(failure.Stdout, t.stray...)
	t.mu.Unlock()
	if t.process == nil {
		return failure
	}
	failure.Lived = time.Since(t.process.started)
	if closed(t.process.exited) {
		failure.Lived = t.process.lived
		failure.How = exitText(t.process.state)
	}
	return failure
}

func exitText(state *os.ProcessState) string {
	if signal := signalName(state); signal != "" {
		return "signal: " + signal
	}
	return fmt.Sprintf("exit status %d", state.ExitCode())
}

func (t *stdio) command() []string { return commandOf(t.launch) }

func commandOf(launch *config.Resolved) []string {
	return append([]string{launch.Command}, launch.Args...)
}

// SetNotificationHandler ignores mcp-go's handler: toolx takes notifications as
// events, in order, before the SDK could.
func (t *stdio) SetNotificationHandler(func(mcp.JSONRPCNotification)) {}

// SetRequestHandler ignores mcp-go's handler, which answers unknown requests with
// -32603 instead of -32601; answerRequest does it.
func (t *stdio) SetRequestHandler(transport.RequestHandler) {}

// GetSessionId is empty: stdio has no session ids.
func (t *stdio) GetSessionId() string { return "" }
