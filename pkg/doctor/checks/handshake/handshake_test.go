package handshake_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/doctortest"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
)

// TestADeathThatIsExplainedIsOneFinding: what a server names that it died of is all that is said of the call.
func TestADeathThatIsExplainedIsOneFinding(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Error: SOME_HOST environment variable is required": "env-missing",
		"fatal: out of cheese":                              "exit-during-request",
	} {
		var found []string
		for _, f := range doctor.Judge(doctortest.Examine(t, doctortest.Options(), "exit-mid-call", "--text", text),
			doctor.Selection{}).Findings {
			if f.Severity == check.Error {
				found = append(found, f.ID)
			}
		}
		if !slices.Equal(found, []string{want}) {
			t.Errorf("%s: found %v, want %s", text, found, want)
		}
	}
}

// TestAServerThatDiesOfTheProbeIsProbedOn shows that one question that ends the
// server does not cost the answers to all others.
func TestAServerThatDiesOfTheProbeIsProbedOn(t *testing.T) {
	t.Parallel()
	fleet := doctortest.Examine(t, doctortest.Options(), "discover-kills", "ignore-sigterm")
	if fleet.Servers[0].Again == nil {
		t.Fatal("there was no further run")
	}
	if found := doctortest.Findings(t, doctor.Judge(fleet, doctor.Selection{}), "ignores-sigterm"); len(found) != 1 {
		t.Errorf("ignores-sigterm: %+v, want one finding of the further run", found)
	}
}

// TestARefusedRevision shows what is said of a server that refuses a revision instead of
// offering its own, and that one which refuses initialize for good reason is not blamed.
func TestARefusedRevision(t *testing.T) {
	t.Parallel()
	refusal := &evidence.Exchange{
		Method: "initialize", Sent: json.RawMessage(`{"params":{"protocolVersion":"2025-11-25"}}`),
		Frame: json.RawMessage(`{}`),
		Error: json.RawMessage(`{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2024-11-05"]}}`),
	}
	e := &evidence.Evidence{Clean: &evidence.Run{Name: "clean", Exchanges: []*evidence.Exchange{refusal}}}
	found := doctortest.Ask("initialize-refused")(e)
	if len(found) != 1 || !strings.Contains(found[0].Title, "for revision 2025-11-25 instead of offering its own") ||
		!strings.Contains(found[0].Notes[0], "2024-11-05") {
		t.Errorf("refused: %+v", found)
	}
	report := doctor.Judge(doctortest.Examine(t, doctortest.Options(), "stateless-only"), doctor.Selection{})
	if found := doctortest.Findings(t, report, "initialize-refused"); found != nil {
		t.Errorf("a modern server: %+v", found)
	}
}

// TestAProgramThatIsNoServer shows what is said of a program that speaks JSON-RPC and does not know initialize, unless
// it says why.
func TestAProgramThatIsNoServer(t *testing.T) {
	for stderr, want := range map[string]string{
		"":                     "server does not support initialize",
		"the database is gone": "server does not support initialize",
		"API_KEY is not set":   "",
	} {
		refusal := &evidence.Exchange{
			Method: "initialize", Sent: json.RawMessage(`{}`), Frame: json.RawMessage(`{}`),
			Error: json.RawMessage(`{"code":-32601,"message":"Method not found"}`),
		}
		failure := &diagnose.Failure{Ending: diagnose.EndingRefused, StderrTail: []string{stderr}}
		e := doctortest.Evidence(&evidence.Run{Exchanges: []*evidence.Exchange{refusal}, Failure: failure})
		e.Launch.Command = "made"
		title := ""
		for _, f := range doctortest.Ask("initialize-refused")(e) {
			title = f.Title
		}
		if title != want {
			t.Errorf("%q: %q, want %q", stderr, title, want)
		}
	}
}

// TestTheRefusalComesFirst shows that what a server prints beside its refusal of initialize is not the cause.
func TestTheRefusalComesFirst(t *testing.T) {
	t.Parallel()
	report := doctor.Judge(doctortest.Examine(t, doctortest.Options(), "banner", "list-error", "--on", "initialize"),
		doctor.Selection{})
	first, polluted := report.Findings[0], doctortest.Findings(t, report, "stdout-pollution")
	if first.ID != "initialize-refused" || polluted == nil {
		t.Errorf("first: %s %q; pollution: %+v", first.ID, first.Title, polluted)
	}
}

// TestASlowStartIsNoFault shows that the time for the first question begins when the
// server can read it.
func TestASlowStartIsNoFault(t *testing.T) {
	t.Parallel()
	report := doctor.Judge(doctortest.Examine(t, doctortest.ShortCallTimeouts(), "--wait", "900ms", "slow-start"),
		doctor.Selection{})
	for _, id := range []string{"discover-breaks-server", "rpc-late-reply", "request-before-init"} {
		if found := doctortest.Findings(t, report, id); found != nil {
			t.Errorf("%s: %+v", id, found)
		}
	}
}

