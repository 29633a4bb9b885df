package tool_test

import (
	"slices"
	"strings"
	"testing"

	"toolx/pkg/doctor/doctortest"
	"toolx/pkg/doctor/evidence"
)

// answeredByTask reports whether a call was answered with a task.
func answeredByTask(x *evidence.Exchange) bool {
	task, _ := evidence.TaskHandle(x.Result)
	return task != nil
}

// TestSafeCallsBeginNoTasks holds that --call safe leaves tasks alone: it does not call a tool that is nothing else,
// and calls others as a client that knows no tasks.
func TestSafeCallsBeginNoTasks(t *testing.T) {
	t.Parallel()
	for _, modes := range []string{"tasks", "stateless-only tasks"} {
		options := doctortest.Options()
		options.Safe = true
		fleet := doctortest.Examine(t, options, strings.Fields(modes)...)
		e := fleet.Servers[0]
		called := strings.Join(judge(fleet).Servers[0].Called, " ")
		research := strings.Contains(called, "research") // no definition says that it is a task in 2026-07-28
		if !strings.Contains(called, "study {}") || research != strings.Contains(modes, "only") {
			t.Errorf("%s: called %s", modes, called)
		}
		for _, run := range e.Calling {
			begun := slices.ContainsFunc(run.Asked("tools/call"), answeredByTask)
			if begun || strings.Contains(run.Stderr(), "task t1") {
				t.Errorf("%s: a task was begun: %s", modes, run.Stderr())
			}
		}
		report := judge(fleet)
		for _, id := range []string{"content-shape", "call-failed"} {
			if found := doctortest.Findings(t, report, id); len(found) > 0 {
				t.Errorf("%s: %+v", modes, found)
			}
		}
	}
}
