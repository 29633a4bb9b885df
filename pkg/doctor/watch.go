package doctor

import (
	"context"
	"slices"
	"sync"
	"time"

	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	"toolx/pkg/servers/wire"
)

// birth distinguishes a process from a later one of the same number.
type birth struct {
	pid     int
	started uint64 // ticks since the system's start
}

// watcher watches the processes of one run. What a server started is known by its parents while they live, and later by
// the server's process group and pipes: a process that has left all three before note was called is not seen. Outside
// Linux it sees nothing.
type watcher struct {
	mu      sync.Mutex
	pid     int
	known   []birth
	pipes   map[string]string
	orphans []evidence.Orphan
}

// handle notes the server's process, and who holds its pipes when it has ended.
func (w *watcher) handle(event exec.Event) {
	switch e := event.(type) {
	case wire.ProcessStarted:
		w.mu.Lock()
		w.pid, w.pipes = e.PID, pipesOf(e.PID)
		w.mu.Unlock()
	case wire.PipeInherited:
		w.mu.Lock()
		defer w.mu.Unlock()
		w.remember(holders(w.pipes))
		w.look()
	}
}

// note remembers the processes that the server consists of now. A server that has
// not been started, or has ended, has none.
func (w *watcher) note() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pid == 0 {
		return
	}
	w.remember(births(w.pid))
}

// remember adds processes to those that belong to the server. The caller holds w.mu.
func (w *watcher) remember(processes []birth) {
	for _, one := range processes {
		if !slices.Contains(w.known, one) {
			w.known = append(w.known, one)
		}
	}
}

// look adds the processes that are still alive after the server ended. The caller holds w.mu.
func (w *watcher) look() {
	for _, one := range w.alive() {
		process := one.process()
		at := slices.IndexFunc(w.orphans, func(o evidence.Orphan) bool { return o.PID == process.PID })
		if at < 0 {
			w.orphans = append(w.orphans, evidence.Orphan{Process: process, Holds: holds(one.pid, w.pipes)})
		}
	}
}

// alive are the processes that the server has left.
func (w *watcher) alive() []birth {
	if w.pid == 0 {
		return nil
	}
	var left []birth
	for _, one := range append(groupMembers(w.pid), w.known...) {
		if one.pid != w.pid && !slices.Contains(left, one) && one.alive() {
			left = append(left, one)
		}
	}
	return left
}

// sweep returns what outlived the server, and ends it. The server's own process must have ended.
func (w *watcher) sweep(ctx context.Context) []evidence.Orphan {
	// A wrapper often ends a moment before what it wraps.
	const grace = 300 * time.Millisecond
	w.mu.Lock()
	defer w.mu.Unlock()
	bounded, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	for len(w.alive()) > 0 && bounded.Err() == nil {
		quiet(bounded, 5*time.Millisecond, nil)
	}
	w.look()
	for _, one := range w.alive() {
		one.kill()
	}
	gone, stop := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer stop()
	for len(w.alive()) > 0 && gone.Err() == nil { // a busy machine ends them a moment later
		quiet(gone, time.Millisecond, nil)
	}
	return w.orphans
}
