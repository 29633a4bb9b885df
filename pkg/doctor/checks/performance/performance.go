// Package performance has the checks that measure.
package performance

import (
	"fmt"
	"slices"
	"time"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
)

// Checks report what was measured. None of them makes a server wrong, apart from one that cannot do two things at once.
func Checks() []check.Check {
	return []check.Check{
		{ID: "perf-start", Need: check.NeedHandshake, Ask: askPerfStart},
		{ID: "perf-list", Need: check.NeedSpeed, Ask: askPerfList},
		{ID: "perf-ping", Need: check.NeedSpeed, Ask: askPerfPing},
		{ID: "perf-call", Need: check.NeedCalls, Ask: askPerfCall},
		{ID: "perf-concurrency", Need: check.NeedProbe, Ask: askConcurrency},
		{ID: "perf-leak", Need: check.NeedSpeed, Ask: askPerfLeak},
	}
}

// askPerfStart always reports: it is a measurement.
func askPerfStart(e *evidence.Evidence) []check.Finding {
	first, ok := evidence.StartTime(e)
	if !ok {
		return nil
	}
	f := check.At(e.Initialized().Place(e.Clean), "%s from the start to the answer to initialize",
		evidence.Milliseconds(first))
	var again []time.Duration
	for i, start := range e.Starts {
		if start.Err != nil {
			f.Notes = append(f.Notes, fmt.Sprintf("further start %d failed: %v", i+1, start.Err))
			continue
		}
		again = append(again, start.Initialize)
	}
	if n := len(again); n > 0 {
		middle := evidence.Milliseconds(percentile(again, 50))
		f.Evidence = fmt.Sprintf("%s the first time; %s in ", evidence.Milliseconds(first), middle)
		if n == 1 {
			f.Evidence += "a further start"
		} else {
			f.Evidence += fmt.Sprintf("the middle of %d further starts", n)
		}
	}
	f.Manner = check.Fact
	return []check.Finding{f}
}

// percentile returns the value below which p of 100 values lie; zero if there are none.
func percentile(values []time.Duration, p int) time.Duration {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, len(sorted)*p/100)]
}

func askPerfList(e *evidence.Evidence) []check.Finding {
	speed := e.Measured().Speed
	return askAnswerTimes(e, "tools/list", speed.Lists, ", "+exec.Bytes(int64(speed.ListBytes)))
}

func askPerfPing(e *evidence.Evidence) []check.Finding {
	return askAnswerTimes(e, "ping", e.Measured().Speed.Pings, "")
}

// askAnswerTimes always reports: it is a measurement.
func askAnswerTimes(e *evidence.Evidence, method string, took []time.Duration, more string) []check.Finding {
	if len(took) == 0 {
		return nil
	}
	f := check.At(&evidence.Where{Run: e.Measured().Name, Method: method}, "%s%s", percentiles(took), more)
	f.Manner = check.Fact
	return []check.Finding{f}
}

func percentiles(took []time.Duration) string {
	half, most := percentile(took, 50), percentile(took, 99)
	return fmt.Sprintf("p50 %s, p99 %s of %d", evidence.Milliseconds(half), evidence.Milliseconds(most), len(took))
}

// askPerfCall always reports: it is a measurement.
func askPerfCall(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, call := range e.Calls {
		where := &evidence.Where{Run: evidence.CallsRun, Method: "tools/call", Tool: call.Tool}
		f := check.At(where, "%s %s", call.Tool, evidence.Milliseconds(call.Result.Duration))
		switch speed := call.Speed; {
		case speed != nil:
			f.Evidence += " the first time"
			if len(speed.Alone) > 0 {
				f.Evidence += "; " + percentiles(speed.Alone) + " one after the other"
			}
			if len(speed.Together) > 0 {
				f.Evidence += "; " + percentiles(speed.Together) + ", eight at once"
			}
			if speed.Failed {
				f.Notes = []string{"a further call failed, so no more were made"}
			}
		case call.Result.Success && !call.Repeatable:
			f.Notes = []string{
				"made once: the tool has neither readOnlyHint nor idempotentHint; --repeat N repeats it all the same",
			}
		}
		f.Manner = check.Fact
		found = append(found, f)
	}
	return found
}

func askConcurrency(e *evidence.Evidence) []check.Finding {
	// A server answers one after the other if eight answers together take this many times as long as one,
	// and one is slow enough to measure.
	const serialFactor, measurableGap = 4, 50 * time.Millisecond
	if found := AskHeldUpByCall(e); found != nil {
		return found
	}
	run := e.Probing()
	began, ended := run.Marks["burst"], run.Marks["burst-end"]
	if ended.IsZero() {
		return nil
	}
	var took []time.Duration
	for _, x := range run.Exchanges {
		if x.At.Before(began) || x.At.After(ended) {
			continue
		}
		if !x.Answered() {
			return check.One(x.Place(run), "of eight requests at once, one was not answered%s", evidence.Waited(x))
		}
		took = append(took, x.Took)
	}
	if len(took) == 0 {
		return nil
	}
	first, last := slices.Min(took), slices.Max(took)
	if first < measurableGap || last < serialFactor*first {
		return nil
	}
	return check.One(run.At(began), "of eight requests at once, the first was answered after %s and the last after %s",
		evidence.Milliseconds(first), evidence.Milliseconds(last))
}

// AskHeldUpByCall finds a ping that was sent during a call of the user's and answered no sooner than the call.
func AskHeldUpByCall(e *evidence.Evidence) []check.Finding {
	// On a busy machine both may be answered late, so that the ping must have waited for a while.
	const heldUp = 100 * time.Millisecond
	for _, run := range e.Sessions() {
		for _, call := range run.Asked("tools/call") {
			if !evidence.IsUsersCall(call) || !call.Answered() {
				continue
			}
			end := call.At.Add(call.Took)
			for _, ping := range run.Asked("ping") {
				inTime := ping.Answered() && (ping.Took < heldUp || ping.At.Add(ping.Took).Before(end))
				if !call.Waits(ping.At) || inTime {
					continue
				}
				f := check.At(ping.Place(run), "ping, sent %s into a call of %s, waited until the call was answered",
					evidence.Milliseconds(ping.At.Sub(call.At)), evidence.NameIn(call.Sent))
				f.Title = "a slow call holds up all other requests"
				return []check.Finding{f}
			}
		}
	}
	return nil
}

func askPerfLeak(e *evidence.Evidence) []check.Finding {
	const grown = 32 << 20 // uncollected garbage, and what a runtime keeps, after a thousand pings
	s := e.Measured().Speed
	if s.Flood == 0 || s.After-s.Before <= grown {
		return nil
	}
	return check.One(&evidence.Where{Run: e.Measured().Name, Method: "ping"}, "%s before and %s after %d pings",
		exec.Bytes(s.Before), exec.Bytes(s.After), s.Flood)
}
