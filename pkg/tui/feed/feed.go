// Package feed passes events from the goroutines that emit them to the interface: it never blocks an emitter, keeps a
// bounded number of events, and delivers them in batches.
package feed

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/exec"
	"toolx/pkg/servers"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
)

const (
	// maxPending bounds how many events of one kind and server wait to be drawn. In a flood the newest
	// are kept, and other streams lose nothing. The rest are counted and dropped, except events that
	// report the state of a server or a call.
	maxPending = 1024
	// maxPendingBytes bounds the size of the waiting events of a stream. A single event may be larger.
	maxPendingBytes = 8 << 20
	// frameTime is the minimum time between two deliveries: 30 a second.
	frameTime = time.Second / 30
)

// Feed keeps the events that were not delivered yet. Create it with New.
type Feed struct {
	ready chan struct{} // holds one token while something is pending

	mu       sync.Mutex
	next     int // number of the next event
	pending  map[stream]*backlog
	dropped  int
	polluted map[string]int // polluted lines among them, by server
}

// stream is one kind of event from one server.
type stream struct {
	kind   reflect.Type
	server string
	// list is the method of a list_changed notification. Such a notification has a stream of its own
	// because dropping it would leave the list outdated.
	list string
}

func streamOf(event exec.Event) stream {
	of := stream{kind: reflect.TypeOf(event), server: Server(event)}
	if e, ok := event.(wire.Notification); ok && strings.HasSuffix(e.Method, "/list_changed") {
		of.list = e.Method
	}
	return of
}

// Server returns the server that an event is about, or empty.
func Server(event exec.Event) string {
	if about, ok := event.(wire.Event); ok {
		return about.From()
	}
	return ""
}

// backlog holds the waiting events of a stream.
type backlog struct {
	events []numbered
	bytes  int // their size
}

// sizeOf returns the size in bytes of an event whose size the server controls.
func sizeOf(event exec.Event) int {
	switch e := event.(type) {
	case wire.FrameReceived:
		return len(e.Bytes)
	case wire.FrameSent:
		return len(e.Bytes)
	case wire.OddFrame:
		return len(e.Bytes)
	case wire.LogMessage:
		return len(e.Data) + len(e.Level) + len(e.Logger)
	case wire.Notification:
		return len(e.Method) + len(e.Params)
	case wire.ServerRequest:
		return len(e.Method)
	case wire.StderrLine:
		return len(e.Text)
	case exec.Notice:
		return len(e.Text)
	}
	return 0
}

type numbered struct {
	number int
	event  exec.Event
}

// New returns an empty Feed.
func New() *Feed {
	return &Feed{ready: make(chan struct{}, 1), pending: make(map[stream]*backlog), polluted: make(map[string]int)}
}

// Take takes an event of the bus.
func (f *Feed) Take(event exec.Event) {
	of := streamOf(event)
	f.mu.Lock()
	waiting := f.pending[of]
	if waiting == nil {
		waiting = &backlog{}
		f.pending[of] = waiting
	}
	f.next++
	for _, gone := range waiting.add(numbered{f.next, event}) {
		f.dropped++
		if line, ok := gone.event.(wire.PollutedLine); ok && !line.Class.Harmless() {
			f.polluted[line.Server]++
		}
	}
	f.mu.Unlock()
	select {
	case f.ready <- struct{}{}:
	default:
	}
}

// add keeps an event and returns the older ones that it displaced.
func (b *backlog) add(e numbered) (gone []numbered) {
	b.events = append(b.events, e)
	b.bytes += sizeOf(e.event)
	if vital(e.event) {
		return nil
	}
	drop := 0
	for rest := len(b.events); rest > maxPending || rest > 1 && b.bytes > maxPendingBytes; rest-- {
		b.bytes -= sizeOf(b.events[drop].event)
		drop++
	}
	gone = slices.Clone(b.events[:drop])
	clear(b.events[:drop]) // for the garbage collector
	b.events = b.events[drop:]
	return gone
}

// vital reports whether an event reports the state of a server or a call. A server can send any number of all others.
func vital(event exec.Event) bool {
	switch event.(type) {
	case wire.ProcessStarted, wire.ProcessExited, servers.Retry, servers.Connected, servers.ConnectFailed,
		protocol.SessionLost, protocol.ToolsChanged, exec.CallStarted, exec.CallFinished:
		return true
	}
	return false
}

// Msg carries the events since the last one, in order.
type Msg struct {
	Events  []exec.Event
	Dropped int // because there were too many
	// Polluted counts the polluted lines among those, by server.
	Polluted map[string]int
}

// Wait returns the command that waits for the next events. It delivers them after frameTime, together
// with those that arrived in the meantime.
func (f *Feed) Wait(ctx context.Context) tea.Cmd {
	return func() tea.Msg {
		select {
		case <-f.ready:
		case <-ctx.Done():
			return nil
		}
		timer := time.NewTimer(frameTime)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil
		}
		return f.drain()
	}
}

// Receive returns the command that waits for the next events of a channel. It delivers those of a frameTime, in bounded
// memory: a recording is read no faster than it is drawn. The message is nil once the channel is closed.
func Receive(ctx context.Context, events <-chan exec.Event) tea.Cmd {
	return func() tea.Msg {
		var msg Msg
		var frame <-chan time.Time
		for bytes := 0; bytes < maxPendingBytes; {
			select {
			case event, open := <-events:
				switch {
				case !open && msg.Events == nil:
					return nil
				case !open:
					return msg
				case frame == nil:
					frame = time.After(frameTime)
				}
				msg.Events = append(msg.Events, event)
				bytes += sizeOf(event)
			case <-frame:
				return msg
			case <-ctx.Done():
				return nil
			}
		}
		return msg
	}
}

func (f *Feed) drain() Msg {
	f.mu.Lock()
	pending, dropped, polluted := f.pending, f.dropped, f.polluted
	f.pending, f.dropped, f.polluted = make(map[stream]*backlog), 0, make(map[string]int)
	f.mu.Unlock()

	var all []numbered
	for _, waiting := range pending {
		all = append(all, waiting.events...)
	}
	slices.SortFunc(all, func(a, b numbered) int { return cmp.Compare(a.number, b.number) })
	msg := Msg{Events: make([]exec.Event, len(all)), Dropped: dropped, Polluted: polluted}
	for i, e := range all {
		msg.Events[i] = e.event
	}
	return msg
}
