package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"toolx/pkg/exec"
	"toolx/pkg/words"
)

const (
	// drainTime bounds how long serve waits for open calls once standard input has ended. A client that closes it wants
	// the server to end.
	drainTime = time.Second
	// stallTime bounds how long it waits after that while not a byte goes out.
	stallTime = 4 * time.Second
	// maxOpenCalls is how many calls may run at once; one more is refused.
	maxOpenCalls = 1000
	// maxUnread is how many answers, besides those of calls, wait for a client that
	// does not read before toolx reads no more from it either.
	maxUnread = 1000
	// maxErrorText is the length in bytes at which the words of an error are cut:
	// they name what the client sent, however long that is.
	maxErrorText = 300
)

// stdioClient is the client of toolx serve, on the other side of the standard streams. The SDK's server for these has a
// fixed number of workers, and reads nothing while they and their queue are full: silent calls would hold back other
// calls, pings and cancellations. Here each call has a goroutine of its own, and everything else, which takes no time,
// is answered in the order in which it came.
type stdioClient struct {
	server *server.MCPServer
	tools  []*exec.Tool
	out    *AnswerWriter
	limit  int64 // of a message, in bytes
	warn   func(text string)

	session *stdioSession
	outbox  chan []byte    // answers other than those of calls
	pending sync.WaitGroup // answers that are not written yet
	broken  chan error     // the first failure to write

	mu      sync.Mutex
	open    map[string]*openCall // by the id as it is written
	running int                  // calls, those that were cancelled included
}

// openCall is a call that is not answered.
type openCall struct {
	cancel    context.CancelFunc
	cancelled bool // by the client, which wants no answer
}

// Stdio serves the client that writes to in, until that or ctx ends, or no answer can be written to out. Open calls get
// drainTime to finish. A message has at most limit bytes; warn reports what goes wrong.
func (s *Server) Stdio(
	ctx context.Context, in io.Reader, out *AnswerWriter, limit int64, warn func(text string),
) error {
	return newStdioClient(s, out, limit, warn).serve(ctx, in)
}

func newStdioClient(s *Server, out *AnswerWriter, limit int64, warn func(string)) *stdioClient {
	return &stdioClient{
		server:  s.sdk,
		tools:   s.tools,
		out:     out,
		limit:   limit,
		warn:    warn,
		session: &stdioSession{notices: make(chan mcp.JSONRPCNotification, 1)},
		outbox:  make(chan []byte, maxUnread),
		broken:  make(chan error, 1),
		open:    make(map[string]*openCall),
	}
}

// serve answers the requests on in until that or ctx ends, or no answer can be written. Open calls then get drainTime
// to finish.
func (c *stdioClient) serve(ctx context.Context, in io.Reader) error {
	lasting, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	go c.empty(lasting)
	ctx, giveUp := context.WithCancel(c.server.WithContext(ctx, c.session))
	defer giveUp()
	lines, ended := make(chan requestLine), make(chan error, 1)
	go func() { ended <- readRequests(ctx, in, c.limit, lines) }()
	for {
		select {
		case line := <-lines:
			c.take(ctx, line)
		case err := <-ended:
			return errors.Join(err, c.drain(giveUp))
		case err := <-c.broken:
			return err
		case <-ctx.Done():
			return c.drain(giveUp)
		}
	}
}

// take starts answering one line.
func (c *stdioClient) take(ctx context.Context, line requestLine) {
	if line.tooLong > 0 {
		c.refuseTooLong(ctx, line)
		return
	}
	if id, excess := excessOf(line.bytes); excess != "" {
		c.post(ctx, errorAnswer(id, mcp.INVALID_REQUEST, excess))
		return
	}
	head := readHead(line.bytes)
	switch {
	case head.Method == string(mcp.MethodNotificationCancelled):
		c.cancelCall(string(head.Params.RequestID))
	case head.asks() && !speaks(head.Params.Meta.Revision):
		c.post(ctx, revisionError(head.ID, head.Params.Meta.Revision))
	case head.calls():
		c.beginCall(ctx, head.ID, line.bytes)
	default:
		answer := c.handle(ctx, head.ID, line.bytes)
		c.tellNotices(ctx)
		c.post(ctx, answer)
	}
}

// requestHead holds the members of a message that toolx serve itself looks at.
type requestHead struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		RequestID json.RawMessage `json:"requestId"`
		Meta      struct {
			Revision string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	} `json:"params"`
}

// readHead reads the head of a message. It is empty for a line that is not a message; the SDK reports what is wrong
// with that.
func readHead(message []byte) requestHead {
	var head requestHead
	_ = json.Unmarshal(message, &head)
	return head
}

