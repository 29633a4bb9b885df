package serve

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

const (
	// tasksExtension is the extension of 2026-07-28 by which the answer to a call may be a task (SEP-2663).
	tasksExtension = "io.modelcontextprotocol/tasks"
	// maxTasks is how many tasks are kept at once, those that have ended included.
	maxTasks = 100
	// leastTaskTime and mostTaskTime bound how long a task is kept after its creation, which is also how long it may
	// run. The second applies where the client does not say.
	leastTaskTime, mostTaskTime = time.Second, time.Hour
	// taskPoll is how long a client should wait between two questions after a task's state.
	taskPoll = 200 * time.Millisecond
)

// tasks are the calls that go on after their requests have been answered: those of MCP 2025-11-25, which a client asks
// for, and those of the extension of 2026-07-28. The SDK runs the calls. Its own tasks end with the request that began
// them, and are those of the older revision alone.
type tasks struct {
	slow map[string]bool // the tools whose calls may run as tasks
	run  func(ctx context.Context, message json.RawMessage) mcp.JSONRPCMessage
	now  func() time.Time

	mu  sync.Mutex
	all []*task // in the order in which they began
}

// task is one of them.
type task struct {
	id               string
	owner            string // the session that it belongs to; empty: whoever knows the id
	created, updated time.Time
	ttl              time.Duration
	status           mcp.TaskStatus
	message          string                   // what else is to be said of the status
	result           json.RawMessage          // of the call; nil where there is none
	failure          *mcp.JSONRPCErrorDetails // of the call; nil where there is none
	cancel           context.CancelFunc
	ended            chan struct{} // closed when the status is final
}

// newTasks returns the tasks of the tools that say so (execution.taskSupport); run answers a call as the SDK does.
func newTasks(tools []*exec.Tool, run func(context.Context, json.RawMessage) mcp.JSONRPCMessage) *tasks {
	t := &tasks{slow: make(map[string]bool), run: run, now: time.Now}
	for _, tool := range tools {
		if taskSupport(tool) != "" {
			t.slow[tool.Name] = true
		}
	}
	return t
}

// taskSupport returns whether calls of a tool can run as tasks, in the words of MCP 2025-11-25; empty where they
// cannot. No tool of toolx needs one.
func taskSupport(tool *exec.Tool) mcp.TaskSupport {
	if tool.TaskSupport == string(mcp.TaskSupportOptional) {
		return mcp.TaskSupportOptional
	}
	return ""
}

