package tool

import (
	"encoding/json"
	"fmt"
	"time"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers"
)

// longestPoll is the longest time between two questions after a task's state that a server may sensibly wish for.
const longestPoll = time.Hour

// eachTask asks about every task that the server made of a call.
func eachTask(ask func(*evidence.Task) []check.Finding) func(*evidence.Evidence) []check.Finding {
	return func(e *evidence.Evidence) []check.Finding {
		var found []check.Finding
		for _, task := range tasks(e) {
			found = append(found, ask(task)...)
		}
		return check.Capped(found)
	}
}

func tasks(e *evidence.Evidence) []*evidence.Task {
	var all []*evidence.Task
	for _, run := range e.Sessions() {
		all = append(all, run.Tasks()...)
	}
	return all
}

// taskFinding returns a finding with a title of its own.
func taskFinding(where *evidence.Where, title, format string, args ...any) []check.Finding {
	f := check.At(where, format, args...)
	f.Title = title
	return check.Sole(f)
}

// askTaskID reports ids that are missing, used twice, or of another task than the one that was asked for. A process
// that is started again may begin to count anew; a server over HTTP is the same one in all runs.
func askTaskID(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	seen := make(map[string]string) // the tool, by run and id
	for _, task := range tasks(e) {
		handle := task.States[0].Exchange
		if task.ID == "" {
			found = append(found, taskFinding(task.Place(handle, "/taskId"), "a task has no id", "%s",
				evidence.CutJSON(task.States[0].Raw))...)
			continue
		}
		key := task.ID
		if !e.OverHTTP() {
			key = fmt.Sprintf("%p %s", task.Run, task.ID)
		}
		if before, used := seen[key]; used {
			found = append(found, check.At(task.Place(handle, "/taskId"), "%q is the id of an earlier task of %s",
				evidence.Label(task.ID), evidence.Label(before)))
		}
		seen[key] = task.Tool
		for _, state := range task.States[1:] {
			if id := rawjson.GetText(state.Raw, "taskId"); id != task.ID {
				found = append(found, taskFinding(task.Place(state.Exchange, "/taskId"),
					"the state of another task is told than the one that was asked for",
					"the task is %q, and %q was asked for", evidence.Label(id), evidence.Label(task.ID))...)
				break
			}
		}
	}
	return check.Capped(found)
}

// askTaskState reports the first state of a task that cannot follow the one before, or that does not exist.
func askTaskState(task *evidence.Task) []check.Finding {
	const draft = "submitted" // the state of a task that does not work yet, in drafts of the specification
	var before servers.TaskStatus
	for _, state := range task.States {
		where := task.Place(state.Exchange, "/status")
		switch {
		case state.Status != draft && !state.Status.Known():
			return taskFinding(where, "a task is in a state that does not exist", "%q is no status of a task",
				evidence.Label(string(state.Status)))
		case before.Final() && state.Status != before, before != "" && before != draft && state.Status == draft:
			return check.One(where, "the task was %s, and is %s", before, state.Status)
		}
		before = state.Status
	}
	return nil
}

// askTaskInterval reports the first time between two questions that a server wishes for and no client can keep.
func askTaskInterval(task *evidence.Task) []check.Finding {
	interval, ttl := "pollInterval", "ttl"
	if task.Modern {
		interval, ttl = "pollIntervalMs", "ttlMs"
	}
	for _, state := range task.States {
		remark := ""
		raw := rawjson.Get(state.Raw, interval)
		poll, isNumber := milliseconds(raw)
		kept, bounded := milliseconds(rawjson.Get(state.Raw, ttl))
		switch {
		case raw == nil || string(raw) == "null":
		case !isNumber:
			remark = "is " + evidence.KindOfJSON(raw)
		case poll <= 0:
			remark = "is no time to wait"
		case poll >= longestPoll:
			remark = fmt.Sprintf("is %s", poll)
		case bounded && kept > 0 && poll > kept && !state.Status.Final():
			remark = fmt.Sprintf("is longer than the task is kept (%s %s)", ttl, rawjson.Get(state.Raw, ttl))
		}
		if remark != "" {
			where := task.Place(state.Exchange, "/"+interval)
			return check.One(where, "%s %s %s", interval, evidence.CutJSON(raw), remark)
		}
	}
	return nil
}

