package exec

import (
	"cmp"
	"context"
	"sync"
	"time"
)

// limits are the two clocks of a call (EXEC-10): one that progress restarts, and one that nothing does.
type limits struct {
	idle time.Duration
	max  time.Duration

	mu       sync.Mutex
	timer    *time.Timer
	absolute *time.Timer
	due      time.Time     // when the idle clock runs out
	until    time.Time     // when the absolute clock runs out
	left     time.Duration // of the absolute clock, while both are stopped
	pauses   int           // how many have stopped the clocks (see Pause)
	paused   time.Time     // since when they stand
	stood    time.Duration // how long they stood before that
	restarts int           // how often progress was reported

	outer *limits // of what this is a part of; nil where it is none
	// more returns how much longer to wait when the absolute clock has run out; nil means that it is over then.
	more func() time.Duration
}

// newLimits returns clocks that have not started; a duration that is not positive means no limit.
func newLimits(idle, absolute time.Duration) *limits { return &limits{idle: idle, max: absolute} }

// limits returns the clocks of a call; idle and absolute win where they are not zero. However much progress a server
// tells of, a call has an end unless the user wants none (MCP, Lifecycle: "Timeouts").
func (d Defaults) limits(idle, absolute time.Duration) *limits {
	idle = cmp.Or(idle, d.Timeout, DefaultTimeout)
	return newLimits(idle, cmp.Or(absolute, d.MaxTime, max(defaultMaxTime, idle)))
}

// start returns a context that ends with a *TimeoutError as its cause when a
// clock runs out, and a function that stops both. Pause finds the clocks in it.
func (l *limits) start(ctx context.Context, subject TimeoutError) (context.Context, func()) {
	l.outer, _ = ctx.Value(limitsKey{}).(*limits)
	ctx, cancel := context.WithCancelCause(context.WithValue(ctx, limitsKey{}, l))
	expire := func(after time.Duration, idle bool) func() {
		timeout := subject
		timeout.After, timeout.Idle = after, idle
		return func() { cancel(&timeout) }
	}
	l.mu.Lock()
	if l.max > 0 {
		over := expire(l.max, false)
		l.until = time.Now().Add(l.max)
		l.absolute = time.AfterFunc(l.max, func() {
			if !l.renew() {
				over()
			}
		})
	}
	if l.idle > 0 {
		l.due = time.Now().Add(l.idle)
		l.timer = time.AfterFunc(l.idle, expire(l.idle, true))
	}
	l.mu.Unlock()
	return ctx, func() {
		l.mu.Lock()
		for _, timer := range []*time.Timer{l.timer, l.absolute} {
			if timer != nil {
				timer.Stop()
			}
		}
		l.timer, l.absolute = nil, nil
		l.mu.Unlock()
		cancel(nil)
	}
}

// WithLimit returns a context that ends after d, unless a Pause stops that clock, with a *TimeoutError as its cause; d
// that is not positive means no limit. stop must be called at the end.
func WithLimit(ctx context.Context, d time.Duration) (bounded context.Context, stop func()) {
	return WithMaxTime(ctx, d, TimeoutError{})
}

// WithMaxTime is WithLimit for what the user knows by a name: the cause says what subject says, and after how long.
func WithMaxTime(ctx context.Context, d time.Duration, subject TimeoutError) (bounded context.Context, stop func()) {
	if d <= 0 {
		return context.WithCancel(ctx)
	}
	return newLimits(0, d).start(ctx, subject)
}

// WithRenewableLimit is WithLimit, and calls more when the time is up: it returns how much longer to wait, zero to end
// the context.
func WithRenewableLimit(
	ctx context.Context, d time.Duration, more func() time.Duration,
) (bounded context.Context, stop func()) {
	l := newLimits(0, d)
	l.more = more
	return l.start(ctx, TimeoutError{})
}

// renew sets the absolute clock again where there is more time, and reports whether there is.
func (l *limits) renew() bool {
	if l.more == nil {
		return false
	}
	left := l.more()
	if left <= 0 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until, l.left = time.Now().Add(left), left
	if l.absolute != nil && l.pauses == 0 {
		l.absolute.Reset(left)
	}
	return true
}

// restart begins the idle clock anew; after stop it does nothing.
func (l *limits) restart() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.restarts++
	if l.timer != nil && l.pauses == 0 {
		l.due = time.Now().Add(l.idle)
		l.timer.Reset(l.idle)
	}
}

type limitsKey struct{}

// WaitTime returns how long to wait before a state is asked for again: wanted, or three quarters of what is left where
// a time limit of ctx ends before that, so that the state is asked for once more.
func WaitTime(ctx context.Context, wanted time.Duration) time.Duration {
	innermost, _ := ctx.Value(limitsKey{}).(*limits)
	for l := innermost; l != nil; l = l.outer {
		for _, left := range l.remaining() {
			if left <= wanted {
				wanted = left / 4 * 3
			}
		}
	}
	return wanted
}

// remaining returns what is left on the clocks that run.
func (l *limits) remaining() (left []time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pauses > 0 {
		return nil
	}
	if l.timer != nil {
		left = append(left, time.Until(l.due))
	}
	if l.absolute != nil {
		left = append(left, time.Until(l.until))
	}
	return left
}

// Pause stops the clocks of the call that ctx belongs to until resume is called, and
// those of WithLimit: a person is being asked, who has all the time there is. The idle
// clock begins anew then, the absolute one goes on. Without clocks it does nothing.
func Pause(ctx context.Context) (resume func()) {
	innermost, _ := ctx.Value(limitsKey{}).(*limits)
	for l := innermost; l != nil; l = l.outer {
		l.pause()
	}
	return sync.OnceFunc(func() {
		for l := innermost; l != nil; l = l.outer {
			l.resume()
		}
	})
}

func (l *limits) pause() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pauses++; l.pauses > 1 {
		return
	}
	l.paused = time.Now()
	if l.timer != nil {
		l.timer.Stop()
	}
	if l.absolute != nil {
		l.absolute.Stop()
		l.left = max(0, time.Until(l.until))
	}
}

func (l *limits) resume() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pauses--; l.pauses > 0 {
		return
	}
	l.stood += time.Since(l.paused)
	if l.timer != nil {
		l.due = time.Now().Add(l.idle)
		l.timer.Reset(l.idle)
	}
	if l.absolute != nil {
		l.until = time.Now().Add(l.left)
		l.absolute.Reset(l.left)
	}
}

// progressed reports whether progress was reported.
func (l *limits) progressed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.restarts > 0
}

// asked returns how long the clocks stood, since a person was being asked.
func (l *limits) asked() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pauses > 0 {
		return l.stood + time.Since(l.paused)
	}
	return l.stood
}
