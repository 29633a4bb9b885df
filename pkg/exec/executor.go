package exec

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"toolx/pkg/fault"
	"toolx/pkg/guard"
	"toolx/pkg/jsonschema"
	"toolx/pkg/words"
)

// Executor runs every tool call of toolx (EXEC-1). Its fields are set before the first call and do not change after
// that; its methods are safe for concurrent use.
type Executor struct {
	Registry *Registry
	Bus      *Bus // may be nil
	Defaults Defaults
	// Masked hides the secrets that the error of a call quotes, for every Result; nil shows them.
	Masked func(error) error
	// Confirm asks the user to agree to a call, and returns nil for a yes. It is nil where nobody can be asked: then
	// such calls fail.
	Confirm func(ctx context.Context, ask *guard.AskError, arguments json.RawMessage) error

	calls     atomic.Int64
	abandoned atomic.Int64 // calls that run although nobody waits for them
}

// Defaults apply where neither the call nor the tool says otherwise.
type Defaults struct {
	// Timeout is the idle timeout: progress restarts it. Zero means 30 s (EXEC-10), less than zero none.
	Timeout time.Duration
	// MaxTime is the absolute limit of a call. Zero means 10 minutes, or the idle
	// timeout where that is longer (EXEC-10); less than zero means none.
	MaxTime time.Duration
	// Slow is how long a call takes before a warning is logged (EXEC-13). Zero means 1 s, less than zero never.
	Slow time.Duration
	// MaxOutput is the size in bytes at which output is cut; zero means never.
	MaxOutput int64
	// Strict makes parameters outside the schema an error (VAL-2).
	Strict bool
	// KeepNames switches the normalization of parameter names off (NORM-7).
	KeepNames bool
	// Confined reports that callers other than the person at the keyboard choose the calls (see Request.Confined), as a
	// model always does.
	Confined bool
}

// The defaults of the defaults.
const (
	DefaultTimeout = 30 * time.Second
	defaultMaxTime = 10 * time.Minute
	defaultSlow    = time.Second
)

// Call describes one call to run.
type Call struct {
	// Tool is a name as Registry.Find takes it.
	Tool string
	// Target is the tool itself, for a caller that has it; nil means that Tool is to
	// be looked up. Two servers' tools can have the same qualified name.
	Target *Tool
	// Implementation runs the call in place of the tool's own; nil means that.
	Implementation Implementation
	// Prepared is what Prepare returned for this call, which saves doing it again; nil means that it is to be done.
	Prepared *Prepared
	// Answered is called when the implementation has replied, before its reply is looked at. It may be nil.
	Answered func()
	// ID names the call in events; empty means that the Executor numbers it.
	ID string
	// Arguments is a JSON object; nil means an empty one.
	Arguments json.RawMessage
	// Timeout and MaxTime win over the tool's and the defaults where they are not zero; less than zero means none.
	Timeout time.Duration
	MaxTime time.Duration
	// Confirmed reports that the user has agreed to the call, or was to be asked and does not have to.
	Confirmed bool
	// FromModel reports that a model wrote the arguments. Where the schema refuses a value, and a value of another type
	// says the same, that one is sent: 3 for "3".
	FromModel bool
	// Untyped reports that the model wrote every value as text, which the schema has to type; it implies FromModel.
	Untyped bool
}

// Prepared is a call that may be run: its tool exists, and its arguments are normalized and valid.
type Prepared struct {
	Tool      *Tool
	Arguments json.RawMessage
	// Renamed are the parameter names that normalization changed.
	Renamed []Rename
	// Coerced are the values that were written as another kind (Call.FromModel).
	Coerced []Coercion
	// Warnings are remarks for the user: unknown parameters, a broken schema.
	Warnings []string
}

// Prepare does everything that comes before running: find, normalize, validate (EXEC-3). The error is a *NotFoundError,
// a *DeniedError or an *InvalidArgumentsError, or that of ctx if that ends first.
func (e *Executor) Prepare(ctx context.Context, call Call) (*Prepared, error) {
	tool, err := e.target(call)
	if err != nil {
		return nil, err
	}
	return e.prepare(ctx, tool, call)
}

