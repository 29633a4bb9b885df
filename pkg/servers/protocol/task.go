package protocol

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/rpc"
	"toolx/pkg/servers/wire"
	"toolx/pkg/words"
)

// tasksExtension is the extension of 2026-07-28 by which a server may answer a call with a task (SEP-2663). Revision
// 2025-11-25 has tasks of its own (basic/utilities/tasks), which the client asks for. What both have in common is done
// in one place.
const tasksExtension = "io.modelcontextprotocol/tasks"

// taskTTL is how long a server is asked to keep what a task gives, in milliseconds.
const taskTTL = "3600000"

// The time between two questions after the state of a task, whatever the server wishes.
const (
	taskPoll      = time.Second // if the server says nothing
	shortTaskPoll = 50 * time.Millisecond
	longTaskPoll  = 20 * time.Second // less than the time without progress after which calls are given up
)

// taskCancelTime bounds the cancelling of a task that is not needed any more.
const taskCancelTime = time.Second

// maxTaskID is the length in bytes of the longest id of a task that toolx takes.
const maxTaskID = 1 << 10

// TaskStatus is the state of a task.
type TaskStatus string

// The states of tasks. The last three are final.
const (
	TaskWorking   TaskStatus = "working"
	TaskAsks      TaskStatus = "input_required"
	TaskCompleted TaskStatus = "completed"
	TaskFailed    TaskStatus = "failed"
	TaskCancelled TaskStatus = "cancelled"
)

// Final reports whether a task in this state stays in it.
func (s TaskStatus) Final() bool {
	return s == TaskCompleted || s == TaskFailed || s == TaskCancelled
}

// Known reports whether there is such a state.
func (s TaskStatus) Known() bool { return s == TaskWorking || s == TaskAsks || s.Final() }

// Task is the state of a task, as its server tells it. Its texts are the server's.
type Task struct {
	ID      string
	Status  TaskStatus
	Message string
	// Poll is how long the server wants the client to wait between two questions; zero where it does not say.
	Poll time.Duration

	// What 2026-07-28 has inline: the result of a completed task, the error of a failed one, and what a task that needs
	// input asks.
	result, failure, inputs json.RawMessage
}

// pause returns how long to wait before the state is asked for again.
func (t *Task) pause() time.Duration {
	if t.Poll <= 0 {
		return taskPoll
	}
	return max(shortTaskPoll, min(longTaskPoll, t.Poll))
}

// readTask reads the state of a task; id is empty where it is not known yet.
func readTask(reply json.RawMessage, id string) (*Task, error) {
	state := &Task{
		ID: rawjson.GetText(reply, "taskId"), Status: TaskStatus(rawjson.GetText(reply, "status")),
		Message: words.Clip(rawjson.GetText(reply, "statusMessage"), maxProgress),
		result:  rawjson.Get(reply, "result"), failure: rawjson.Get(reply, "error"),
		inputs: rawjson.Get(reply, "inputRequests"),
	}
	for _, name := range []string{"pollInterval", "pollIntervalMs"} {
		var ms float64
		if json.Unmarshal(rawjson.Get(reply, name), &ms) == nil && ms > 0 && ms < 1e13 {
			state.Poll = time.Duration(ms * float64(time.Millisecond))
		}
	}
	if state.Status == "submitted" { // of a draft
		state.Status = TaskWorking
	}
	switch {
	case state.ID == "":
		return nil, errors.New("the task has no taskId")
	case len(state.ID) > maxTaskID:
		return nil, fmt.Errorf("the task's id has %d bytes, over the limit of %d", len(state.ID), maxTaskID)
	case id != "" && state.ID != id:
		return nil, fmt.Errorf("the task is %q, and %q was asked for", state.ID, id)
	case !state.Status.Known():
		return nil, fmt.Errorf("%q is no status of a task", words.Clip(string(state.Status), maxName))
	}
	return state, nil
}

// needsTask reports whether a call of a tool asks for a task: where the tool needs one (MCP 2025-11-25, server/tools,
// execution.taskSupport). Later revisions leave that to the server.
func (s *Session) needsTask(plain string) bool {
	if s.modern() {
		return false
	}
	tool := s.tools.find(plain)
	return tool != nil && tool.TaskSupport == "required"
}

