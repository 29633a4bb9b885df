package tool_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"toolx/pkg/doctor"
	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/checks/tool"
	"toolx/pkg/doctor/doctortest"
	"toolx/pkg/doctor/evidence"
)

// TestCallFailed makes calls of a real process that come to nothing, each in its way,
// and one that succeeds.
func TestCallFailed(t *testing.T) {
	t.Parallel()
	want := []struct {
		tool, arguments string
		severity        check.Severity
		evidence, fix   string
	}{
		{"ech", `{}`, check.Error, "Tool 'ech' not found; the server has ", "did you mean echo, env?"},
		{"echo", `{"message":7}`, check.Error, "message", "inputSchema"},
		{"rpcerror", `{"code":-32603}`, check.Error, "error -32603: the server refuses, as asked", "correct the call"},
		{"iserror-empty", `{}`, check.Error, "", "correct the call"},
	}
	options := doctortest.Options()
	options.Calls = []evidence.Call{{Tool: "echo", Arguments: json.RawMessage(`{"message":"fine"}`)}}
	for _, w := range want {
		options.Calls = append(options.Calls, evidence.Call{Tool: w.tool, Arguments: json.RawMessage(w.arguments)})
	}
	found := make(map[string]check.Finding)
	for _, f := range doctortest.Findings(t, judge(doctortest.Examine(t, options, "iserror-empty")), "call-failed") {
		found[f.Where.Tool] = f
	}
	if len(found) != len(want) {
		t.Errorf("%d findings, want %d: %+v", len(found), len(want), found)
	}
	for _, w := range want {
		f := found[w.tool]
		if f.Severity != w.severity || !strings.Contains(f.Evidence, w.evidence) ||
			!strings.Contains(strings.Join(f.Fix, " "), w.fix) {
			t.Errorf("%s: %+v", w.tool, f)
		}
	}
}

// TestACallThatEndsTheServer is told once, by the check of servers that end, which names
// the tool; the next call is made in another life.
func TestACallThatEndsTheServer(t *testing.T) {
	t.Parallel()
	options := doctortest.Options()
	options.Calls = []evidence.Call{{Tool: "crash", Arguments: json.RawMessage(`{}`)}, {
		Tool:      "echo",
		Arguments: json.RawMessage(`{"message":"x"}`),
	}}
	fleet := doctortest.Examine(t, options, "good")
	report := doctor.Judge(fleet, doctor.Selection{Only: []string{"call-failed", "exit-during-request"}})
	if len(report.Findings) != 1 || report.Findings[0].ID != "exit-during-request" ||
		report.Findings[0].Where.Tool != "crash" {
		t.Errorf("%+v", report.Findings)
	}
	e := fleet.Servers[0]
	if len(e.Calling) != 2 || len(e.Calls) != 2 || !e.Calls[1].Result.Success {
		t.Errorf("%d lives, calls %+v", len(e.Calling), e.Calls)
	}
}

// TestACallOfAFragileServer is made although the server ended over earlier questions.
func TestACallOfAFragileServer(t *testing.T) {
	t.Parallel()
	options := doctortest.Options()
	options.Calls = []evidence.Call{{Tool: "echo", Arguments: json.RawMessage(`{"message":"x"}`)}}
	e := doctortest.Examine(t, options, "exit-mid-call").Servers[0]
	if len(e.Calls) != 1 || tool.Exchange(e.Calls[0]) == nil {
		t.Errorf("the call was not made: %+v", e.Calls)
	}
}

// TestAHungCall is an error, which --timeout bounds; nothing that follows from it is
// blamed, and the call after it is made.
func TestAHungCall(t *testing.T) {
	t.Parallel()
	options := doctortest.Options()
	options.Waits.Answer = 200 * time.Millisecond // the calls of a tool that does not exist hang as well
	options.CallTimeout = 50 * time.Millisecond
	options.Calls = []evidence.Call{{Tool: "echo", Arguments: json.RawMessage(`{"message":"x"}`)}, {
		Tool:      "fail",
		Arguments: json.RawMessage(`{}`),
	}}
	fleet := doctortest.Examine(t, options, "silent-call")
	report := judge(fleet)
	found := doctortest.Findings(t, report, "call-failed")
	if len(found) != 2 || found[0].Severity != check.Error || found[0].Title != "tool call got no response" ||
		!strings.Contains(found[0].Evidence, "within 50ms") {
		t.Errorf("%+v", found)
	}
	if len(fleet.Servers[0].Calling) != 2 {
		t.Errorf("%d lives, want one for each call that hangs", len(fleet.Servers[0].Calling))
	}
	for _, f := range report.Findings {
		if one, _ := doctor.Find(f.ID); one.Group == check.GroupProcess {
			t.Errorf("blamed for a hung call: %s: %s", f.ID, f.Evidence)
		}
	}
	if gathered := report.Gathered(); len(doctortest.Findings(t, gathered, "call-failed")) != 1 ||
		len(gathered.Findings[0].Places) != 2 {
		t.Errorf("%+v", gathered.Findings)
	}
}