// target returns the tool that a call is for.
func (e *Executor) target(call Call) (*Tool, error) {
	tool := call.Target
	if tool == nil {
		return e.Registry.Find(call.Tool)
	}
	if denied := tool.Denied(); denied != nil {
		return nil, denied
	}
	return tool, nil
}

// confirm asks the user where the tool's guards want that.
func (e *Executor) confirm(ctx context.Context, call Call, prepared *Prepared) error {
	ask := prepared.Tool.Asks(guard.Never)
	switch {
	case ask == nil || call.Confirmed:
		return nil
	case e.Confirm == nil:
		ask.Because, ask.Fix = "nobody can be asked here", "toolx call asks on a terminal, and takes --yes"
		return ask
	}
	defer Pause(ctx)()
	return e.Confirm(ctx, ask, prepared.Arguments)
}

// prepare does what Prepare does, for a tool that is found. Where the arguments are not valid, it also returns what it
// made of them.
func (e *Executor) prepare(ctx context.Context, tool *Tool, call Call) (*Prepared, error) {
	arguments, fromModel := call.Arguments, call.FromModel || call.Untyped
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	if fromModel {
		arguments = decoded(arguments)
	}
	prepared := &Prepared{Tool: tool, Arguments: arguments}
	if !e.Defaults.KeepNames {
		var err error
		prepared.Arguments, prepared.Renamed, err = normalize(tool, arguments)
		if err != nil {
			return nil, err
		}
	}
	schema := tool.Input().Schema(ctx)
	if _, err := tool.Schema(ctx); err != nil {
		// VAL-3: a broken schema is the server's fault, and the server can judge.
		// That the arguments are an object is for toolx to see to all the same.
		prepared.Warnings = append(prepared.Warnings,
			fmt.Sprintf("the input schema of %s is broken, arguments are not checked: %v", tool.Name, err))
	}
	if fromModel {
		prepared.coerce(ctx, schema, call.Untyped)
	}
	found, err := schema.Judge(ctx, prepared.Arguments)
	if ended := ctx.Err(); ended != nil {
		return prepared, ended
	}
	prepared.Warnings = append(prepared.Warnings, schema.Remarks()...)
	if err != nil { // VAL-3 again: it compiles, and still cannot judge
		prepared.Warnings = append(prepared.Warnings,
			fmt.Sprintf("the input schema of %s is broken, arguments are not checked: %v", tool.Name, err))
		return prepared, nil
	}
	prepared.Warnings = append(prepared.Warnings, found.Remarks...)
	problems, unknown := found.Problems, found.Unknown
	if e.Defaults.Strict {
		for _, parameter := range unknown {
			problems = append(problems, parameter.Problem())
		}
		unknown = nil
	}
	if len(problems) > 0 {
		return prepared, &InvalidArgumentsError{
			Tool: tool, Problems: problems, Unknown: unknown, Arguments: prepared.Arguments,
		}
	}
	prepared.Warnings = append(prepared.Warnings, jsonschema.UnknownTexts(unknown)...)
	return prepared, nil
}

// Complete adds to an *InvalidArgumentsError of ParseArgs what else is wrong with the arguments, so that all problems
// come at once (VAL-1). Any other error is returned as it is.
func (e *Executor) Complete(ctx context.Context, err error) error {
	var parsed, judged *InvalidArgumentsError
	if !errors.As(err, &parsed) || parsed.Tool == nil || parsed.Arguments == nil {
		return err
	}
	if _, more := e.prepare(ctx, parsed.Tool, Call{Arguments: parsed.Arguments}); !errors.As(more, &judged) {
		return err
	}
	complete := *parsed
	complete.Problems, complete.Unknown = slices.Clone(parsed.Problems), judged.Unknown
	for _, problem := range judged.Problems {
		// What a text in the place of a value breaks is told by the problem of that.
		broken := func(other jsonschema.Problem) bool { return related(problem.Location, other.Location) }
		if !slices.ContainsFunc(parsed.Problems, broken) {
			complete.Problems = append(complete.Problems, problem)
		}
	}
	jsonschema.SortProblems(complete.Problems)
	return &complete
}

