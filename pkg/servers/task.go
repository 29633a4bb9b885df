package servers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
)

// taskTTL is how long a server is asked to keep what a task gives, in milliseconds. The call waits for it, and fetches
// it at once.
const taskTTL = "3600000"

// The time between two questions after the state of a task, whatever the server wishes.
const (
	taskPoll      = time.Second // if the server says nothing
	shortTaskPoll = 50 * time.Millisecond
	longTaskPoll  = 30 * time.Second
)

// taskCancelTime bounds how long the cancelling of a task may take, once nobody waits for it any more.
const taskCancelTime = time.Second

// needsTask reports whether the server says that a tool runs as a task only (MCP 2025-11-25, server/tools,
// execution.taskSupport).
func (s *Session) needsTask(plain string) bool {
	for _, tool := range s.Tools() {
		if tool.Plain == plain {
			return rawjson.GetText(rawjson.Get(tool.Definition, "execution"), "taskSupport") == "required"
		}
	}
	return false
}

// ToolParams returns the params with which the session calls a tool.
func (s *Session) ToolParams(plain string, arguments json.RawMessage) json.RawMessage {
	params := CallParams(plain, arguments)
	if !s.needsTask(plain) {
		return params
	}
	members, _ := rawjson.Members(params)
	return rawjson.Object(append(members, rawjson.NewMember("task", json.RawMessage(`{"ttl":`+taskTTL+`}`))))
}

// task is the state of a task, as the server tells it (MCP 2025-11-25, basic/utilities/tasks).
type task struct {
	ID      string  `json:"taskId"`
	Status  string  `json:"status"`
	Message string  `json:"statusMessage"`
	Poll    float64 `json:"pollInterval"` // in milliseconds
}

// working reports whether there is no reason yet to ask for the result.
func (t task) working() bool { return t.Status == "working" || t.Status == "submitted" }

// pause returns how long to wait before the state is asked for again.
func (t task) pause() time.Duration {
	if t.Poll <= 0 {
		return taskPoll
	}
	return max(shortTaskPoll, min(longTaskPoll, time.Duration(t.Poll*float64(time.Millisecond))))
}

// readTask reads the state of a task; id is empty where it is not known yet.
func readTask(reply json.RawMessage, id string) (task, error) {
	var state task
	if err := json.Unmarshal(reply, &state); err != nil {
		return state, err
	}
	switch {
	case state.ID == "":
		return state, errors.New("the task has no taskId")
	case id != "" && state.ID != id:
		return state, fmt.Errorf("the task is %q, and %q was asked for", state.ID, id)
	}
	return state, nil
}

// callTask calls a tool that runs as a task, and waits for its result. Each state that the server tells is progress.
// When ctx ends, the task is cancelled.
func (s *Session) callTask(ctx context.Context, request exec.Request) (json.RawMessage, error) {
	reply, err := s.demand(ctx, "tools/call", s.ToolParams(request.Name, request.Arguments), request.Progress)
	if err != nil {
		return nil, err
	}
	created := rawjson.Get(reply, "task")
	if created == nil {
		return reply, nil // it was quick
	}
	state, err := readTask(created, "")
	if err != nil {
		return nil, &exec.MalformedError{What: "the reply to tools/call", Reason: err}
	}
	result, err := s.awaitTask(ctx, state, request.Progress)
	if ctx.Err() != nil {
		s.cancelTask(ctx, state.ID)
	}
	return result, err
}

// awaitTask asks for the state of a task until it is not working any more, and returns its result. A task that wants
// input sends its requests while it is asked for the result, which then comes when it is done.
func (s *Session) awaitTask(
	ctx context.Context, state task, progress func(exec.Progress),
) (json.RawMessage, error) {
	params := rawjson.Build("taskId", state.ID)
	for polls := 1.0; state.working(); polls++ {
		progress(exec.Progress{Progress: polls, Message: cutWords(state.Message, maxProgress)})
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(state.pause()):
		}
		reply, err := s.demand(ctx, "tasks/get", params, nil)
		if err != nil {
			return nil, err
		}
		if state, err = readTask(reply, state.ID); err != nil {
			return nil, &exec.MalformedError{What: "the reply to tasks/get", Reason: err}
		}
	}
	if state.Status == "cancelled" {
		return nil, &exec.ToolError{Message: "the server cancelled the task" + reasonOf(state)}
	}
	result, err := s.demand(ctx, "tasks/result", params, progress)
	var refused *exec.ToolError
	if errors.As(err, &refused) && state.Status == "failed" {
		refused.Message += reasonOf(state)
	}
	return result, err
}

// reasonOf returns what the server says of a task's state, to follow other words.
func reasonOf(state task) string {
	if state.Message == "" {
		return ""
	}
	return ": " + cutWords(state.Message, maxProgress)
}

// cancelTask cancels a task that nobody waits for any more.
func (s *Session) cancelTask(ctx context.Context, id string) {
	bounded, stop := context.WithTimeout(context.WithoutCancel(ctx), taskCancelTime)
	defer stop()
	// The server may have ended, or know no such task any more.
	_, _ = s.demand(bounded, "tasks/cancel", rawjson.Build("taskId", id), nil)
}
