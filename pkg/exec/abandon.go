package exec

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"
)

const (
	// graceTime is how long a call may take to stop after a timeout or an interrupt.
	graceTime = time.Second
	// maxAbandoned limits the abandoned calls that are still running. Each may block a system thread forever.
	maxAbandoned = 100
)

// abandonedError reports that a call did not stop with its context. It keeps running, and its result is dropped.
type abandonedError struct{ cause error }

func (e *abandonedError) Error() string { return e.cause.Error() + " (" + e.Detail() + ")" }

// Unwrap returns the context's error.
func (e *abandonedError) Unwrap() error { return e.cause }

// Detail returns the detail for TimeoutError and InterruptedError.
func (e *abandonedError) Detail() string {
	return "it did not stop when cancelled, and was abandoned"
}

// await returns the results of run, or an *abandonedError if run has not ended graceTime after ctx: some work ignores
// its context, such as reading from a device. name is the name of the tool or the request.
func await[T any](ctx context.Context, e *Executor, name string, run func() (T, error)) (value T, err error) {
	if e.abandoned.Load() >= maxAbandoned {
		return value, fmt.Errorf("too many abandoned calls are still running (%d)", maxAbandoned)
	}
	type outcome struct {
		value T
		err   error
	}
	ended, left := make(chan outcome), make(chan struct{})
	go func() {
		var end outcome
		end.value, end.err = recovered(e, name, run)
		select {
		case ended <- end:
		case <-left:
			e.abandoned.Add(-1)
		}
	}()
	select {
	case end := <-ended:
		return end.value, end.err
	case <-ctx.Done():
	}
	grace := time.NewTimer(graceTime)
	defer grace.Stop()
	select {
	case end := <-ended:
		return end.value, end.err
	case <-grace.C:
		e.abandoned.Add(1)
		close(left)
		return value, &abandonedError{ctx.Err()}
	}
}

// recovered returns the results of run. A panic becomes an error, with the stack in the log (EXEC-5, EXEC-8).
func recovered[T any](e *Executor, name string, run func() (T, error)) (value T, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			e.notice(slog.LevelError, fmt.Sprintf("tool %s panicked", name),
				slog.Any("cause", cause), slog.String("stack", string(debug.Stack())))
			err = &ToolError{Message: fmt.Sprintf("tool %s failed inside toolx: %v", name, cause)}
		}
	}()
	return run()
}
