package protocol

import (
	"cmp"
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
)

const (
	// fetchLook is how often toolx looks whether a server is still being fetched.
	fetchLook = time.Second
	// maxFetch is how long a server may be fetched before the limit of its start counts.
	maxFetch = 10 * time.Minute
)

// overdueStart decides at the limit of a start whether to wait on. A download by a package manager does not count,
// because ending it leaves a broken cache.
type overdueStart struct {
	*Session
	options Options
	began   time.Time
	// fetched is when the server was seen to be fetched last, in nanoseconds since began.
	fetched atomic.Int64
}

// look returns the package manager that is fetching the server, empty if none is.
func (o *overdueStart) look() string {
	pid := o.transport.ProcessID()
	if pid == 0 || len(o.transport.Unfinished()) > 0 { // it asks whether it may
		return ""
	}
	fetching := o.options.fetching
	if fetching == nil {
		fetching = diagnose.Fetching
	}
	name := fetching(pid)
	if name != "" {
		o.fetched.Store(int64(time.Since(o.began)))
	}
	return name
}

// watch looks whether the server is being fetched, until ctx ends. It says once what a server does that is silent.
func (o *overdueStart) watch(ctx context.Context) {
	ticker, silent := time.NewTicker(fetchLook), time.NewTimer(cmp.Or(o.options.NoAnswerTimeout, defaultNoAnswer))
	defer ticker.Stop()
	defer silent.Stop()
	for {
		select {
		case <-ticker.C:
			if o.look() == "" && o.options.Started != nil {
				o.options.Started() // it computes, or waits: others need not
			}
		case <-silent.C:
			if o.look() != "" {
				continue
			}
			if doing := o.transport.Doing(); doing != "" {
				o.bus.Emit(exec.Notice{Time: exec.Now(), Level: slog.LevelWarn, Server: o.Name, Text: doing})
			}
			if o.options.Silent != nil {
				o.options.Silent()
			}
		case <-ctx.Done():
			return
		}
	}
}

// more returns how much longer to wait when the limit has passed, and reports it; zero ends the start.
func (o *overdueStart) more() time.Duration {
	launcher, took := o.look(), time.Since(o.began)
	wait := o.options.StartTimeout
	if fetched := time.Duration(o.fetched.Load()); !o.options.NoStartLimit {
		wait = fetched + o.options.StartTimeout - took
		if fetched == 0 || took > maxFetch {
			return 0
		}
	}
	if wait > 0 && o.transport.SessionKey() == "" { // else its process reports it
		o.bus.Emit(StartOverdue{Head: wire.Now(o.Name), Took: took, Launcher: launcher})
	}
	return max(0, wait)
}
