package bridge

import (
	"context"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/rawjson"
	"toolx/pkg/servers/rpc"
	"toolx/pkg/servers/wire"
)

type callKey struct{}

// Sending notes by which id the server knows a request of the client.
func (b *bridge) Sending(ctx context.Context, id int64) {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.sent, c.sentAs)
		c.sentAs, b.sent[id] = id, c
	}
}

// Repeatable reports false: the tools that the server has listed say what may be repeated.
func (b *bridge) Repeatable(context.Context) bool { return false }

// Offered returns what the client can do for the server.
func (b *bridge) Offered() mcp.ClientCapabilities { return b.introduced().Capabilities }

// Requested passes a request of a server of the older era to the client.
func (b *bridge) Requested(p *rpc.Peer, m wire.Message) bool {
	switch {
	case m.Method == string(mcp.MethodPing):
		return false // the peer answers
	case b.introduced().Modern():
		return b.newer.ask(p, m)
	}
	b.client.pass(p, m)
	return true
}

// clientNotified takes a notification of the client.
func (b *bridge) clientNotified(m wire.Message) {
	switch mcp.MCPMethod(m.Method) {
	case mcp.MethodNotificationInitialized: // the session has sent it already
		b.going.Go(func() { b.client.setReady(true) })
		return
	case mcp.MethodNotificationCancelled:
		b.mu.Lock()
		c := b.calls[string(rawjson.Get(m.Params, "requestId"))]
		b.mu.Unlock()
		if c != nil {
			cause := errCancelled
			if reason := rawjson.GetText(m.Params, "reason"); reason != "" {
				cause = errors.New(reason)
			}
			c.cancel(cause)
		}
		return
	}
	b.mu.Lock()
	session := b.session
	b.mu.Unlock()
	if session != nil && !mcp.IsModernProtocol(session.Protocol) { // 2026-07-28 has no others
		session.Transport().RPC().Notified()
		session.Transport().RPC().Post(wire.Frame{Bytes: m.Raw, Method: m.Method})
	}
}

// Notified passes a notification of the server to the client.
func (b *bridge) Notified(m wire.Message) {
	client := b.introduced()
	switch {
	case m.Method == string(mcp.MethodNotificationCancelled):
		b.client.cancelled(m)
	case rawjson.Get(rawjson.Get(m.Params, "_meta"), mcp.MetaKeySubscriptionID) != nil:
		b.subscriptionNotified(client, m)
	case client.Modern() && b.newer.feeding(m):
	default:
		b.client.tell(m)
	}
}

// subscriptionNotified passes on a notification of a stream of 2026-07-28, which names the request that opened it.
func (b *bridge) subscriptionNotified(client *wire.Client, m wire.Message) {
	if !client.Modern() {
		if m.Method == mcp.MethodNotificationSubscriptionsAcknowledged {
			b.acknowledged()
			return
		}
		b.client.tell(m)
		return
	}
	meta := rawjson.Get(m.Params, "_meta")
	id, _, _ := wire.RequestID(rawjson.Get(meta, mcp.MetaKeySubscriptionID))
	b.mu.Lock()
	c := b.sent[id]
	b.mu.Unlock()
	if c != nil {
		meta = rawjson.With(meta, mcp.MetaKeySubscriptionID, c.ID)
		b.client.tell(notification(m.Method, rawjson.With(m.Params, "_meta", meta)))
	}
}