// ToolParams returns the params with which the session calls a tool.
func (s *Session) ToolParams(plain string, arguments json.RawMessage) json.RawMessage {
	var task json.RawMessage
	if s.needsTask(plain) {
		task = json.RawMessage(`{"ttl":` + taskTTL + `}`)
	}
	return rawjson.Build("name", plain, "arguments", arguments, "task", task)
}

// isTask reports whether a result is 2026-07-28's handle of a task.
func isTask(result json.RawMessage) bool {
	return string(rawjson.Get(result, "resultType")) == `"task"`
}

// taskIn returns the task that the server has made of a call of a tool; nil if its reply is the result.
func (s *Session) taskIn(reply json.RawMessage, plain string) (*Task, error) {
	handle := reply
	switch {
	case s.modern() && !isTask(reply), !s.modern() && !s.needsTask(plain):
		return nil, nil
	case !s.modern():
		if handle = rawjson.Get(reply, "task"); handle == nil {
			return nil, nil // it was quick
		}
	}
	task, err := readTask(handle, "")
	if err != nil {
		return nil, &exec.MalformedError{What: "the response to tools/call", Reason: err}
	}
	return task, nil
}

// callTool calls a tool, and waits for its result where the server makes a task of it. Each state that the server tells
// is progress, and the token of the call's own progress is valid as long as the task works (MCP 2025-11-25,
// basic/utilities/tasks, Task Progress Notifications). When ctx ends, the task is cancelled.
func (s *Session) callTool(ctx context.Context, request exec.Request) (json.RawMessage, error) {
	const method = string(mcp.MethodToolsCall)
	token, forget := s.progress.expect(request.Progress)
	defer forget()
	answer, err := s.send(ctx, method, s.ToolParams(request.Name, request.Arguments), token)
	result, err := s.result(method, answer, err)
	if err != nil {
		return nil, err
	}
	task, err := s.taskIn(result, request.Name)
	if err != nil {
		return nil, err
	}
	if task == nil {
		return result, nil
	}
	running := &runningTask{s, request.Progress, make(map[string]bool)}
	result, err = running.await(ctx, task)
	var unasked *InputError
	if ctx.Err() != nil || errors.As(err, &unasked) {
		s.cancelUnneeded(ctx, task.ID)
	}
	return result, err
}

// WithoutTasks returns the session as an implementation whose calls run at once: it does not ask for tasks
// (2025-11-25), and says that the client knows none (2026-07-28). A task that the server makes nevertheless is
// cancelled, and its handle returned.
func (s *Session) WithoutTasks() exec.Implementation { return withoutTasks{s} }

type withoutTasks struct{ *Session }

// CallTool implements exec.Implementation.
func (s withoutTasks) CallTool(ctx context.Context, request exec.Request) (json.RawMessage, error) {
	var meta json.RawMessage
	if s.modern() {
		capabilities, err := rawjson.Marshal(s.clientCapabilities)
		if err != nil {
			return nil, err
		}
		meta = rawjson.Build(mcp.MetaKeyClientCapabilities, capabilities)
	}
	params := rawjson.Build("name", request.Name, "arguments", request.Arguments, "_meta", meta)
	reply, err := s.demand(ctx, string(mcp.MethodToolsCall), params, request.Progress)
	handle := rawjson.Get(reply, "task")
	if isTask(reply) {
		handle = reply
	}
	if id := rawjson.GetText(handle, "taskId"); id != "" {
		s.cancelUnneeded(ctx, id)
	}
	return reply, err
}

// cancelUnneeded cancels a task that is not needed any more.
func (s *Session) cancelUnneeded(ctx context.Context, id string) {
	bounded, stop := context.WithTimeout(context.WithoutCancel(ctx), taskCancelTime)
	defer stop()
	_ = s.cancelTask(bounded, id) // the server may have ended, or know no such task any more
}

// cancelTask asks the server to cancel a task, which it may do later or not at all.
func (s *Session) cancelTask(ctx context.Context, id string) error {
	_, err := s.demand(ctx, "tasks/cancel", taskParams(id), nil)
	return err
}

func taskParams(id string) json.RawMessage { return rawjson.Build("taskId", id) }

