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
	// drainTime limits the wait for open calls after the end of standard input, with which a client requests a
	// shutdown.
	drainTime = time.Second
	// stallTime limits the wait after that while no byte is written.
	stallTime = 4 * time.Second
	// maxOpenCalls limits concurrent calls; further ones are rejected.
	maxOpenCalls = 1000
	// maxUnread limits unread responses, other than those of calls: beyond it toolx stops reading from the client.
	maxUnread = 1000
	// maxErrorText is the length limit in bytes for an error's text, which may quote a client's message of any length.
	maxErrorText = 300
)

// stdioClient is the client of toolx serve on standard streams. The SDK's own server for these has a fixed number of
// workers, and reads nothing while they and their queue are full: slow calls would delay other calls, pings and
// cancellations. Here each call has its own goroutine, and all other messages, which take no time, are handled in
// order.
type stdioClient struct {
	server *server.MCPServer
	tools  []*exec.Tool
	out    *AnswerWriter
	limit  int64 // of a message, in bytes
	warn   func(text string)

	session *stdioSession
	outbox  chan []byte    // responses other than those of calls
	pending sync.WaitGroup // responses that are not written yet
	broken  chan error     // the first failure to write

	mu      sync.Mutex
	open    map[string]*openCall // by id as written
	running int                  // calls, including cancelled ones
}

// openCall is a call without a response.
type openCall struct {
	cancel    context.CancelFunc
	cancelled bool // by the client, which expects no response
}

// Stdio serves the client on in and out until in or ctx ends, or writing fails. Open calls get drainTime to finish. A
// message has at most limit bytes; warn reports problems.
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

// serve handles the requests on in until in or ctx ends, or writing fails. Open calls then get drainTime to finish.
func (c *stdioClient) serve(ctx context.Context, in io.Reader) error {
	lasting, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	go c.writeOutbox(lasting)
	ctx, giveUp := context.WithCancel(c.server.WithContext(ctx, c.session))
	defer giveUp()
	lines, ended := make(chan requestLine), make(chan error, 1)
	go func() { ended <- readRequests(ctx, in, c.limit, lines) }()
	for {
		select {
		case line := <-lines:
			c.handleLine(ctx, line)
		case err := <-ended:
			return errors.Join(err, c.drain(giveUp))
		case err := <-c.broken:
			return err
		case <-ctx.Done():
			return c.drain(giveUp)
		}
	}
}

// handleLine handles one line.
func (c *stdioClient) handleLine(ctx context.Context, line requestLine) {
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
	case head.isRequest() && !supports(head.Params.Meta.Revision):
		c.post(ctx, revisionError(head.ID, head.Params.Meta.Revision))
	case head.isToolCall():
		c.beginCall(ctx, head.ID, line.bytes)
	default:
		answer := c.handle(ctx, head.ID, line.bytes)
		c.postNotices(ctx)
		c.post(ctx, answer)
	}
}

// requestHead is the members of a message that toolx serve itself reads.
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

// readHead reads the head of a message. It is empty for a line that is not a message, which the SDK reports.
func readHead(message []byte) requestHead {
	var head requestHead
	_ = json.Unmarshal(message, &head)
	return head
}

// isRequest reports whether the message is a request.
func (h requestHead) isRequest() bool { return len(h.ID) > 0 && string(h.ID) != "null" }

// isToolCall reports whether the message calls a tool.
func (h requestHead) isToolCall() bool {
	return h.isRequest() && h.Method == string(mcp.MethodToolsCall)
}

// supports reports whether toolx serve supports a revision; most requests of older revisions do not name one. The SDK
// treats an unknown revision as an older one (2026-07-28, basic/versioning, requires -32022).
func supports(revision string) bool {
	return revision == "" || mcp.IsValidProtocolVersion(revision)
}

// revisionError is the error for an unsupported revision, with the supported ones.
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
	c.warn("ignored a message of " + size + " from the client, over the limit of " + limit + " " +
		raiseLimit)
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

// Parts of messages about a message over the limit, and about a panic.
const (
	raiseLimit = "(maxMessage under defaults in the config)"
	errInside  = "internal error of toolx"
)

// crowdedError is the error for a call beyond maxOpenCalls.
func crowdedError(id json.RawMessage) mcp.JSONRPCError {
	text := fmt.Sprintf("%d calls are open: wait for one to end, or cancel one", maxOpenCalls)
	return errorAnswer(id, mcp.INTERNAL_ERROR, text)
}

// admit registers a call, unless there are too many.
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

// endCall removes a call and reports whether the client still expects the response.
func (c *stdioClient) endCall(id string, call *openCall) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running--
	if c.open[id] == call { // otherwise the client reused its id
		delete(c.open, id)
	}
	return !call.cancelled
}

// cancelCall cancels a call, which then needs no response (cancellation, "Behavior Requirements").
func (c *stdioClient) cancelCall(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if call := c.open[id]; call != nil {
		call.cancelled = true
		call.cancel()
		delete(c.open, id)
	}
}

// handle passes a message to the SDK and returns the response, nil for none. It keeps the id as the client wrote it:
// the SDK reads numbers as floats and loses digits.
func (c *stdioClient) handle(ctx context.Context, id json.RawMessage, message []byte) (answer mcp.JSONRPCMessage) {
	defer func() {
		if cause := recover(); cause != nil {
			c.warn(fmt.Sprintf("cannot handle a message from the client: %v", cause))
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

// errorAnswer returns a JSON-RPC error; id is nil without a request.
func errorAnswer(id json.RawMessage, code int, text string) mcp.JSONRPCError {
	answer := mcp.JSONRPCError{JSONRPC: mcp.JSONRPC_VERSION, Error: mcp.NewJSONRPCErrorDetails(code, text, nil)}
	if id != nil {
		answer.ID = mcp.NewRequestId(id)
	}
	return answer
}

// encodeAnswer encodes a response as a line. It leaves out the null id that the SDK, following JSON-RPC, gives to an
// error without a request: MCP has no null ids (2025-11-25 and later, JSONRPCErrorResponse).
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

// post adds a response to the outbox.
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

// postNotices posts notifications that the SDK has sent to the session.
func (c *stdioClient) postNotices(ctx context.Context) {
	for {
		select {
		case notice := <-c.session.notices:
			c.post(ctx, notice)
		default:
			return
		}
	}
}

// writeOutbox writes the responses in the outbox, until ctx ends.
func (c *stdioClient) writeOutbox(ctx context.Context) {
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

// drain waits for all responses. After drainTime it cancels open calls. After stallTime without a byte written it stops
// waiting: the client does not read, or a tool ignores the end of its context. The error is that of writing.
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
			c.warn("some requests have no response: standard input ended, and stdout was blocked for " +
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

// stdioSession is the SDK's session of the client. Only the SDK sends notifications, in response to
// subscriptions/listen.
type stdioSession struct {
	initialized atomic.Bool
	notices     chan mcp.JSONRPCNotification
}

// SessionID implements server.ClientSession, as do the methods below.
func (s *stdioSession) SessionID() string { return "stdio" }

func (s *stdioSession) Initialize()       { s.initialized.Store(true) }
func (s *stdioSession) Initialized() bool { return s.initialized.Load() }

func (s *stdioSession) NotificationChannel() chan<- mcp.JSONRPCNotification { return s.notices }

// AnswerWriter writes to standard output. It keeps lines of concurrent writers whole, and counts the bytes written.
type AnswerWriter struct {
	written atomic.Int64

	mu  sync.Mutex
	out io.Writer
}

// NewAnswerWriter returns a writer to out, which nothing else may write to.
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
