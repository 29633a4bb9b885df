package performance

import (
	"fmt"
	"slices"
	"time"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
)

// askPerfStart always reports: it is a measurement.
func askPerfStart(e *evidence.Evidence) []check.Finding {
	first, ok := evidence.StartTime(e)
	if !ok {
		return nil
	}
	f := check.Finding{Where: e.Initialized().Place(e.Clean), Evidence: evidence.Milliseconds(first) + " from the start to the answer to initialize"}
	var again []time.Duration
	for i, start := range e.Starts {
		if start.Err != nil {
			f.Notes = append(f.Notes, fmt.Sprintf("further start %d failed: %v", i+1, start.Err))
			continue
		}
		again = append(again, start.Initialize)
	}
	if len(again) > 0 {
		f.Evidence = fmt.Sprintf("%s the first time; %s in %s", evidence.Milliseconds(first), evidence.Milliseconds(percentile(again, 50)), furtherStarts(len(again)))
	}
	return check.Sole(f)
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

func askPerfList(e *evidence.Evidence) []check.Finding {
	return askAnswerTimes(e, "tools/list", e.Clean.Speed.Lists, ", "+exec.Bytes(int64(e.Clean.Speed.ListBytes)))
}

func askPerfPing(e *evidence.Evidence) []check.Finding {
	return askAnswerTimes(e, "ping", e.Clean.Speed.Pings, "")
}

// askAnswerTimes always reports: it is a measurement.
func askAnswerTimes(e *evidence.Evidence, method string, took []time.Duration, more string) []check.Finding {
	if len(took) == 0 {
		return nil
	}
	return check.Sole(check.Finding{
		Where:    &evidence.Where{Run: e.Clean.Name, Method: method},
		Evidence: fmt.Sprintf("p50 %s, p99 %s of %d%s", evidence.Milliseconds(percentile(took, 50)), evidence.Milliseconds(percentile(took, 99)), len(took), more),
	})
}

// askPerfCall always reports: it is a measurement.
func askPerfCall(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, call := range e.Calls {
		f := check.Finding{
			Where:    &evidence.Where{Run: evidence.CallsRun, Method: "tools/call", Tool: call.Tool},
			Evidence: fmt.Sprintf("%s %s", call.Tool, evidence.Milliseconds(call.Result.Duration)),
		}
		switch speed := call.Speed; {
		case speed != nil:
			f.Evidence += " the first time" + series(speed.Alone, " one after the other") + series(speed.Together, ", eight at once")
			if speed.Failed {
				f.Notes = []string{"a further call failed, so no more were made"}
			}
		case call.Result.Success && !call.Repeatable:
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
	return fmt.Sprintf("; p50 %s, p99 %s of %d%s", evidence.Milliseconds(percentile(took, 50)), evidence.Milliseconds(percentile(took, 99)), len(took), how)
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

func askConcurrency(e *evidence.Evidence) []check.Finding {
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
			return check.Sole(check.Finding{Where: x.Place(run), Evidence: "of eight requests at once, one was not answered" + evidence.Waited(x)})
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
	return check.Sole(check.Finding{
		Where:    &evidence.Where{Run: run.Name, MS: run.Since(began)},
		Evidence: fmt.Sprintf("of eight requests at once, the first was answered after %s and the last after %s", evidence.Milliseconds(first), evidence.Milliseconds(last)),
	})
}

// AskHeldUpByCall finds a ping that was sent during a call of the user's and
// answered no sooner than that.
func AskHeldUpByCall(e *evidence.Evidence) []check.Finding {
	for _, run := range e.Sessions() {
		for _, call := range run.Asked("tools/call") {
			if !evidence.IsUsersCall(call) || !call.Answered() {
				continue
			}
			if f, held := heldUpBy(run, call); held {
				return check.Sole(f)
			}
		}
	}
	return nil
}

// heldUpBy finds a ping that waited for the answer to a call.
func heldUpBy(r *evidence.Run, call *evidence.Exchange) (f check.Finding, held bool) {
	end := call.At.Add(call.Took)
	for _, ping := range r.Asked("ping") {
		if !call.Waits(ping.At) || ping.Answered() && (ping.Took < heldUp || ping.At.Add(ping.Took).Before(end)) {
			continue
		}
		return check.Finding{
			Title: "a slow call holds up all other requests",
			Where: ping.Place(r),
			Evidence: fmt.Sprintf("ping, sent %s into a call of %s, waited until the call was answered",
				evidence.Milliseconds(ping.At.Sub(call.At)), evidence.MemberText(evidence.MemberAt(call.Sent, "params", "name"))),
		}, true
	}
	return check.Finding{}, false
}

// grownBy is what a thousand pings may add in memory: garbage that is not collected
// yet, and what a runtime keeps.
const grownBy = 32 << 20

func askPerfLeak(e *evidence.Evidence) []check.Finding {
	s := e.Clean.Speed
	if s.Flood == 0 || s.After-s.Before <= grownBy {
		return nil
	}
	return check.Sole(check.Finding{
		Where:    &evidence.Where{Run: e.Clean.Name, Method: "ping"},
		Evidence: fmt.Sprintf("%s before and %s after %d pings", exec.Bytes(s.Before), exec.Bytes(s.After), s.Flood),
	})
}
