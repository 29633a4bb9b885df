package protocol

import (
	"context"
	"encoding/json"
	"net/http"

	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/rpc"
	"toolx/pkg/servers/wire"
)

// Transport carries the messages of one session: over a process's pipes, HTTP, or another process of toolx that keeps
// the server running. All pass what a server sends through one rpc.Peer, whose defaults do nothing where a transport
// has nothing to do. What differs is asked of the transport, which states it.
type Transport interface {
	// Begin starts the server's process, or the reading of what comes. The error is a *Failure.
	Begin() error
	// RoundTrip sends a request and waits for its answer, for ctx to end, or for the server to end; params are nil for
	// a request without any, header is for HTTP. When ctx ends, the request is cancelled.
	RoundTrip(ctx context.Context, method string, params json.RawMessage, header http.Header) (wire.Message, error)
	// Send sends one message as it is.
	Send(ctx context.Context, f wire.Frame) error
	// Close ends the transport in steps, each bounded, and cut short when ctx ends; Kill ends it at once and does not
	// wait.
	Close(ctx context.Context)
	Kill()
	// NewFailure gathers what is known of the server now.
	NewFailure(ending diagnose.Ending) *diagnose.Failure
	// RPC is the transport's side of JSON-RPC.
	RPC() *rpc.Peer

	// Attach returns what another process has agreed on with the server, which it makes ready; nil where the handshake
	// is up to this one. The error is a *Failure, or ctx's.
	Attach(ctx context.Context) (*wire.Attached, error)
	// OverHTTP reports whether the rules of MCP for HTTP apply: the server may be of any era, and headers repeat what
	// messages contain.
	OverHTTP() bool
	// FallBack switches to the older form of the transport; Reset goes back to the beginning, without a session.
	FallBack(ctx context.Context) error
	Reset()
	// Speak sets the revision that requests name; empty for none. Listen opens the stream on which the server sends
	// messages that belong to no request.
	Speak(version string)
	Listen()
	// Announce notes that the session has been announced. It is called once.
	Announce()
	// ProcessID returns the process of the server, zero if none is known.
	ProcessID() int
	// Question returns what the server asks a person at the terminal, and waits for; empty if nothing.
	Question() string
	// Doing says that the server has not answered yet, and what it does meanwhile; empty where another process reports
	// that.
	Doing() string
	// Unfinished returns what the server has written to stdout and not ended with a newline.
	Unfinished() []byte
	// Stderr returns the last n lines of the server's stderr, how many there were, and the file with all of them.
	Stderr(n int) (lines []string, total int, path string)
	// CloseLog waits until the log of stderr is written, or ctx ends.
	CloseLog(ctx context.Context)
	// SessionKey returns the key of the session that another process keeps; empty where this process has it.
	SessionKey() string
	// NoStream returns a channel that is closed when the server turns out to have no standing stream; nil if there
	// is no such stream.
	NoStream() <-chan struct{}
	// Resuming returns how a stream that was cut off is asked for again.
	Resuming() rpc.RetryPolicy
}
