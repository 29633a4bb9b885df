package ai

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"toolx/pkg/convert"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/guard"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// parallelCalls bounds how many calls of one turn run in parallel.
const parallelCalls = 16

// maxBinary bounds content with images for a model, in bytes; providers refuse more.
const maxBinary = 5 << 20

// confirmed reports whether a tool must be confirmed before a model runs it: if its guards require it, or if it is
// marked as destructive. MCP treats a tool without a mark as destructive too, but few servers set marks, and users stop
// reading questions that always appear; --tools hides a tool from the model.
func confirmed(tool *exec.Tool) bool { return tool.Asks(guard.Said) != nil }

// DeclinedError reports that a destructive tool was not confirmed. Its text is for the model.
type DeclinedError struct {
	Tool string
	Why  string // may be empty
}

func (e *DeclinedError) Error() string {
	text := fmt.Sprintf("the user did not allow %s to run", e.Tool)
	if e.Why != "" {
		text += ": " + e.Why
	}
	return text
}

// Kind implements the interface that fault.KindOf looks for.
func (e *DeclinedError) Kind() fault.Kind { return fault.KindTool }

// planned is a call that was checked and has not run yet.
type planned struct {
	call  convert.ToolCall
	id    string // in events
	tool  *exec.Tool
	began time.Time
	err   error // why it will not run
}

// run runs the calls of one turn through the Executor, in parallel, and returns their results in the order of the
// calls. A call that cannot run has a result with the reason (AI-1). The user is asked first, one question at a time.
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
		if call := plan[i]; call.err == nil { // here, to report calls in order
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
		if c.Unreached != nil { // EXEC-6: the name of a server that is down is not misspelled
			err = cmp.Or(c.Unreached(call.Name), err)
		}
		plan.err = err
		return plan
	}
	plan.tool = tool
	if plan.err == nil && confirmed(tool) {
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
			Tool: name, Target: plan.tool, Arguments: plan.call.Arguments, Confirmed: true,
			FromModel: true, Untyped: plan.call.Untyped,
		})
	}
	written, shown, total := c.resultOf(plan.call, result)
	c.emit(CallFinished{ID: plan.id, Name: plan.call.Name, Result: result, Shown: shown, Total: total})
	return written
}

// resultOf returns a result for the model: its string form (EXEC-16), cut if too long; otherwise also its content and
// structure, for formats that support them.
func (c *Conversation) resultOf(
	call convert.ToolCall, result *exec.Result,
) (written convert.ToolResult, shown, total int) {
	text := result.String()
	total = len(text)
	short := words.Head(text, cmp.Or(c.MaxResult, defaultMaxResult))
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

// offer is the list of tools for a model in its provider's form, and maps the names in it back. It is made for one
// request: tools are kept only in their own form (CONV-5).
type offer struct {
	document json.RawMessage // nil where there is no tool
	names    []string
	byName   map[string]*exec.Tool // by the name in the document
	tools    map[convert.ModelTool]*exec.Tool
}

// offer converts the tools, and emits Offered if they have changed.
func (c *Conversation) offer() *offer {
	made := &offer{byName: map[string]*exec.Tool{}, tools: map[convert.ModelTool]*exec.Tool{}}
	if c.Tools == nil {
		return made
	}
	var sources []convert.Tool
	for _, tool := range c.Tools() {
		sources = append(sources, convert.Tool{Server: tool.Prefix(), Definition: tool.Definition})
		made.tools[convert.ModelTool{Server: tool.Prefix(), Plain: tool.Plain}] = tool
	}
	conversion, fromServers := convert.ConvertAll(sources, c.Provider.Format()), 0
	for _, converted := range conversion.Tools {
		tool := made.tools[convert.ModelTool{Server: converted.Server, Plain: converted.Plain}]
		if tool == nil {
			continue
		}
		made.byName[converted.Name] = tool
		made.names = append(made.names, converted.Name)
		if tool.Server != "" {
			fromServers++
		}
	}
	if len(conversion.Tools) > 0 { // some providers refuse an empty list
		made.document = conversion.Document()
	}
	if !slices.Equal(made.names, c.offered) {
		c.offered = made.names
		c.emit(Offered{
			Format: c.Provider.Format(), Names: made.names, FromServers: fromServers,
			Losses: conversion.Losses(), Limits: conversion.Limits,
		})
	}
	return made
}

// find returns the tool that a model means. Models drop prefixes and use the names of other formats, which is accepted
// if it is unambiguous. A tool that was not offered is not found, even if toolx has it.
func (o *offer) find(name string) (*exec.Tool, error) {
	if tool := o.byName[name]; tool != nil {
		return tool, nil
	}
	known := make([]convert.ModelTool, 0, len(o.names))
	for _, offered := range o.names {
		tool := o.byName[offered]
		if tool.Name == name {
			return tool, nil
		}
		known = append(known, convert.ModelTool{Server: tool.Prefix(), Plain: tool.Plain})
	}
	meant := convert.FindName(name, known)
	if len(meant) == 1 {
		return o.tools[meant[0]], nil
	}
	missing := &notOfferedError{NotFoundError: exec.NotFoundError{Name: name}, offered: o.names}
	for _, one := range meant {
		missing.Candidates = append(missing.Candidates, o.tools[one].Name)
	}
	missing.Near = o.near(name)
	return nil, missing
}

// near returns the offered names nearest to an unknown name (EXEC-6).
func (o *offer) near(name string) []string {
	named := make([]*exec.Tool, len(o.names))
	for i, offered := range o.names {
		tool := o.byName[offered]
		named[i] = &exec.Tool{Name: offered, Server: tool.Server, Plain: tool.Plain}
	}
	return exec.Near(name, named...)
}

// written returns the calls of offered tools in the text of a turn without other calls.
func (o *offer) written(turn *Turn, calls []convert.ToolCall) []convert.ToolCall {
	if len(calls) > 0 || len(o.names) == 0 {
		return nil
	}
	return slices.DeleteFunc(convert.WrittenCalls(turn.Text), func(call convert.ToolCall) bool {
		_, err := o.find(call.Name)
		return err != nil
	})
}

// notOfferedError lists the available tools for a model, if none has a similar name.
type notOfferedError struct {
	exec.NotFoundError
	offered []string
}

func (e *notOfferedError) Error() string {
	const most = 20
	text := e.NotFoundError.Error()
	if len(e.Candidates) > 0 || len(e.Near) > 0 || len(e.offered) == 0 || len(e.offered) > most {
		return text
	}
	return text + "; the tools are: " + strings.Join(e.offered, ", ")
}

// Unwrap returns the error for all other callers, whose similar names follow the text (EXEC-6).
func (e *notOfferedError) Unwrap() error { return &e.NotFoundError }
