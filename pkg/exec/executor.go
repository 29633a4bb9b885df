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
	// Masked hides secrets in the error of a call; nil shows them.
	Masked func(error) error
	// Confirm asks the user to confirm a call, and returns nil for a yes. If it is nil, calls that need confirmation
	// fail.
	Confirm func(ctx context.Context, ask *guard.AskError, arguments json.RawMessage) error

	calls     atomic.Int64
	abandoned atomic.Int64 // abandoned calls that are still running
}

// Defaults apply unless the call or the tool overrides them.
type Defaults struct {
	// Timeout is the idle timeout: progress restarts it. Zero means 30 s (EXEC-10), less than zero none.
	Timeout time.Duration
	// MaxTime is the absolute limit of a call. Zero means 10 minutes, or the idle timeout if that is longer (EXEC-10);
	// less than zero means none.
	MaxTime time.Duration
	// Slow is how long a call takes before a warning is logged (EXEC-13). Zero means 1 s, less than zero never.
	Slow time.Duration
	// MaxOutput is the size in bytes at which output is cut; zero means never.
	MaxOutput int64
	// Strict makes parameters outside the schema an error (VAL-2).
	Strict bool
	// KeepNames switches off the normalization of parameter names (NORM-7).
	KeepNames bool
	// Confined reports that the user at the keyboard does not choose the calls (see Request.Confined), as with a model.
	Confined bool
}

// The values for unset Defaults.
const (
	DefaultTimeout = 30 * time.Second
	defaultMaxTime = 10 * time.Minute
	defaultSlow    = time.Second
)

// Call describes one call to run.
type Call struct {
	// Tool is a name for Registry.Find.
	Tool string
	// Target is the tool, if the caller has it, since two servers' tools can have the same qualified name; nil means to
	// look up Tool.
	Target *Tool
	// Implementation replaces the tool's own; nil means the tool's own.
	Implementation Implementation
	// Prepared is the result of Prepare for this call; nil means that Call prepares it.
	Prepared *Prepared
	// Answered is called when the implementation has returned, before its reply is read. It may be nil.
	Answered func()
	// ID names the call in events; empty means that the Executor numbers it.
	ID string
	// Arguments is a JSON object; nil means an empty one.
	Arguments json.RawMessage
	// Timeout and MaxTime override the tool's and the defaults unless zero; less than zero means none.
	Timeout time.Duration
	MaxTime time.Duration
	// Confirmed reports that the user has confirmed the call, or need not.
	Confirmed bool
	// FromModel reports that a model wrote the arguments. Values of a wrong type are then converted if nothing is lost:
	// "3" to 3.
	FromModel bool
	// Untyped reports that the model wrote every value as text, to be typed by the schema; it implies FromModel.
	Untyped bool
}

// isPrepared reports whether the call is ready to run with a tool.
func (c Call) isPrepared(tool *Tool) bool { return c.Prepared != nil && c.Prepared.Tool == tool }

// Prepared is a call that is ready to run: its tool exists, and its arguments are normalized and valid.
type Prepared struct {
	Tool      *Tool
	Arguments json.RawMessage
	// Renamed are the parameter names that normalization changed.
	Renamed []Rename
	// Coerced are the values that were converted to another type (Call.FromModel).
	Coerced []Coercion
	// Warnings are remarks for the user: unknown parameters, a broken schema.
	Warnings []string
}

// Prepare finds the tool, normalizes and validates (EXEC-3). The error is a *NotFoundError, a *DeniedError or an
// *InvalidArgumentsError, or that of ctx if it ends first.
func (e *Executor) Prepare(ctx context.Context, call Call) (*Prepared, error) {
	tool, err := e.target(call.Tool, call.Target)
	if err != nil {
		return nil, err
	}
	return e.prepare(ctx, tool, call)
}

// target returns the tool of a call: tool, or the one with this name if that is nil.
func (e *Executor) target(name string, tool *Tool) (*Tool, error) {
	if tool == nil {
		return e.Registry.Find(name)
	}
	if denied := tool.Denied(); denied != nil {
		return nil, denied
	}
	return tool, nil
}

// confirm asks the user if the tool's guards require it.
func (e *Executor) confirm(ctx context.Context, call Call, prepared *Prepared) error {
	ask := prepared.Tool.Asks(guard.Never)
	switch {
	case ask == nil || call.Confirmed:
		return nil
	case e.Confirm == nil:
		ask.Because, ask.Fix = "no one to ask", "use toolx call on a terminal, or with --yes"
		return ask
	}
	defer Pause(ctx)()
	return e.Confirm(ctx, ask, prepared.Arguments)
}