// TestALateAnswerIsAnAnswer shows that a check never says that there was none, where
// one came too late.
func TestALateAnswerIsAnAnswer(t *testing.T) {
	late := func(method, params string) *evidence.Exchange {
		x := doctortest.Exchange(method, params, `{}`, "")
		x.Late, x.Took = true, 4*time.Second
		return x
	}
	discover, list, ping := late("server/discover", `{}`), late("tools/list", `null`), late("ping", `null`)
	initialize := doctortest.Exchange("initialize", `{}`, `{}`, "")
	initialize.At = discover.At.Add(time.Second) // the server had time to answer it first
	probe := &evidence.Run{Name: "probing", Exchanges: []*evidence.Exchange{discover, list, initialize}}
	e := doctortest.Evidence(&evidence.Run{Protocol: "2025-11-25", Exchanges: []*evidence.Exchange{ping}})
	e.Probe = probe
	found := slices.Concat(doctortest.Ask("discover-breaks-server")(e), doctortest.Ask("request-before-init")(e),
		doctortest.Ask("ping-fails")(e))
	if len(found) != 3 || found[0].Severity != check.Warning {
		t.Fatalf("%+v, want three findings, the first a warning", found)
	}
	for _, f := range found {
		if !strings.Contains(f.Title, "late") || !strings.Contains(f.Evidence, "was answered after 4.0 s") {
			t.Errorf("%q: %q", f.Title, f.Evidence)
		}
	}
	for _, x := range probe.Exchanges {
		odd := wire.OddFrame{Class: wire.ClassIDLate, Bytes: []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)}
		odd.At = x.At
		probe.Events = append(probe.Events, odd)
	}
	if again := doctortest.Ask("rpc-late-reply")(e); again != nil {
		t.Errorf("rpc-late-reply: %+v, want that left to the checks of the handshake", again)
	}
}

// TestABusyMachineIsNoFault: requests that are all answered late, in their order, show a slow start and nothing else.
func TestABusyMachineIsNoFault(t *testing.T) {
	for _, test := range []struct {
		name       string
		discover   time.Duration // until the answer
		initialize time.Duration // the same, asked 3 s later
		want       int
	}{
		{"slow", 4 * time.Second, time.Second + time.Millisecond, 0},
		{"very slow", 9 * time.Second, 6*time.Second + time.Millisecond, 0},
		{"initialize is never answered", 4 * time.Second, 0, 0},
		{"answered behind initialize", 4 * time.Second, time.Millisecond, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			discover, list := doctortest.Exchange("server/discover", `{}`, `{}`,
				""), doctortest.Exchange("tools/list", `null`,
				`{}`, "")
			discover.Late, discover.Took = true, test.discover
			list.Late, list.Took = true, test.discover
			initialize := doctortest.Exchange("initialize", `{}`, "", "")
			if test.initialize > 0 {
				initialize = doctortest.Exchange("initialize", `{}`, `{}`, "")
			}
			initialize.At, initialize.Took = discover.At.Add(3*time.Second), test.initialize
			e := doctortest.Evidence(&evidence.Run{Protocol: "2025-11-25"})
			e.Probe = &evidence.Run{Name: "probing", Exchanges: []*evidence.Exchange{discover, list, initialize}}
			found := slices.Concat(doctortest.Ask("discover-breaks-server")(e),
				doctortest.Ask("request-before-init")(e))
			if len(found) != test.want {
				t.Errorf("%+v, want %d findings", found, test.want)
			}
		})
	}
}

// TestServerInfo: clients refuse a member that is missing, and not one that is empty.
func TestServerInfo(t *testing.T) {
	for info, want := range map[string]string{
		`{"name":"a","version":""}`:  "info [] server sends an empty version",
		`{"name":"","version":""}`:   "info [] server sends an empty name and version",
		`{"name":"a","version":"1"}`: "",
		`{"name":"a"}`: "warning [clients of the TypeScript and Python SDKs refuse an answer without serverInfo] " +
			"server does not report its name and version",
	} {
		e := doctortest.Evidence(&evidence.Run{Exchanges: []*evidence.Exchange{
			doctortest.Exchange("initialize", `{}`,
				`{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":`+info+`}`,
				""),
		}})
		fleet := &evidence.Fleet{Servers: []*evidence.Evidence{e}}
		report := doctor.Judge(fleet, doctor.Selection{Only: []string{"serverinfo-incomplete"}})
		got := ""
		for _, f := range report.Findings {
			got += fmt.Sprintf("%s %s %s", f.Severity, f.Breaks, f.Title)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", info, got, want)
		}
	}
}

