package doctor

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestCallFailed makes calls of a real process that come to nothing, each in its way,
// and one that succeeds.
func TestCallFailed(t *testing.T) {
	want := []struct {
		tool, arguments string
		severity        Severity
		evidence, fix   string
	}{
		{"ech", `{}`, Error, "Tool 'ech' not found; the server has ", "did you mean echo, env?"},
		{"echo", `{"message":7}`, Error, "message", "inputSchema"},
		{"rpcerror", `{"code":-32603}`, Warning, "error -32603: the server refuses, as asked", "correct the call"},
		{"iserror-empty", `{}`, Warning, "", "correct the call"},
	}
	options := shortOptions()
	options.Calls = []Call{{Tool: "echo", Arguments: json.RawMessage(`{"message":"fine"}`)}}
	for _, w := range want {
		options.Calls = append(options.Calls, Call{Tool: w.tool, Arguments: json.RawMessage(w.arguments)})
	}
	found := make(map[string]Finding)
	for _, f := range findingsOf(t, judgeMine(examineFake(t, options, "iserror-empty")), "call-failed") {
		found[f.Where.Tool] = f
	}
	if len(found) != len(want) {
		t.Errorf("%d findings, want %d: %+v", len(found), len(want), found)
	}
	for _, w := range want {
		f := found[w.tool]
		if f.Severity != w.severity || !strings.Contains(f.Evidence, w.evidence) || !strings.Contains(strings.Join(f.Fix, " "), w.fix) {
			t.Errorf("%s: %+v", w.tool, f)
		}
	}
}

// TestACallThatEndsTheServer is told once: by the check of servers that end.
func TestACallThatEndsTheServer(t *testing.T) {
	options := shortOptions()
	options.Calls = []Call{{Tool: "echo", Arguments: json.RawMessage(`{"message":"x"}`)}}
	report := Judge(examineFake(t, options, "exit-mid-call"), Selection{Only: []string{"call-failed", "exit-during-request"}})
	if len(report.Findings) != 1 || report.Findings[0].ID != "exit-during-request" {
		t.Errorf("%+v", report.Findings)
	}
}
