package exec

import (
	"context"
	"sync"
	"time"
)

// limits are the two clocks of a call (EXEC-10): one that progress restarts, and
// one that nothing does.
type limits struct {
	idle time.Duration
	max  time.Duration

	mu    sync.Mutex
	timer *time.Timer
}

// newLimits returns clocks that have not started; a duration that is not
// positive means no limit.
func newLimits(idle, absolute time.Duration) *limits { return &limits{idle: idle, max: absolute} }

// start returns a context that ends with a *TimeoutError as its cause when a
// clock runs out, and a function that stops both.
func (l *limits) start(ctx context.Context, tool string) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	var absolute *time.Timer
	if l.max > 0 {
		absolute = time.AfterFunc(l.max, func() { cancel(&TimeoutError{Tool: tool, After: l.max}) })
	}
	l.mu.Lock()
	if l.idle > 0 {
		l.timer = time.AfterFunc(l.idle, func() { cancel(&TimeoutError{Tool: tool, After: l.idle, Idle: true}) })
	}
	l.mu.Unlock()
	return ctx, func() {
		if absolute != nil {
			absolute.Stop()
		}
		l.mu.Lock()
		if l.timer != nil {
			l.timer.Stop()
			l.timer = nil
		}
		l.mu.Unlock()
		cancel(nil)
	}
}

// restart begins the idle clock anew; after stop it does nothing.
func (l *limits) restart() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Reset(l.idle)
	}
}