// runningTask is a task that the session waits for.
type runningTask struct {
	*Session
	progress func(exec.Progress)
	answered map[string]bool // the keys of what it has asked
}

// state returns the state of the task.
func (r *runningTask) state(ctx context.Context, id string) (*Task, error) {
	reply, err := r.demand(ctx, "tasks/get", taskParams(id), nil)
	if err != nil {
		return nil, err
	}
	task, err := readTask(reply, id)
	if err != nil {
		return nil, &exec.MalformedError{What: "the response to tasks/get", Reason: err}
	}
	return task, nil
}

// await asks for the state of the task until it is final, answers what the task asks meanwhile, and returns the result
// of the call. Each state is progress.
func (r *runningTask) await(ctx context.Context, task *Task) (json.RawMessage, error) {
	defer r.inbox.enter(ctx)()
	for !task.Status.Final() {
		r.progress(exec.Progress{Status: string(task.Status), Message: task.Message})
		if task.Status == TaskAsks {
			if !r.modern() { // it asks while it is asked for the result, which comes when it is done
				return r.demand(ctx, "tasks/result", taskParams(task.ID), r.progress)
			}
			if err := r.answer(ctx, task); err != nil {
				return nil, err
			}
		}
		if !wire.Waited(ctx, max(shortTaskPoll, exec.WaitTime(ctx, task.pause()))) {
			return nil, ctx.Err()
		}
		next, err := r.state(ctx, task.ID)
		if err != nil {
			return nil, err
		}
		task = next
	}
	return r.result(ctx, task)
}

// answer answers what a task of 2026-07-28 asks and has not asked before.
func (r *runningTask) answer(ctx context.Context, task *Task) error {
	requests, _ := rawjson.Members(task.inputs)
	requests = slices.DeleteFunc(requests, func(m rawjson.Member) bool { return r.answered[m.Name] })
	if len(requests) == 0 {
		return nil // the answers are on their way
	}
	if len(r.answered)+len(requests) > maxElicits {
		return &InputError{Server: r.Name, Err: fmt.Errorf("over %d times for one task", maxElicits)}
	}
	responses, err := r.inbox.answerAll(ctx, requests)
	if err != nil {
		return err
	}
	for _, request := range requests {
		r.answered[request.Name] = true
	}
	params := rawjson.Build("taskId", task.ID, "inputResponses", rawjson.Object(responses))
	_, err = r.demand(ctx, "tasks/update", params, nil)
	return err
}

// result returns the result of a task that has ended: of its call, as if that had been answered at once.
func (r *runningTask) result(ctx context.Context, task *Task) (json.RawMessage, error) {
	if task.Status == TaskCancelled {
		return nil, &exec.ToolError{Message: "the server cancelled the task" + task.reason()}
	}
	if !r.modern() {
		result, err := r.demand(ctx, "tasks/result", taskParams(task.ID), r.progress)
		var refused *exec.ToolError
		if errors.As(err, &refused) && task.Status == TaskFailed {
			refused.Message += task.reason()
		}
		return result, err
	}
	malformed := func(text string) error {
		return &exec.MalformedError{What: "the response to tasks/get", Reason: errors.New(text)}
	}
	switch _, isObject := rawjson.Members(task.result); {
	case task.Status == TaskFailed && task.failure == nil:
		return nil, malformed("the task has failed without an error")
	case task.Status == TaskFailed:
		details := rpc.ErrorDetails(task.failure)
		if !strings.Contains(task.Message, details.Message) {
			details.Message += task.reason()
		}
		return nil, rpcError(details)
	case !isObject:
		return nil, malformed("the task is completed and has no result")
	}
	return task.result, nil
}

// reason returns what the server says of a task's state, to follow other words.
func (t *Task) reason() string {
	if t.Message == "" {
		return ""
	}
	return ": " + t.Message
}

// withTasks adds the extension to what a client says that it can.
func withTasks(capabilities mcp.ClientCapabilities) mcp.ClientCapabilities {
	extensions := maps.Clone(capabilities.Extensions)
	if extensions == nil {
		extensions = make(map[string]any)
	}
	extensions[tasksExtension] = struct{}{}
	capabilities.Extensions = extensions
	return capabilities
}
