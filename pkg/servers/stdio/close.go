package stdio

import (
	"context"
	"time"

	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
)

// Close closes the server's stdin, waits, sends SIGTERM, waits, sends SIGKILL. Each step is bounded, and when ctx
// ends, Close goes to the last step at once. It returns when the process has ended, its pipes are read, and its log
// is written.
func (t *Transport) Close(ctx context.Context) {
	t.closeOnce.Do(func() {
		if t.Process == nil {
			return
		}
		close(t.Closing)
		gone := wire.Closed(t.Done)
		forced := t.end(ctx)
		t.tellExit(!gone, forced)
		t.Process.Release(ctx, t.Bus, t.Server)
		t.log.close(ctx)
	})
}

// tellExit emits ProcessExited, the first time that it is called.
func (t *Transport) tellExit(asked bool, forced string) {
	t.exitOnce.Do(func() {
		t.Bus.Emit(wire.ProcessExited{
			Head: wire.Now(t.Server), How: ExitText(t.Process.State),
			Lived: t.Process.Lived, Asked: asked, Forced: forced,
		})
	})
}

// end makes the process end and returns the signal that was needed.
func (t *Transport) end(ctx context.Context) (forced string) {
	t.closeStdin(ctx)
	t.Bus.Emit(wire.StdinClosed{Head: wire.Now(t.Server)})
	defer func() {
		<-t.Process.Exited
		t.drain()
		t.Fail(t.NewFailure(diagnose.EndingClosed))
		_ = t.Process.Stdout.Close()
		_ = t.Process.stderr.Close()
	}()
	if wire.WaitFor(ctx, t.Process.Exited, t.StdinGrace) {
		return ""
	}
	t.Process.Group.Terminate()
	if wire.WaitFor(ctx, t.Process.Exited, TermGrace) {
		return "SIGTERM"
	}
	t.Process.Group.Kill()
	return "SIGKILL"
}

// closeStdin gives the writer FlushTime to send what is queued, and closes stdin.
func (t *Transport) closeStdin(ctx context.Context) {
	timer := time.NewTimer(FlushTime)
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
	_ = t.Process.Stdin.Close()
}