// answer answers a request about tasks, and a call that is to run as one; is is false for every other message. A
// request for the result of a task waits until the task ends, or ctx. owner is the client's session.
func (t *tasks) answer(
	ctx context.Context, owner string, head requestHead, message []byte,
) (answer mcp.JSONRPCMessage, is bool) {
	modern := head.modern()
	switch {
	case len(t.slow) == 0 || !head.asks():
		return nil, false
	case head.Method == string(mcp.MethodToolsCall) && t.slow[head.Params.Name] && head.wantsTask():
		return t.begin(ctx, owner, head, message), true
	case head.Method == string(mcp.MethodTasksList) && !modern:
		return t.list(owner, head.ID), true
	case head.Method != string(mcp.MethodTasksGet) && head.Method != string(mcp.MethodTasksCancel) &&
		(modern || head.Method != string(mcp.MethodTasksResult)) && (!modern || head.Method != "tasks/update"):
		return nil, false
	}
	found := t.find(owner, head.Params.TaskID)
	if found == nil {
		text := "no task " + words.Clip(head.Params.TaskID, maxErrorText/2) + ", or it is kept no longer"
		return errorAnswer(head.ID, mcp.INVALID_PARAMS, text), true
	}
	switch head.Method {
	case string(mcp.MethodTasksResult):
		return t.await(ctx, found, head.ID), true
	case string(mcp.MethodTasksCancel):
		if status := t.end(found, mcp.TaskStatusCancelled, nil, nil); status != mcp.TaskStatusCancelled && !modern {
			return errorAnswer(head.ID, mcp.INVALID_PARAMS, "the task is "+string(status)+" already"), true
		}
	}
	if modern && head.Method != string(mcp.MethodTasksGet) {
		return resultAnswer(head.ID, rawjson.Build("resultType", "complete")), true // to updates too: nothing is asked
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return resultAnswer(head.ID, found.state(modern, "complete")), true
}

// modern reports whether the message is one of 2026-07-28.
func (h requestHead) modern() bool { return mcp.IsModernProtocol(h.Params.Meta.Revision) }

// wantsTask reports whether the client of a call asks for a task (2025-11-25), or can do with one (2026-07-28).
func (h requestHead) wantsTask() bool {
	if h.modern() {
		return h.Params.Meta.Capabilities.Extensions[tasksExtension] != nil
	}
	return len(h.Params.Task) > 0 && string(h.Params.Task) != "null"
}

// waits reports whether the answer to a request may take its time.
func (h requestHead) waits() bool {
	return h.asks() && (h.Method == string(mcp.MethodToolsCall) || h.Method == string(mcp.MethodTasksResult))
}

// begin runs a call, and answers with its task.
func (t *tasks) begin(ctx context.Context, owner string, head requestHead, message []byte) mcp.JSONRPCMessage {
	now := t.now()
	begun := &task{
		id: strings.ToLower(rand.Text()), owner: owner, created: now, updated: now, ttl: head.keepTime(),
		status: mcp.TaskStatusWorking, ended: make(chan struct{}),
	}
	// The request's context ends with its answer, and the call goes on.
	ctx, begun.cancel = context.WithTimeout(context.WithoutCancel(ctx), begun.ttl)
	if !t.admit(begun) {
		begun.cancel()
		text := fmt.Sprintf("%d tasks run: wait for one to end, or cancel one", maxTasks)
		return errorAnswer(head.ID, mcp.INTERNAL_ERROR, text)
	}
	answer := resultAnswer(head.ID, begun.state(true, "task"))
	if !head.modern() {
		answer = resultAnswer(head.ID, rawjson.Build("task", begun.state(false, "")))
	}
	go t.work(ctx, begun, plainCall(message))
	return answer
}

// keepTime returns how long the task of a call is kept.
func (h requestHead) keepTime() time.Duration {
	var asked struct {
		TTL float64 `json:"ttl"` // milliseconds
	}
	if json.Unmarshal(h.Params.Task, &asked) != nil || asked.TTL <= 0 || asked.TTL > mostTaskTime.Seconds()*1000 {
		return mostTaskTime
	}
	return max(leastTaskTime, time.Duration(asked.TTL)*time.Millisecond)
}

// admit adds a task. Where maxTasks are kept, the one that ended first makes room; admit reports whether there is room.
func (t *tasks) admit(begun *task) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sweep()
	if len(t.all) >= maxTasks {
		oldest := -1
		for i, one := range t.all {
			if one.status.IsTerminal() && (oldest < 0 || one.updated.Before(t.all[oldest].updated)) {
				oldest = i
			}
		}
		if oldest < 0 {
			return false
		}
		t.all = append(t.all[:oldest], t.all[oldest+1:]...)
	}
	t.all = append(t.all, begun)
	return true
}

// sweep lets go of tasks whose time is over. The caller holds the lock.
func (t *tasks) sweep() {
	kept := t.all[:0]
	for _, one := range t.all {
		if t.now().Sub(one.created) < one.ttl {
			kept = append(kept, one)
		}
	}
	clear(t.all[len(kept):])
	t.all = kept
}

// plainCall returns a call without the wish for a task, which the SDK would make one of its own of.
func plainCall(message []byte) json.RawMessage {
	members, _ := rawjson.Members(message)
	for i, member := range members {
		if member.Name == "params" {
			var params []rawjson.Member
			for param := range rawjson.Each(member.Value) {
				if param.Name != "task" {
					params = append(params, param)
				}
			}
			members[i] = rawjson.NewMember("params", rawjson.Object(params))
		}
	}
	return rawjson.Object(members)
}

// work makes the call of a task, and keeps its result.
func (t *tasks) work(ctx context.Context, begun *task, message json.RawMessage) {
	defer begun.cancel()
	failed := func(text string) {
		t.end(begun, mcp.TaskStatusFailed, nil, &mcp.JSONRPCErrorDetails{Code: mcp.INTERNAL_ERROR, Message: text})
	}
	defer func() {
		if recover() != nil {
			failed(errInside)
		}
	}()
	switch answer := t.run(ctx, message).(type) {
	case mcp.JSONRPCError:
		answer.Error.Message = errorText(answer.Error.Message, nil)
		t.end(begun, mcp.TaskStatusFailed, nil, &answer.Error)
	case mcp.JSONRPCResponse:
		result, err := rawjson.Marshal(answer.Result)
		if err != nil {
			failed(err.Error())
			return
		}
		t.end(begun, mcp.TaskStatusCompleted, result, nil)
	default:
		failed("the call has no result")
	}
}

