package fake

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
)

// fakeTask is a task of the tool research or study. It works for so many steps, one for each question after its state.
type fakeTask struct {
	id    string
	Steps int `json:"steps"`
	// End is the last state: completed (if empty), failed, cancelled. Others are ways to misbehave: "never" ends,
	// "other" is another task, "odd" is no state, "bare" lacks its result.
	End string `json:"end"`
	// Ask makes the task ask for a name before it works.
	Ask bool `json:"ask"`

	// Progress makes the task report each step with the token of its call.
	Progress bool `json:"progress"`

	modern   bool
	token    json.RawMessage
	status   string
	answered json.RawMessage
	reported int // steps
}

// fakeTasks are the tasks of a server.
type fakeTasks struct {
	mu  sync.Mutex
	all []*fakeTask
}

// tasks adds the tools research, which runs as a task only, study, which runs as one where the client wants it, and
// quick, which never does, in the manner of the era that is spoken.
func tasks(s *server) {
	s.capabilities = strings.TrimSuffix(s.capabilities, "}") +
		`,"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	all := new(fakeTasks)
	s.addTools(func() []tool { return all.tools(s.era == modern) })
	s.features = func(ctx context.Context, m *message) ([]byte, bool, error) {
		if !strings.HasPrefix(m.Method, "tasks/") {
			return nil, false, nil
		}
		result, err := all.answer(ctx, s, m)
		return result, true, err
	}
}

// tools returns the tools; those of 2026-07-28 do not say how they run.
func (f *fakeTasks) tools(modern bool) []tool {
	define := func(name, support string) string {
		execution := `"execution":{"taskSupport":"` + support + `"},`
		if modern {
			execution = ""
		}
		return `{"name":"` + name + `","description":"Runs as a task.",` + execution +
			`"annotations":{"readOnlyHint":true},` +
			`"inputSchema":{"type":"object","properties":{"steps":{"type":"integer"},"end":{"type":"string"},` +
			`"ask":{"type":"boolean"},"progress":{"type":"boolean"}}}}`
	}
	asksForTask := func(c *call) bool {
		if c.meta.Version == "" {
			return c.task != nil
		}
		return strings.Contains(string(c.meta.Capabilities), `"io.modelcontextprotocol/tasks"`)
	}
	return []tool{
		{name: "research", definition: define("research", "required"), run: func(_ context.Context, c *call) ([]byte, error) {
			switch {
			case asksForTask(c):
				return f.begin(c)
			case c.meta.Version == "":
				return nil, rpcError{code: codeNoMethod, message: "Tool research requires task augmentation"}
			}
			return nil, rpcError{code: -32021, message: "Missing required client capability"}
		}},
		{name: "study", definition: define("study", "optional"), run: func(_ context.Context, c *call) ([]byte, error) {
			if asksForTask(c) {
				return f.begin(c)
			}
			return textResult("studied"), nil
		}},
		{name: "quick", definition: define("quick", "optional"), run: func(context.Context, *call) ([]byte, error) {
			return textResult("quick"), nil
		}},
	}
}

func (f *fakeTasks) begin(c *call) ([]byte, error) {
	task := &fakeTask{modern: c.meta.Version != "", status: "working", token: c.meta.ProgressToken}
	if err := json.Unmarshal(c.arguments, task); err != nil {
		return nil, rpcError{code: codeParams, message: err.Error()}
	}
	if task.Ask {
		task.status = "input_required"
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, task)
	task.id = fmt.Sprintf("t%d", len(f.all))
	fmt.Fprintf(os.Stderr, "task %s %s\n", task.id, c.task)
	if task.modern {
		return slices.Concat([]byte(`{"resultType":"task",`), task.state()[1:]), nil
	}
	return slices.Concat([]byte(`{"task":`), task.state(), []byte("}")), nil
}

// answer answers a request about tasks.
func (f *fakeTasks) answer(ctx context.Context, s *server, m *message) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if m.Method == "tasks/list" {
		states := make([]string, len(f.all))
		for i, task := range f.all {
			states[i] = string(task.state())
		}
		return []byte(`{"tasks":[` + strings.Join(states, ",") + `]}`), nil
	}
	var asked struct {
		ID        string          `json:"taskId"`
		Responses json.RawMessage `json:"inputResponses"`
	}
	_ = json.Unmarshal(m.Params, &asked)
	at := slices.IndexFunc(f.all, func(task *fakeTask) bool { return task.id == asked.ID })
	if at < 0 {
		return nil, rpcError{code: codeParams, message: "Failed to retrieve task: Task not found"}
	}
	task := f.all[at]
	if m.Method == methodTaskResult && task.status == "input_required" {
		f.mu.Unlock() // the client may ask for the state meanwhile
		reply, err := s.askClient(ctx, quote("ask-"+task.id), ask{methodElicit, taskQuestion})
		f.mu.Lock()
		if err != nil {
			return nil, err
		}
		task.answered, task.status = reply.Result, "completed"
	}
	if m.Method == "tasks/get" && task.Progress && task.status == "working" {
		task.reported++
		s.notify("notifications/progress", fmt.Sprintf(`{"progressToken":%s,"progress":%d,"total":%d}`, task.token,
			task.reported, task.reported+task.Steps-1))
	}
	return task.answer(m.Method, asked.Responses)
}

// answer answers a request about a task.
func (t *fakeTask) answer(method string, responses json.RawMessage) ([]byte, error) {
	switch method {
	case "tasks/get":
		t.step()
		return t.state(), nil
	case "tasks/update":
		fmt.Fprintf(os.Stderr, "task %s gets %s\n", t.id, responses)
		t.answered, t.status = responses, "working"
		return []byte(`{"resultType":"complete"}`), nil
	case methodTaskResult:
		switch {
		case t.status == "failed":
			return nil, rpcError{code: -32603, message: "no sources"}
		case t.End == "bare":
			return nil, rpcError{code: -32603, message: "no result"}
		}
		return t.result(), nil
	case "tasks/cancel":
		t.status = "cancelled"
		fmt.Fprintf(os.Stderr, "task %s is cancelled\n", t.id)
		if t.modern {
			return []byte(`{"resultType":"complete"}`), nil
		}
		return t.state(), nil
	}
	return nil, rpcError{code: codeNoMethod, message: "Method not found: " + method}
}

const methodTaskResult = "tasks/result"

// taskQuestion is what a task asks.
const taskQuestion = `{"mode":"form","message":"Who wants to know?","requestedSchema":{"type":"object",` +
	`"properties":{"name":{"type":"string"}},"required":["name"]}}`

// step goes one step on.
func (t *fakeTask) step() {
	switch t.Steps--; {
	case t.status != "working" || t.Steps > 0 || t.End == "never":
	case t.End == "failed", t.End == "cancelled", t.End == "odd":
		t.status = t.End
	default:
		t.status = "completed"
	}
}

func (t *fakeTask) result() []byte {
	if t.answered != nil {
		return textResult("researched for " + string(t.answered))
	}
	return textResult("researched")
}

// state returns the task as its era writes it.
func (t *fakeTask) state() []byte {
	id, ttl, poll, rest := t.id, "ttl", "pollInterval", ""
	if t.End == "other" && t.Steps <= 0 {
		id = "another"
	}
	if t.modern {
		ttl, poll = "ttlMs", "pollIntervalMs"
		switch {
		case t.End == "bare":
		case t.status == "completed":
			rest = `,"result":` + string(t.result())
		case t.status == "failed":
			rest = `,"error":{"code":-32603,"message":"no sources"}`
		case t.status == "input_required":
			rest = `,"inputRequests":{"name":{"method":"elicitation/create","params":` + taskQuestion + `}}`
		}
	}
	return fmt.Appendf(nil, `{"taskId":%q,"status":%q,"statusMessage":"%d steps left",%q:null,%q:1,`+
		`"createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z"%s}`, id, t.status, t.Steps, ttl, poll,
		rest)
}