// TestAModernServerIsSilent shows that the rules of one generation are not held
// against a server of another.
func TestAModernServerIsSilent(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"stateless-only", "dual-era"} {
		report := doctor.Judge(doctortest.Examine(t, doctortest.Options(), mode), doctor.Selection{})
		if ids := doctortest.IDs(report, check.Warning); ids != "" {
			t.Errorf("%s: found %s", mode, ids)
		}
	}
}

func TestProtocolVersionEcho(t *testing.T) {
	for version, want := range map[string]int{"1999-01-01": 1, "2025-11-25": 0} {
		run := &evidence.Run{Name: "probing", Exchanges: []*evidence.Exchange{doctortest.Exchange("initialize", `{}`,
			`{"protocolVersion":"`+version+`"}`, "")}}
		if found := doctortest.Ask("protocol-version-echo")(&evidence.Evidence{Probe: run}); len(found) != want {
			t.Errorf("%s: %d findings, want %d", version, len(found), want)
		}
	}
}

func TestRequestBeforeInit(t *testing.T) {
	for _, one := range []struct {
		name, params, result string
		want                 int
	}{
		{"answered", `null`, `{"tools":[]}`, 0},
		{"not answered", `null`, "", 1},
		{"of the handshaken part", `{"cursor":"x"}`, "", 0},
	} {
		run := &evidence.Run{
			Name: "probing", Exchanges: []*evidence.Exchange{doctortest.Exchange("tools/list", one.params, one.result,
				"")},
		}
		if found := doctortest.Ask("request-before-init")(&evidence.Evidence{Probe: run}); len(found) != one.want {
			t.Errorf("%s: %+v, want %d findings", one.name, found, one.want)
		}
	}
}

func TestUnsupportedVersionError(t *testing.T) {
	invented := `{"_meta":{"io.modelcontextprotocol/protocolVersion":"1999-01-01"}}`
	for _, one := range []struct {
		result, failure string
		want            int
	}{
		{"", `{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}`, 0},
		{"", `{"code":-32022,"message":"no"}`, 1},
		{"", `{"code":-32602,"message":"no","data":{"supported":["2026-07-28"]}}`, 1},
		{`{"supportedVersions":["2026-07-28"]}`, "", 0},
		{`{"supportedVersions":["2025-11-25","2026-07-28"],"capabilities":{}}`, "", 0},
		{`{"capabilities":{}}`, "", 1},
		{"", "", 1},
	} {
		run := &evidence.Run{Name: "probing", Exchanges: []*evidence.Exchange{
			doctortest.Exchange("server/discover", `{}`, `{"supportedVersions":["2026-07-28"]}`, ""),
			doctortest.Exchange("server/discover", invented, one.result, one.failure),
		}}
		found := doctortest.Ask("unsupported-version-error")(&evidence.Evidence{Probe: run})
		if len(found) != one.want {
			t.Errorf("%s%s: %d findings, want %d", one.result, one.failure, len(found), one.want)
		}
	}
}

func TestListUnstable(t *testing.T) {
	a, b, c := `{"name":"a"}`, `{"name":"b"}`, `{"name":"c"}`
	began := time.Now()
	changed := wire.Notification{Method: "notifications/tools/list_changed"}
	changed.At = began.Add(time.Millisecond)
	for _, one := range []struct {
		name, first, second string
		events              []exec.Event
		want                string
	}{
		{"the same", a + "," + b, a + "," + b, nil, ""},
		{"another order", a + "," + b, b + "," + a, nil, "the same tools in another order"},
		{"one more", a, a + "," + b, nil, "1 tools, then 2"},
		{"another", a, c, nil, "the same number of tools, with other definitions"},
		{"told so", a, a + "," + b, []exec.Event{changed}, ""},
	} {
		first := doctortest.Exchange("tools/list", `{}`, `{"tools":[`+one.first+`]}`, "")
		second := doctortest.Exchange("tools/list", `{}`, `{"tools":[`+one.second+`]}`, "")
		first.At, second.At = began, began.Add(2*time.Millisecond)
		got := ""
		for _, finding := range doctortest.Ask("list-unstable")(
			doctortest.Evidence(&evidence.Run{Exchanges: []*evidence.Exchange{first, second}, Events: one.events}),
		) {
			got = finding.Evidence
		}
		if got != one.want {
			t.Errorf("%s: %q, want %q", one.name, got, one.want)
		}
	}
}

