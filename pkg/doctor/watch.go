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

// processID identifies a process even if its pid is reused.
type processID struct {
	pid     int
	started uint64 // ticks since the system's start
}

// watcher tracks the processes of one run. It finds descendants of a server by their parents, and later by the server's
// process group and pipes. It misses a process that left all three before note was called. Outside Linux, it finds
// nothing.
type watcher struct {
	mu      sync.Mutex
	pid     int
	known   []processID
	pipes   map[string]string
	orphans []evidence.Orphan
}

// handle records the server's process, and the processes that keep its pipes open after it ended.
func (w *watcher) handle(event exec.Event) {
	switch e := event.(type) {
	case wire.ProcessStarted:
		w.mu.Lock()
		w.pid, w.pipes = e.PID, pipesOf(e.PID)
		w.mu.Unlock()
	case wire.PipeInherited:
		w.mu.Lock()
		defer w.mu.Unlock()
		w.remember(pipeUsers(w.pipes))
		w.findOrphans()
	}
}

// note records the server's current processes.
func (w *watcher) note() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pid == 0 {
		return
	}
	w.remember(processTree(w.pid))
}

// remember adds processes to the server's. The caller holds w.mu.
func (w *watcher) remember(processes []processID) {
	for _, one := range processes {
		if !slices.Contains(w.known, one) {
			w.known = append(w.known, one)
		}
	}
}

// findOrphans adds the processes that outlived the server to orphans. The caller holds w.mu.
func (w *watcher) findOrphans() {
	for _, one := range w.alive() {
		process := one.process()
		at := slices.IndexFunc(w.orphans, func(o evidence.Orphan) bool { return o.PID == process.PID })
		if at < 0 {
			w.orphans = append(w.orphans, evidence.Orphan{Process: process, Pipes: openPipes(one.pid, w.pipes)})
		}
	}
}

// alive returns the processes that outlived the server.
func (w *watcher) alive() []processID {
	if w.pid == 0 {
		return nil
	}
	var left []processID
	for _, one := range append(groupMembers(w.pid), w.known...) {
		if one.pid != w.pid && !slices.Contains(left, one) && one.alive() {
			left = append(left, one)
		}
	}
	return left
}

// sweep returns the processes that outlived the server, and kills them. The server's own process must have ended.
func (w *watcher) sweep(ctx context.Context) []evidence.Orphan {
	// A wrapper often exits slightly before its child.
	const grace = 300 * time.Millisecond
	w.mu.Lock()
	defer w.mu.Unlock()
	bounded, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	for len(w.alive()) > 0 && bounded.Err() == nil {
		quiet(bounded, 5*time.Millisecond, nil)
	}
	w.findOrphans()
	for _, one := range w.alive() {
		one.kill()
	}
	gone, stop := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer stop()
	for len(w.alive()) > 0 && gone.Err() == nil { // they may take a moment to exit
		quiet(gone, time.Millisecond, nil)
	}
	return w.orphans
}
