package exec

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"toolx/pkg/rawjson"
)

// Operation is a request to a server other than a tool call. It has the same time limits and kind of Result (EXEC-4,
// EXEC-5, EXEC-10, EXEC-11).
type Operation struct {
	// Name is its name in the result, the log and errors: that of the requested item after its server's name, as for
	// tools.
	Name   string
	Server string
	// ID names it in events; empty means that the Executor numbers it.
	ID string
	// Method is the method of the request.
	Method string
	// Arguments are the request's arguments as a JSON object, for the log.
	Arguments json.RawMessage
	// Timeout and MaxTime override the defaults unless zero; less than zero means none.
	Timeout time.Duration
	MaxTime time.Duration
	// Run sends the request and returns the server's response, byte for byte. It fails like Implementation.CallTool.
	Run func(ctx context.Context, progress func(Progress)) (json.RawMessage, error)
	// Read reads the reply; nil means that all of it is the value.
	Read func(reply json.RawMessage) (Parts, error)
}

// Parts are the parts of a reply.
type Parts struct {
	// Value is the result; nil means the content array itself.
	Value json.RawMessage
	// Content are the MCP content blocks of the reply, for --save; may be empty.
	Content []json.RawMessage
	// Whole reports whether Value includes the content, so that the envelope needs no other.
	Whole bool
	// Warnings are remarks for the user.
	Warnings []string
}

// Do runs an operation from beginning to end. Every failure is a Result: Do never returns nil. The end of ctx
// interrupts it.
func (e *Executor) Do(ctx context.Context, operation Operation) *Result {
	started := time.Now()
	id := cmp.Or(operation.ID, strconv.FormatInt(e.calls.Add(1), 10))
	result := &Result{ToolName: operation.Name, Server: operation.Server}
	e.Bus.Emit(CallStarted{
		Time: Now(), ID: id, Tool: operation.Name, Server: operation.Server, Method: operation.Method,
		Arguments: operation.Arguments,
	})
	err := e.operate(ctx, id, operation, result)
	return e.finish(CallFinished{ID: id, Method: operation.Method, Arguments: operation.Arguments, Result: result},
		started, err)
}

// RejectOperation records an operation that could not start, because its server could not be reached, and returns its
// Result, like Reject for calls. began is when it was requested.
func (e *Executor) RejectOperation(operation Operation, began time.Time, err error) *Result {
	id := cmp.Or(operation.ID, strconv.FormatInt(e.calls.Add(1), 10))
	result := &Result{ToolName: operation.Name, Server: operation.Server}
	return e.finish(CallFinished{ID: id, Method: operation.Method, Arguments: operation.Arguments, Result: result},
		began, err)
}

// Within limits a supporting request, such as a list or a completion, to the time that a call may take without
// progress. what names it in the *TimeoutError. A Pause suspends the limit, as for calls.
func Within[T any](ctx context.Context, e *Executor, what string, run func(context.Context) (T, error)) (T, error) {
	deadline := &deadline{idle: cmp.Or(e.Defaults.Timeout, DefaultTimeout)}
	bounded, stop := deadline.start(ctx, TimeoutError{Tool: what, Request: true})
	defer stop()
	value, err := await(bounded, e, what, func() (T, error) { return run(bounded) })
	var timeout *TimeoutError
	if err != nil && ctx.Err() == nil && errors.As(context.Cause(bounded), &timeout) {
		copied := *timeout
		copied.explain(err)
		return value, &copied
	}
	return value, err
}

func (e *Executor) operate(ctx context.Context, id string, operation Operation, result *Result) error {
	deadline := e.Defaults.deadline(operation.Timeout, operation.MaxTime)
	ctx, stop := deadline.start(ctx, TimeoutError{Tool: operation.Name, Request: true})
	defer stop()
	began := time.Now()
	reply, err := await(ctx, e, operation.Name, func() (json.RawMessage, error) {
		return operation.Run(ctx, e.progress(ctx, deadline, id, operation.Name))
	})
	result.Timing = &Timing{CallMS: Milliseconds(time.Since(began))}
	result.asked, result.progressed = deadline.used()
	if err != nil {
		return operationError(ctx, operation, err)
	}
	parts := Parts{Value: reply}
	if operation.Read != nil {
		if parts, err = operation.Read(reply); err != nil {
			return &MalformedError{What: "the response to " + operation.Method, Reason: err}
		}
	}
	for _, warning := range parts.Warnings {
		e.notice(slog.LevelWarn, warning)
	}
	return result.fill(reply, parts, e.Defaults.MaxOutput)
}

// operationError returns why an operation has no result, like callError for calls.
func operationError(ctx context.Context, operation Operation, err error) error {
	err = callError(ctx, &Tool{Name: operation.Name, Server: operation.Server}, err)
	var interrupted *InterruptedError
	if errors.As(err, &interrupted) {
		return &InterruptedError{Detail: interrupted.Detail}
	}
	return err
}

// fill sets r from a reply other than a CallToolResult.
func (r *Result) fill(raw json.RawMessage, parts Parts, limit int64) error {
	r.Raw, r.Content, r.Value, r.Success = raw, parts.Content, parts.Value, true
	r.valueHasContent = parts.Whole
	r.Warnings = append(r.Warnings, parts.Warnings...)
	if parts.Value == nil {
		var err error
		if r.Value, err = rawjson.Marshal(parts.Content); err != nil {
			return fmt.Errorf("encode the content: %w", err)
		}
		r.valueIsContent = true
	}
	r.cut(limit)
	return nil
}
