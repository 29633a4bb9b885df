package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/guard"
	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/protocol"
)

// makeCalls makes the requested calls and the safe ones in separate runs.
func (o Options) makeCalls(ctx context.Context, e *evidence.Evidence) {
	calls := o.callsFor(e.Server.Name)
	if o.Safe {
		calls = append(calls, safeCalls(ctx, e.Offered)...)
	}
	for len(calls) > 0 && ctx.Err() == nil {
		o.doing(e.Server, "starting it again to call its tools")
		calls = calls[o.callingRun(ctx, e, calls):]
	}
}

// callsFor returns the requested calls for a server, including those for any server.
func (o Options) callsFor(server string) []evidence.Call {
	return slices.DeleteFunc(slices.Clone(o.Calls), func(call evidence.Call) bool {
		return call.Server != "" && call.Server != server
	})
}

// callingRun starts the server and makes calls until one ends it or times out. It returns how many calls it made, or
// skipped because the server did not start.
func (o Options) callingRun(ctx context.Context, e *evidence.Evidence, calls []evidence.Call) (made int) {
	active := o.newRun(evidence.CallsRun)
	started := o.starting(ctx, e.Launch)
	session, err := servers.Connect(ctx, e.Server, e.Launch, o.connecting(active, started))
	started()
	var runs []*evidence.CallRun
	var run *evidence.Run
	if err != nil {
		run = active.failed(ctx, e, err)
		for _, call := range calls {
			result := &exec.Result{ToolName: call.Tool, Err: &evidence.NotCalledError{Err: err}}
			runs = append(runs,
				&evidence.CallRun{Tool: call.Tool, Arguments: call.Arguments, Result: result, Own: call.Own})
		}
	} else {
		runs = o.callAll(ctx, session, active, calls)
		ended := session.Wire().Failure()
		session.Close(ctx)
		run = active.end(ctx)
		run.Protocol, run.Ended = session.Protocol, ended
	}
	e.Calling = append(e.Calling, run)
	for _, call := range runs {
		call.Run = run
	}
	e.Calls = append(e.Calls, runs...)
	return len(runs)
}

// isTrue reports whether a hint is set and true.
func isTrue(hint *bool) bool { return hint != nil && *hint }

// callAll makes calls until one ends the server or times out.
func (o Options) callAll(
	ctx context.Context, session *protocol.Session, active *activeRun, calls []evidence.Call,
) []*evidence.CallRun {
	registry := exec.NewRegistry(active.bus)
	registry.Register(session.Tools()...)
	executor := &exec.Executor{Registry: registry, Bus: active.bus}
	var runs []*evidence.CallRun
	for _, call := range calls {
		made := o.makeCall(ctx, session, executor, call)
		runs = append(runs, made)
		if session.Wire().Failure() != nil {
			break
		}
		if fault.KindOf(made.Result.Err) == fault.KindTimeout {
			// Wait for a late response, which cancel-ignored reports.
			quiet(ctx, cmp.Or(o.Waits.Idle, evidence.LateWait), session.Done())
			break
		}
	}
	return runs
}

// makeCall makes one call through the Executor. Calls that the doctor chose never run as tasks, which are for slow
// work.
func (o Options) makeCall(
	ctx context.Context, session *protocol.Session, executor *exec.Executor, call evidence.Call,
) *evidence.CallRun {
	asked := exec.Call{Tool: call.Tool, Arguments: call.Arguments, Timeout: o.CallTimeout}
	if call.Own {
		asked.Implementation = session.WithoutTasks()
	}
	result := executor.Call(ctx, asked)
	run := &evidence.CallRun{Tool: call.Tool, Arguments: call.Arguments, Result: result, Own: call.Own}
	if sent, err := executor.Prepare(ctx, asked); err == nil {
		run.Sent = sent
	}
	return run
}

// failed ends a run in which no session was opened.
func (l *activeRun) failed(ctx context.Context, e *evidence.Evidence, err error) *evidence.Run {
	run := l.end(ctx)
	if !errors.As(err, &run.Failure) {
		run.Failure = &diagnose.Failure{Server: e.Server.Name, Reason: err}
	}
	if evidence.EndedByItself(run.Failure) {
		run.Ended = run.Failure
	}
	return run
}

// safeCalls returns calls that are safe to make unasked: of tools marked read-only, with arguments from their schemas.
func safeCalls(ctx context.Context, tools []*exec.Tool) []evidence.Call {
	var calls []evidence.Call
	for _, tool := range tools {
		if tool.Denied() != nil || tool.Asks(guard.Never) != nil {
			continue
		}
		if arguments, safe := safeArguments(ctx, tool); safe {
			calls = append(calls, evidence.Call{Server: tool.Server, Tool: tool.Plain, Arguments: arguments, Own: true})
		}
	}
	return calls
}

// safeArguments returns arguments for a harmless call of a tool; safe is false if there are none. The tool must set
// readOnlyHint, and neither destructiveHint nor its name may contradict that. No values are invented: required
// parameters get the schema's const, default, first example or first enum value, others are left out. Tools with
// openWorldHint and tools that run only as tasks are never called; a tool without openWorldHint is called only without
// arguments.
func safeArguments(ctx context.Context, tool *exec.Tool) (arguments json.RawMessage, safe bool) {
	hints := tool.Annotations
	if !isTrue(hints.ReadOnlyHint) || isTrue(hints.DestructiveHint) || isTrue(hints.OpenWorldHint) ||
		listing.ChangingWord(tool.Plain) != "" || tool.TaskSupport == "required" {
		return nil, false
	}
	arguments, ok := writtenArguments(tool.Input().Root())
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

// writtenArguments returns arguments made of values in a schema: one for each required parameter, or a whole example.
// ok is false if the schema lacks them.
func writtenArguments(schema *jsonschema.Node) (arguments json.RawMessage, ok bool) {
	var members []rawjson.Member
	for _, name := range schema.Facets().Required() {
		property, _ := schema.Property(name)
		value := writtenValue(property)
		if value == nil {
			examples := schema.Shape().Examples
			if len(examples) == 0 || !examples[0].IsObject() {
				return nil, false
			}
			return examples[0].Raw(), true
		}
		members = append(members, rawjson.NewMember(name, value))
	}
	return rawjson.Object(members), true
}

// writtenValue returns a value that a parameter's schema contains, or nil.
func writtenValue(schema *jsonschema.Node) json.RawMessage {
	switch shape := schema.Shape(); {
	case len(shape.Options) == 1:
		return shape.Options[0].Raw
	case shape.Default != nil:
		return shape.Default.Raw()
	case len(shape.Examples) > 0:
		return shape.Examples[0].Raw()
	case len(shape.Options) > 0:
		return shape.Options[0].Raw
	}
	return nil
}

// chosenCalls returns the calls that the doctor chose, in the form of --call; nil without --call safe.
func chosenCalls(e *evidence.Evidence) []string {
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
