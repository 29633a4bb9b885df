package servers

import (
	"context"
	"encoding/json"
	"net/http"

	"toolx/pkg/servers/wire"
)

// link is the transport of one session: a process's pipes, HTTP, or another process of toolx that keeps the server
// running. All pass what a server sends through one peer, which is also what a transport does where it has nothing of
// its own to do: what differs between transports is asked of the link, and nobody asks which of them it is.
type link interface {
	// begin starts the server's process, or the reading of what comes. The error is a *Failure.
	begin() error
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
	newFailure(ending Ending) *Failure
	// rpc is the link's side of JSON-RPC.
	rpc() *peer

	// speak sets the revision that requests name; empty for none. listen opens the stream on which the server sends
	// messages that belong to no request.
	speak(version string)
	listen()
	// announce notes that the session has been announced. It is called once.
	announce()
	// processID returns the process of the server, zero if none is known.
	processID() int
	// question returns what the server asks a person at the terminal and has not gone on from; empty if nothing.
	question() string
	// doing says that the server has not answered yet, and what it does meanwhile; empty where another process says so.
	doing() string
	// unfinished returns what the server has written to stdout and not ended with a newline.
	unfinished() []byte
	// stderr returns the last n lines of the server's stderr, how many there were, and the file with all of them.
	stderr(n int) (lines []string, total int, path string)
	// closeLog waits until the log of stderr is written, or ctx ends.
	closeLog(ctx context.Context)
	// heldKey returns the key of the session that a process of its own keeps; empty where this process has the server.
	heldKey() string
	// silentStream returns a channel that is closed when the server turns out to have no standing stream; nil if there
	// is no such stream.
	silentStream() <-chan struct{}
	// resuming returns how a stream that was cut off is asked for again.
	resuming() retryPolicy
}

func (p *peer) begin() error { return nil }

func (p *peer) speak(string) {}

func (p *peer) listen() {}

func (p *peer) announce() {}

func (p *peer) processID() int { return 0 }

func (p *peer) question() string { return "" }

func (p *peer) doing() string { return "" }

func (p *peer) unfinished() []byte { return nil }

func (p *peer) stderr(int) (lines []string, total int, path string) { return nil, 0, "" }

func (p *peer) closeLog(context.Context) {}

func (p *peer) heldKey() string { return "" }

func (p *peer) silentStream() <-chan struct{} { return nil }

func (p *peer) resuming() retryPolicy { return retryPolicy{} }
