package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/diagnose"
	mcphttp "toolx/pkg/servers/http"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
)

// answer returns the response to a request of the client, with any id.
func (b *bridge) answer(c *call) (m wire.Message, err error) {
	if c.Method == string(mcp.MethodPing) && b.introduced() == nil {
		return resultMessage(json.RawMessage("{}")), nil
	}
	c.afterVisit()
	err = b.login.serve(c.ctx, func() error {
		m, err = b.exchange(c)
		return err
	})
	if need := fault.KindOf(err) == fault.KindAuth; need && begins(c.Method) {
		return b.login.greeting(err), nil
	}
	var pending *loginPending
	if errors.As(err, &pending) && pending.address != "" && b.login.asksToVisit(c) {
		return pending.inputRequired(), nil
	}
	if err == nil {
		m = b.login.emptyList(c.Method, m)
	}
	return m, err
}

// begins reports whether a request is the first of a client.
func begins(method string) bool {
	return method == string(mcp.MethodInitialize) || method == string(mcp.MethodServerDiscover)
}

// introduced returns who the client is, nil before it has said so.
func (b *bridge) introduced() *wire.Client {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.known
}

// open returns the session with the server.
func (b *bridge) open(ctx context.Context) (*protocol.Session, error) {
	b.mu.Lock()
	backend := b.backend
	b.mu.Unlock()
	session, err := backend.Open(ctx)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if before := b.session; before != session && backend == b.backend {
		b.session = session
		if before != nil {
			b.client.forget()
			session.NoteTools(before.Tools())
		}
		b.going.Go(func() { b.follow(session, before != nil) })
	}
	return session, nil
}

// exchange answers a request in the session with the server, whatever the eras of the two.
func (b *bridge) exchange(c *call) (wire.Message, error) {
	session, err := b.open(c.ctx)
	if err != nil {
		return wire.Message{}, err
	}
	client := b.introduced()
	modern := mcp.IsModernProtocol(session.Protocol)
	switch {
	case c.Method == string(mcp.MethodInitialize):
		return resultMessage(b.greeting(client, session)), nil
	case client.Modern() && !modern:
		return b.newer.exchange(c, session)
	case !client.Modern() && modern:
		return b.exchangeOlder(c, session)
	}
	m, err := b.forward(c.ctx, c.Method, c.Params, (*protocol.Session).Forward)
	if err == nil && m.Err == nil {
		b.note(c.Method, c.Params)
	}
	return m, err
}

// sender sends a request in a session.
type sender func(*protocol.Session, context.Context, string, json.RawMessage) (wire.Message, error)

// forward sends a request to the server, and sends it again if it was lost on the way and may be repeated.
func (b *bridge) forward(
	ctx context.Context, method string, params json.RawMessage, send sender,
) (m wire.Message, err error) {
	delay := b.Retry.Delay
	for attempt := 1; ; attempt++ {
		session, err := b.open(ctx)
		if err != nil {
			return wire.Message{}, err
		}
		m, err := send(session, ctx, method, params)
		if err == nil && method == string(mcp.MethodToolsList) {
			if list := session.NoteList(m.Result); len(list) < len(m.Result) {
				m = resultMessage(list)
			}
		}
		lost := err != nil && ctx.Err() == nil && isLost(err)
		if !lost || attempt >= b.Retry.Attempts {
			return m, err
		}
		if !notSent(err) && !session.Repeatable(method, params) {
			return m, &diagnose.Hinted{
				Text: err.Error() + "; " + method + " was not repeated, and its outcome is unknown", Err: err,
				Fix: "call again if that does no harm; toolx repeats only requests that read, and calls of tools " +
					"with readOnlyHint or idempotentHint",
			}
		}
		if !wire.Waited(ctx, delay) {
			return wire.Message{}, context.Cause(ctx)
		}
		delay *= 2
	}
}

// isLost reports whether err says that the connection with the server was lost, and not that it has refused something.
func isLost(err error) bool {
	var failure *diagnose.Failure
	return mcphttp.IsUnreachable(err) || mcphttp.IsCutOff(err) ||
		errors.As(err, &failure) && failure.Ending == diagnose.EndingGone
}

// notSent reports whether a request has not reached the server, since nothing accepted the connection.
func notSent(err error) bool {
	var network *net.OpError
	return errors.As(err, &network) && network.Op == "dial"
}

// note keeps what a request that has succeeded has subscribed to, for the next session.
func (b *bridge) note(method string, params json.RawMessage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch uri := rawjson.GetText(params, "uri"); mcp.MCPMethod(method) {
	case mcp.MethodSetLogLevel:
		b.level = rawjson.GetText(params, "level")
	case mcp.MethodResourcesSubscribe:
		b.subscribed[uri] = 1
	case mcp.MethodResourcesUnsubscribe:
		delete(b.subscribed, uri)
	}
}

// follow keeps up what the client has subscribed to for as long as a session lasts, and opens another one after it.
// again reports that it takes the place of another one.
func (b *bridge) follow(session *protocol.Session, again bool) {
	renewed := session.Renewed()
	modern := mcp.IsModernProtocol(session.Protocol)
	if again && !modern {
		b.restore(session)
	}
	if modern && !b.introduced().Modern() {
		b.going.Go(func() { b.listen(session) })
	}
	for {
		select {
		case <-b.life.Done():
			return
		case <-renewed:
			renewed = session.Renewed()
			b.restore(session)
		case <-session.Done():
			b.mu.Lock()
			current := b.session == session
			b.mu.Unlock()
			if current && b.life.Err() == nil {
				_, _ = b.open(b.life) // the next request reports why not
			}
			return
		}
	}
}

// restore repeats the subscriptions of the client in a new session of the older era.
func (b *bridge) restore(session *protocol.Session) {
	b.mu.Lock()
	level := b.level
	var uris []string
	for uri := range b.subscribed {
		uris = append(uris, uri)
	}
	b.mu.Unlock()
	if level != "" {
		_, _ = session.Forward(b.life, string(mcp.MethodSetLogLevel), rawjson.Build("level", level))
	}
	slices.Sort(uris)
	for _, uri := range uris { // a server that fails here fails the next request too, which reports it
		_, _ = session.Forward(b.life, string(mcp.MethodResourcesSubscribe), protocol.ReadParams(uri))
	}
}

// resultMessage returns a response with a result.
func resultMessage(result json.RawMessage) wire.Message {
	return wire.Read(rawjson.Build("jsonrpc", mcp.JSONRPC_VERSION, "id", 0, "result", result))
}

// errorMessage returns a response with an error; nil data is left out.
func errorMessage(code int, text string, data json.RawMessage) wire.Message {
	return wire.Read(rawjson.Build("jsonrpc", mcp.JSONRPC_VERSION, "id", 0,
		"error", rawjson.Build("code", code, "message", text, "data", data)))
}

// failed returns the response to a request that could not be answered: the cause, and what to do about it.
func failed(err error) wire.Message {
	var pending *loginPending
	if errors.As(err, &pending) && pending.address != "" {
		return pending.message()
	}
	data := rawjson.Build("kind", string(fault.KindOf(err)), "hint", fault.HintOf(err))
	return errorMessage(mcp.INTERNAL_ERROR, failedText(err), data)
}

// failedText returns the cause, and the command to run, or the first thing to do.
func failedText(err error) string {
	hints := strings.Split(fault.HintOf(err), "\n")
	for _, hint := range hints {
		if strings.HasPrefix(hint, "toolx ") {
			return err.Error() + " (run: " + hint + ")"
		}
	}
	if hints[0] == "" {
		return err.Error()
	}
	return err.Error() + " (" + hints[0] + ")"
}
