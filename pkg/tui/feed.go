package tui

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/exec"
	"toolx/pkg/servers"
)

const (
	// maxPending bounds the events that wait for the screen. What a flood brings
	// beyond it is counted and dropped, but never an event that says how a server
	// or a call stands.
	maxPending = 4096
	// frameTime is the least time between two deliveries: 30 a second.
	frameTime = time.Second / 30
)

// feed stands between the goroutines that emit events and the model: it never
// blocks an emitter, keeps a bounded number of events, and delivers them in
// batches.
type feed struct {
	ready chan struct{} // holds one token while something is pending

	mu      sync.Mutex
	pending []exec.Event
	dropped int
}

func newFeed() *feed { return &feed{ready: make(chan struct{}, 1)} }

// take is the subscriber of the bus.
func (f *feed) take(event exec.Event) {
	f.mu.Lock()
	if len(f.pending) < maxPending || !chatter(event) {
		f.pending = append(f.pending, event)
	} else {
		f.dropped++
	}
	f.mu.Unlock()
	select {
	case f.ready <- struct{}{}:
	default:
	}
}

// chatter says whether an event is one of many, which a server can send without
// end.
func chatter(event exec.Event) bool {
	switch event.(type) {
	case servers.FrameSent, servers.FrameReceived, servers.PollutedLine, servers.OddFrame, servers.StderrLine,
		servers.LogMessage, servers.Notification, servers.ServerRequest, exec.CallProgress, exec.Notice:
		return true
	}
	return false
}

// eventsMsg are the events since the last one, in their order.
type eventsMsg struct {
	events  []exec.Event
	dropped int // that had no place
}

// wait returns the command that waits for the next events; they come after
// frameTime, with what else came in the meantime.
func (f *feed) wait(ctx context.Context) tea.Cmd {
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

func (f *feed) drain() eventsMsg {
	f.mu.Lock()
	defer f.mu.Unlock()
	msg := eventsMsg{f.pending, f.dropped}
	f.pending, f.dropped = nil, 0
	return msg
}