// end gives a task that works its final status, and returns the status that it then has.
func (t *tasks) end(
	ending *task, status mcp.TaskStatus, result json.RawMessage, failure *mcp.JSONRPCErrorDetails,
) mcp.TaskStatus {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !ending.status.IsTerminal() {
		ending.status, ending.result, ending.failure, ending.updated = status, result, failure, t.now()
		if failure != nil {
			ending.message = failure.Message
		}
		ending.cancel()
		close(ending.ended)
	}
	return ending.status
}

// find returns a task of a client, nil where there is none with this id.
func (t *tasks) find(owner, id string) *task {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sweep()
	for _, one := range t.all {
		if one.id == id && one.owner == owner {
			return one
		}
	}
	return nil
}

// list answers with the tasks of a client's session. Without one, it cannot be said which are a client's own.
func (t *tasks) list(owner string, id json.RawMessage) mcp.JSONRPCMessage {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sweep()
	var states []json.RawMessage
	for _, one := range t.all {
		if one.owner == owner && owner != "" {
			states = append(states, one.state(false, ""))
		}
	}
	return resultAnswer(id, rawjson.Build("tasks", rawjson.Array(states)))
}

// await answers with the result of a task once it has ended (2025-11-25, tasks/result).
func (t *tasks) await(ctx context.Context, awaited *task, id json.RawMessage) mcp.JSONRPCMessage {
	select {
	case <-awaited.ended:
	case <-ctx.Done():
		return errorAnswer(id, mcp.REQUEST_INTERRUPTED, "interrupted before the task has ended")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case awaited.failure != nil:
		answer := errorAnswer(id, awaited.failure.Code, "")
		answer.Error = *awaited.failure
		return answer
	case awaited.result == nil:
		return errorAnswer(id, mcp.INVALID_PARAMS, "the task is cancelled")
	}
	return resultAnswer(id, awaited.related())
}

// related returns the result of a task with what says whose it is (2025-11-25 basic/utilities/tasks).
func (t *task) related() json.RawMessage {
	var members, meta []rawjson.Member
	for member := range rawjson.Each(t.result) {
		if member.Name == "_meta" {
			meta, _ = rawjson.Members(member.Value)
			continue
		}
		members = append(members, member)
	}
	meta = append(meta, rawjson.NewMember(mcp.RelatedTaskMetaKey, rawjson.Build("taskId", t.id)))
	return rawjson.Object(append(members, rawjson.NewMember("_meta", rawjson.Object(meta))))
}

// state returns what is told of a task. In the modern form, the result of its call is part of it, and resultType says
// what the message is.
func (t *task) state(modern bool, resultType string) json.RawMessage {
	const instant = "2006-01-02T15:04:05.000Z07:00" // ISO 8601
	status := t.status
	if !modern && string(rawjson.Get(t.result, "isError")) == "true" {
		status = mcp.TaskStatusFailed // a tool that fails is a task that has failed, in this revision
	}
	pairs := []any{
		"taskId", t.id, "status", string(status), "createdAt", t.created.UTC().Format(instant),
		"lastUpdatedAt", t.updated.UTC().Format(instant),
	}
	if t.message != "" {
		pairs = append(pairs, "statusMessage", t.message)
	}
	if !modern {
		return rawjson.Build(append(pairs, "ttl", t.ttl.Milliseconds(), "pollInterval", taskPoll.Milliseconds())...)
	}
	pairs = append(pairs, "resultType", resultType,
		"ttlMs", t.ttl.Milliseconds(), "pollIntervalMs", taskPoll.Milliseconds())
	switch {
	case t.failure != nil:
		failure, _ := rawjson.Marshal(t.failure) // a code and a text
		pairs = append(pairs, "error", failure)
	case t.result != nil:
		pairs = append(pairs, "result", t.result)
	}
	return rawjson.Build(pairs...)
}

// resultAnswer returns the answer to a request.
func resultAnswer(id, result json.RawMessage) mcp.JSONRPCMessage {
	return mcp.JSONRPCResponse{JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(id), Result: result}
}
