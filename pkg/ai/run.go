package ai

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"toolx/pkg/convert"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// parallelCalls is how many calls of one turn run side by side.
const parallelCalls = 16

// maxBinary is the size in bytes up to which content with images goes to a model;
// providers refuse more.
const maxBinary = 5 << 20

// Destructive reports whether a tool wants to be confirmed before a model runs it: it
// says of itself that it may destroy something. MCP's default for a tool that says
// nothing is the same, but nearly no server speaks of its tools at all, and a
// question that comes every time is answered without being read; --tools keeps what
// a model should not have away from it.
func Destructive(tool *exec.Tool) bool {
	says := func(hint *bool) bool { return hint != nil && *hint }
	return says(tool.Annotations.DestructiveHint) && !says(tool.Annotations.ReadOnlyHint)
}

// DeclinedError says that a destructive tool was not confirmed. Its text is for the
// model.
type DeclinedError struct {
	Tool string
	Why  string // may be empty
}

func (e *DeclinedError) Error() string {
	text := fmt.Sprintf("the user did not allow %s to be run", e.Tool)
	if e.Why != "" {
		text += ": " + e.Why
	}
	return text
}

// Kind implements the interface that fault.KindOf looks for.
func (e *DeclinedError) Kind() fault.Kind { return fault.KindTool }

// planned is a call that was looked at and has not run yet.
type planned struct {
	call  convert.ToolCall
	id    string // in events
	tool  *exec.Tool
	began time.Time
	err   error // why it will not run
}

// run runs the calls of one turn through the Executor, side by side, and gives
// their results in the order of the calls. A call that cannot run has a result that
// says why (AI-1). Questions to the user come first, one after the other.
func (c *Conversation) run(ctx context.Context, offer *offer, calls []convert.ToolCall) []convert.ToolResult {
	plan := make([]planned, len(calls))
	for i, call := range calls {
		plan[i] = c.plan(ctx, offer, call)
	}
	results := make([]convert.ToolResult, len(calls))
	free := make(chan struct{}, parallelCalls)
	var running sync.WaitGroup
	for i := range plan {
		free <- struct{}{}
		if call := plan[i]; call.err == nil { // here, so that calls are told in their order
			c.emit(CallStarted{ID: call.id, Name: call.call.Name, Tool: call.tool.Name, Arguments: call.call.Arguments})
		}
		running.Go(func() {
			results[i] = c.runOne(ctx, plan[i])
			<-free
		})
	}
	running.Wait()
	return results
}

// plan finds the tool of a call and asks whether it may run.
func (c *Conversation) plan(ctx context.Context, offer *offer, call convert.ToolCall) planned {
	plan := planned{call: call, id: call.ID, began: time.Now(), err: call.Err}
	if plan.id == "" {
		c.unnamed++
		plan.id = fmt.Sprintf("call-%d", c.unnamed)
	}
	tool, err := offer.find(call.Name)
	if err != nil {
		plan.err = err
		return plan
	}
	plan.tool = tool
	if plan.err == nil && Destructive(tool) {
		plan.err = c.confirm(ctx, tool, call.Arguments)
	}
	return plan
}

func (c *Conversation) confirm(ctx context.Context, tool *exec.Tool, arguments json.RawMessage) error {
	if c.Confirm == nil {
		return &DeclinedError{Tool: tool.Name}
	}
	return c.Confirm(ctx, tool, arguments)
}

// runOne runs a call, or records why it does not run (EXEC-11).
func (c *Conversation) runOne(ctx context.Context, plan planned) convert.ToolResult {
	name := plan.call.Name
	if plan.tool != nil {
		name = plan.tool.Name
	}
	if plan.err == nil && c.Ready != nil {
		plan.tool, plan.err = c.Ready(ctx, plan.tool)
	}
	var result *exec.Result
	if plan.err != nil {
		result = c.Executor.Reject(name, plan.call.Arguments, plan.began, plan.err)
	} else {
		result = c.Executor.Call(ctx, exec.Call{
			Tool: name, Target: plan.tool, Arguments: plan.call.Arguments, FromModel: true, Untyped: plan.call.Untyped,
		})
	}
	written, shown, total := c.resultOf(plan.call, result)
	c.emit(CallFinished{ID: plan.id, Name: plan.call.Name, Result: result, Shown: shown, Total: total})
	return written
}

// resultOf is a result as the model gets it: its string form (EXEC-16), cut where
// it is too long; and where it is not, its content and structure, for formats that
// can hold them.
func (c *Conversation) resultOf(call convert.ToolCall, result *exec.Result) (written convert.ToolResult, shown, total int) {
	text := result.String()
	total = len(text)
	short := words.Head(text, cmp.Or(c.MaxResult, DefaultMaxResult))
	written = convert.ToolResult{Call: call, Text: short, IsError: !result.Success}
	if len(short) < total {
		written.Text += fmt.Sprintf("\n[result cut: %d of %d bytes shown]", len(short), total)
		return written, len(short), total
	}
	if result.Success && result.Truncated == nil && len(result.Raw) <= maxBinary {
		written.Content = result.Content
		if structured := rawjson.Get(result.Raw, "structuredContent"); string(structured) != "null" {
			written.Structured = structured
		}
	}
	return written, total, total
}
