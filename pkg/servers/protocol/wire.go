package protocol

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/rpc"
	"toolx/pkg/servers/wire"
)

// Wire is the connection to one server below any session: its user speaks JSON-RPC directly. The doctor uses it for
// requests that no client sends. Events go to the bus, as for a session.
type Wire struct {
	transport Transport
	// protocol is the revision that a session has agreed on, empty before that.
	protocol string
}

// NewWire returns the connection of a transport that has begun.
func NewWire(transport Transport) Wire { return Wire{transport: transport} }

// Answer is a reply, byte for byte as it was received.
type Answer struct {
	// Frame is the whole message; Result and Error are slices of it, nil where it has none.
	Frame  json.RawMessage
	Result json.RawMessage
	Error  *mcp.JSONRPCErrorDetails
	Took   time.Duration
}

// Request sends a request with params (anything that marshals; nil leaves them out) and waits for the answer. The error
// is ctx's, a *Failure where the server ended, or an *exec.MalformedError where the answer is broken; an answer with an
// error is an Answer.
func (w *Wire) Request(ctx context.Context, method string, params any) (*Answer, error) {
	began := time.Now()
	encoded, err := rpc.EncodeParams(method, params)
	if err != nil {
		return nil, err
	}
	m, err := w.transport.RoundTrip(ctx, method, encoded, standardHeader(w.protocol, method, encoded))
	if err != nil {
		return nil, err
	}
	answer := answerOf(m)
	answer.Took = time.Since(began)
	return answer, nil
}

// answerOf returns a reply in the form that the package exports.
func answerOf(m wire.Message) *Answer {
	answer := &Answer{Frame: m.Raw, Result: m.Result}
	if m.Err != nil {
		answer.Error = rpc.ErrorDetails(m.Err)
	}
	return answer
}

// Notify sends a notification; nil params are left out.
func (w *Wire) Notify(ctx context.Context, method string, params any) error {
	notification, err := rpc.NewNotification(method, params)
	if err != nil {
		return err
	}
	w.transport.RPC().Notified()
	return w.transport.Send(ctx, notification)
}

// WriteLine sends any bytes and a newline.
func (w *Wire) WriteLine(ctx context.Context, line []byte) error {
	return w.transport.Send(ctx, wire.ReadFrame(line))
}

// Done returns a channel that is closed when nothing more can come from the server.
func (w *Wire) Done() <-chan struct{} { return w.transport.RPC().Done }

// Failure returns how the server ended, nil while it has not.
func (w *Wire) Failure() *diagnose.Failure {
	if !wire.Closed(w.Done()) {
		return nil
	}
	return diagnose.Of(w.transport.RPC(), "")
}

// Close ends the connection as Session.Close does.
func (w *Wire) Close(ctx context.Context) { w.transport.Close(ctx) }

// Wire returns the connection below the session. Its requests have ids of their own and do not disturb the session's.
func (s *Session) Wire() *Wire { return &Wire{s.transport, s.Protocol} }