// milliseconds reads a number of milliseconds, up to some years.
func milliseconds(raw json.RawMessage) (d time.Duration, isNumber bool) {
	const most = 1e11
	var ms float64
	if raw == nil || string(raw) == "null" || json.Unmarshal(raw, &ms) != nil {
		return 0, false
	}
	return time.Duration(max(-most, min(most, ms)) * float64(time.Millisecond)), true
}

// askTaskResult reports a result that is missing, comes in another state than completed, changes, or is forgotten.
func askTaskResult(task *evidence.Task) []check.Finding {
	if task.Modern {
		if found := inlineResult(task); found != nil {
			return found
		}
	}
	if x := task.Refused; x != nil && task.KeptAt(x) {
		return taskFinding(task.Place(x, ""), "a task is forgotten as soon as it has ended",
			"the task was %s, and tasks/get is answered with %s", task.Last().Status, evidence.CutJSON(x.Error))
	}
	for _, x := range task.Results {
		where := task.Place(x, "")
		switch {
		case x.Result == nil && task.Last().Status == servers.TaskCompleted:
			return check.One(where, "the task is completed, and tasks/result is answered with %s",
				evidence.CutJSON(x.Error))
		case x.Result != nil && task.Results[0].Result != nil && !equalJSON(x.Result, task.Results[0].Result):
			return taskFinding(where, "a task's result changes after its end", "first %s, then %s",
				evidence.CutJSON(task.Results[0].Result), evidence.CutJSON(x.Result))
		}
	}
	return nil
}

// inlineResult judges the results that states of the extension have inline.
func inlineResult(task *evidence.Task) []check.Finding {
	for _, state := range task.States[1:] { // the handle has none
		result, failure := rawjson.Get(state.Raw, "result"), rawjson.Get(state.Raw, "error")
		where := task.Place(state.Exchange, "/result")
		switch {
		case state.Status == servers.TaskCompleted && !evidence.IsObject(result):
			return check.One(where, "the task is completed, and its result is %s", evidence.KindOfJSON(result))
		case state.Status == servers.TaskFailed && !evidence.IsObject(failure):
			where.Pointer = "/error"
			return taskFinding(where, "a task has failed without an error", "the task is failed, and its error is %s",
				evidence.KindOfJSON(failure))
		case state.Status != servers.TaskCompleted && result != nil:
			return taskFinding(where, "a task that is not completed has a result",
				"the task is %s, and has the result %s", state.Status, evidence.CutJSON(result))
		}
	}
	return nil
}

// askTaskAgreed reports calls that should run as tasks and do not, and those that do without being asked.
func askTaskAgreed(e *evidence.Evidence) []check.Finding {
	var found []check.Finding
	for _, task := range tasks(e) {
		if !task.Agreed {
			found = append(found, taskFinding(task.Place(task.States[0].Exchange, ""),
				"a call runs as a task that the client did not ask for", "%s", evidence.CutJSON(task.States[0].Raw))...)
		}
	}
	for _, run := range e.Sessions() {
		for _, x := range run.Asked("tools/call") {
			asked := evidence.MemberAt(x.Sent, "params", "task") != nil // 2025-11-25; later the server decides
			if handle, _ := evidence.TaskHandle(x.Result); !asked || x.Result == nil || handle != nil {
				continue
			}
			where := x.Place(run)
			where.Tool = evidence.Label(evidence.NameIn(x.Sent))
			found = append(found,
				check.At(where, "the call asks for a task, and the answer is %s", evidence.CutJSON(x.Result)))
		}
	}
	return check.Capped(found)
}
