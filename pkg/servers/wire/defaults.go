package wire

import (
	"context"
	"time"
)

// RetryPolicy bounds the waiting for a server that asks to slow down.
type RetryPolicy struct {
	Attempts int
	Delay    time.Duration // the first; it doubles
	Longest  time.Duration // of one wait
}

// The methods below are the defaults for transports that embed a Peer.

// Begin does nothing: there is nothing to start.
func (p *Peer) Begin() error { return nil }

// Speak does nothing: messages do not name the protocol version.
func (p *Peer) Speak(string) {}

// Listen does nothing: the server can always send.
func (p *Peer) Listen() {}

// Announce does nothing: no event waits.
func (p *Peer) Announce() {}

// ProcessID returns 0: there is no process.
func (p *Peer) ProcessID() int { return 0 }

// Question returns "": nobody is asked.
func (p *Peer) Question() string { return "" }

// Doing returns "": it is not known what the server does.
func (p *Peer) Doing() string { return "" }

// Unfinished returns nil: there is no line without an end.
func (p *Peer) Unfinished() []byte { return nil }

// Stderr returns no lines: there is no stderr.
func (p *Peer) Stderr(int) (lines []string, total int, path string) { return nil, 0, "" }

// CloseLog does nothing: there is no stderr.
func (p *Peer) CloseLog(context.Context) {}

// SessionKey returns "": this is not a connection to a session.
func (p *Peer) SessionKey() string { return "" }

// NoStream returns nil: the server can always send.
func (p *Peer) NoStream() <-chan struct{} { return nil }

// Resuming returns the zero policy: nothing is resumed.
func (p *Peer) Resuming() RetryPolicy { return RetryPolicy{} }
