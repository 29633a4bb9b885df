package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers"
)

// makeCalls makes the calls that are meant for a server. They have lives of their own,
// so that nothing else that was asked is taken for what a call did, nor the other way
// round. A call that ends the server or has no answer is the last one of its life.
func (o Options) makeCalls(ctx context.Context, e *evidence.Evidence) {
	calls := o.callsFor(e.Server.Name)
	if o.Safe {
		calls = append(calls, safeCalls(ctx, e.Offered)...)
	}
	for len(calls) > 0 && ctx.Err() == nil {
		o.doing(e.Server, "starting it again, to call its tools")
		calls = calls[o.callingRun(ctx, e, calls):]
	}
}

// callsFor are the calls that name a server, or none.
func (o Options) callsFor(server string) []evidence.Call {
	var calls []evidence.Call
	for _, call := range o.Calls {
		if call.Server == "" || call.Server == server {
			calls = append(calls, call)
		}
	}
	return calls
}

// callingRun starts the server and makes calls, up to the first that ends it or has no
// answer. It returns how many were made, or given up since the server did not start.
func (o Options) callingRun(ctx context.Context, e *evidence.Evidence, calls []evidence.Call) (made int) {
	life := o.newLife(evidence.CallsRun)
	session, err := servers.Connect(ctx, e.Server, e.Launch, o.connecting(life))
	if err != nil {
		run := life.failed(ctx, e, err)
		e.Calling = append(e.Calling, run)
		for _, call := range calls {
			result := &exec.Result{ToolName: call.Tool, Err: &evidence.UnmadeError{Err: err}}
			e.Calls = append(e.Calls, &evidence.CallRun{Tool: call.Tool, Arguments: call.Arguments, Result: result, Own: call.Own, Run: run})
		}
		return len(calls)
	}
	registry := exec.NewRegistry(life.bus)
	registry.Register(session.Tools()...)
	executor := &exec.Executor{Registry: registry, Bus: life.bus}
	var runs []*evidence.CallRun
	for _, call := range calls {
		made := o.makeCall(ctx, session, executor, call)
		runs = append(runs, made)
		if session.Wire().Failure() != nil {
			break
		}
		if fault.KindOf(made.Result.Err) == fault.KindTimeout {
			quiet(ctx, cmp.Or(o.idle, evidence.IdleWait)) // an answer may still come: cancel-ignored tells
			break
		}
	}
	o.measureCalls(ctx, session, life, runs)
	ended := session.Wire().Failure()
	session.Close(ctx)
	run := life.end(ctx)
	run.Protocol, run.Ended = session.Protocol, ended
	e.Calling = append(e.Calling, run)
	for _, call := range runs {
		call.Run = run
	}
	e.Calls = append(e.Calls, runs...)
	return len(runs)
}

// makeCall makes one call, through the one Executor.
func (o Options) makeCall(ctx context.Context, session *servers.Session, executor *exec.Executor, call evidence.Call) *evidence.CallRun {
	asked := exec.Call{Tool: call.Tool, Arguments: call.Arguments, Timeout: o.CallTimeout}
	result := o.besidePing(ctx, session, func() *exec.Result { return executor.Call(ctx, asked) })
	run := &evidence.CallRun{Tool: call.Tool, Arguments: call.Arguments, Result: result, Own: call.Own}
	if sent, err := executor.Prepare(ctx, asked); err == nil {
		run.Sent, run.Repeatable = sent, saysRepeatable(sent.Tool)
	}
	return run
}

// besideAfter is how long a call runs before a ping is sent beside it.
const besideAfter = 100 * time.Millisecond

// besidePing makes a call and, where it takes time, a ping meanwhile: a server
// should answer that at once.
func (o Options) besidePing(ctx context.Context, session *servers.Session, call func() *exec.Result) *exec.Result {
	if session.Protocol >= evidence.ModernRevision {
		return call()
	}
	running, done := context.WithCancel(ctx)
	var wait sync.WaitGroup
	wait.Go(func() {
		quiet(running, besideAfter)
		if running.Err() == nil {
			o.ask(ctx, session.Wire(), "ping", nil)
		}
	})
	result := call()
	done()
	wait.Wait()
	return result
}

