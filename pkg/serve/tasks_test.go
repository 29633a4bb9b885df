package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
)

// taskClient asks for tasks whose calls the test answers.
type taskClient struct {
	*testing.T
	*tasks
	calls chan string             // the messages of calls that have begun
	ends  chan mcp.JSONRPCMessage // their answers, in any order
	clock time.Time
}

func newTaskClient(t *testing.T) *taskClient {
	c := &taskClient{
		T: t, calls: make(chan string, 1), ends: make(chan mcp.JSONRPCMessage),
		clock: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC),
	}
	run := func(ctx context.Context, message json.RawMessage) mcp.JSONRPCMessage {
		c.calls <- string(message)
		select {
		case answer := <-c.ends:
			return answer
		case <-ctx.Done():
			return errorAnswer(nil, mcp.INTERNAL_ERROR, ctx.Err().Error())
		}
	}
	c.tasks = newTasks([]*exec.Tool{{Name: "slow", TaskSupport: "optional"}, {Name: "quick"}}, run)
	c.now = func() time.Time { return c.clock }
	return c
}

// ask returns the answer to a request, empty where it is not about tasks; its context ends with it. Params of the
// modern revision have META.
func (c *taskClient) ask(owner, method, params string) string {
	c.Helper()
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
	message := fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":{%s}}`, method,
		strings.ReplaceAll(params, "META", meta))
	ctx, cancel := context.WithCancel(c.Context())
	defer cancel()
	answer, is := c.answer(ctx, owner, readHead([]byte(message)), []byte(message))
	if !is {
		return ""
	}
	return strings.TrimSpace(string(encodeAnswer(answer)))
}

// begin begins a task, and returns its id.
func (c *taskClient) begin(owner, params string) string {
	c.Helper()
	answer := []byte(c.ask(owner, "tools/call", params))
	result := rawjson.Get(answer, "result")
	if handle := rawjson.Get(result, "task"); handle != nil {
		result = handle
	}
	id := rawjson.GetText(result, "taskId")
	if id == "" || rawjson.GetText(result, "status") != "working" {
		c.Fatalf("no task: %s", answer)
	}
	return id
}

// finish answers a call, and waits for the end of its task.
func (c *taskClient) finish(owner, id string, answer mcp.JSONRPCMessage) {
	c.ends <- answer
	<-c.find(owner, id).ended
}

func (c *taskClient) wants(got string, parts ...string) {
	c.Helper()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			c.Errorf("%s\nwants %s", got, part)
		}
	}
}

