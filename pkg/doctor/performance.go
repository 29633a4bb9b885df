package doctor

import (
	"fmt"
	"slices"
	"time"

	"toolx/pkg/exec"
)

// askPerfStart always reports: it is a measurement.
func askPerfStart(e *Evidence) []Finding {
	first, ok := startTime(e)
	if !ok {
		return nil
	}
	f := Finding{Where: e.initialized().where(e.Clean), Evidence: milliseconds(first) + " from the start to the answer to initialize"}
	var again []time.Duration
	for i, start := range e.Starts {
		if start.Err != nil {
			f.Notes = append(f.Notes, fmt.Sprintf("further start %d failed: %v", i+1, start.Err))
			continue
		}
		again = append(again, start.Initialize)
	}
	if len(again) > 0 {
		f.Evidence = fmt.Sprintf("%s the first time; %s in %s", milliseconds(first), milliseconds(percentile(again, 50)), furtherStarts(len(again)))
	}
	return sole(f)
}

func furtherStarts(n int) string {
	if n == 1 {
		return "a further start"
	}
	return fmt.Sprintf("the middle of %d further starts", n)
}

// percentile is the value below which p of 100 values lie; zero where there are
// none.
func percentile(values []time.Duration, p int) time.Duration {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)-1, len(sorted)*p/100)]
}

func askPerfList(e *Evidence) []Finding {
	return askAnswerTimes(e, "tools/list", e.Clean.Speed.Lists, ", "+exec.Bytes(int64(e.Clean.Speed.ListBytes)))
}

func askPerfPing(e *Evidence) []Finding {
	return askAnswerTimes(e, "ping", e.Clean.Speed.Pings, "")
}

// askAnswerTimes always reports: it is a measurement.
func askAnswerTimes(e *Evidence, method string, took []time.Duration, more string) []Finding {
	if len(took) == 0 {
		return nil
	}
	return sole(Finding{
		Where:    &Where{Run: e.Clean.Name, Method: method},
		Evidence: fmt.Sprintf("p50 %s, p99 %s of %d%s", milliseconds(percentile(took, 50)), milliseconds(percentile(took, 99)), len(took), more),
	})
}

// askPerfCall always reports: it is a measurement.
func askPerfCall(e *Evidence) []Finding {
	var found []Finding
	for _, call := range e.Calls {
		f := Finding{
			Where:    &Where{Run: callsRun, Method: "tools/call", Tool: call.Tool},
			Evidence: fmt.Sprintf("%s %s", call.Tool, milliseconds(call.Result.Duration)),
		}
		switch speed := call.Speed; {
		case speed != nil:
			f.Evidence += " the first time" + series(speed.Alone, " one after the other") + series(speed.Together, ", eight at once")
			if speed.Failed {
				f.Notes = []string{"a further call failed, so no more were made"}
			}
		case call.Result.Success && !call.repeatable:
			f.Notes = []string{"made once: the tool has neither readOnlyHint nor idempotentHint; --repeat N repeats it all the same"}
		}
		found = append(found, f)
	}
	return found
}

// series says what calls made in one way took.
func series(took []time.Duration, how string) string {
	if len(took) == 0 {
		return ""
	}
	return fmt.Sprintf("; p50 %s, p99 %s of %d%s", milliseconds(percentile(took, 50)), milliseconds(percentile(took, 99)), len(took), how)
}

// What counts as one after the other: eight answers that together take this many
// times as long as one, where one is slow enough to measure.
const (
	serialFactor  = 4
	measurableGap = 50 * time.Millisecond
	// heldUp is how long a ping waits at least that a call holds up: on a busy
	// machine both may be answered late, one right behind the other.
	heldUp = 100 * time.Millisecond
)

func askConcurrency(e *Evidence) []Finding {
	if found := askHeldUpByCall(e); found != nil {
		return found
	}
	run := e.probing()
	began, ended := run.Marks["burst"], run.Marks["burst-end"]
	if ended.IsZero() {
		return nil
	}
	var took []time.Duration
	for _, x := range run.Exchanges {
		if x.At.Before(began) || x.At.After(ended) {
			continue
		}
		if !x.answered() {
			return sole(Finding{Where: x.where(run), Evidence: "of eight requests at once, one was not answered" + waited(x)})
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
	return sole(Finding{
		Where:    &Where{Run: run.Name, MS: run.Since(began)},
		Evidence: fmt.Sprintf("of eight requests at once, the first was answered after %s and the last after %s", milliseconds(first), milliseconds(last)),
	})
}

// askHeldUpByCall finds a ping that was sent during a call of the user's and
// answered no sooner than that.
func askHeldUpByCall(e *Evidence) []Finding {
	for _, run := range e.sessions() {
		for _, call := range run.asked("tools/call") {
			if !isUsersCall(call) || !call.answered() {
				continue
			}
			if f, held := run.heldUpBy(call); held {
				return sole(f)
			}
		}
	}
	return nil
}

// heldUpBy finds a ping that waited for the answer to a call.
func (r *Run) heldUpBy(call *Exchange) (f Finding, held bool) {
	end := call.At.Add(call.Took)
	for _, ping := range r.asked("ping") {
		if !call.waits(ping.At) || ping.answered() && (ping.Took < heldUp || ping.At.Add(ping.Took).Before(end)) {
			continue
		}
		return Finding{
			Title: "a slow call holds up all other requests",
			Where: ping.where(r),
			Evidence: fmt.Sprintf("ping, sent %s into a call of %s, waited until the call was answered",
				milliseconds(ping.At.Sub(call.At)), memberText(memberAt(call.Sent, "params", "name"))),
		}, true
	}
	return Finding{}, false
}

// grownBy is what a thousand pings may add in memory: garbage that is not collected
// yet, and what a runtime keeps.
const grownBy = 32 << 20

func askPerfLeak(e *Evidence) []Finding {
	s := e.Clean.Speed
	if s.Flood == 0 || s.After-s.Before <= grownBy {
		return nil
	}
	return sole(Finding{
		Where:    &Where{Run: e.Clean.Name, Method: "ping"},
		Evidence: fmt.Sprintf("%s before and %s after %d pings", exec.Bytes(s.Before), exec.Bytes(s.After), s.Flood),
	})
}