// failed is the run of a life without a session.
func (l *life) failed(ctx context.Context, e *evidence.Evidence, err error) *evidence.Run {
	run := l.end(ctx)
	if !errors.As(err, &run.Failure) {
		run.Failure = &servers.Failure{Server: e.Server.Name, Reason: err}
	}
	if evidence.EndedByItself(run.Failure) {
		run.Ended = run.Failure
	}
	return run
}

// safeCalls are the calls that can be made without being asked for each: of tools that
// say that they are read-only, with arguments that the server's author wrote.
func safeCalls(ctx context.Context, tools []*exec.Tool) []evidence.Call {
	var calls []evidence.Call
	for _, tool := range tools {
		if arguments, safe := safeArguments(ctx, tool); safe {
			calls = append(calls, evidence.Call{Server: tool.Server, Tool: tool.Plain, Arguments: arguments, Own: true})
		}
	}
	return calls
}

// safeArguments are arguments with which a tool can be called without harm; safe is
// false where there are none. The tool must say readOnlyHint, and neither destructiveHint
// nor a name may contradict it. Nothing is invented: required parameters have the
// values that the schema gives (examples, default, const, the first of an enum), others are
// left out. A tool that reaches out into an open world (openWorldHint) is never called,
// and one that does not report whether it does only without arguments.
func safeArguments(ctx context.Context, tool *exec.Tool) (arguments json.RawMessage, safe bool) {
	hints := tool.Annotations
	yes := func(hint *bool) bool { return hint != nil && *hint }
	if !yes(hints.ReadOnlyHint) || yes(hints.DestructiveHint) || yes(hints.OpenWorldHint) || listing.ChangingWord(tool.Plain) != "" {
		return nil, false
	}
	arguments, ok := writtenArguments(tool.InputSchema)
	if !ok || hints.OpenWorldHint == nil && string(arguments) != "{}" {
		return nil, false
	}
	schema, err := tool.Schema(ctx)
	if err != nil {
		return nil, false
	}
	problems, unknown := schema.Validate(ctx, arguments)
	return arguments, len(problems)+len(unknown) == 0
}

// writtenArguments makes arguments of what a schema itself gives as values; ok is false
// where it gives none for a required parameter.
func writtenArguments(schema json.RawMessage) (arguments json.RawMessage, ok bool) {
	var required []string
	if raw := evidence.MemberAt(schema, "required"); raw != nil && json.Unmarshal(raw, &required) != nil {
		return nil, false
	}
	var members []rawjson.Member
	for _, name := range required {
		value := writtenValue(evidence.MemberAt(schema, "properties", name))
		if value == nil {
			return writtenExample(schema)
		}
		members = append(members, rawjson.NewMember(name, value))
	}
	return rawjson.Object(members), true
}

// writtenExample is the whole object that a schema gives as an example.
func writtenExample(schema json.RawMessage) (arguments json.RawMessage, ok bool) {
	examples, _ := rawjson.Elements(evidence.MemberAt(schema, "examples"))
	if len(examples) == 0 || !evidence.IsObject(examples[0]) {
		return nil, false
	}
	return examples[0], true
}

// writtenValue is the value that a parameter's schema gives, nil where it gives none.
func writtenValue(schema json.RawMessage) json.RawMessage {
	for _, name := range []string{"const", "default"} {
		if value := evidence.MemberAt(schema, name); value != nil {
			return value
		}
	}
	for _, name := range []string{"examples", "enum"} {
		if values, _ := rawjson.Elements(evidence.MemberAt(schema, name)); len(values) > 0 {
			return values[0]
		}
	}
	return nil
}

// calledByItself are the calls that the doctor chose, as --call takes them; nil where it
// was not to choose any.
func calledByItself(e *evidence.Evidence) []string {
	if !e.Safe {
		return nil
	}
	called := []string{}
	for _, call := range e.Calls {
		if call.Own {
			called = append(called, fmt.Sprintf("%s %s", call.Tool, call.Arguments))
		}
	}
	return called
}
