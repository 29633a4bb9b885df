package doctor

import (
	"context"
	"regexp"
	"runtime"
	"sync"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/procs"
	"toolx/pkg/servers/wire"
)

// examineProcess examines a server that toolx starts. The probing run starts as soon as the clean run has a session,
// unless alone forbids it. If one of the two then fails, the other may be the cause, so both are repeated in turn.
func (o Options) examineProcess(ctx context.Context, e *evidence.Evidence) {
	o.doing(e.Server, "starting it as a client does")
	node := sync.OnceFunc(func() { e.Node = nodeVersion(ctx, e) })
	var beside sync.WaitGroup
	var probe *evidence.Run
	clean := o.cleanRun(ctx, e, func(started *evidence.Run) {
		beside.Go(node)
		if e.Clean = started; o.alone(e) {
			return
		}
		o.doing(e.Server, "starting it again, to probe it")
		prober := o.newProber(e)
		beside.Go(func() { probe = prober.run(ctx, false) })
	})
	beside.Wait()
	e.Clean = clean
	if probe != nil && ctx.Err() == nil && (disturbed(clean) || disturbed(probe)) {
		o.Busy = func() bool { return true }
		o.examineProcess(ctx, e)
		return
	}
	node()
	if ctx.Err() != nil || !e.Handshaken() {
		return
	}
	e.Buffers = o.buffers(ctx, e)
	o.makeCalls(ctx, e)
	if e.Probe = probe; probe == nil {
		o.doing(e.Server, "starting it again, to probe it")
		e.Probe = o.newProber(e).run(ctx, false)
	}
	if _, ready := e.Probe.Marks["ready"]; !ready && ctx.Err() == nil {
		o.doing(e.Server, "starting it again, to probe it gently")
		e.Again = o.newProber(e).run(ctx, true)
	}
}

// alone reports whether the clean run, of which e.Clean is the beginning, must end before the server is started again:
// the entry requires it, the process has a lock or a port that a second one may need (outside Linux, this is unknown),
// or the machine is so busy that both would exceed time limits.
func (o Options) alone(e *evidence.Evidence) bool {
	tree := e.Clean.Tree
	if e.Server.Exclusive || len(tree) == 0 || len(procs.Listening(tree)) > 0 || procs.Locking(tree) ||
		mentionsLock(e.Clean) {
		return true
	}
	if o.Busy != nil {
		return o.Busy()
	}
	// One moment may be like no other, so the server's own waiting for a processor counts too.
	return procs.Running() > runtime.NumCPU() || e.Clean.Queued > time.Since(e.Clean.Began)/4
}

// disturbed reports whether the server's other process may have made a run fail: the server printed something about a
// lock or port, or ended before it received invalid JSON, which is a cause of its own.
func disturbed(run *evidence.Run) bool {
	_, garbage := run.Marks["garbage"]
	return !garbage && (run.Ended != nil || run.Name == "probing") || mentionsLock(run)
}

// lock matches messages about resources that only one process can have.
var lock = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\block(ed|s|ing|file)?\b|\bpid.?file\b|already (running|in use|listening)|` +
		`another (instance|process)|EADDRINUSE|\blistening\b|\bport\b`)
})

// mentionsLock reports whether a server printed something about a lock, a port or a pid file.
func mentionsLock(run *evidence.Run) bool {
	for _, line := range evidence.EventsOf[wire.PollutedLine](run) {
		if lock().Match(line.Text) {
			return true
		}
	}
	return lock().MatchString(run.Stderr())
}

// starting waits until another server may start; the caller calls started once it has, perhaps several times.
func (o Options) starting(ctx context.Context, launch *config.Resolved) (started func()) {
	started, err := o.starts.Begin(ctx, launch)
	if err != nil { // ctx has ended, which the start reports
		return func() {}
	}
	return started
}
