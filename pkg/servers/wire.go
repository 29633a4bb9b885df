package servers

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/config"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/stdio"
	"toolx/pkg/servers/wire"
)

// Wire is the connection to one server below any session: its user speaks JSON-RPC directly. The doctor uses it for
// requests that no client sends. Events go to the bus, as for a session.
type Wire struct {
	link link
	// protocol is the revision that a session has agreed on, empty before that.
	protocol string
}

// Process is the Wire of a server's process that toolx has started for it.
type Process struct {
	Wire
	program *stdio.Transport
}

// Dial starts a server's process and sends nothing to it. The error is a *Failure.
func Dial(server *config.Server, launch *config.Resolved, options Options) (*Process, error) {
	program := stdio.New(options.dial(server, launch).stdio())
	program.FirstRequest(1) // a report is the same each time
	program.OnNotification = func(method string, params json.RawMessage) {
		options.Bus.Emit(wire.Notification{Head: wire.Now(server.Name), Method: method, Params: params})
	}
	if err := program.Begin(); err != nil {
		return nil, err
	}
	return &Process{Wire: Wire{link: program}, program: program}, nil
}

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
	encoded, err := wire.EncodeParams(method, params)
	if err != nil {
		return nil, err
	}
	m, err := w.link.RoundTrip(ctx, method, encoded, standardHeader(w.protocol, method, encoded))
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
		answer.Error = wire.ErrorDetails(m.Err)
	}
	return answer
}

// Notify sends a notification; nil params are left out.
func (w *Wire) Notify(ctx context.Context, method string, params any) error {
	notification, err := wire.NewNotification(method, params)
	if err != nil {
		return err
	}
	w.link.RPC().Notified()
	return w.link.Send(ctx, notification)
}

// WriteLine sends any bytes and a newline.
func (w *Wire) WriteLine(ctx context.Context, line []byte) error {
	return w.link.Send(ctx, wire.ReadFrame(line))
}

// Done returns a channel that is closed when nothing more can come from the server.
func (w *Wire) Done() <-chan struct{} { return w.link.RPC().Done }

// Failure returns how the server ended, nil while it has not.
func (w *Wire) Failure() *diagnose.Failure {
	if !wire.Closed(w.Done()) {
		return nil
	}
	return diagnose.Of(w.link.RPC(), "")
}

// Exited waits until the process has ended, or ctx has; it reports whether the process has ended.
func (w *Process) Exited(ctx context.Context) bool {
	return w.program.Exited(ctx)
}

// Terminate asks the server's processes to end by a signal (SIGTERM; Ctrl-Break on Windows), its stdin being open.
func (w *Process) Terminate() { w.program.Terminate() }

// Pending returns the bytes of stdout that wait for their newline.
func (w *Process) Pending() []byte { return w.program.Unfinished() }

// Close ends the process as Session.Close does.
func (w *Wire) Close(ctx context.Context) { w.link.Close(ctx) }

// Wire returns the connection below the session. Its requests have ids of their own and do not disturb the session's.
func (s *Session) Wire() *Wire { return &Wire{s.link, s.Protocol} }
