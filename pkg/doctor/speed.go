package doctor

import (
	"context"
	"runtime"
	"time"

	"toolx/pkg/doctor/evidence"
	"toolx/pkg/procs"
	"toolx/pkg/servers"
)

// The bounds of measuring: a server that is fast is measured in a few milliseconds,
// and one that is slow is not waited for.
const (
	measuredPings = 100
	measuredLists = 20
	measureTime   = 250 * time.Millisecond
	floodPings    = 1000
	floodTime     = 3 * time.Second
)

// measure times the answers of a server that speaks a revision. The messages are not recorded: they would say nothing
// new. A server whose stdout is not clean is not measured, since its lines would be counted again and again.
func (o Options) measure(ctx context.Context, wire *servers.Wire, revision string, life *life) *evidence.Speed {
	if life.record.Polluted() > 0 || revision >= evidence.ModernRevision || wire.Failure() != nil {
		return nil
	}
	life.record.Mute(true)
	defer life.record.Mute(false)
	speed := &evidence.Speed{}
	speed.Pings, _ = times(ctx, wire, "ping", measuredPings, measureTime)
	speed.Lists, speed.ListBytes = times(ctx, wire, "tools/list", measuredLists, measureTime)
	if o.Repeat > 0 {
		pid := life.watch.server()
		speed.Before = procs.Memory(pid)
		many, _ := times(ctx, wire, "ping", floodPings, floodTime)
		speed.Flood, speed.After = len(many), procs.Memory(pid)
	}
	return speed
}

// times makes up to n requests within a time and returns how long each took, and the size of the last answer. It stops
// at the first that is refused or not answered.
func times(ctx context.Context, wire *servers.Wire, method string, n int, within time.Duration) (took []time.Duration,
	size int,
) {
	bounded, cancel := context.WithTimeout(ctx, evidence.AnswerLimit)
	defer cancel()
	for began := time.Now(); len(took) < n && time.Since(began) < within; {
		answer, err := wire.Request(bounded, method, nil)
		if err != nil || answer.Error != nil {
			break
		}
		took, size = append(took, answer.Took), len(answer.Frame)
	}
	return took, size
}

// noSpeed says why the server's answers were not timed.
func noSpeed(e *evidence.Evidence) string {
	switch {
	case !e.Handshaken():
		return "there was no handshake"
	case e.Modern():
		return "servers without a handshake have no ping"
	case e.Clean.Foreign > 0 || e.Probing() != nil && e.Probing().Foreign > 0:
		return "its stdout is not clean, so it was not measured"
	}
	return "the server ended before it was measured"
}

// birth distinguishes a process from a later one of the same number.
type birth struct {
	pid     int
	started uint64 // ticks since the system's start
}

// noSample says why the processes of the clean run were not measured.
func noSample(e *evidence.Evidence) string {
	switch {
	case !e.Handshaken():
		return "there was no handshake"
	case runtime.GOOS != "linux":
		return "processes are measured on Linux only"
	}
	return "the process ended before it was measured"
}