func TestNotificationAnswered(t *testing.T) {
	began := time.Now()
	odd := wire.OddFrame{
		Class: wire.ClassNotificationReply,
		Bytes: []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"Method not found"}}`),
	}
	odd.At = began.Add(time.Millisecond)
	e := &evidence.Evidence{Probe: &evidence.Run{
		Name: "probing", Events: []exec.Event{odd}, Marks: map[string]time.Time{"notification": began},
	}}
	if found := doctortest.Ask("notification-answered")(e); len(found) != 1 {
		t.Errorf("notification-answered: %+v, want one finding", found)
	}
	if found := doctortest.Ask("rpc-id-null")(e); found != nil {
		t.Errorf("rpc-id-null: %+v, want that left to notification-answered", found)
	}
}

func TestCancelIgnored(t *testing.T) {
	call := doctortest.Exchange("tools/call", `{"name":"slow","_meta":{"progressToken":1}}`, `{"content":[]}`, "")
	late := wire.OddFrame{Class: wire.ClassIDLate, Bytes: []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)}
	e := doctortest.Evidence(&evidence.Run{Exchanges: []*evidence.Exchange{call}, Events: []exec.Event{late}})
	if found := doctortest.Ask("cancel-ignored")(e); len(found) != 1 {
		t.Errorf("cancel-ignored: %+v, want one finding", found)
	}
	if found := doctortest.Ask("rpc-late-reply")(e); found != nil {
		t.Errorf("rpc-late-reply: %+v, want that left to cancel-ignored", found)
	}
}

func TestModernResults(t *testing.T) {
	for _, one := range []struct {
		method, result    string
		untyped, uncached int
	}{
		{"tools/list", `{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"private"}`, 0, 0},
		{"tools/list", `{"tools":[]}`, 1, 1},
		{"tools/list", `{"resultType":"complete","tools":[],"ttlMs":0}`, 0, 1},
		{"tools/call", `{"resultType":"complete","content":[]}`, 0, 0},
		{"tools/call", `{"content":[]}`, 1, 0},
	} {
		x := doctortest.Exchange(one.method, `{}`, one.result, "")
		modern := doctortest.Evidence(&evidence.Run{Protocol: "2026-07-28", Exchanges: []*evidence.Exchange{x}})
		if found := doctortest.Ask("result-type-missing")(modern); len(found) != one.untyped {
			t.Errorf("%s %s: result-type-missing has %d findings, want %d", one.method, one.result, len(found),
				one.untyped)
		}
		if found := doctortest.Ask("cache-hints")(modern); len(found) != one.uncached {
			t.Errorf("%s %s: cache-hints has %d findings, want %d", one.method, one.result, len(found), one.uncached)
		}
		legacy := doctortest.Evidence(&evidence.Run{Protocol: "2025-11-25", Exchanges: []*evidence.Exchange{x}})
		if found := append(doctortest.Ask("result-type-missing")(legacy),
			doctortest.Ask("cache-hints")(legacy)...); found != nil {
			t.Errorf("%s %s: a legacy server is held to modern rules: %+v", one.method, one.result, found)
		}
	}
}

// TestAPortInUseIsNotBlamedOnDiscover shows that a probing run that ended of something else is not held against the
// request that came first.
func TestAPortInUseIsNotBlamedOnDiscover(t *testing.T) {
	for said, want := range map[string]int{
		"Error: listen EADDRINUSE: address already in use :::3001": 0,
		"Error: connect ECONNREFUSED 127.0.0.1:6379":               0,
		"Error: expected initialize, got server/discover":          1,
	} {
		e := doctortest.Evidence(&evidence.Run{})
		e.Probe = &evidence.Run{
			Name: "probing", Exchanges: []*evidence.Exchange{{Method: "server/discover"}},
			Ended: &diagnose.Failure{Ending: diagnose.EndingExited, How: "exit status 1", StderrTail: []string{said}},
		}
		if found := doctortest.Ask("discover-breaks-server")(e); len(found) != want {
			t.Errorf("%s: %+v", said, found)
		}
	}
}

// TestSlowBackendIsNoSilence: a server that asks its backend about a call answers later than one that does not.
func TestSlowBackendIsNoSilence(t *testing.T) {
	t.Parallel()
	options := doctortest.Options()
	options.Waits.Answer = time.Second
	report := doctor.Judge(doctortest.Examine(t, options, "--wait", "1500ms", "slow-call"), doctor.Selection{})
	if found := doctortest.Findings(t, report, "unknown-tool-result"); len(found) > 0 {
		t.Errorf("found %+v", found)
	}
	report = doctor.Judge(doctortest.Examine(t, options, "--wait", "1500ms", "--on", "resources/list", "features",
		"slow-call"),
		doctor.Selection{})
	if found := doctortest.Findings(t, report, "capability-false"); len(found) > 0 {
		t.Errorf("found %+v", found)
	}
}
