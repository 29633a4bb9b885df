package exec

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolx/pkg/cause"
	"toolx/pkg/fault"
	"toolx/pkg/guard"
	"toolx/pkg/jsonschema"
)

var errNoJSON = errors.New("the tool definition is not JSON")

var errNoName = errors.New("the tool definition has no name")

// NotFoundError reports that no tool has a name.
type NotFoundError struct {
	Name string
	// Near are the most similar names, best first. toolx never runs them automatically.
	Near []string
	// Candidates are the qualified names for an ambiguous plain name; empty if the name is unknown.
	Candidates []string
	// UnknownServer is the prefix of Name that looks like a server's name but is not one; Servers are the known ones.
	UnknownServer string
	Servers       []string
	// Launch are the words that another command needs to find the same tools (see LaunchWords).
	Launch []string
	// NoTools reports whether the server on the command line lists none.
	NoTools bool
	// Lacks names capabilities that toolx did not offer, with which a server may list more tools; may be empty.
	Lacks string
}

func (e *NotFoundError) Error() string {
	if len(e.Candidates) > 0 {
		return fmt.Sprintf("Tool '%s' is ambiguous: %s", e.Name, strings.Join(e.Candidates, ", "))
	}
	text := fmt.Sprintf("Tool '%s' not found", e.Name)
	if e.NoTools && e.UnknownServer == "" {
		text += ": the server lists no tools"
	}
	if e.UnknownServer != "" {
		known := "no servers are configured"
		if len(e.Servers) > 0 {
			known = "known servers: " + strings.Join(e.Servers, ", ")
		}
		text += fmt.Sprintf(": no server named '%s' (%s)", e.UnknownServer, known)
	}
	return text
}

// Kind implements the interface that fault.KindOf looks for.
func (e *NotFoundError) Kind() fault.Kind { return fault.KindNotFound }

// Hint names similar tools, and capabilities for which a server may list more.
func (e *NotFoundError) Hint() string {
	if e.Lacks == "" {
		return e.nearest()
	}
	return e.nearest() + "; the server may have more tools for a client with " + e.Lacks
}

func (e *NotFoundError) nearest() string {
	switch {
	case len(e.Candidates) > 0:
		return "use the full name, for example: " + e.line("call", e.Candidates[0])
	case slices.Contains(e.Servers, e.Name):
		return fmt.Sprintf("%s is a server: %s shows its tools, %s runs one",
			e.Name, e.line("list", e.Name), e.line("call", e.Name+Separator+"TOOL"))
	case len(e.Near) > 0:
		return "did you mean: " + strings.Join(e.Near, ", ")
	case e.NoTools:
		return "-v shows the server's response to tools/list"
	}
	return e.line("list") + " shows every tool"
}

// Next returns the command that shows the most similar tool, else all tools.
func (e *NotFoundError) Next() string {
	switch {
	case len(e.Candidates) > 0:
		return e.line("show", e.Candidates[0])
	case slices.Contains(e.Servers, e.Name):
		return e.line("list", e.Name)
	case len(e.Near) > 0:
		return e.line("show", e.Near[0])
	}
	return e.line("list")
}

// line returns a toolx command that finds the same tools.
func (e *NotFoundError) line(words ...string) string {
	return PasteLine(slices.Concat([]string{"toolx"}, words, e.Launch)...)
}

// ModelText returns a failure for a model: with similar names (EXEC-6), or the service that is unavailable (EXEC-9),
// and without hints for the command line.
func ModelText(err error) string {
	if err == nil {
		return ""
	}
	text := err.Error()
	if missing, is := errors.AsType[*NotFoundError](err); is && len(missing.Near) > 0 {
		return text + "; " + missing.Hint()
	}
	if hint := ServiceHint(err); hint != "" {
		text += "\nhint: " + hint
	}
	return text
}

// ServiceHint returns what to do about a failure of the tool, or of a service behind it (EXEC-9). A model can correct
// other failures without a hint.
func ServiceHint(err error) string {
	if kind := fault.KindOf(err); err == nil || kind != fault.KindTool && kind != fault.KindConnect {
		return ""
	}
	return fault.HintOf(err)
}

// DeniedError reports that a tool's guards do not allow it.
type DeniedError struct {
	*guard.RefusedError
	Tool *Tool
}

// Unwrap returns the guard's error.
func (e *DeniedError) Unwrap() error { return e.RefusedError }

// Hint returns what to change, or the command that adds the tool to the snapshot that it does not match.
func (e *DeniedError) Hint() string {
	if e.Snapshot == "" {
		return e.RefusedError.Hint()
	}
	tool, words := e.Tool, []string{"toolx", "snapshot"}
	launch, onCommandLine := tool.Launch, len(tool.Launch) > 0 || tool.Address != ""
	flags := tool.Flags
	switch {
	case tool.Server == "": // of toolx serve
		launch, flags, onCommandLine = append([]string{"toolx", "serve"}, flags...), nil, true
	case !onCommandLine:
		words = append(words, tool.Server)
	}
	purpose := " adds it"
	if e.SnapshotName == tool.Server || e.SnapshotName != "" && onCommandLine {
		words, purpose = append(words, "--check", e.Snapshot, "--update"), " accepts it"
	} else {
		words = append(words, "--out", e.Snapshot)
	}
	return PasteLine(append(words, LaunchWords(flags, tool.Address, launch)...)...) + purpose
}