// A call goes on when its request is answered; its task is found again by its client alone, and its result is that of
// the call.
func TestTasks(t *testing.T) {
	reply := func(text string) mcp.JSONRPCMessage { return resultAnswer(json.RawMessage("7"), json.RawMessage(text)) }
	t.Run("2025-11-25", func(t *testing.T) {
		c := newTaskClient(t)
		id := c.begin("a", `"name":"slow","arguments":{"n":1e400},"task":{"ttl":5000}`)
		if call := <-c.calls; call != `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"slow","arguments":{"n":1e400}}}` {
			t.Errorf("the SDK is given %s", call)
		}
		about := `"taskId":"` + id + `"`
		c.wants(c.ask("a", "tasks/get", about), about, `"status":"working"`, `"ttl":5000`, `"pollInterval":200`,
			`"createdAt":"2026-01-31T12:00:00.000Z"`)
		c.wants(c.ask("a", "tasks/list", ""), about)
		c.wants(c.ask("b", "tasks/list", ""), `"tasks":[]`)
		c.wants(c.ask("b", "tasks/get", about), `"code":-32602`)
		waited := make(chan string)
		go func() { waited <- c.ask("a", "tasks/result", about) }()
		c.finish("a", id, reply(`{"content":[],"_meta":{"x":1}}`))
		c.wants(<-waited, `{"content":[],"_meta":{"x":1,"io.modelcontextprotocol/related-task":{`+about+`}}}`)
		c.wants(c.ask("a", "tasks/get", about), `"status":"completed"`)
		c.wants(c.ask("a", "tasks/cancel", about), `"code":-32602`, "completed already")

		id = c.begin("a", `"name":"slow","task":{}`)
		<-c.calls
		c.finish("a", id, reply(`{"content":[],"isError":true}`))
		c.wants(c.ask("a", "tasks/get", `"taskId":"`+id+`"`), `"status":"failed"`, `"ttl":3600000`)
		c.wants(c.ask("a", "tasks/result", `"taskId":"`+id+`"`), `"isError":true`)
	})
	t.Run("2026-07-28", func(t *testing.T) {
		c := newTaskClient(t)
		id := c.begin("", `META,"name":"slow"`)
		about := `META,"taskId":"` + id + `"`
		<-c.calls
		c.wants(c.ask("", "tasks/update", about), `"result":{"resultType":"complete"}`)
		c.finish("", id, reply(`{"content":[],"isError":true}`))
		c.wants(c.ask("", "tasks/get", about), `"status":"completed"`, `"result":{"content":[],"isError":true}`,
			`"resultType":"complete"`, `"pollIntervalMs":200`)
		c.wants(c.ask("", "tasks/cancel", about), `"result":{"resultType":"complete"}`)
		c.wants(c.ask("", "tasks/list", ""), `"tasks":[]`) // without a session, nobody's tasks are listed

		id = c.begin("", `META,"name":"slow"`)
		<-c.calls
		c.finish("", id, errorAnswer(json.RawMessage("7"), mcp.INVALID_PARAMS, "no"))
		c.wants(c.ask("", "tasks/get", `META,"taskId":"`+id+`"`), `"status":"failed"`,
			`"error":{"code":-32602,"message":"no"}`, `"statusMessage":"no"`)
	})
}

// What is no matter of tasks is left to the SDK.
func TestNoTasks(t *testing.T) {
	c := newTaskClient(t)
	for _, test := range []struct{ method, params string }{
		{"tools/call", `"name":"slow"`},
		{"tools/call", `"name":"slow","task":null`},
		{"tools/call", `"name":"quick","task":{}`},
		{"tools/call", `META,"name":"quick"`},
		{"tools/call", `"name":"slow","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`},
		{"tasks/list", `META`},
		{"tasks/result", `META,"taskId":"x"`},
		{"tasks/update", `"taskId":"x"`},
		{"tools/list", ``},
	} {
		if got := c.ask("a", test.method, test.params); got != "" {
			t.Errorf("%s %s is answered: %s", test.method, test.params, got)
		}
	}
}

// Cancelling a task ends its call, and so does the end of its time, after which it is unknown. Tasks that have ended
// make room for others.
func TestTasksEnd(t *testing.T) {
	c := newTaskClient(t)
	id := c.begin("a", `"name":"slow","task":{}`)
	<-c.calls
	c.wants(c.ask("a", "tasks/cancel", `"taskId":"`+id+`"`), `"status":"cancelled"`)
	c.wants(c.ask("a", "tasks/result", `"taskId":"`+id+`"`), `"code":-32602`, "cancelled")

	id = c.begin("a", `"name":"slow","task":{"ttl":60000}`)
	<-c.calls
	c.clock = c.clock.Add(time.Minute)
	c.wants(c.ask("a", "tasks/get", `"taskId":"`+id+`"`), `"code":-32602`)

	for range maxTasks - 1 { // the cancelled one is kept
		c.begin("a", `"name":"slow","task":{}`)
		<-c.calls
	}
	id = c.begin("a", `"name":"slow","task":{}`)
	<-c.calls
	c.wants(c.ask("a", "tools/call", `"name":"slow","task":{}`), "100 tasks run")
	c.wants(c.ask("a", "tasks/cancel", `"taskId":"`+id+`"`), `"status":"cancelled"`)
	c.begin("a", `"name":"slow","task":{}`)
}
