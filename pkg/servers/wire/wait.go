package wire

import (
	"context"
	"time"
)

// Closed reports whether a channel is closed.
func Closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// WaitFor waits for a channel to be closed, for at most d and not beyond ctx.
func WaitFor(ctx context.Context, closed <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-closed:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// Waited waits for d and reports whether ctx lasted as long.
func Waited(ctx context.Context, d time.Duration) bool {
	WaitFor(ctx, nil, d)
	return ctx.Err() == nil
}
