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
// unless mustRunAlone forbids it. If the two may have disturbed each other, both are repeated one after the other.
func (o Options) examineProcess(ctx context.Context, e *evidence.Evidence) {
	o.doing(e.Server, "starting it as a client does")
	node := sync.OnceFunc(func() { e.Node = nodeVersion(ctx, e) })
	var beside sync.WaitGroup
	var probe *evidence.Run
	clean := o.cleanRun(ctx, e, func(started *evidence.Run) {
		beside.Go(node)
		if e.Clean = started; o.mustRunAlone(e) {
			return
		}
		o.doing(e.Server, "starting it again to probe it")
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
		o.doing(e.Server, "starting it again to probe it")
		e.Probe = o.newProber(e).run(ctx, false)
	}
	if _, ready := e.Probe.Marks["ready"]; !ready && ctx.Err() == nil {
		o.doing(e.Server, "starting it again to probe it gently")
		e.Again = o.newProber(e).run(ctx, true)
	}
}

// mustRunAlone reports whether the clean run must end before the server is started again: because the entry requires
// it, because the process has a lock or port that another may need (unknown outside Linux), or because the machine is
// too busy. e.Clean has the beginning of the clean run.
func (o Options) mustRunAlone(e *evidence.Evidence) bool {
	tree := e.Clean.Tree
	if e.Server.Exclusive || len(tree) == 0 || len(procs.Listening(tree)) > 0 || procs.Locking(tree) ||
		mentionsLock(e.Clean) {
		return true
	}
	if o.Busy != nil {
		return o.Busy()
	}
	// The current load may not be typical, so the time that the server waited for a CPU counts too.
	return procs.Running() > runtime.NumCPU() || e.Clean.Queued > time.Since(e.Clean.Began)/4
}

// disturbed reports whether the server's other process may have made a run fail: the server mentioned a lock or port,
// or it ended before it received invalid JSON.
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

// starting waits until the server may start. The caller calls started, at least once, when it has.
func (o Options) starting(ctx context.Context, launch *config.Resolved) (started func()) {
	started, err := o.starts.Begin(ctx, launch)
	if err != nil { // ctx has ended, which the start reports
		return func() {}
	}
	return started
}
