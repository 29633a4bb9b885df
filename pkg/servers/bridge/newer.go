package bridge

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/rawjson"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/rpc"
	"toolx/pkg/servers/wire"
)

// newer lets a client of 2026-07-28 use a server of the older era.
type newer struct {
	*bridge
	mu      sync.Mutex // guards what follows
	feeds   map[*feed]bool
	pending []*pending // in the order in which they were sent
	parked  map[string]*pending
}

// streams returns how many requests of the client are streams of notifications.
func (n *newer) streams() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.feeds)
}

// exchange answers a request of a client of 2026-07-28 by a server of the older era.
func (n *newer) exchange(c *call, session *protocol.Session) (wire.Message, error) {
	switch mcp.MCPMethod(c.Method) {
	case mcp.MethodServerDiscover:
		return resultMessage(n.greeting(n.introduced(), session)), nil
	case mcp.MethodSubscriptionsListen:
		return n.feed(c, session)
	}
	m, err := n.exchangePending(c, session)
	if err != nil || m.Result == nil {
		return m, err
	}
	if result := completed(c.Method, m.Result); len(result) != len(m.Result) {
		m = resultMessage(result)
	}
	return m, nil
}

// setLevel asks a server of the older era for the log messages that a request of 2026-07-28 asks for.
func (n *newer) setLevel(c *call, session *protocol.Session) {
	level := rawjson.GetText(rawjson.Get(c.Params, "_meta"), mcp.MetaKeyLogLevel)
	n.bridge.mu.Lock()
	changes := level != "" && level != n.level
	if changes {
		n.level = level
	}
	n.bridge.mu.Unlock()
	if changes { // a server without log messages refuses, which is no reason to fail
		_, _ = session.Forward(c.ctx, string(mcp.MethodSetLogLevel), rawjson.Build("level", level))
	}
}

// older returns the params of a request of 2026-07-28 without what servers of the older era do not know.
func older(params json.RawMessage) json.RawMessage {
	meta := rawjson.Get(params, "_meta")
	members, _ := rawjson.Members(meta)
	members = slices.DeleteFunc(members, func(m rawjson.Member) bool {
		return slices.Contains([]string{
			mcp.MetaKeyProtocolVersion, mcp.MetaKeyClientInfo, mcp.MetaKeyClientCapabilities, mcp.MetaKeyLogLevel,
		}, m.Name)
	})
	if len(members) == 0 {
		return rawjson.With(params, "_meta", nil)
	}
	return rawjson.With(params, "_meta", rawjson.Object(members))
}

// pending is a request to a server of the older era, which may ask something meanwhile. A client of 2026-07-28 gets
// that as its result, and repeats the request with the answers.
type pending struct {
	method string
	done   chan outcome
	asks   chan serverRequest
	open   map[string]serverRequest // that the client has to answer, by their keys
	cancel context.CancelCauseFunc
	expire *time.Timer
}

// serverRequest is a request of a server, which its peer answers.
type serverRequest struct {
	peer *rpc.Peer
	m    wire.Message
}

type outcome struct {
	m   wire.Message
	err error
}

// parkTime is how long a request waits for the client to repeat it with its answers.
const parkTime = 10 * time.Minute

// exchangePending sends a request, or goes on with one that the client repeats with its answers.
func (n *newer) exchangePending(c *call, session *protocol.Session) (wire.Message, error) {
	state := rawjson.GetText(c.Params, "requestState")
	p := n.unpark(state)
	switch {
	case p != nil:
		p.answer(rawjson.Get(c.Params, "inputResponses"))
	case state != "":
		return errorMessage(mcp.INVALID_PARAMS, "the requestState is unknown, or has expired", nil), nil
	default:
		n.setLevel(c, session)
		p = n.send(c)
	}
	select {
	case out := <-p.done:
		return out.m, out.err
	case a := <-p.asks:
		return resultMessage(n.park(p, a)), nil
	case <-c.ctx.Done():
		p.cancel(context.Cause(c.ctx))
		return wire.Message{}, context.Cause(c.ctx)
	}
}

// send sends a request that may outlive the client's.
func (n *newer) send(c *call) *pending {
	ctx, cancel := context.WithCancelCause(n.life)
	p := &pending{
		method: c.Method,
		done:   make(chan outcome, 1), asks: make(chan serverRequest, maxAsked),
		open: make(map[string]serverRequest), cancel: cancel,
	}
	n.mu.Lock()
	n.pending = append(n.pending, p)
	n.mu.Unlock()
	n.going.Go(func() {
		defer cancel(nil)
		m, err := n.forward(ctx, c.Method, older(c.Params), (*protocol.Session).Forward)
		n.mu.Lock()
		n.pending = slices.DeleteFunc(n.pending, func(one *pending) bool { return one == p })
		n.mu.Unlock()
		p.done <- outcome{m, err}
	})
	return p
}

// takesInput reports whether the result of a method may ask the client for input (MCP 2026-07-28, schema).
func takesInput(method string) bool {
	switch mcp.MCPMethod(method) {
	case mcp.MethodToolsCall, mcp.MethodPromptsGet, mcp.MethodResourcesRead:
		return true
	}
	return false
}

// ask gives a request of the server to the request of the client that most likely caused it: the oldest one that may
// ask for input. It reports whether there is one.
func (n *newer) ask(p *rpc.Peer, m wire.Message) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, one := range n.pending {
		if !takesInput(one.method) {
			continue
		}
		select {
		case one.asks <- serverRequest{p, m}:
			return true
		default: // it has asked too much
		}
	}
	return false
}

