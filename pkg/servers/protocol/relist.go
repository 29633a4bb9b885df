package protocol

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
)

// The times for which tools that are not there may still come: from when they are missed, and from when the server was
// sent its roots.
const (
	laterWait = 500 * time.Millisecond
	rootsWait = 2 * time.Second
)

// relistLimit bounds listing the tools again.
const relistLimit = 30 * time.Second

// relister lists a session's tools again when the server announces that they have changed: once for any number of
// notifications that come meanwhile.
type relister struct {
	session *Session
	// changed takes the tools; nil where they are not wanted.
	changed func([]*exec.Tool)

	mu      sync.Mutex
	running bool
	again   bool // the server has said that the list which is being made, or was, is out of date
	// announced reports that the server has ever said so.
	announced bool
	// rooted is when the server was sent its roots last; rootsAsked reports that it has asked for them.
	rooted     time.Time
	rootsAsked bool
	news       chan struct{} // closed when there is another list, or the server got roots; nil if nothing waits
}

// begin notes that the first list is asked for: what the server has said before is no news.
func (r *relister) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.again = false
}

// FollowTools calls changed with the session's tools now, and whenever they change.
func (s *Session) FollowTools(changed func([]*exec.Tool)) {
	changed(s.Tools())
	s.relist.follow(s, changed)
}

func (r *relister) follow(session *Session, changed func([]*exec.Tool)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.session, r.changed = session, changed
	if r.again {
		r.startLocked()
	}
}

// notified takes the notification; it runs on the goroutine that reads.
func (r *relister) notified() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.announced = true
	if r.again = true; r.changed != nil && !r.running {
		r.startLocked()
	}
}

// Announced reports whether the server has said that its tools have changed: they may depend on what its client can do,
// of which a server learns last at its start.
func (s *Session) Announced() bool {
	s.relist.mu.Lock()
	defer s.relist.mu.Unlock()
	return s.relist.announced
}

// startLocked starts to list; r.mu is locked.
func (r *relister) startLocked() {
	r.running, r.again = true, false
	go r.run()
}

// rootsSent notes that the server has asked for its roots, and whether it got some.
func (r *relister) rootsSent(some bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rootsAsked = true; some {
		r.rooted = time.Now()
	}
	r.wakeLocked()
}

// wakeLocked wakes those that wait for news; r.mu is locked.
func (r *relister) wakeLocked() {
	if r.news != nil {
		close(r.news)
		r.news = nil
	}
}

// run lists until no notification has come meanwhile. It ends with the session.
func (r *relister) run() {
	ctx, cancel := context.WithTimeout(context.Background(), relistLimit)
	defer cancel()
	defer r.session.transport.RPC().EndWith(cancel)()
	for goesOn := true; goesOn; {
		r.list(ctx)
		r.mu.Lock()
		goesOn = r.again && ctx.Err() == nil
		r.running, r.again = goesOn, false
		r.wakeLocked()
		r.mu.Unlock()
	}
}

// list lists the tools once.
func (r *relister) list(ctx context.Context) {
	s := r.session
	if err := s.listTools(ctx); err != nil {
		var failure *diagnose.Failure
		if ctx.Err() == nil && !errors.As(err, &failure) { // else the end is reported elsewhere
			s.notice(slog.LevelWarn,
				fmt.Sprintf("server %q changed its tools, and they cannot be listed: %v", s.Name, err))
		}
		return
	}
	tools := s.Tools()
	r.changed(tools)
	s.bus.Emit(ToolsChanged{Head: wire.Now(s.Name), Tools: len(tools)})
}

// next returns a channel that is closed with the next news, and until when tools that were missed at a time may still
// come.
func (r *relister) next(missed time.Time, announces bool) (news <-chan struct{}, until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.news == nil {
		r.news = make(chan struct{})
	}
	if announces || r.rootsAsked {
		until = missed.Add(laterWait)
	}
	if rooted := r.rooted.Add(rootsWait); !r.rooted.IsZero() && rooted.After(until) {
		until = rooted
	}
	return r.news, until
}

// Announces reports whether the server declares that it announces changes of its tools.
func (s *Session) Announces() bool {
	return s.Capabilities.Tools != nil && s.Capabilities.Tools.ListChanged
}

// AwaitTools waits until enough returns true for the session's tools, if the server can be expected to have others
// soon: it announces changes of its list, or has asked for its roots. A server that does neither is not waited
// for.
func (s *Session) AwaitTools(ctx context.Context, enough func() bool) {
	announces := s.Announces() && !s.modern()
	for missed := time.Now(); ; {
		news, until := s.relist.next(missed, announces)
		wait := time.Until(until)
		if enough() || wait <= 0 || wire.Closed(s.Done()) {
			return
		}
		if !wire.WaitFor(ctx, news, wait) && ctx.Err() != nil {
			return
		}
	}
}
