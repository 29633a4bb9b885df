package bridge

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/rawjson"
	"toolx/pkg/servers/proxy"
	"toolx/pkg/servers/rpc"
	"toolx/pkg/servers/wire"
)

// client is the side of the client: what it is sent, and what it is asked.
type client struct {
	guard *proxy.Guard // nil where all tools may be used

	mu     sync.Mutex // guards to
	to     *bufio.Writer
	broken chan struct{} // closed when writing has failed; err is why
	err    error

	readyMu sync.Mutex // guards what follows; it is locked while held messages are written
	ready   bool       // it may be sent what it has not asked for
	held    []wire.Message

	askMu   sync.Mutex       // guards what follows
	asked   map[string]asked // by the id that the client knows
	lastAsk int64
}

// The limits on what waits.
const (
	maxAsked = 100  // requests of the server that the client has not answered
	maxHeld  = 1000 // messages of the server before the client is ready
)

// asked has who wants the answer to a request to the client.
type asked struct {
	peer  *rpc.Peer         // that wants the answer, by the id that its server gave the request; nil with reply
	id    json.RawMessage   // of the server
	reply chan wire.Message // takes the answer; nil with peer
}

// put writes the parts of a message as one line. A client that does not read delays the server.
func (c *client) put(parts ...[]byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, part := range parts {
		_, _ = c.to.Write(part) // bufio keeps the error
	}
	_ = c.to.WriteByte('\n')
	if err := c.to.Flush(); err != nil && !wire.Closed(c.broken) {
		c.err = err
		close(c.broken)
	}
}

// write writes a message on one line; id takes the place of its own, unless it is nil.
func (c *client) write(m wire.Message, id json.RawMessage) {
	if c.guard != nil {
		if fewer := c.guard.Filter(m.Raw); len(fewer) != len(m.Raw) {
			m = wire.Read(fewer)
		}
	}
	if bytes.ContainsAny(m.Raw, "\r\n") {
		m = wire.Read(rawjson.Compact(m.Raw))
	}
	if !utf8.Valid(m.Raw) {
		m = wire.Read(bytes.ToValidUTF8(m.Raw, []byte("\uFFFD")))
	}
	if id == nil {
		c.put(m.Raw)
		return
	}
	before, after := m.AroundID()
	c.put(before, id, after)
}

// setReady sets whether the client may be sent what it has not asked for. What was held is written first.
func (c *client) setReady(ready bool) {
	c.readyMu.Lock()
	defer c.readyMu.Unlock()
	if c.ready = ready; ready {
		for _, m := range c.held {
			c.write(m, m.ID)
		}
	}
	c.held = nil
}

// tell sends a message that the client has not asked for, once it is ready.
func (c *client) tell(m wire.Message) {
	c.readyMu.Lock()
	ready := c.ready
	if !ready && len(c.held) < maxHeld {
		c.held = append(c.held, m)
	}
	c.readyMu.Unlock()
	if ready {
		c.write(m, m.ID)
	}
}

// pass passes on a request of a server.
func (c *client) pass(p *rpc.Peer, m wire.Message) {
	id := c.await(asked{peer: p, id: m.ID})
	if id == nil {
		p.Respond(m, nil, &rpc.Error{Code: mcp.INTERNAL_ERROR, Message: errTooMany.Error()})
		return
	}
	before, after := m.AroundID()
	c.tell(wire.Read(slices.Concat(before, id, after)))
}

var errTooMany = errors.New("too many requests wait for an answer: at most " + strconv.Itoa(maxAsked))

// await notes a request to the client, and returns its id; nil if too many wait.
func (c *client) await(a asked) json.RawMessage {
	c.askMu.Lock()
	defer c.askMu.Unlock()
	if len(c.asked) >= maxAsked {
		return nil
	}
	id := strconv.FormatInt(c.lastAsk, 10)
	c.lastAsk++
	c.asked[id] = a
	return json.RawMessage(id)
}

// answered passes on the answer to a request.
func (c *client) answered(m wire.Message) {
	c.askMu.Lock()
	a, ok := c.asked[string(m.ID)]
	delete(c.asked, string(m.ID))
	c.askMu.Unlock()
	switch {
	case !ok: // it comes too late
	case a.reply != nil:
		a.reply <- m
	default:
		before, after := m.AroundID()
		a.peer.Post(wire.Frame{Bytes: slices.Concat(before, a.id, after), ID: string(a.id)})
	}
}

// ask sends the client a request, and waits for its answer.
func (c *client) ask(ctx context.Context, method string, params json.RawMessage) (wire.Message, error) {
	reply := make(chan wire.Message, 1)
	id := c.await(asked{reply: reply})
	if id == nil {
		return wire.Message{}, errTooMany
	}
	c.tell(wire.Read(rawjson.Build("jsonrpc", mcp.JSONRPC_VERSION, "id", id, "method", method, "params", params)))
	select {
	case m := <-reply:
		return m, nil
	case <-ctx.Done():
		c.askMu.Lock()
		delete(c.asked, string(id))
		c.askMu.Unlock()
		c.tell(notification(string(mcp.MethodNotificationCancelled), rawjson.Build("requestId", id)))
		return wire.Message{}, context.Cause(ctx)
	}
}

// forget forgets what a session has asked that has ended.
func (c *client) forget() {
	c.askMu.Lock()
	defer c.askMu.Unlock()
	for id, a := range c.asked {
		if a.peer != nil {
			delete(c.asked, id)
		}
	}
}

// cancelled passes on that the server no longer wants the answer to its request.
func (c *client) cancelled(m wire.Message) {
	cancelled := string(rawjson.Get(m.Params, "requestId"))
	c.askMu.Lock()
	found := ""
	for id, a := range c.asked {
		if a.peer != nil && string(a.id) == cancelled {
			found = id
		}
	}
	delete(c.asked, found)
	c.askMu.Unlock()
	if found != "" {
		c.tell(notification(m.Method, rawjson.With(m.Params, "requestId", json.RawMessage(found))))
	}
}

// notification returns a notification.
func notification(method string, params json.RawMessage) wire.Message {
	return wire.Read(rawjson.Build("jsonrpc", mcp.JSONRPC_VERSION, "method", method, "params", params))
}
