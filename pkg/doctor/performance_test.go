package doctor

import (
	"strings"
	"testing"
	"time"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/checks/performance"
	"toolx/pkg/doctor/evidence"
)

func TestPerformanceChecks(t *testing.T) {
	repeating := func() Options {
		options := shortOptions()
		options.Repeat = 3
		return options
	}
	provokeAll(t, []provocation{
		{id: "perf-start", severity: check.Info, modes: []string{"good"}, evidence: "from the start to the answer"},
		{id: "perf-start", severity: check.Info, modes: []string{"good"}, options: repeating, evidence: "the middle of 3 further starts"},
		{id: "perf-list", severity: check.Info, modes: []string{"good"}, evidence: " KiB"},
		{id: "perf-ping", severity: check.Info, modes: []string{"good"}, evidence: "p99 "},
		{id: "perf-call", severity: check.Info, modes: []string{"good"}, options: calling("echo", `{"message":"x"}`), evidence: "echo "},
	})
}

// TestMeasuringLeavesNoTrace shows that what is sent to measure a server is not
// judged as what a client sends.
func TestMeasuringLeavesNoTrace(t *testing.T) {
	e := examineFake(t, shortOptions(), "good").Servers[0]
	if got := len(e.Clean.Asked("ping")); got != 1 {
		t.Errorf("the clean run has %d pings, want 1", got)
	}
	if got := len(e.Measured().Speed.Pings); got == 0 {
		t.Error("no ping was measured")
	}
}

func TestAServerWithDirtyStdoutIsNotMeasured(t *testing.T) {
	report := Judge(examineFake(t, shortOptions(), "log-between"), Selection{Only: []string{"perf-*"}})
	for _, result := range report.Checks {
		if result.ID == "perf-ping" &&
			(result.Outcome != check.Skipped || !strings.Contains(result.Because, "not clean")) {
			t.Errorf("perf-ping: %s because %q", result.Outcome, result.Because)
		}
	}
}

func TestConcurrency(t *testing.T) {
	began := time.Now()
	burst := func(took ...time.Duration) *evidence.Evidence {
		run := &evidence.Run{
			Name: "probing", Marks: map[string]time.Time{"burst": began, "burst-end": began.Add(time.Second)},
		}
		for _, d := range took {
			x := exchangeOf("ping", `{}`, `{}`, "")
			x.At, x.Took = began, d*time.Millisecond
			run.Exchanges = append(run.Exchanges, x)
		}
		e := evidenceOf(&evidence.Run{})
		e.Probe = run
		return e
	}
	for _, one := range []struct {
		name string
		e    *evidence.Evidence
		want int
	}{
		{"at once", burst(50, 51, 52, 53), 0},
		{"one after the other", burst(50, 100, 150, 200, 250), 1},
		{"too fast to tell", burst(1, 2, 3, 4, 5, 6, 7, 8), 0},
	} {
		if found := ask("perf-concurrency")(one.e); len(found) != one.want {
			t.Errorf("%s: %+v, want %d findings", one.name, found, one.want)
		}
	}
	unanswered := burst(1, 2)
	unanswered.Probe.Exchanges[1].Frame = nil
	if found := ask("perf-concurrency")(unanswered); len(found) != 1 {
		t.Errorf("unanswered: %+v, want one finding", found)
	}
}

// TestACallThatHoldsUpPing uses a call that takes long enough for a ping beside it.
func TestACallThatHoldsUpPing(t *testing.T) {
	began := time.Now()
	call := exchangeOf("tools/call", `{"name":"slow","_meta":{"progressToken":1}}`, `{}`, "")
	call.At, call.Took = began, 500*time.Millisecond
	ping := exchangeOf("ping", `{}`, `{}`, "")
	ping.At, ping.Took = began.Add(100*time.Millisecond), 401*time.Millisecond
	e := evidenceOf(&evidence.Run{Exchanges: []*evidence.Exchange{call, ping}})
	if found := performance.AskHeldUpByCall(e); len(found) != 1 || !strings.Contains(found[0].Evidence, "slow") {
		t.Errorf("held up: %+v, want one finding", found)
	}
	ping.Took = time.Millisecond
	if found := performance.AskHeldUpByCall(e); found != nil {
		t.Errorf("answered meanwhile: %+v", found)
	}
	live := examineFake(t, calling("sleep", `{"ms":250}`)(), "good").Servers[0]
	if got := len(live.Calling[0].Asked("ping")); got != 1 {
		t.Errorf("the run of calls has %d pings, want one beside the call", got)
	}
	if found := performance.AskHeldUpByCall(live); found != nil {
		t.Errorf("a server that answers meanwhile is blamed: %+v", found)
	}
}

func TestPerfLeak(t *testing.T) {
	for _, one := range []struct {
		speed evidence.Speed
		want  int
	}{
		{evidence.Speed{Flood: 1000, Before: 100 << 20, After: 150 << 20}, 1},
		{evidence.Speed{Flood: 1000, Before: 100 << 20, After: 101 << 20}, 0},
		{evidence.Speed{Before: 100 << 20, After: 150 << 20}, 0},
	} {
		if found := ask("perf-leak")(evidenceOf(&evidence.Run{Speed: &one.speed})); len(found) != one.want {
			t.Errorf("%+v: %+v, want %d findings", one.speed, found, one.want)
		}
	}
}
