package doctor

import (
	"context"
	"time"

	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
)

// activeRun is a run in progress.
type activeRun struct {
	name   string
	began  time.Time
	bus    *exec.Bus
	record *evidence.Recorder
	watch  *watcher
	marks  map[string]time.Time
}

func (o Options) newRun(name string) *activeRun {
	l := &activeRun{
		name: name, began: time.Now(), bus: &exec.Bus{},
		record: &evidence.Recorder{}, watch: &watcher{}, marks: make(map[string]time.Time),
	}
	l.bus.Subscribe(l.record.Record)
	l.bus.Subscribe(l.watch.handle)
	if o.Watch != nil {
		l.bus.Subscribe(o.Watch)
	}
	return l
}

// mark records the time of a step.
func (l *activeRun) mark(name string) { l.marks[name] = time.Now() }

// noteBefore records the server's processes shortly before limit, when they would be ended, unless the returned
// function is called first. That function returns when nothing more is recorded.
func (l *activeRun) noteBefore(limit time.Duration) (stop func()) {
	const margin = 50 * time.Millisecond
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		quiet(ctx, limit-min(margin, limit/10), nil)
		if ctx.Err() == nil {
			l.watch.note()
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// end cleans up after the server, whose process must have ended, and returns the recorded run.
func (l *activeRun) end(ctx context.Context) *evidence.Run {
	orphans := l.watch.sweep(ctx)
	run := l.record.Run(l.name, l.began)
	run.Marks, run.Orphans = l.marks, orphans
	return run
}
