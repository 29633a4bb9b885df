package rpc

import (
	"context"
	"errors"
	"time"

	"toolx/pkg/servers/wire"
)

// RetryPolicy bounds the waiting for a server that asks to slow down.
type RetryPolicy struct {
	Attempts int
	Delay    time.Duration // the first; it doubles
	Longest  time.Duration // of one wait
}

// defaults are the methods of a transport that has nothing to do for them. A transport embeds a Peer and declares those
// that it needs itself; one whose name differs by a letter would be a new method, and do nothing.
type defaults struct{}

// Begin does nothing: there is nothing to start.
func (defaults) Begin() error { return nil }

// Attach returns nil: no other process has performed the handshake.
func (defaults) Attach(context.Context) (*wire.Attached, error) { return nil, nil }

// OverHTTP returns false: the rules of MCP for HTTP do not apply.
func (defaults) OverHTTP() bool { return false }

// FallBack returns an error: there is no older form of the transport.
func (defaults) FallBack(context.Context) error { return errors.ErrUnsupported }

// Reset does nothing: the transport has no state of a session.
func (defaults) Reset() {}

// Speak does nothing: messages do not name the protocol version.
func (defaults) Speak(string) {}

// Listen does nothing: the server can always send.
func (defaults) Listen() {}

// Announce does nothing: no event waits.
func (defaults) Announce() {}

// ProcessID returns 0: there is no process.
func (defaults) ProcessID() int { return 0 }

// Question returns "": no person is asked.
func (defaults) Question() string { return "" }

// Doing returns "": it is not known what the server does.
func (defaults) Doing() string { return "" }

// Unfinished returns nil: there is no line without an end.
func (defaults) Unfinished() []byte { return nil }

// Stderr returns no lines: there is no stderr.
func (defaults) Stderr(int) (lines []string, total int, path string) { return nil, 0, "" }

// CloseLog does nothing: there is no stderr.
func (defaults) CloseLog(context.Context) {}

// SessionKey returns "": this is not a connection to a session.
func (defaults) SessionKey() string { return "" }

// NoStream returns nil: the server can always send.
func (defaults) NoStream() <-chan struct{} { return nil }

// Resuming returns the zero policy: nothing is resumed.
func (defaults) Resuming() RetryPolicy { return RetryPolicy{} }