// InvalidArgumentsError reports that a call's arguments do not fit the tool's schema. The tool was not run.
type InvalidArgumentsError struct {
	Tool     *Tool
	Problems []jsonschema.Problem
	// Unknown are parameters outside the schema. They are not failures, but a misspelt name is often why another one is
	// missing.
	Unknown []jsonschema.UnknownParameter
	// Arguments are the given arguments as an object, with the text of values that could not be typed; nil if nothing
	// could be read.
	Arguments json.RawMessage
}

func (e *InvalidArgumentsError) Error() string {
	return "Invalid parameters: " + jsonschema.ProblemsText(e.Problems, e.Unknown)
}

// Kind implements the interface that fault.KindOf looks for.
func (e *InvalidArgumentsError) Kind() fault.Kind { return fault.KindInvalidArguments }

// TimeoutError reports that a call took too long and was cancelled.
type TimeoutError struct {
	Tool string
	// Request reports that Tool is the name of a request that is not a tool call.
	Request bool
	After   time.Duration
	// Idle reports that the limit was that without progress, not the absolute one.
	Idle bool
	// Detail is a known cause ("the server is not reading its stdin").
	Detail string
	// Evidence is the server's output since the request, line by line.
	Evidence []string
}

// explain copies err's facts about the missing response.
func (e *TimeoutError) explain(err error) {
	var detailed interface{ Detail() string }
	if errors.As(err, &detailed) {
		e.Detail = detailed.Detail()
	}
	e.Evidence = fault.DetailsOf(err)
}

// Details returns the evidence, one fact a line.
func (e *TimeoutError) Details() []string { return e.Evidence }

func (e *TimeoutError) Error() string {
	subject := "Tool"
	if e.Request {
		subject = "Request"
	}
	text := fmt.Sprintf("%s '%s' timeout: no result after %s", subject, e.Tool, e.After)
	if e.Idle {
		text = fmt.Sprintf("%s '%s' timeout: no result or progress within %s", subject, e.Tool, e.After)
	}
	if e.Detail != "" {
		text += " (" + e.Detail + ")"
	}
	return text
}

// Kind implements the interface that fault.KindOf looks for.
func (e *TimeoutError) Kind() fault.Kind { return fault.KindTimeout }

// Hint names the flag that gives more time.
func (e *TimeoutError) Hint() string {
	if e.Idle {
		return "pass --timeout to allow more time without progress; --trace shows every message"
	}
	return "--max-time sets the absolute limit"
}

// UnavailableError reports that toolx could not reach a tool's service over the network (EXEC-9).
type UnavailableError struct {
	Service string // the server's name, or the tool's if it has none
	Err     error
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("service unavailable: %s: %v", e.Service, e.Err)
}

// Unwrap returns the network's error.
func (e *UnavailableError) Unwrap() error { return e.Err }

// Kind implements the interface that fault.KindOf looks for.
func (e *UnavailableError) Kind() fault.Kind { return fault.KindConnect }

// Hint returns what to check.
func (e *UnavailableError) Hint() string {
	return "check that the service runs and that its address is right"
}

// ToolError reports that the tool ran and failed, with its own message.
type ToolError struct {
	Message string
	// Code is the JSON-RPC error code if the server responded with one, else 0.
	Code int
}

func (e *ToolError) Error() string { return e.Message }

// Kind implements the interface that fault.KindOf looks for.
func (e *ToolError) Kind() fault.Kind { return fault.KindTool }

// Hint names the service behind the tool that could not be reached, if the failure mentions one (EXEC-9).
func (e *ToolError) Hint() string { return cause.NetworkHint(e.Message) }

// InterruptedError reports that the user interrupted a call of Tool, or something else if Tool is empty.
type InterruptedError struct {
	Tool   string
	Detail string // that the call continued nevertheless; may be empty
}

func (e *InterruptedError) Error() string {
	text := "interrupted"
	if e.Tool != "" {
		text = fmt.Sprintf("Tool '%s' interrupted", e.Tool)
	}
	if e.Detail != "" {
		text += " (" + e.Detail + ")"
	}
	return text
}

// Kind implements the interface that fault.KindOf looks for.
func (e *InterruptedError) Kind() fault.Kind { return fault.KindInterrupted }

// MalformedError reports that a server's response violates the protocol.
type MalformedError struct {
	What   string // "the response to tools/call"
	Reason error
}

func (e *MalformedError) Error() string {
	return e.What + " is malformed: " + PlainJSONError(e.Reason).Error()
}

// PlainJSONError rewords an error of encoding/json without Go's types: "tools is an object".
func PlainJSONError(err error) error {
	var mismatch *json.UnmarshalTypeError
	if !errors.As(err, &mismatch) {
		return err
	}
	field := strings.TrimPrefix(mismatch.Field, ".")
	if field == "" {
		field = "it"
	}
	article := "a"
	if strings.HasPrefix(mismatch.Value, "o") || strings.HasPrefix(mismatch.Value, "a") {
		article = "an"
	}
	return fmt.Errorf("%s is %s %s", field, article, mismatch.Value)
}

// Unwrap returns the reason.
func (e *MalformedError) Unwrap() error { return e.Reason }

// Kind implements the interface that fault.KindOf looks for.
func (e *MalformedError) Kind() fault.Kind { return fault.KindProtocol }