// prepare is Prepare for a known tool. Invalid arguments are also returned, normalized.
func (e *Executor) prepare(ctx context.Context, tool *Tool, call Call) (*Prepared, error) {
	arguments, fromModel := call.Arguments, call.FromModel || call.Untyped
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	if fromModel {
		arguments = unwrapArguments(arguments)
	}
	prepared := &Prepared{Tool: tool, Arguments: arguments}
	if !e.Defaults.KeepNames {
		var err error
		prepared.Arguments, prepared.Renamed, err = normalize(tool, arguments)
		if err != nil {
			return nil, err
		}
	}
	if !call.Untyped && tool.Input().Fits(prepared.Arguments) && ctx.Err() == nil {
		return prepared, nil
	}
	schema := tool.Input().Schema(ctx)
	if _, err := tool.Schema(ctx); err != nil {
		// VAL-3: a broken schema is the server's error, and the server can still check the arguments. toolx only checks
		// that they are an object.
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
	if err != nil { // VAL-3 again: it compiles, but cannot validate
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

// Complete adds the other problems with the arguments to an *InvalidArgumentsError of ParseArgs, so that all are
// reported at once (VAL-1). It returns any other error unchanged.
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
		// A text of the wrong type already has a problem.
		broken := func(other jsonschema.Problem) bool { return related(problem.Location, other.Location) }
		if !slices.ContainsFunc(parsed.Problems, broken) {
			complete.Problems = append(complete.Problems, problem)
		}
	}
	jsonschema.SortProblems(complete.Problems)
	return &complete
}

// related reports whether one of two locations is inside the other.
func related(a, b []string) bool {
	least := min(len(a), len(b))
	return slices.Equal(a[:least], b[:least])
}

// Call runs one tool call from beginning to end. Every failure is a Result, even a panic of an implementation (EXEC-5):
// Call never returns nil.
//
// If ctx ends, the call is interrupted; the Implementation notifies the server.
func (e *Executor) Call(ctx context.Context, call Call) *Result {
	started := time.Now()
	id := cmp.Or(call.ID, strconv.FormatInt(e.calls.Add(1), 10))
	result := &Result{ToolName: call.Tool}
	sent := call.Arguments

	tool, err := e.target(call.Tool, call.Target)
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

// Reject records a call that failed before it could start, because its server was unreachable or its arguments were
// unreadable, and returns its Result. given is the user's input, for the log. For an unknown tool, use Call if
// possible. The duration starts at began; for an unknown tool it is zero, even if its server took long to start
// (EXEC-12).
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

// finish completes the result of a call that ended with err, which may be nil, and emits it.
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

// stage is the state of a call.
type stage struct {
	prepared *Prepared
	began    time.Time // when the implementation started; zero before that
}

// make prepares a call, asks the user if necessary, runs the tool's implementation under its limits, and shapes the
// reply. It returns the prepared call, nil for invalid arguments.
func (e *Executor) make(
	ctx context.Context, deadline *deadline, id string, call Call, tool *Tool, result *Result,
) (*Prepared, error) {
	var reached atomic.Pointer[stage]
	run := func() (json.RawMessage, error) { return e.run(ctx, deadline, id, call, tool, &reached) }
	var reply json.RawMessage
	var err error
	if call.isPrepared(tool) && tool.Server != "" {
		reply, err = recovered(e, tool.Name, run) // it only waits for the server, and ends with ctx
	} else {
		reply, err = await(ctx, e, tool.Name, run)
	}
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

// run prepares and confirms a call and runs the implementation. It records each stage in reached.
func (e *Executor) run(
	ctx context.Context, deadline *deadline, id string, call Call, tool *Tool, reached *atomic.Pointer[stage],
) (json.RawMessage, error) {
	prepared, err := call.Prepared, error(nil)
	if !call.isPrepared(tool) {
		prepared, err = e.prepare(ctx, tool, call)
	}
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		err = ended // any other problem came too late
	}
	e.announce(prepared, err)
	if err != nil {
		return nil, err
	}
	reached.Store(&stage{prepared: prepared})
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
}

// progress returns a function for a call's progress reports, which restart its time without progress. It ignores
// reports after the end of ctx, since an abandoned call has ended for everyone else.
func (e *Executor) progress(ctx context.Context, deadline *deadline, id, tool string) func(Progress) {
	return func(progress Progress) {
		if ctx.Err() != nil {
			return
		}
		deadline.restart()
		e.Bus.Emit(CallProgress{Time: Now(), ID: id, Tool: tool, Progress: progress})
	}
}

// callError returns why a call has no result: the cause of ctx's end if that stopped it, an *UnavailableError for a
// network error (EXEC-9), otherwise the implementation's error.
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
		copied := *timeout // several calls may share a limit with another name
		copied.Tool = tool
		copied.explain(err)
		return &copied
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

// announce logs the names that Prepare changed (NORM-5), which its error uses. Without an error, it also logs coerced
// values and warnings.
func (e *Executor) announce(prepared *Prepared, err error) {
	if prepared != nil && len(prepared.Renamed) > 0 {
		changes := words.Texts(prepared.Renamed, Rename.String)
		e.notice(slog.LevelInfo, "normalized parameters of "+prepared.Tool.Name+": "+strings.Join(changes, ", "))
	}
	if err != nil {
		return
	}
	if len(prepared.Coerced) > 0 {
		e.Bus.Emit(ArgumentsCoerced{Time: Now(), Tool: prepared.Tool.Name, Changes: prepared.Coerced})
	}
	for _, warning := range prepared.Warnings {
		e.notice(slog.LevelWarn, warning)
	}
}

// warnIfSlow warns about a slow call (EXEC-13), not counting the time that a person took to answer. A cancelled call
// and one with progress need no warning.
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
