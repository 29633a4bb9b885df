package cli

import (
	"path"
	"strings"

	"toolx/pkg/fault"
)

// removed lists features that toolx no longer has, and what to type instead: commands, flags after their command
// ("call --detach"), values after their flag ("-o yaml"), and checks of the doctor ("check task-id").
var removed = []struct{ what, instead string }{
	{"search", "toolx list PATTERN --cached"},
	{"show --markdown", "toolx show SERVER"},
	{"skill", "npx skills add toolx/toolx (finds skills/toolx/SKILL.md in toolx's repository)"},
	{"tasks", "toolx call TOOL (it waits for the task)"},
	{"doctor --repro", "toolx doctor --record FILE (every message that was sent and received)"},
	{"doctor --markdown", "toolx doctor (its text can be pasted into an issue)"},
	{"doctor --report markdown", "toolx doctor --report text=FILE"},
	{"doctor --repeat", "toolx doctor (its JSON has start_ms for each server)"},
	{"check cpu-idle", "toolx session start SERVER, then ps"},
	{"check memory-idle", "toolx session start SERVER, then ps"},
	{"check perf-call", "toolx call TOOL --trace (it has the time of each message)"},
	{"check perf-concurrency", "toolx ping SERVER (it has the time of the answer)"},
	{"check perf-leak", "toolx session start SERVER, then ps"},
	{"check perf-list", "toolx ping SERVER (it has the time of the answer)"},
	{"check perf-ping", "toolx ping SERVER (it has the time of the answer)"},
	{"check perf-start", "toolx doctor SERVER (the start-up time is in its header)"},
	{"check task-agreed", "toolx call TOOL --trace"},
	{"check task-id", "toolx call TOOL --trace"},
	{"check task-interval", "toolx call TOOL --trace"},
	{"check task-result", "toolx call TOOL --trace"},
	{"check task-state", "toolx call TOOL --trace"},
	{"call --detach", "toolx call TOOL (it waits for the task)"},
	{"-o yaml", "-o json"},
}

// RemovedError returns the error for a feature that was removed, or nil if toolx never had it.
func RemovedError(what string) error {
	for _, one := range removed {
		if one.what == what {
			if !strings.HasPrefix(what, "-") && !strings.HasPrefix(what, "check ") {
				what = "toolx " + what
			}
			return fault.Usage(what+" was removed; use "+one.instead, "")
		}
	}
	return nil
}

// RemovedCheck returns the error for the first removed check that a glob matches, or nil if there is none.
func RemovedCheck(glob string) error {
	for _, one := range removed {
		id, isCheck := strings.CutPrefix(one.what, "check ")
		if matches, _ := path.Match(glob, id); isCheck && matches {
			return RemovedError(one.what)
		}
	}
	return nil
}