// park returns the result that asks the client for what a server wants to know.
func (n *newer) park(p *pending, first serverRequest) json.RawMessage {
	token := rand.Text()
	var requests []rawjson.Member
	for a, more := first, true; more; {
		key := fmt.Sprintf("request-%d", len(p.open)+1)
		p.open[key] = a
		requests = append(requests, rawjson.NewMember(key, rawjson.Build("method", a.m.Method, "params", a.m.Params)))
		select {
		case a = <-p.asks:
		default:
			more = false
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.parked[token] = p
	p.expire = time.AfterFunc(parkTime, func() {
		if p := n.unpark(token); p != nil {
			p.cancel(errors.New("the client has not repeated its request"))
		}
	})
	return rawjson.Build("resultType", "input_required", "inputRequests", rawjson.Object(requests),
		"requestState", token)
}

// unpark returns the request that a client repeats, nil if there is none.
func (n *newer) unpark(token string) *pending {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := n.parked[token]
	if p != nil {
		delete(n.parked, token)
		p.expire.Stop()
	}
	return p
}

// answer gives the server the answers of the client.
func (p *pending) answer(responses json.RawMessage) {
	for key, a := range p.open {
		var err error
		result := rawjson.Get(responses, key)
		if result == nil {
			err = &rpc.Error{Code: mcp.INTERNAL_ERROR, Message: "the client did not answer"}
		}
		a.peer.Respond(a.m, result, err)
	}
	clear(p.open)
}

// feed is a stream of notifications of a client of 2026-07-28, from a server of the older era.
type feed struct {
	id     json.RawMessage
	filter json.RawMessage
	uris   []string
}

// filterOf returns the member of a filter that asks for a notification; empty if there is none.
func filterOf(method string) string {
	switch method {
	case mcp.MethodNotificationToolsListChanged:
		return "toolsListChanged"
	case mcp.MethodNotificationPromptsListChanged:
		return "promptsListChanged"
	case mcp.MethodNotificationResourcesListChanged:
		return "resourcesListChanged"
	}
	return ""
}

// feed answers subscriptions/listen when the session has ended; until then it sends the notifications.
func (n *newer) feed(c *call, session *protocol.Session) (wire.Message, error) {
	filter := rawjson.Get(c.Params, "notifications")
	f := &feed{id: c.ID, filter: filter}
	for uri := range rawjson.EachElement(rawjson.Get(filter, "resourceSubscriptions")) {
		f.uris = append(f.uris, rawjson.Unquote(uri))
	}
	n.mu.Lock()
	n.feeds[f] = true
	n.mu.Unlock()
	n.bridge.mu.Lock()
	var added []string
	for _, uri := range f.uris {
		if n.subscribed[uri]++; n.subscribed[uri] == 1 {
			added = append(added, uri)
		}
	}
	n.bridge.mu.Unlock()
	defer n.endFeed(f, session)
	for _, uri := range added {
		m, err := session.Forward(c.ctx, string(mcp.MethodResourcesSubscribe), protocol.ReadParams(uri))
		if err != nil || m.Err != nil {
			return m, err
		}
	}
	const acknowledged = mcp.MethodNotificationSubscriptionsAcknowledged
	n.client.tell(f.mark(notification(acknowledged, rawjson.Build("notifications", filter))))
	select {
	case <-c.ctx.Done():
		return wire.Message{}, context.Cause(c.ctx)
	case <-session.Done():
		return resultMessage(f.mark(wire.Message{Params: rawjson.Build("resultType", "complete")}).Params), nil
	}
}

// endFeed ends the subscriptions that no other stream needs.
func (n *newer) endFeed(f *feed, session *protocol.Session) {
	n.mu.Lock()
	delete(n.feeds, f)
	n.mu.Unlock()
	n.bridge.mu.Lock()
	var ended []string
	for _, uri := range f.uris {
		if n.subscribed[uri]--; n.subscribed[uri] == 0 {
			delete(n.subscribed, uri)
			ended = append(ended, uri)
		}
	}
	n.bridge.mu.Unlock()
	bounded, cancel := context.WithTimeout(n.life, closeTime)
	defer cancel()
	for _, uri := range ended {
		_, _ = session.Forward(bounded, string(mcp.MethodResourcesUnsubscribe), protocol.ReadParams(uri))
	}
}

// mark returns a notification with the id of the stream.
func (f *feed) mark(m wire.Message) wire.Message {
	meta := rawjson.With(rawjson.Get(m.Params, "_meta"), mcp.MetaKeySubscriptionID, f.id)
	params := rawjson.With(m.Params, "_meta", meta)
	if m.Method == "" {
		return wire.Message{Params: params}
	}
	return notification(m.Method, params)
}

// feeding sends a notification of a server of the older era on the streams that want it, and reports whether it is one
// that clients of 2026-07-28 get on streams only.
func (n *newer) feeding(m wire.Message) bool {
	updated, name := m.Method == mcp.MethodNotificationResourceUpdated, filterOf(m.Method)
	if !updated && name == "" {
		return false
	}
	uri := rawjson.GetText(m.Params, "uri")
	n.mu.Lock()
	var marked []wire.Message
	for f := range n.feeds {
		if string(rawjson.Get(f.filter, name)) == "true" || updated && slices.Contains(f.uris, uri) {
			marked = append(marked, f.mark(m))
		}
	}
	n.mu.Unlock()
	for _, one := range marked {
		n.client.tell(one)
	}
	return true
}
