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

// The methods that follow are those of a transport that has nothing of its own to do.

func (p *Peer) Begin() error { return nil }

func (p *Peer) Speak(string) {}

func (p *Peer) Listen() {}

func (p *Peer) Announce() {}

func (p *Peer) ProcessID() int { return 0 }

func (p *Peer) Question() string { return "" }

func (p *Peer) Doing() string { return "" }

func (p *Peer) Unfinished() []byte { return nil }

func (p *Peer) Stderr(int) (lines []string, total int, path string) { return nil, 0, "" }

func (p *Peer) CloseLog(context.Context) {}

func (p *Peer) SessionKey() string { return "" }

func (p *Peer) NoStream() <-chan struct{} { return nil }

func (p *Peer) Resuming() RetryPolicy { return RetryPolicy{} }
