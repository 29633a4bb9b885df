package doctor

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/servers"
)

// taskChecks are the checks of tasks, and that of calls.
func taskChecks() []string {
	return []string{"task-agreed", "task-id", "task-state", "task-interval", "task-result", "content-shape"}
}

// taskFault is a call whose task is faulty, the check that sees it, and where.
type taskFault struct{ tool, arguments, id, pointer, evidence string }

// TestFakeTasks provokes each fault of tasks by calls of a real process, in both eras; every call is found by one check
// alone, and sound tasks by none.
func TestFakeTasks(t *testing.T) {
	both := []taskFault{
		{"research", `{"steps":3}`, "", "", ""},
		{"research", `{"end":"twice"}`, "task-id", "/taskId", "is the id of an earlier task of research"},
		{"research", `{"end":"failed"}`, "", "", ""},
		{"research", `{"end":"cancelled"}`, "", "", ""},
		{"research", `{"end":"other","steps":2}`, "task-id", "/taskId", `the task is "another", and "t5" was asked for`},
		{"research", `{"end":"backwards"}`, "task-state", "/status", "the task was completed, and is working"},
		{"research", `{"end":"submitted","steps":2}`, "task-state", "/status", "the task was working, and is submitted"},
		{"research", `{"end":"odd"}`, "task-state", "/status", `"odd" is no status of a task`},
		{"research", `{"end":"forgotten"}`, "task-result", "", "the task was completed, and tasks/get is answered with"},
	}
	eras := map[string][]taskFault{
		"tasks": append(both,
			taskFault{"research", `{"poll":0}`, "task-interval", "/pollInterval", "pollInterval 0 is no time to wait"},
			taskFault{"research", `{"end":"bare"}`, "task-result", "", "tasks/result is answered with"},
			taskFault{"research", `{"end":"changing"}`, "task-result", "", "researched 1 times"},
			taskFault{"study", `{"end":"unasked"}`, "task-agreed", "", `"status":"working"`},
			taskFault{"research", `{"end":"none"}`, "task-agreed", "", "the call asks for a task, and the answer is"},
			taskFault{"study", `{}`, "", "", ""}),
		"stateless-only tasks": append(both[:len(both):len(both)],
			taskFault{"research", `{"poll":-5}`, "task-interval", "/pollIntervalMs", "pollIntervalMs -5 is no time to wait"},
			taskFault{"research", `{"end":"bare"}`, "task-result", "/result", "the task is completed, and its result is missing"},
			taskFault{"research", `{"end":"early","steps":2}`, "task-result", "/result", "the task is working, and has the result"},
			taskFault{"study", `{}`, "", "", ""}),
	}
	for modes, faults := range eras {
		t.Run(modes, func(t *testing.T) {
			options := shortOptions()
			wanted := 0
			for _, f := range faults {
				options.Calls = append(options.Calls,
					evidence.Call{Tool: f.tool, Arguments: json.RawMessage(f.arguments)})
			}
			report := Judge(examineFake(t, options, strings.Fields(modes)...), Selection{Only: taskChecks()})
			for _, id := range taskChecks() {
				found := findingsOf(t, report, id)
				for _, fault := range faults {
					if fault.id != id {
						continue
					}
					wanted++
					if len(found) == 0 {
						t.Errorf("%s is not found: %s", fault.arguments, id)
						break
					}
					f := found[0]
					found = found[1:]
					if f.Where.Pointer != fault.pointer || f.Where.Tool != fault.tool || f.Where.Line == 0 ||
						!strings.Contains(f.Evidence, fault.evidence) {
						t.Errorf("%s: %s: %+v %+v", fault.arguments, id, f, f.Where)
					}
				}
				for _, f := range found {
					t.Errorf("unexpected: %+v %+v", f, f.Where)
				}
			}
			if len(report.Findings) != wanted {
				t.Errorf("%d findings, want %d", len(report.Findings), wanted)
			}
		})
	}
}

