package exec

import (
	"cmp"
	"context"
	"sync"
	"time"
)

// deadline ends a call that takes too long without progress, or too long in total (EXEC-10). Pause suspends it while a
// person is asked. One timer waits for the nearer of its two ends.
type deadline struct {
	idle, max time.Duration // not positive means none
	// more returns how much longer to wait after max; nil or zero means no extension.
	more  func() time.Duration
	outer *deadline // of the enclosing operation; nil if there is none

	mu         sync.Mutex
	timer      *time.Timer // nil before the start and after the end
	expire     func(after time.Duration, idle bool)
	due, until time.Time // when idle and max are over
	pauses     int       // how many Pauses are active
	extending  bool      // more is running
	since      time.Time // when it was suspended
	asked      time.Duration
	progressed bool
}

type deadlineKey struct{}

// deadline returns the deadline of a call; idle and absolute take precedence unless zero. Even with progress, a call
// has an absolute limit unless the user disables it (MCP, Lifecycle: "Timeouts").
func (d Defaults) deadline(idle, absolute time.Duration) *deadline {
	idle = cmp.Or(idle, d.Timeout, DefaultTimeout)
	return &deadline{idle: idle, max: cmp.Or(absolute, d.MaxTime, max(defaultMaxTime, idle))}
}

// WithLimit returns a context that ends after d, unless a Pause suspends it, with a *TimeoutError as its cause; d that
// is not positive means no limit. stop must be called at the end.
func WithLimit(ctx context.Context, d time.Duration) (bounded context.Context, stop func()) {
	return (&deadline{max: d}).start(ctx, TimeoutError{})
}

// WithMaxTime is WithLimit with a name for messages: the cause is subject, with the exceeded time.
func WithMaxTime(ctx context.Context, d time.Duration, subject TimeoutError) (bounded context.Context, stop func()) {
	return (&deadline{max: d}).start(ctx, subject)
}

// WithRenewableLimit is like WithLimit, but calls more when the time is up, which returns how much longer to wait, or
// zero to end the context.
func WithRenewableLimit(
	ctx context.Context, d time.Duration, more func() time.Duration,
) (bounded context.Context, stop func()) {
	return (&deadline{max: d, more: more}).start(ctx, TimeoutError{})
}

// start returns a context that ends with a *TimeoutError as its cause when the time is up. Pause and WaitTime find the
// deadline in it.
func (l *deadline) start(ctx context.Context, subject TimeoutError) (bounded context.Context, stop func()) {
	l.outer, _ = ctx.Value(deadlineKey{}).(*deadline)
	ctx, cancel := context.WithCancelCause(context.WithValue(ctx, deadlineKey{}, l))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.expire = func(after time.Duration, idle bool) {
		timeout := subject // a Pause after the end leads here again, while others read the first one
		timeout.After, timeout.Idle = after, idle
		cancel(&timeout)
	}
	now := time.Now()
	l.due, l.until = now.Add(l.idle), now.Add(l.max)
	if l.idle > 0 || l.max > 0 {
		l.timer = time.AfterFunc(l.next(), l.check)
	}
	return ctx, func() {
		l.mu.Lock()
		if l.timer != nil {
			l.timer.Stop()
		}
		l.timer = nil
		l.mu.Unlock()
		cancel(nil)
	}
}

// next returns how long to wait for the nearer of the two ends.
func (l *deadline) next() time.Duration {
	if l.idle > 0 && (l.max <= 0 || l.due.Before(l.until)) {
		return time.Until(l.due)
	}
	return time.Until(l.until)
}

// check ends the context if a time is up. Progress moves one end without resetting the timer, and more may move the
// other.
func (l *deadline) check() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.extending {
		return // resume set the timer; it is set again when more has returned
	}
	over := func() bool { return l.timer != nil && l.pauses == 0 && l.max > 0 && time.Until(l.until) <= 0 }
	if over() && l.more != nil {
		l.extending = true
		l.mu.Unlock() // more may be slow
		left := l.more()
		l.mu.Lock()
		l.extending = false
		l.until = time.Now().Add(left)
	}
	switch {
	case over():
		l.expire(l.max, false)
	case l.timer == nil || l.pauses > 0:
	case l.idle > 0 && time.Until(l.due) <= 0:
		l.expire(l.idle, true)
	default:
		l.timer.Reset(l.next())
	}
}

// restart resets the time without progress.
func (l *deadline) restart() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.progressed, l.due = true, time.Now().Add(l.idle)
}

// WaitTime returns how long to wait before polling again: wanted, or three quarters of the remaining time if a limit of
// ctx ends earlier, so that there is one more poll.
func WaitTime(ctx context.Context, wanted time.Duration) time.Duration {
	innermost, _ := ctx.Value(deadlineKey{}).(*deadline)
	for l := innermost; l != nil; l = l.outer {
		l.mu.Lock()
		if left := l.next(); l.timer != nil && l.pauses == 0 && left <= wanted {
			wanted = left / 4 * 3
		}
		l.mu.Unlock()
	}
	return wanted
}

// Pause suspends the deadlines of ctx until resume is called, while a person is asked. Afterwards the time without
// progress restarts, and the absolute one continues. Without deadlines it does nothing.
func Pause(ctx context.Context) (resume func()) {
	innermost, _ := ctx.Value(deadlineKey{}).(*deadline)
	for l := innermost; l != nil; l = l.outer {
		l.pause()
	}
	return sync.OnceFunc(func() {
		for l := innermost; l != nil; l = l.outer {
			l.resume()
		}
	})
}

func (l *deadline) pause() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pauses++; l.pauses > 1 {
		return
	}
	l.since = time.Now()
	if l.timer != nil {
		l.timer.Stop()
	}
}

func (l *deadline) resume() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pauses--; l.pauses > 0 {
		return
	}
	passed := time.Since(l.since)
	l.asked += passed
	l.until, l.due = l.until.Add(passed), time.Now().Add(l.idle)
	if l.timer != nil {
		l.timer.Reset(l.next())
	}
}

// used returns for how long a person was asked, and whether progress was reported.
func (l *deadline) used() (asked time.Duration, progressed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if asked = l.asked; l.pauses > 0 {
		asked += time.Since(l.since)
	}
	return asked, l.progressed
}