// related reports whether one of two locations leads to the other.
func related(a, b []string) bool {
	least := min(len(a), len(b))
	return slices.Equal(a[:least], b[:least])
}

// Call runs one tool call from beginning to end. Every failure is a Result, even a panic of an implementation (EXEC-5):
// Call never returns nil.
//
// When ctx ends, the user gave up; the Implementation tells the server.
func (e *Executor) Call(ctx context.Context, call Call) *Result {
	started := time.Now()
	id := cmp.Or(call.ID, strconv.FormatInt(e.calls.Add(1), 10))
	result := &Result{ToolName: call.Tool}
	sent := call.Arguments

	tool, err := e.target(call)
	if err == nil {
		result.ToolName, result.Server = tool.Name, tool.Server
		e.Bus.Emit(CallStarted{Time: Now(), ID: id, Tool: tool.Name, Server: tool.Server, Arguments: call.Arguments})
		deadline := e.Defaults.deadline(cmp.Or(call.Timeout, tool.Timeout), call.MaxTime)
		ctx, stop := deadline.start(ctx, TimeoutError{Tool: tool.Name})
		defer stop()
		var prepared *Prepared
		if prepared, err = e.make(ctx, deadline, id, call, tool, result); prepared != nil {
			sent, result.Warnings = prepared.Arguments, prepared.Warnings
		}
	}
	return e.finish(CallFinished{ID: id, Arguments: sent, Result: result}, started, err)
}

// Reject records a call that failed before it could be made, because its server could not be reached or its arguments
// could not be read, and gives its Result. given is what the user gave, for the log. A name that no tool has is better
// left to Call. The time since began is that of reaching the server, or of reading the arguments; a name that no tool
// has was judged in no time, however long its server took to start (EXEC-12).
func (e *Executor) Reject(tool string, given json.RawMessage, began time.Time, err error) *Result {
	id := strconv.FormatInt(e.calls.Add(1), 10)
	result := &Result{ToolName: tool}
	if found, findErr := e.Registry.Find(tool); findErr == nil {
		result.ToolName, result.Server = found.Name, found.Server
	}
	if fault.KindOf(err) == fault.KindNotFound {
		began = time.Now()
	}
	return e.finish(CallFinished{ID: id, Arguments: given, Result: result}, began, err)
}

// finish completes the result of a call that ends with err, or without, and reports it.
func (e *Executor) finish(end CallFinished, began time.Time, err error) *Result {
	result := end.Result
	if err != nil {
		if e.Masked != nil {
			err = e.Masked(err)
		}
		result.Success, result.Err = false, err
	}
	result.Duration = time.Since(began)
	if result.Timing != nil { // it ran
		e.warnIfSlow(result)
	}
	end.Time = Now()
	e.Bus.Emit(end)
	return result
}

// stage is how far a call has come.
type stage struct {
	prepared *Prepared
	began    time.Time // when the implementation was asked; zero before that
}

// make prepares a call, asks the user where that is needed, passes it to the tool's implementation, under its limits,
// and shapes the reply. It returns the prepared call, which is nil where the arguments are not valid. All of it runs on
// one goroutine, which is abandoned where it outlives the call.
func (e *Executor) make(
	ctx context.Context, deadline *deadline, id string, call Call, tool *Tool, result *Result,
) (*Prepared, error) {
	var reached atomic.Pointer[stage]
	reply, err := await(ctx, e, tool.Name, func() (json.RawMessage, error) {
		prepared, err := call.Prepared, error(nil)
		if prepared == nil || prepared.Tool != tool {
			prepared, err = e.prepare(ctx, tool, call)
		}
		if prepared != nil { // problems with the arguments name them as the tool does
			e.announceRenames(prepared)
		}
		if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
			err = ended // whatever else is wrong came too late
		}
		if err != nil {
			return nil, err
		}
		reached.Store(&stage{prepared: prepared})
		e.announce(prepared)
		if err := e.confirm(ctx, call, prepared); err != nil {
			return nil, err
		}
		reached.Store(&stage{prepared, time.Now()})
		implementation := tool.Implementation
		if call.Implementation != nil {
			implementation = call.Implementation
		}
		reply, err := implementation.CallTool(ctx, Request{
			Name:      tool.Plain,
			Arguments: prepared.Arguments,
			Confined:  e.Defaults.Confined || call.FromModel || call.Untyped,
			Progress:  e.progress(ctx, deadline, id, tool.Name),
		})
		if call.Answered != nil {
			call.Answered()
		}
		return reply, err
	})
	switch at := reached.Load(); {
	case at == nil || at.began.IsZero():
		if ctx.Err() != nil {
			err = callError(ctx, tool, err)
		}
		if at == nil {
			return nil, err
		}
		return at.prepared, err
	default:
		result.Timing = &Timing{CallMS: Milliseconds(time.Since(at.began))}
		result.asked, result.progressed = deadline.used()
		if err != nil {
			return at.prepared, result.cutFailure(callError(ctx, tool, err), e.Defaults.MaxOutput)
		}
		return at.prepared, result.shape(reply, e.Defaults.MaxOutput)
	}
}

