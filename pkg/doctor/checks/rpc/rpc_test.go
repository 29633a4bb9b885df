package rpc_test

import (
	"encoding/json"
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

// TestShapeOfAnUnknownTool: a wrong answer that only the doctor's own calls get is a warning that says so.
func TestShapeOfAnUnknownTool(t *testing.T) {
	const answer = `{"jsonrpc":"2.0","id":7,"error":`
	for _, test := range []struct {
		name, method, params, failure string
		want                          string
	}{
		{"text for an error", "tools/call", `{"name":"` + evidence.NoSuchTool + `"}`, `"no such tool"`, "warning an error is not an object in the response to the doctor's call of an unknown tool"},
		{"no code", "tools/call", `{"name":"` + evidence.NoSuchTool + `"}`, `{"message":"x"}`, "warning an error's code is not an integer in the response to the doctor's call of an unknown tool"},
		{"a call without a name", "tools/call", `{}`, `{"code":1}`, "warning an error has no message in the response to the doctor's call of an unknown tool"},
		{"what every client asks", "ping", `{}`, `"no"`, "error an error is not an object"},
	} {
		t.Run(test.name, func(t *testing.T) {
			x := doctortest.Exchange(test.method, test.params, "", test.failure)
			x.ID = "7"
			received := wire.FrameReceived{ID: "7", Bytes: []byte(answer + test.failure + "}")}
			e := doctortest.Evidence(&evidence.Run{Exchanges: []*evidence.Exchange{x}, Events: []exec.Event{received}})
			report := doctortest.JudgeOnly(e, "rpc-shape")
			got := ""
			for _, f := range report.Findings {
				got += string(f.Severity) + " " + f.Title
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestLogAsJSONRPC names a log that is written as JSON-RPC for what it is, once for each method, and counts one start.
func TestLogAsJSONRPC(t *testing.T) {
	frame := func(line int, text string) exec.Event {
		return wire.NewFrameReceived(time.Time{}, "", line, []byte(text))
	}
	const ready = `{"jsonrpc":"2.0","method":"log","params":{"level":"info","message":"ready"}}`
	for _, test := range []struct{ text, title, said string }{
		{ready, `server writes its log to stdout as JSON-RPC with the method "log"`, "it says: ready"},
		{`{"jsonrpc":"2.0","method":"log","params":["ready"]}`, `as JSON-RPC with the method "log"`, ""},
		{
			`{"jsonrpc":"2.0","id":"23c1","method":"log","params":{"level":50,"message":"Error: Invalid AccountSid"}}`,
			`as JSON-RPC with the method "log"`, "it has an id",
		},
		{`{"jsonrpc":"2.0","method":"window/logMessage","params":{"type":3,"message":"up"}}`, `"window/logMessage"`, "it says: up"},
		{`{"jsonrpc":"2.0","method":"server/ready","params":{}}`, `server sends the method "server/ready"`, ""},
	} {
		e := doctortest.Captured(frame(1, test.text), frame(2, test.text))
		e.Probe = &evidence.Run{Name: "probing", Events: e.Clean.Events}
		found := doctortest.Ask("rpc-not-mcp")(e)
		if len(found) != 1 || !strings.Contains(found[0].Title, test.title) ||
			!strings.Contains(doctortest.Text(found[0]), test.said) {
			t.Errorf("%s: %+v", test.text, found)
			continue
		}
		one := found[0]
		if logs := strings.Contains(one.Title, "its log"); logs != (one.Culprit != nil) {
			t.Errorf("%s: culprit %v", test.text, one.Culprit)
		}
		if !slices.Contains(one.Notes, "and 1 more like it") || one.Where.Phase != string(wire.PhaseStart) {
			t.Errorf("%s: %q, %q", test.text, one.Notes, one.Where.Phase)
		}
	}
}

// TestOnlyMessagesBeforeTheEnd does not say of a server that wrote its log as messages that it wrote nothing.
func TestOnlyMessagesBeforeTheEnd(t *testing.T) {
	for want, events := range map[string][]exec.Event{
		"it printed nothing to stdout or stderr": nil,
		"it wrote only protocol messages to stdout, and nothing to stderr": {
			wire.NewFrameReceived(time.Time{}, "", 1, []byte(`{"jsonrpc":"2.0","method":"log","params":{}}`)),
		},
	} {
		e := doctortest.Captured(events...)
		e.Clean.Failure = &diagnose.Failure{Ending: diagnose.EndingExited, How: "exit status 1"}
		e.Clean.Ended = e.Clean.Failure
		found := doctortest.Ask("exit-before-handshake")(e)
		if len(found) != 1 || !slices.Contains(found[0].Notes, want) {
			t.Errorf("want %q: %+v", want, found)
		}
	}
}

// TestAnotherProtocol is about a server that answers, and not in JSON-RPC.
func TestAnotherProtocol(t *testing.T) {
	said := wire.OddFrame{Class: wire.ClassNoVersion, Bytes: []byte(`{"type":"error","error":"Unsupported"}`)}
	e := doctortest.Evidence(&evidence.Run{Events: []exec.Event{said}})
	if found := doctortest.Ask("rpc-version")(e); len(found) != 1 || found[0].Title != "" {
		t.Errorf("of one that also answers initialize: %+v, want the check's own title", found)
	}
	e.Clean.Failure = &diagnose.Failure{Ending: diagnose.EndingSilent, Waiting: "initialize"}
	found := doctortest.Ask("rpc-version")(e)
	if len(found) != 1 || !strings.HasPrefix(found[0].Title, "server does not respond to initialize") {
		t.Errorf("of one that does not: %+v, want that in the title", found)
	}
}

// TestIDsAreOneFault shows that what a server does to the id of every message is one
// finding, which names the methods, and that it does not blame the error that answers a
// line which is no JSON.
func TestIDsAreOneFault(t *testing.T) {
	t.Parallel()
	for mode, id := range map[string]string{
		"id-string":   "rpc-id-type",
		"id-dup":      "rpc-id-duplicate",
		"rpc-missing": "rpc-version",
	} {
		report := doctor.Judge(doctortest.Examine(t, doctortest.Options(), "--on", "all", mode),
			doctor.Selection{Only: []string{"rpc-id-*", "rpc-version"}})
		if len(report.Findings) != 1 || report.Findings[0].ID != id ||
			!strings.Contains(strings.Join(report.Findings[0].Notes, " "), "more like it, also of tools/list") {
			t.Errorf("%s: %+v", mode, report.Findings)
		}
	}
}

// TestSurvivingALine shows that the line which is no JSON is blamed for the end of a server
// that said nothing to it, and not for that of one which answered it or ends by itself.
func TestSurvivingALine(t *testing.T) {
	began := time.Now()
	dead := &diagnose.Failure{Ending: diagnose.EndingExited, How: "exit status 1"}
	saying := func(lines ...string) *diagnose.Failure {
		return &diagnose.Failure{Ending: diagnose.EndingExited, How: "exit status 1", Stderr: lines}
	}
	wrote := func(ms int, text string) exec.Event {
		return wire.StderrLine{Head: wire.Head{At: began.Add(time.Duration(ms) * time.Millisecond)}, Text: text}
	}
	probing := func(events ...exec.Event) *evidence.Run {
		run := &evidence.Run{Name: "probing", Began: began, Ended: dead, Events: events, Marks: map[string]time.Time{
			"burst": began, "burst-end": began.Add(time.Second), "garbage": began.Add(2 * time.Second),
		}}
		for range evidence.BurstSize {
			run.Exchanges = append(run.Exchanges, &evidence.Exchange{Method: "ping", At: began, Frame: json.RawMessage(`{}`)})
		}
		run.Exchanges = append(run.Exchanges, &evidence.Exchange{Method: "ping", At: began.Add(3 * time.Second)})
		return run
	}
	ending := func(of *diagnose.Failure, events ...exec.Event) *evidence.Run {
		run := probing(events...)
		run.Ended = of
		return run
	}
	atCall := []*evidence.Exchange{{Method: "tools/call"}}
	parseError := wire.OddFrame{
		Class: wire.ClassIDNull,
		Bytes: []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`),
	}
	for _, test := range []struct {
		what  string
		e     *evidence.Evidence
		found bool
	}{
		{"it said nothing", &evidence.Evidence{Clean: &evidence.Run{}, Probe: probing()}, true},
		{"it answered the line", &evidence.Evidence{Clean: &evidence.Run{}, Probe: probing(parseError)}, false},
		{"it ends by itself", &evidence.Evidence{Clean: &evidence.Run{Ended: dead}, Probe: probing()}, false},
		{"it ends at a call", &evidence.Evidence{Clean: &evidence.Run{Ended: dead, Exchanges: []*evidence.Exchange{{Method: "tools/call"}}}, Probe: probing()}, true},
		{"its database", &evidence.Evidence{Clean: &evidence.Run{}, Probe: ending(saying("Error: connect ECONNREFUSED 127.0.0.1:5432"))}, false},
		{"its database, later", &evidence.Evidence{Clean: &evidence.Run{}, Probe: ending(dead, wrote(2100, "MongoServerSelectionError: timed out"))}, false},
		{"its backend", &evidence.Evidence{Clean: &evidence.Run{}, Probe: ending(saying("fatal: 401 Unauthorized", "    at x.js:1"))}, false},
		{"the line", &evidence.Evidence{Clean: &evidence.Run{}, Probe: ending(saying("SyntaxError: Unexpected token 'h', is not valid JSON"))}, true},
		{"the line, on a connection", &evidence.Evidence{Clean: &evidence.Run{}, Probe: ending(dead, wrote(2100, "Connection error: cannot parse message"))}, true},
		{"it was connected", &evidence.Evidence{Clean: &evidence.Run{}, Probe: ending(saying("Connected to database"), wrote(100, "Connected to database"))}, true},
		{"something after it", &evidence.Evidence{Clean: &evidence.Run{}, Probe: ending(dead, wrote(2100, "TypeError: undefined is not a function"))}, true},
		{"the same as before", &evidence.Evidence{Clean: &evidence.Run{Ended: saying("bye"), Exchanges: atCall}, Probe: ending(saying("bye"))}, false},
	} {
		if found := doctortest.Ask("rpc-parse-error-survival")(test.e); (found != nil) != test.found {
			t.Errorf("%s: %+v", test.what, found)
		}
	}
}

// TestNoMessageIsNoPass shows that a server which says nothing passes no check of what it
// says.
func TestNoMessageIsNoPass(t *testing.T) {
	report := doctor.Judge(doctortest.Examine(t, doctortest.Options(), "exit1-stderr"),
		doctor.Selection{Only: []string{"rpc-*", "protocol-version-missing", "wire-schema", "stdout-pollution"}})
	for _, result := range report.Checks {
		if want := result.ID == "stdout-pollution"; (result.Outcome == check.Passed) != want {
			t.Errorf("%s: %s, %s", result.ID, result.Outcome, result.Because)
		}
	}
}

// TestTheAnswerToGarbageIsNoFault shows that a null id is right where a line could
// not be read, also where the answer is taken for that of the next request.
func TestTheAnswerToGarbageIsNoFault(t *testing.T) {
	began := time.Now()
	at := func(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }
	odd := func(ms int, class wire.Class, used bool, text string) wire.OddFrame {
		frame := wire.OddFrame{Class: class, Used: used, Bytes: []byte(text)}
		frame.At = at(ms)
		return frame
	}
	const garbled = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`
	ping := &evidence.Exchange{
		Method: "ping", ID: "7", At: at(10), Took: 5 * time.Millisecond,
		Frame: []byte(`{"jsonrpc":"2.0","id":7,"result":{}}`),
	}
	e := &evidence.Evidence{Probe: &evidence.Run{
		Name: "probing", Began: began, Marks: map[string]time.Time{"garbage": at(5), "notification": at(4)},
		Exchanges: []*evidence.Exchange{ping},
		Events: []exec.Event{
			odd(12, wire.ClassIDNull, true, garbled),
			odd(12, wire.ClassIDNull, false, strings.Replace(garbled, "-32700", "-32603", 1)),
			odd(15, wire.ClassIDDuplicate, false, string(ping.Frame)),
		},
	}}
	if found := doctortest.Ask("rpc-id-null")(e); found != nil {
		t.Errorf("rpc-id-null: %+v", found)
	}
	if found := doctortest.Ask("rpc-id-duplicate")(e); found != nil {
		t.Errorf("rpc-id-duplicate: %+v", found)
	}
	if found := doctortest.Ask("notification-answered")(e); found != nil {
		t.Errorf("notification-answered: %+v", found)
	}
}
