package doctor

import (
	"context"
	"sync"
	"time"

	"toolx/pkg/doctor/evidence"
	"toolx/pkg/servers"
)

// How often a call is repeated that nobody asked to repeat, if there is time.
const measuredAlone, measuredTogether = 20, 40

// mayRepeat reports whether a call that was made may be made again: the user said so (Repeat), or the tool says that
// another call changes nothing. A call that failed, is slow, or that nobody named is not repeated.
func (o Options) mayRepeat(call *evidence.CallRun) bool {
	const slow = time.Second
	switch {
	case !call.Result.Success, call.Sent.Tool.TaskSupport == "required": // whose repetition would be a task each
		return false
	case o.Repeat > 0:
		return true
	}
	return call.Repeatable && !call.Own && call.Result.Duration < slow
}

// measureCalls repeats the user's calls if that is allowed. As in measure, messages are not recorded, and a server
// whose stdout is not clean is not measured.
func (o Options) measureCalls(ctx context.Context, session *servers.Session, life *life, calls []*evidence.CallRun) {
	if life.record.Polluted() > 0 {
		return
	}
	life.record.Mute(true)
	defer life.record.Mute(false)
	for _, call := range calls {
		if session.Wire().Failure() != nil {
			return
		}
		if o.mayRepeat(call) {
			call.Speed = o.repeatCall(ctx, session, call)
		}
	}
}

// repeatCall makes a call Repeat times alone and as often together; without Repeat, as often as there is time.
func (o Options) repeatCall(ctx context.Context, session *servers.Session, call *evidence.CallRun) *evidence.CallSpeed {
	p := &prober{Options: o, modern: session.Protocol >= evidence.ModernRevision}
	series := &callSeries{
		wire:   session.Wire(),
		params: p.params(map[string]any{"name": call.Sent.Tool.Plain, "arguments": call.Sent.Arguments}),
		limit:  evidence.AnswerLimit + evidence.BurstSize*call.Result.Duration,
	}
	alone, together, within := measuredAlone, measuredTogether, measureTime
	if o.Repeat > 0 {
		alone, together, within = o.Repeat, o.Repeat, 0
	}
	speed := &evidence.CallSpeed{Alone: series.make(ctx, 1, alone, within)}
	if !series.failed {
		speed.Together = series.make(ctx, evidence.BurstSize, together, within)
	}
	speed.Failed = series.failed
	return speed
}

// callSeries repeats one call.
type callSeries struct {
	wire   *servers.Wire
	params any
	limit  time.Duration // of one call
	mu     sync.Mutex
	failed bool
}

// make makes n calls, so many at a time, and returns how long each took. It begins no more after a time (zero for no
// limit), or after a call that failed.
func (s *callSeries) make(ctx context.Context, atATime, n int, within time.Duration) []time.Duration {
	var took []time.Duration
	left, began := n, time.Now()
	next := func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		left--
		return left >= 0 && !s.failed && (within == 0 || time.Since(began) < within)
	}
	var wait sync.WaitGroup
	for range min(atATime, n) {
		wait.Go(func() {
			for next() {
				one, ok := s.once(ctx)
				s.mu.Lock()
				if ok {
					took = append(took, one)
				}
				s.failed = s.failed || !ok
				s.mu.Unlock()
			}
		})
	}
	wait.Wait()
	return took
}

// once makes one call; ok is false where it failed in any way.
func (s *callSeries) once(ctx context.Context) (took time.Duration, ok bool) {
	bounded, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	answer, err := s.wire.Request(bounded, "tools/call", s.params)
	if err != nil || answer.Error != nil || string(evidence.MemberAt(answer.Result, "isError")) == "true" {
		return 0, false
	}
	return answer.Took, true
}
