package tui

import (
	"context"
	"encoding/json"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/tui/form"
)

// call is one run of an item, from the key press to its result.
type call struct {
	id        string
	item      item
	name      string // of what is run; of a template, that of the resource it makes
	number    int    // among the calls of its item, from 1
	arguments json.RawMessage
	filled    json.RawMessage // the values of the form that the arguments are made of, nil if it has none
	form      *form.Form      // with these values, nil until they are shown
	limit     time.Duration   // without progress; zero: the config decides
	started   time.Time
	sent      time.Time // when the call was sent, after the server had started; zero before
	ended     time.Time
	cancel    context.CancelFunc
	done      chan struct{} // closed when it has ended
	cancelled bool
	progress  exec.Progress
	result    *exec.Result // nil while it runs
}

// running reports whether a call has not ended.
func (c *call) running() bool { return c.result == nil }

// cancelRunning cancels the call if it runs; its server keeps running.
func (c *call) cancelRunning() {
	if c.running() {
		c.cancelled = true
		c.cancel()
	}
}

// took returns how long a call has been running at now, or how long it ran.
func (c *call) took(now time.Time) time.Duration {
	if !c.running() {
		now = c.ended
	}
	return now.Sub(c.started)
}

// connectAndRun starts the call's server if necessary, calls up once it is running, and makes the call.
func (c *call) connectAndRun(ctx context.Context, options Options, up func()) *exec.Result {
	var session *protocol.Session
	if c.item.Server != "" {
		var err error
		if session, err = reach(ctx, options.Pool, c.item.Server); err != nil {
			if ctx.Err() != nil {
				err = &exec.InterruptedError{Tool: c.name}
			}
			return c.reject(options.Executor, err)
		}
	}
	up()
	return c.run(ctx, options.Executor, session)
}

// run calls the tool, or asks its server's session for the resource or the prompt.
func (c *call) run(ctx context.Context, executor *exec.Executor, session *protocol.Session) *exec.Result {
	if c.item.kind != kindTool {
		return executor.Do(ctx, c.operation(session))
	}
	return executor.Call(ctx, exec.Call{
		ID: c.id, Tool: c.name, Target: current(executor.Registry, c.item.Tool), Arguments: c.arguments,
		Confirmed: true, // the dialog has asked
		Timeout:   c.limit,
	})
}

// reject is the result of a call whose server could not be reached.
func (c *call) reject(executor *exec.Executor, err error) *exec.Result {
	if c.item.kind != kindTool {
		return executor.RejectOperation(c.operation(nil), c.started, err)
	}
	return executor.Reject(c.name, c.arguments, c.started, err)
}

// operation returns the request for a resource or a prompt, as the command line makes it. Only running
// it needs a session.
func (c *call) operation(session *protocol.Session) exec.Operation {
	operation := exec.Operation{
		ID: c.id, Name: c.name, Server: c.item.Server, Method: c.item.kind.request(), Arguments: c.arguments,
		Timeout: c.limit, Read: exec.ReadContents,
		Run: func(ctx context.Context, progress func(exec.Progress)) (json.RawMessage, error) {
			return session.ReadResource(ctx, uriOf(c.arguments), progress)
		},
	}
	if c.item.kind == kindPrompt {
		operation.Read = exec.ReadPrompt
		operation.Run = func(ctx context.Context, progress func(exec.Progress)) (json.RawMessage, error) {
			return session.GetPrompt(ctx, c.item.Plain, c.arguments, progress)
		}
	}
	return operation
}

// uriOf returns the URI in the arguments of a resource.
func uriOf(arguments json.RawMessage) string {
	for member := range rawjson.Each(arguments) {
		if member.Name == "uri" && rawjson.IsString(member.Value) {
			return rawjson.Unquote(member.Value)
		}
	}
	return ""
}

// reach returns a server's session, and opens one if there is none. If the session is lost but the server's process is
// still running, it does nothing: only the user may restart that process.
func reach(ctx context.Context, pool Pool, name string) (*protocol.Session, error) {
	if session := pool.Session(name); session != nil {
		if failure := session.Err(); failure != nil && failure.Lives() {
			return nil, &lostError{failure}
		}
	}
	return pool.Open(ctx, name)
}

// lostError is the failure of a server that is running but has lost its session. It adds a hint for the interface.
type lostError struct{ *diagnose.Failure }

func (e *lostError) Unwrap() error { return e.Failure }

// Hint implements the interface that fault.HintOf looks for.
func (e *lostError) Hint() string { return "R restarts the server" }

// current returns a tool as it is registered now: a server that was restarted has registered its tools again.
func current(registry *exec.Registry, tool *exec.Tool) *exec.Tool {
	for _, one := range registry.All() {
		if one.Server == tool.Server && one.Plain == tool.Plain {
			return one
		}
	}
	return tool
}
