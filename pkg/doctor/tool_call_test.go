package doctor

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/checks/tool"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
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
	options := shortOptions()
	options.Calls = []evidence.Call{{Tool: "echo", Arguments: json.RawMessage(`{"message":"fine"}`)}}
	for _, w := range want {
		options.Calls = append(options.Calls, evidence.Call{Tool: w.tool, Arguments: json.RawMessage(w.arguments)})
	}
	found := make(map[string]check.Finding)
	for _, f := range findingsOf(t, judgeMine(examineFake(t, options, "iserror-empty")), "call-failed") {
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
	options := shortOptions()
	options.Calls = []evidence.Call{{Tool: "crash", Arguments: json.RawMessage(`{}`)}, {Tool: "echo", Arguments: json.RawMessage(`{"message":"x"}`)}}
	fleet := examineFake(t, options, "good")
	report := Judge(fleet, Selection{Only: []string{"call-failed", "exit-during-request"}})
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
	options := shortOptions()
	options.Calls = []evidence.Call{{Tool: "echo", Arguments: json.RawMessage(`{"message":"x"}`)}}
	e := examineFake(t, options, "exit-mid-call").Servers[0]
	if len(e.Calls) != 1 || tool.Exchange(e.Calls[0]) == nil {
		t.Errorf("the call was not made: %+v", e.Calls)
	}
}

// TestAHungCall is an error, which --timeout bounds; nothing that follows from it is
// blamed, and the call after it is made.
func TestAHungCall(t *testing.T) {
	t.Parallel()
	options := shortOptions()
	options.answer = 200 * time.Millisecond // the calls of a tool that does not exist hang as well
	options.CallTimeout = 50 * time.Millisecond
	options.Calls = []evidence.Call{{Tool: "echo", Arguments: json.RawMessage(`{"message":"x"}`)}, {Tool: "fail", Arguments: json.RawMessage(`{}`)}}
	fleet := examineFake(t, options, "silent-call")
	report := judgeMine(fleet)
	found := findingsOf(t, report, "call-failed")
	if len(found) != 2 || found[0].Severity != check.Error || found[0].Title != "a call is not answered" ||
		!strings.Contains(found[0].Evidence, "within 50ms") {
		t.Errorf("%+v", found)
	}
	if len(fleet.Servers[0].Calling) != 2 {
		t.Errorf("%d lives, want one for each call that hangs", len(fleet.Servers[0].Calling))
	}
	for _, f := range report.Findings {
		if one, _ := Find(f.ID); one.Group == check.GroupProcess {
			t.Errorf("blamed for a hung call: %s: %s", f.ID, f.Evidence)
		}
	}
	if gathered := report.Gathered(); len(findingsOf(t, gathered, "call-failed")) != 1 ||
		len(gathered.Findings[0].Places) != 2 {
		t.Errorf("%+v", gathered.Findings)
	}
}

// TestSafeArguments holds which tools are called by --call safe: none that may change
// or reach something, and none with arguments that nobody wrote.
func TestSafeArguments(t *testing.T) {
	const closed = `{"readOnlyHint":true,"openWorldHint":false}`
	tests := []struct{ name, annotations, schema, want string }{
		{"read", `{"readOnlyHint":true}`, `{"type":"object"}`, `{}`},
		{"read", `{"readOnlyHint":true}`, `{"type":"object","properties":{"q":{"type":"string","default":"x"}}}`, `{}`},
		{"read", closed, `{"type":"object","properties":{"q":{"type":"string","examples":["a","b"]}},"required":["q"]}`, `{"q":"a"}`},
		{"read", closed, `{"type":"object","properties":{"q":{"enum":["a","b"]},"n":{"type":"integer","default":3}},"required":["q","n"]}`, `{"q":"a","n":3}`},
		{"read", closed, `{"type":"object","properties":{"q":{"type":"string"}},"required":["q"],"examples":[{"q":"whole"}]}`, `{"q":"whole"}`},
		{"nothing says that it is read-only", `{}`, `{"type":"object"}`, ""},
		{"it is not", `{"readOnlyHint":false}`, `{"type":"object"}`, ""},
		{"it destroys", `{"readOnlyHint":true,"destructiveHint":true}`, `{"type":"object"}`, ""},
		{"it reaches out", `{"readOnlyHint":true,"openWorldHint":true}`, `{"type":"object"}`, ""},
		{"it may reach out, with arguments", `{"readOnlyHint":true}`, `{"type":"object","properties":{"q":{"default":"x"}},"required":["q"]}`, ""},
		{"delete_note", `{"readOnlyHint":true}`, `{"type":"object"}`, ""},
		{"nobody wrote an argument", closed, `{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}`, ""},
		{"the author's example is wrong", closed, `{"type":"object","properties":{"q":{"type":"integer","examples":["a"]}},"required":["q"]}`, ""},
	}
	for _, test := range tests {
		tool, err := exec.NewTool([]byte(fmt.Sprintf(`{"name":%q,"annotations":%s,"inputSchema":%s}`, test.name, test.annotations, test.schema)))
		if err != nil {
			t.Fatal(err)
		}
		calls := safeCalls(t.Context(), []*exec.Tool{tool})
		switch {
		case test.want == "" && len(calls) > 0:
			t.Errorf("%s is called: %s", test.name, calls[0].Arguments)
		case test.want != "" && (len(calls) != 1 || string(calls[0].Arguments) != test.want):
			t.Errorf("%s %s: %+v", test.annotations, test.schema, calls)
		}
	}
}
