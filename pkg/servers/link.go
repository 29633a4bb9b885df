package servers

import (
	"context"
	"encoding/json"
	"net/http"

	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
)

// link is the transport of one session: a process's pipes, HTTP, or another process of toolx that keeps the server
// running. All pass what a server sends through one peer. What differs between transports is asked of the link; no code
// above it asks which one it has.
type link interface {
	// begin starts the server's process, or the reading of what comes. The error is a *Failure.
	Begin() error
	// agree agrees on a revision with the server.
	agree(ctx context.Context, h *handshake) error
	// roundTrip sends a request and waits for its answer, for ctx to end, or for the server to end; params are nil for
	// a request without any, header is for HTTP. When ctx ends, the request is cancelled.
	roundTrip(ctx context.Context, method string, params json.RawMessage, header http.Header) (wire.Message, error)
	// send sends one message as it is.
	send(ctx context.Context, f wire.Frame) error
	// shutdown ends the link in steps, each bounded, and cut short when ctx ends; kill ends it at once and does not
	// wait.
	shutdown(ctx context.Context)
	kill()
	// newFailure gathers what is known of the server now.
	newFailure(ending diagnose.Ending) *diagnose.Failure
	// rpc is the link's side of JSON-RPC.
	RPC() *wire.Peer

	// speak sets the revision that requests name; empty for none. listen opens the stream on which the server sends
	// messages that belong to no request.
	Speak(version string)
	Listen()
	// announce notes that the session has been announced. It is called once.
	Announce()
	// processID returns the process of the server, zero if none is known.
	ProcessID() int
	// question returns what the server asks a person at the terminal and has not gone on from; empty if nothing.
	Question() string
	// doing says that the server has not answered yet, and what it does meanwhile; empty where another process says so.
	Doing() string
	// unfinished returns what the server has written to stdout and not ended with a newline.
	Unfinished() []byte
	// stderr returns the last n lines of the server's stderr, how many there were, and the file with all of them.
	Stderr(n int) (lines []string, total int, path string)
	// closeLog waits until the log of stderr is written, or ctx ends.
	CloseLog(ctx context.Context)
	// heldKey returns the key of the session that a process of its own keeps; empty where this process has the server.
	SessionKey() string
	// silentStream returns a channel that is closed when the server turns out to have no standing stream; nil if there
	// is no such stream.
	NoStream() <-chan struct{}
	// resuming returns how a stream that was cut off is asked for again.
	Resuming() wire.RetryPolicy
}