// progress takes the reports of a call, each of which restarts its time without progress, until its
// time is up: one that is abandoned has ended for all others.
func (e *Executor) progress(ctx context.Context, deadline *deadline, id, tool string) func(Progress) {
	return func(progress Progress) {
		if ctx.Err() != nil {
			return
		}
		deadline.restart()
		e.Bus.Emit(CallProgress{Time: Now(), ID: id, Tool: tool, Progress: progress})
	}
}

// callError says why a call has no result: the cause of ctx's end where that is what ended it, the network where that
// is (EXEC-9), else the implementation's own error.
func callError(ctx context.Context, called *Tool, err error) error {
	tool := called.Name
	if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		var network net.Error
		if errors.As(err, &network) && fault.KindOf(err) == fault.KindInternal {
			return &UnavailableError{Service: cmp.Or(called.Server, tool), Err: err}
		}
		return err
	}
	var timeout *TimeoutError
	if errors.As(context.Cause(ctx), &timeout) {
		told := *timeout // several calls may share a limit, which has another name then
		told.Tool = tool
		told.explain(err)
		return &told
	}
	if ctx.Err() != nil {
		interrupted := &InterruptedError{Tool: tool}
		var abandoned *abandonedError
		if errors.As(err, &abandoned) {
			interrupted.Detail = abandoned.Detail()
		}
		return interrupted
	}
	return err
}

// announceRenames logs the names that preparing changed (NORM-5).
func (e *Executor) announceRenames(prepared *Prepared) {
	if len(prepared.Renamed) == 0 {
		return
	}
	changes := words.Texts(prepared.Renamed, Rename.String)
	e.notice(slog.LevelInfo, "normalized parameters of "+prepared.Tool.Name+": "+strings.Join(changes, ", "))
}

// announce logs what else preparing changed or found.
func (e *Executor) announce(prepared *Prepared) {
	if len(prepared.Coerced) > 0 {
		e.Bus.Emit(ArgumentsCoerced{Time: Now(), Tool: prepared.Tool.Name, Changes: prepared.Coerced})
	}
	for _, warning := range prepared.Warnings {
		e.notice(slog.LevelWarn, warning)
	}
}

// warnIfSlow warns of a call that took long (EXEC-13), but for the time that a person took
// to answer. One that was given up says so itself, and so does one that reports progress.
func (e *Executor) warnIfSlow(result *Result) {
	if kind := fault.KindOf(result.Err); result.Err != nil &&
		(kind == fault.KindTimeout || kind == fault.KindInterrupted) {
		return
	}
	slow := cmp.Or(e.Defaults.Slow, defaultSlow)
	if took := result.Duration - result.asked; slow > 0 && took > slow && !result.progressed {
		e.notice(slog.LevelWarn, fmt.Sprintf("slow call: %s took %d ms", result.ToolName, took.Milliseconds()))
	}
}

func (e *Executor) notice(level slog.Level, text string, attrs ...slog.Attr) {
	e.Bus.Emit(Notice{Time: Now(), Level: level, Text: text, Attrs: attrs})
}
