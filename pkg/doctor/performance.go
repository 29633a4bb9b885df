package doctor

import (
	"fmt"
	"slices"
	"time"

	"toolx/pkg/exec"
)

func perfStart() Check {
	return Check{
		ID: "perf-start", Severity: Info, Group: GroupPerformance, Need: NeedHandshake,
		Title: "the time that a start takes",
		Ask:   askPerfStart,
		Page: Page{
			Why: "From the start of the process to its answer to initialize. Half of 168 real servers take less than 250 ms, " +
				"nine of ten less than 740 ms. The first start is often slower (cold caches); --repeat N makes N more.",
			Bad:    "2,984 ms",
			Good:   "246 ms",
			Fix:    []string{"in the server: load what a start does not need when it is needed", "from outside: install the package once instead of npx or uvx looking for it at each start"},
			Source: "measured on 168 servers of the npm registry",
		},
	}
}

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

func perfList() Check {
	return Check{
		ID: "perf-list", Severity: Info, Group: GroupPerformance, Need: NeedSpeed,
		Title: "the time that tools/list takes",
		Ask: func(e *Evidence) []Finding {
			return askAnswerTimes(e, "tools/list", e.Clean.Speed.Lists, ", "+exec.Bytes(int64(e.Clean.Speed.ListBytes)))
		},
		Page: Page{
			Why:    "Up to 20 requests, one after the other. Clients ask for the list at each start and after each change.",
			Bad:    "p50 900 ms, p99 1.4 s: the server asks a backend for each list",
			Good:   "p50 0.4 ms, p99 1.1 ms",
			Fix:    []string{"in the server: build the list once and keep it"},
			Source: "measured by toolx",
		},
	}
}

func perfPing() Check {
	return Check{
		ID: "perf-ping", Severity: Info, Group: GroupPerformance, Need: NeedSpeed,
		Title: "the time that ping takes",
		Ask: func(e *Evidence) []Finding {
			return askAnswerTimes(e, "ping", e.Clean.Speed.Pings, "")
		},
		Page: Page{
			Why:    "Up to 100 requests, one after the other: the least that any request costs with this server.",
			Bad:    "p50 40 ms: something waits in the way, such as a wrapper that copies line by line",
			Good:   "p50 0.05 ms, p99 0.3 ms",
			Fix:    []string{"in the server: read stdin without a delay, and flush each answer at once"},
			Source: "measured by toolx",
		},
	}
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

func perfCall() Check {
	return Check{
		ID: "perf-call", Severity: Info, Group: GroupPerformance, Need: NeedCalls,
		Title: "the time that a call takes",
		Ask:   askPerfCall,
		Page: Page{
			Why: "The calls that --call asked for. A call may change something, so one is repeated only where the tool says readOnlyHint " +
				"or idempotentHint, for a quarter of a second at most, or where --repeat N says so: N times one after the other, and N " +
				"times with eight under way at once.",
			Bad:    "export 48 s the first time; p50 47 s, p99 49 s of 8 one after the other; p50 380 s, p99 391 s of 8, eight at once",
			Good:   "echo 0.6 ms the first time; p50 0.4 ms, p99 0.9 ms of 20 one after the other; p50 0.8 ms, p99 2.1 ms of 40, eight at once",
			Fix:    []string{"in the server: report progress where a call takes seconds, so that clients wait", "in the server: handle calls beside one another"},
			Source: "measured by toolx",
		},
	}
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
			f.Evidence += " the first time" + speed.series(speed.Alone, " one after the other") + speed.series(speed.Together, ", eight at once")
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
func (*CallSpeed) series(took []time.Duration, how string) string {
	if len(took) == 0 {
		return ""
	}
	return fmt.Sprintf("; p50 %s, p99 %s of %d%s", milliseconds(percentile(took, 50)), milliseconds(percentile(took, 99)), len(took), how)
}

func perfConcurrency() Check {
	return Check{
		ID: "perf-concurrency", Severity: Warning, Group: GroupPerformance, Need: NeedProbe,
		After: lostAnswers(),
		Title: "server does one thing after the other",
		Ask:   askConcurrency,
		Page: Page{
			Why: "A client may have several requests under way, and watch over the server by ping meanwhile. Where a slow call " +
				"holds up all others, the client takes the server for dead, and a second call waits for the first.",
			Bad:    "→ tools/call slow (2 s)\n→ ping\n← the call's answer after 2 s, then ping's",
			Good:   "← ping's answer at once, the call's after 2 s",
			Fix:    []string{"in the server: handle each request in a task of its own; never wait in the loop that reads stdin", "in Python: run blocking code with asyncio.to_thread"},
			Breaks: []string{"clients and gateways that watch over servers by ping"},
			Source: "JSON-RPC 2.0 §4; MCP 2025-11-25, basic/utilities/ping: MUST respond promptly",
		},
	}
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

func perfLeak() Check {
	return Check{
		ID: "perf-leak", Severity: Info, Group: GroupPerformance, Need: NeedSpeed,
		Title: "memory grows with each request",
		Ask:   askPerfLeak,
		Page: Page{
			Why: "Asked with --repeat only: 1,000 pings, and the memory of all processes before and after. What a ping leaves " +
				"behind, every request does, and a client runs for days.",
			Bad:    "92 MB before, 140 MB after 1,000 pings",
			Good:   "92 MB before, 93 MB after",
			Fix:    []string{"in the server: look for lists of requests, listeners or timers that only grow"},
			Source: "measured by toolx",
		},
	}
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