// TestTaskIntervals judges the wished-for times that a test does not wait for.
func TestTaskIntervals(t *testing.T) {
	for members, want := range map[string]string{
		`"pollInterval":7200000,"ttl":null`:   "pollInterval 7200000 is 2h0m0s",
		`"pollInterval":60000,"ttl":30000`:    "pollInterval 60000 is longer than the task is kept (ttl 30000)",
		`"pollInterval":"soon","ttl":null`:    `pollInterval "soon" is a string`,
		`"pollInterval":1e300,"ttl":null`:     "pollInterval 1e300 is ",
		`"pollInterval":1000,"ttl":3600000`:   "",
		`"pollInterval":null,"ttl":null`:      "",
		`"ttl":60000`:                         "",
		`"pollInterval":3599999,"ttl":null`:   "",
		`"pollIntervalMs":-1,"ttl":null`:      "", // of the other era
		`"pollInterval":0.5,"ttl":null`:       "",
		`"pollInterval":-0.5,"ttl":"forever"`: "pollInterval -0.5 is no time to wait",
	} {
		e := lintEvidence("2025-11-25", `{"name":"probe","inputSchema":{"type":"object"}}`)
		e.Clean.Exchanges = append(e.Clean.Exchanges, lintCall("probe",
			fmt.Sprintf(`{"task":{"taskId":"a","status":"working",%s}}`, members)))
		e.CallsAsked, e.Calls = true, []*evidence.CallRun{{Tool: "probe"}}
		found := findingsOf(t, judgeMine(&evidence.Fleet{Servers: []*evidence.Evidence{e}}), "task-interval")
		switch {
		case want == "" && len(found) > 0:
			t.Errorf("%s: unexpected: %+v", members, found)
		case want != "" && (len(found) != 1 || found[0].Severity != check.Warning ||
			!strings.HasPrefix(found[0].Evidence, want)):
			t.Errorf("%s: %+v, want %q", members, found, want)
		}
	}
}

// TestSafeCallsBeginNoTasks holds that --call safe leaves tasks alone: it does not call a tool that is nothing else,
// and calls others as a client that knows no tasks.
func TestSafeCallsBeginNoTasks(t *testing.T) {
	for _, modes := range []string{"tasks", "stateless-only tasks"} {
		options := shortOptions()
		options.Safe = true
		fleet := examineFake(t, options, strings.Fields(modes)...)
		e := fleet.Servers[0]
		called := strings.Join(calledByItself(e), " ")
		research := strings.Contains(called, "research") // no definition says that it is a task in 2026-07-28
		if !strings.Contains(called, "study {}") || research != strings.Contains(modes, "only") {
			t.Errorf("%s: called %s", modes, called)
		}
		for _, run := range e.Calling {
			if strings.Contains(run.Stderr(), "task t1") || len(run.Tasks()) > 0 {
				t.Errorf("%s: a task was begun: %s", modes, run.Stderr())
			}
		}
		report := judgeMine(fleet)
		for _, id := range append(taskChecks(), "call-failed") {
			if found := findingsOf(t, report, id); len(found) > 0 {
				t.Errorf("%s: %+v", modes, found)
			}
		}
	}
}

// TestRequiredTasksAreNotRepeated holds that a call that is a task is made once, whatever may be repeated.
func TestRequiredTasksAreNotRepeated(t *testing.T) {
	options := shortOptions()
	options.Repeat = 1
	options.Calls = []evidence.Call{{Tool: "research", Arguments: json.RawMessage(`{}`)}}
	e := examineFake(t, options, "tasks").Servers[0]
	if len(e.Calls) != 1 || !e.Calls[0].Result.Success || e.Calls[0].Speed != nil {
		t.Errorf("%+v", e.Calls)
	}
	if tasks := e.Calling[0].Tasks(); len(tasks) != 1 || tasks[0].Last().Status != servers.TaskCompleted {
		t.Errorf("%+v", tasks)
	}
}
