package doctor

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
)

// TestCallsAreRepeatedOnlyWhereTheyMayBe counts the calls that reach a real process: a
// call may change something.
func TestCallsAreRepeatedOnlyWhereTheyMayBe(t *testing.T) {
	for _, one := range []struct {
		name, tool, arguments string
		repeat                int
		least, most           int
		evidence, note        string
	}{
		{"a tool without hints", "echo", `{"message":"x"}`, 0, 1, 1, "echo ", "--repeat N repeats it"},
		{"readOnlyHint", "add", `{"a":1,"b":2}`, 0, 3, 1 + measuredAlone + measuredTogether, "one after the other; p50 ", ""},
		{"--repeat", "echo", `{"message":"x"}`, 3, 7, 7, "of 3 one after the other; p50 ", ""},
		{"a call that fails", "rpcerror", `{}`, 3, 1, 1, "rpcerror ", ""},
	} {
		t.Run(one.name, func(t *testing.T) {
			record := filepath.Join(t.TempDir(), "record")
			options := shortOptions()
			options.Repeat = one.repeat
			options.Calls = []evidence.Call{{Tool: one.tool, Arguments: json.RawMessage(one.arguments)}}
			fleet := examineFake(t, options, "--record", record, "good")
			sent, err := os.ReadFile(record)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(sent), `"name":"`+one.tool+`"`); n < one.least || n > one.most {
				t.Errorf("%d calls were made, want %d to %d", n, one.least, one.most)
			}
			found := findingsOf(t, Judge(fleet, Selection{}), "perf-call")
			if len(found) != 1 || !strings.Contains(found[0].Evidence, one.evidence) ||
				!strings.Contains(strings.Join(found[0].Notes, " "), one.note) {
				t.Errorf("%+v", found)
			}
			if ids := idsOf(Judge(fleet, Selection{
				Skip: []string{"call-failed", "rpc-error-code-reserved", "iserror-misuse"},
			}), check.Warning); ids != "" {
				t.Errorf("the repeated calls are judged: %s", ids)
			}
		})
	}
}

// TestACallThatFailsLater shows that the report says why it counts so few.
func TestACallThatFailsLater(t *testing.T) {
	call := &evidence.CallRun{Tool: "a", Result: &exec.Result{Success: true}, Speed: &evidence.CallSpeed{Failed: true}}
	found := ask("perf-call")(&evidence.Evidence{Clean: &evidence.Run{Name: "clean"}, Calls: []*evidence.CallRun{call}})
	if len(found) != 1 || found[0].Notes == nil {
		t.Errorf("%+v, want a note", found)
	}
}