// asks reports whether the message wants an answer.
func (h requestHead) asks() bool { return len(h.ID) > 0 && string(h.ID) != "null" }

// calls reports whether the message calls a tool, whose answer may take its time.
func (h requestHead) calls() bool { return h.asks() && h.Method == string(mcp.MethodToolsCall) }

// speaks reports whether toolx serve knows the revision that a request names; most requests of the older revisions name
// none. The SDK treats a revision that never existed as an older one (2026-07-28, basic/versioning, wants -32022).
func speaks(revision string) bool {
	return revision == "" || mcp.IsValidProtocolVersion(revision)
}

// revisionError refuses a request of a revision that toolx serve does not know, and names those that it does.
func revisionError(id json.RawMessage, revision string) mcp.JSONRPCError {
	text := "unsupported protocol version " + strconv.Quote(words.Clip(revision, maxErrorText))
	answer := errorAnswer(id, mcp.UNSUPPORTED_PROTOCOL_VERSION, text)
	answer.Error.Data = mcp.UnsupportedProtocolVersionData{
		Supported: mcp.ValidProtocolVersions,
		Requested: words.Clip(revision, maxErrorText),
	}
	return answer
}

func (c *stdioClient) refuseTooLong(ctx context.Context, line requestLine) {
	size, limit := exec.Bytes(line.tooLong), exec.Bytes(c.limit)
	c.warn("the client sent a message of " + size + ", over the limit of " + limit + ": it was not read " + raiseLimit)
	text := "a message of " + size + " is larger than the limit of " + limit
	c.post(ctx, errorAnswer(line.id, mcp.INVALID_REQUEST, text))
}

// beginCall runs a call in parallel with everything else.
func (c *stdioClient) beginCall(ctx context.Context, id json.RawMessage, message []byte) {
	callCtx, cancel := context.WithCancel(ctx)
	call := &openCall{cancel: cancel}
	if !c.admit(string(id), call) {
		cancel()
		c.post(ctx, crowdedError(id))
		return
	}
	c.pending.Go(func() {
		defer cancel()
		answer := c.handle(callCtx, id, message)
		if c.endCall(string(id), call) && answer != nil {
			c.write(encodeAnswer(answer))
		}
	})
}

// What the messages about a message over the limit, and about a panic, have in common.
const (
	raiseLimit = "(maxMessage under defaults in the config)"
	errInside  = "toolx failed inside"
)

// crowdedError refuses a call while maxOpenCalls run.
func crowdedError(id json.RawMessage) mcp.JSONRPCError {
	text := fmt.Sprintf("%d calls are open: wait for one to end, or cancel one", maxOpenCalls)
	return errorAnswer(id, mcp.INTERNAL_ERROR, text)
}

// admit notes a call, unless there are too many.
func (c *stdioClient) admit(id string, call *openCall) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running >= maxOpenCalls {
		return false
	}
	c.open[id] = call
	c.running++
	return true
}

// endCall reports whether the client still waits for the answer.
func (c *stdioClient) endCall(id string, call *openCall) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running--
	if c.open[id] == call { // else the client has used its id again
		delete(c.open, id)
	}
	return !call.cancelled
}

// cancelCall gives a call up. MCP wants no answer to a cancelled call (cancellation, "Behavior Requirements").
func (c *stdioClient) cancelCall(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if call := c.open[id]; call != nil {
		call.cancelled = true
		call.cancel()
		delete(c.open, id)
	}
}

// handle lets the SDK answer a message; nil means no answer. The id is returned as the client wrote it: the SDK reads
// numbers as floats and loses digits.
func (c *stdioClient) handle(ctx context.Context, id json.RawMessage, message []byte) (answer mcp.JSONRPCMessage) {
	defer func() {
		if cause := recover(); cause != nil {
			c.warn(fmt.Sprintf("a message of the client could not be handled: %v", cause))
			if answer = nil; id != nil {
				answer = errorAnswer(id, mcp.INTERNAL_ERROR, errInside)
			}
		}
	}()
	switch answer := c.server.HandleMessage(ctx, message).(type) {
	case mcp.JSONRPCError:
		if !answer.ID.IsNil() {
			answer.ID = mcp.NewRequestId(id)
		}
		answer.Error.Message = errorText(answer.Error.Message, c.tools)
		return answer
	case mcp.JSONRPCResponse:
		answer.ID = mcp.NewRequestId(id)
		return answer
	default:
		return answer
	}
}

