package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
)

// conn is the connection with a client.
type conn struct {
	lineConn
	server *Server

	// The server's mutex guards these.
	attached, watches bool
	uses              bool      // it has attached, or watches
	running           int       // requests, and attaching
	since             time.Time // when running was last zero
	cancels           map[string]context.CancelCauseFunc

	endTrace func() // ends what trace has begun; nil without it
}

// maxQueued is how many bytes may wait for a client that does not read, beside the largest message. A client that lets
// more come is cut off, so that no other waits for it.
const maxQueued = 16 << 20

// largeMessage is the size in bytes from which the memory of a message is given back to the system.
const largeMessage = 1 << 20

// serve handles the messages of the client, to the end of the connection, and cancels what is under way then.
func (c *conn) serve(ctx context.Context) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer c.cut()
	defer cancel(errors.New("the client has gone"))
	_ = c.read(func(m wire.Message) { c.handle(ctx, m) })
	if c.endTrace != nil {
		c.endTrace()
	}
}

// handle handles a message, without blocking.
func (c *conn) handle(ctx context.Context, m wire.Message) {
	h := c.server
	switch m.Method {
	case "":
		c.answer(m)
	case methodAttach:
		c.run(ctx, m, c.attach)
	case methodRequest:
		c.run(ctx, m, c.request)
	case string(mcp.MethodNotificationCancelled):
		h.mu.Lock()
		cancel := c.cancels[string(rawjson.Get(m.Params, "requestId"))]
		h.mu.Unlock()
		if cancel != nil {
			cancel(errors.New(rawjson.GetText(m.Params, "reason")))
		}
	case methodSend:
		var send struct{ Frame []byte }
		session := h.current()
		if json.Unmarshal(m.Params, &send) == nil && session != nil {
			// The server's end is reported elsewhere.
			h.served.Go(func() { _ = session.Transport().Send(ctx, wire.ReadFrame(send.Frame)) })
		}
	case methodFailure:
		h.served.Go(func() { // this takes its time, and the client asks meanwhile whether the daemon answers
			var r response
			if session := h.current(); session != nil {
				ending := diagnose.Ending(rawjson.GetText(m.Params, "ending"))
				r.Failure = newFailureData(session.Transport().NewFailure(ending))
			}
			c.put(r.reply(m.ID))
		})
	case methodWatch:
		h.mu.Lock()
		h.use(c)
		h.mu.Unlock()
		c.put(response{Info: h.info()}.reply(m.ID))
	case methodTrace:
		c.put(response{Info: h.info()}.reply(m.ID))
		c.trace()
	case methodStop:
		defer h.stop()
		fallthrough
	default:
		c.put(response{Info: h.info()}.reply(m.ID))
	}
}

// current returns the session with the server, nil if there is none.
func (h *Server) current() *protocol.Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.session
}

// run handles a request on another goroutine, and sends its outcome. life ends with the connection or the daemon.
func (c *conn) run(life context.Context, m wire.Message, do func(context.Context, json.RawMessage) response) {
	ctx, cancel := context.WithCancelCause(life)
	h := c.server
	h.mu.Lock()
	c.cancels[string(m.ID)] = cancel
	if c.running++; c.running == 1 {
		c.since = time.Now()
	}
	h.mu.Unlock()
	h.served.Go(func() {
		defer cancel(nil)
		r := do(ctx, m.Params)
		over := life.Err() != nil && (r.Err != nil || r.Failure != nil)
		line := r.reply(m.ID)
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(c.cancels, string(m.ID))
		c.running--
		if !over { // else the end of the connection says more: the client was not interrupted
			c.put(line)
		}
	})
}

// attach makes the server ready for the client. A start continues while any client waits for it.
func (c *conn) attach(ctx context.Context, params json.RawMessage) response {
	h := c.server
	h.mu.Lock()
	c.watches = string(rawjson.Get(params, "watch")) == "true"
	h.use(c)
	h.reportLoss(c)
	before := h.session
	h.mu.Unlock()
	reused := before != nil && !wire.Closed(before.Done())
	files := programFiles(&h.spec.Launch)
	session, err := h.backend.Open(ctx)
	if err != nil {
		return failed(err)
	}
	_, _, log := session.Stderr(0)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.session != session {
		h.session, h.openedAt, h.files = session, time.Now(), files
		go h.watch(session)
	}
	c.attached = true
	h.reportKept(c)
	return response{Hello: h.hello(session, reused && session == before, log)}
}

// failed returns the response for an error.
func failed(err error) response {
	var failure *diagnose.Failure
	if errors.As(err, &failure) {
		return response{Failure: newFailureData(failure)}
	}
	return response{Err: newErrorData(err)}
}

// request sends a request of the client, and returns its answer.
func (c *conn) request(ctx context.Context, params json.RawMessage) response {
	h := c.server
	sent := &request{conn: c, safe: string(rawjson.Get(params, "safe")) == "true"}
	method, given := rawjson.GetText(params, "method"), rawjson.Get(params, "params")
	var header http.Header
	_ = json.Unmarshal(rawjson.Get(params, "header"), &header) // toolx wrote it
	h.mu.Lock()
	session := h.session
	if session == nil {
		h.mu.Unlock()
		return response{Err: newErrorData(errors.New("the server has not been started"))}
	}
	token, changed := h.token(sent, given)
	if method == string(mcp.MethodToolsCall) {
		h.calls++
	}
	h.mu.Unlock()
	m, err := session.Transport().RoundTrip(context.WithValue(ctx, requestKey{}, sent), method, changed, header)
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.requests, sent.id)
	delete(h.tokens, token)
	if err != nil {
		return failed(err)
	}
	h.large = h.large || len(m.Raw)+len(given) > largeMessage
	return response{message: m.Raw, Received: sent.received}
}

// answer passes on the answer of a client to what the server has asked it.
func (c *conn) answer(m wire.Message) {
	h := c.server
	id := string(m.ID)
	h.mu.Lock()
	session := h.session
	if h.asked[id] != c {
		session = nil // it has been answered, or asked by a server that has ended
	}
	delete(h.asked, id)
	h.mu.Unlock()
	if session != nil && !session.Transport().RPC().Post(wire.Frame{Bytes: m.Raw, ID: id}) {
		h.Bus.Emit(exec.Notice{Time: exec.Now(), Server: h.spec.Name, Text: "the server does not take an answer"})
	}
}
