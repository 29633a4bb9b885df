package servers

import (
	"context"
	"time"

	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
)

// shutdown closes the server's stdin, waits, sends SIGTERM, waits, sends SIGKILL. Each step is bounded, and when ctx
// ends, shutdown goes to the last step at once. It returns when the process has ended, its pipes are read, and its log
// is written.
func (t *stdio) shutdown(ctx context.Context) {
	t.closeOnce.Do(func() {
		if t.process == nil {
			return
		}
		close(t.Closing)
		gone := wire.Closed(t.Done)
		forced := t.end(ctx)
		t.tellExit(!gone, forced)
		t.process.release(ctx, t.Bus, t.Server)
		t.log.close(ctx)
	})
}

// tellExit emits ProcessExited, the first time that it is called.
func (t *stdio) tellExit(asked bool, forced string) {
	t.exitOnce.Do(func() {
		t.Bus.Emit(wire.ProcessExited{
			Head: wire.Now(t.Server), How: exitText(t.process.state),
			Lived: t.process.lived, Asked: asked, Forced: forced,
		})
	})
}

// end makes the process end and returns the signal that was needed.
func (t *stdio) end(ctx context.Context) (forced string) {
	t.closeStdin(ctx)
	t.Bus.Emit(wire.StdinClosed{Head: wire.Now(t.Server)})
	defer func() {
		<-t.process.exited
		t.drain()
		t.Fail(t.newFailure(diagnose.EndingClosed))
		_ = t.process.stdout.Close()
		_ = t.process.stderr.Close()
	}()
	if wire.WaitFor(ctx, t.process.exited, t.stdinGrace) {
		return ""
	}
	t.process.group.terminate()
	if wire.WaitFor(ctx, t.process.exited, termGrace) {
		return "SIGTERM"
	}
	t.process.group.kill()
	return "SIGKILL"
}

// closeStdin gives the writer flushTime to send what is queued, and closes stdin.
func (t *stdio) closeStdin(ctx context.Context) {
	timer := time.NewTimer(flushTime)
	defer timer.Stop()
	select {
	case t.writes <- &outgoing{last: true}:
		select {
		case <-t.stdinEnded:
		case <-timer.C:
		case <-ctx.Done():
		}
	case <-t.Done:
	case <-timer.C:
	case <-ctx.Done():
	}
	_ = t.process.stdin.Close()
}