// errorAnswer returns a JSON-RPC error; id is nil if it answers no request.
func errorAnswer(id json.RawMessage, code int, text string) mcp.JSONRPCError {
	answer := mcp.JSONRPCError{JSONRPC: mcp.JSONRPC_VERSION, Error: mcp.NewJSONRPCErrorDetails(code, text, nil)}
	if id != nil {
		answer.ID = mcp.NewRequestId(id)
	}
	return answer
}

// encodeAnswer encodes an answer as a line. The SDK gives an error that answers no request a null id, as JSON-RPC does;
// MCP has no null ids, so encodeAnswer leaves it out (2025-11-25 and later, JSONRPCErrorResponse).
func encodeAnswer(answer any) []byte {
	line, err := json.Marshal(answer)
	if err != nil { // values that were read from JSON always marshal
		line, _ = json.Marshal(errorAnswer(nil, mcp.INTERNAL_ERROR, err.Error()))
	}
	const orphan = `{"jsonrpc":"2.0","id":null,`
	if rest, is := bytes.CutPrefix(line, []byte(orphan)); is {
		line = append([]byte(`{"jsonrpc":"2.0",`), rest...)
	}
	return append(line, '\n')
}

// post puts an answer into the outbox.
func (c *stdioClient) post(ctx context.Context, answer any) {
	if answer == nil {
		return
	}
	c.pending.Add(1)
	select {
	case c.outbox <- encodeAnswer(answer):
	case <-ctx.Done():
		c.pending.Done()
	}
}

// tellNotices posts what the SDK has sent to the session meanwhile.
func (c *stdioClient) tellNotices(ctx context.Context) {
	for {
		select {
		case notice := <-c.session.notices:
			c.post(ctx, notice)
		default:
			return
		}
	}
}

// empty writes what is in the outbox, until ctx ends.
func (c *stdioClient) empty(ctx context.Context) {
	for {
		select {
		case line := <-c.outbox:
			c.write(line)
			c.pending.Done()
		case <-ctx.Done():
			return
		}
	}
}

func (c *stdioClient) write(line []byte) {
	if _, err := c.out.Write(line); err != nil {
		select {
		case c.broken <- err:
		default:
		}
	}
}

// drain returns when everything is answered. After drainTime, calls that are still open are given up. After stallTime
// without a byte written, so are their answers: the client does not read them, or a tool ignores the end of its
// context. The error is that of writing.
func (c *stdioClient) drain(giveUp context.CancelFunc) error {
	answered := make(chan struct{})
	go func() {
		c.pending.Wait()
		close(answered)
	}()
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	for before := int64(-1); ; timer.Reset(stallTime) {
		select {
		case <-answered:
			return c.writeError()
		case err := <-c.broken:
			return err
		case <-timer.C:
		}
		written := c.out.written.Load()
		if written == before {
			c.warn("not all requests are answered: standard input has ended, and nothing could be written for " +
				stallTime.String())
			return nil
		}
		giveUp()
		before = written
	}
}

// writeError returns the first failure to write, if there was one.
func (c *stdioClient) writeError() error {
	select {
	case err := <-c.broken:
		return err
	default:
		return nil
	}
}

// stdioSession is what the SDK knows of the client. Nothing in serve sends notifications by itself; the SDK does while
// it answers subscriptions/listen.
type stdioSession struct {
	initialized atomic.Bool
	notices     chan mcp.JSONRPCNotification
}

// SessionID implements server.ClientSession, as the methods below do.
func (s *stdioSession) SessionID() string { return "stdio" }

func (s *stdioSession) Initialize()       { s.initialized.Store(true) }
func (s *stdioSession) Initialized() bool { return s.initialized.Load() }

func (s *stdioSession) NotificationChannel() chan<- mcp.JSONRPCNotification { return s.notices }

// AnswerWriter writes to standard output. It keeps the lines of several writers whole, and counts the bytes written.
type AnswerWriter struct {
	written atomic.Int64

	mu  sync.Mutex
	out io.Writer
}

// NewAnswerWriter returns a writer to out, which belongs to it.
func NewAnswerWriter(out io.Writer) *AnswerWriter { return &AnswerWriter{out: out} }

// Write writes in pieces, so that the count grows while a slow reader reads.
func (w *AnswerWriter) Write(line []byte) (int, error) {
	const piece = 64 << 10
	w.mu.Lock()
	defer w.mu.Unlock()
	done := 0
	for part := range slices.Chunk(line, piece) {
		n, err := w.out.Write(part)
		done += n
		w.written.Add(int64(n))
		if err != nil {
			return done, err
		}
	}
	return done, nil
}
