package exec

import (
	"encoding/json"
	"log/slog"
	"sync"
	"time"
)

// Event is something that happened while toolx communicated with servers or called tools. This package and servers
// define the types; log, TUI, trace and doctor consume them. Events are values and never change.
type Event interface {
	// When is the time at which it happened.
	When() time.Time
}

// Bus passes each event to every subscriber, in the order of emission. A nil Bus drops them. It is safe for concurrent
// use.
type Bus struct {
	mu          sync.RWMutex
	next        int
	subscribers []subscriber
}

type subscriber struct {
	id int
	on func(Event)
}

// Subscribe calls on for every event from now on, until the returned function is called. on runs on the goroutine that
// emits, so it must be quick, must not block and must not emit.
func (b *Bus) Subscribe(on func(Event)) (cancel func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next++
	id := b.next
	b.subscribers = append(b.subscribers[:len(b.subscribers):len(b.subscribers)], subscriber{id, on})
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		kept := make([]subscriber, 0, len(b.subscribers))
		for _, s := range b.subscribers {
			if s.id != id {
				kept = append(kept, s)
			}
		}
		b.subscribers = kept
	}
}

// Emit passes event to every subscriber.
func (b *Bus) Emit(event Event) {
	if b == nil {
		return
	}
	b.mu.RLock()
	subscribers := b.subscribers
	b.mu.RUnlock()
	for _, s := range subscribers {
		s.on(event)
	}
}

// Time is embedded in events: when they happened.
type Time struct{ At time.Time }

// When implements Event.
func (t Time) When() time.Time { return t.At }

// Now returns the Time of an event that happens now.
func Now() Time { return Time{At: time.Now()} }

// CallStarted reports that a call's tool was found; its arguments are not checked yet.
type CallStarted struct {
	Time
	ID        string // unique in this process
	Tool      string
	Server    string
	Method    string          // as in CallFinished
	Arguments json.RawMessage // as given, before normalization
}

// CallProgress is a report of progress in a running call.
type CallProgress struct {
	Time
	ID   string
	Tool string
	Progress
}

// CallFinished is the outcome of a call (EXEC-11); for an unknown tool (EXEC-6), and for a call that could not start,
// there is no CallStarted.
type CallFinished struct {
	Time
	ID string
	// Method is that of an Operation, empty for the call of a tool.
	Method    string
	Arguments json.RawMessage // as sent, or as given if nothing was sent
	Result    *Result
}

// Notice is a remark for the log.
type Notice struct {
	Time
	Level slog.Level
	Text  string
	Attrs []slog.Attr
	// Server is the server that caused it, possibly many times; empty for none.
	Server string
	// Denied reports whether it is about a tool that is denied: a call of the tool fails with the same text.
	Denied bool
}
