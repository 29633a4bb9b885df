package evidence

import (
	"encoding/json"
	"slices"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers"
)

// Task is a task that a server made of a call, as its messages tell it: of MCP 2025-11-25, or of the extension of
// 2026-07-28.
type Task struct {
	ID   string
	Tool string // the plain name
	// Modern reports whether the task is one of the extension, which has results inline.
	Modern bool
	// Agreed reports whether the call let the server make a task of it.
	Agreed bool
	// States are what the server told of the task, in order: that of the call's answer first.
	States []TaskState
	// Results are the answers to tasks/result.
	Results []*Exchange
	// Refused is the first tasks/get after the task's end that was answered with an error, nil if there is none.
	Refused *Exchange
	// Run is the life in which the call was made.
	Run *Run
}

// TaskState is a state of a task.
type TaskState struct {
	Exchange *Exchange // whose answer has it
	Raw      json.RawMessage
	Status   servers.TaskStatus
}

// Last returns the state that was told last.
func (t *Task) Last() TaskState { return t.States[len(t.States)-1] }

// Place returns the place of an answer about the task.
func (t *Task) Place(x *Exchange, pointer string) *Where {
	where := x.Place(t.Run)
	where.Tool, where.Pointer = Label(t.Tool), pointer
	return where
}

// Tasks returns the tasks that were made of the run's calls, in the order of the calls. A state belongs to the last
// task that was made with the id that was asked for.
func (r *Run) Tasks() []*Task {
	return Once(&r.Kept, func() []*Task {
		var tasks []*Task
		byID := make(map[string]*Task)
		for _, x := range r.Exchanges {
			if x.Method == "tools/call" {
				if task := newTask(r, x); task != nil {
					tasks, byID[task.ID] = append(tasks, task), task
				}
				continue
			}
			if task := byID[rawjson.GetText(MemberAt(x.Sent, "params"), "taskId")]; task != nil {
				task.take(x)
			}
		}
		return tasks
	})
}

// EndedBefore reports whether a request had got its result at a time: its answer, or the final state of the task that
// it is answered with.
func (r *Run) EndedBefore(x *Exchange, at time.Time) bool {
	ended := func(x *Exchange) bool { return x.Frame != nil && at.After(x.At.Add(x.Took)) }
	for _, task := range r.Tasks() {
		if task.States[0].Exchange == x {
			final := func(s TaskState) bool { return s.Status.Final() && ended(s.Exchange) }
			return slices.ContainsFunc(task.States, final)
		}
	}
	return ended(x)
}

// newTask returns the task that a call was answered with, or nil.
func newTask(r *Run, x *Exchange) *Task {
	raw, modern := TaskHandle(x.Result)
	if raw == nil {
		return nil
	}
	task := &Task{
		ID: rawjson.GetText(raw, "taskId"), Tool: NameIn(x.Sent), Modern: modern, Agreed: AsksForTask(x), Run: r,
	}
	task.tell(x, raw)
	return task
}

// take takes the answer to a request about the task.
func (t *Task) take(x *Exchange) {
	switch {
	case x.Method == "tasks/result" && x.Frame != nil:
		t.Results = append(t.Results, x)
	case x.Method != "tasks/get" && (x.Method != "tasks/cancel" || t.Modern): // whose answer says nothing in 2026-07-28
	case x.Result != nil:
		t.tell(x, x.Result)
	case x.Error != nil && t.Refused == nil && t.Last().Status.Final():
		t.Refused = x
	}
}

// KeptAt reports whether the server still had to know the task when it was asked something (ttl of the last state).
func (t *Task) KeptAt(x *Exchange) bool {
	name := "ttl"
	if t.Modern {
		name = "ttlMs"
	}
	var ms float64
	_ = json.Unmarshal(MemberAt(t.Last().Raw, name), &ms) // null is for ever
	return ms <= 0 || exec.Milliseconds(x.At.Sub(t.States[0].Exchange.At)) < ms
}

func (t *Task) tell(x *Exchange, raw json.RawMessage) {
	status := servers.TaskStatus(rawjson.GetText(raw, "status"))
	t.States = append(t.States, TaskState{Exchange: x, Raw: raw, Status: status})
}

// Answer returns the exchange with the result of the task's call, as if that had been answered at once; nil if there is
// none.
func (t *Task) Answer() *Exchange {
	if !t.Modern {
		if len(t.Results) > 0 {
			return t.Results[0]
		}
		return nil
	}
	for _, state := range t.States {
		if result := rawjson.Get(state.Raw, "result"); result != nil {
			answer := *state.Exchange
			answer.Result = result
			return &answer
		}
	}
	return nil
}

// TaskHandle returns the task in the result of a call, nil if it is an ordinary one; modern says that the task is one
// of the extension of 2026-07-28.
func TaskHandle(result json.RawMessage) (task json.RawMessage, modern bool) {
	if rawjson.GetText(result, "resultType") == "task" {
		return result, true
	}
	if task := rawjson.Get(result, "task"); IsObject(task) && rawjson.Get(result, "content") == nil {
		return task, false
	}
	return nil, false
}

// AsksForTask reports whether a call lets the server make a task of it: it says so itself (2025-11-25), or the client
// says that it knows tasks (2026-07-28).
func AsksForTask(x *Exchange) bool {
	params := MemberAt(x.Sent, "params")
	capabilities := MemberAt(params, "_meta", "io.modelcontextprotocol/clientCapabilities")
	return rawjson.Get(params, "task") != nil || MemberAt(capabilities, "extensions", servers.TasksExtension) != nil
}
