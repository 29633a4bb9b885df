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

// NotFoundError says that no tool has the name that was asked for.
type NotFoundError struct {
	Name string
	// Near are the names nearest to it, best first; none is ever run instead.
	Near []string
	// Candidates are the qualified names that an ambiguous plain name could mean; empty where the name is unknown.
	Candidates []string
	// UnknownServer is the prefix of Name that looks like a server's name but is not one; Servers are the known ones.
	UnknownServer string
	Servers       []string
	// Launch are the words that a command needs to find the tools that there are (see LaunchWords).
	Launch []string
	// NoTools reports whether the server on the command line lists none.
	NoTools bool
	// Lacks names what toolx did not offer to a server that may have more tools for a client which does; may be empty.
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
		text += fmt.Sprintf(": no server is named '%s' (%s)", e.UnknownServer, known)
	}
	return text
}

// Kind implements the interface that fault.KindOf looks for.
func (e *NotFoundError) Kind() fault.Kind { return fault.KindNotFound }

// Hint names the nearest tools, and what a server may want for more.
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
		return "-v shows what the server said when it was asked for its tools"
	}
	return e.line("list") + " shows every tool"
}

// Next returns the command that shows the tool that was probably meant, else those that there are.
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

// ModelText returns a failure as a model is told of it: with the similar names (EXEC-6), or the service that is
// unavailable (EXEC-9), and nothing of the command line.
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

// ServiceHint returns what to do about a tool that failed by itself, or by a service behind it (EXEC-9). A model
// corrects what else goes wrong with a call.
func ServiceHint(err error) string {
	if kind := fault.KindOf(err); err == nil || kind != fault.KindTool && kind != fault.KindConnect {
		return ""
	}
	return fault.HintOf(err)
}

// DeniedError says that a tool may not be used: its guards refuse it.
type DeniedError struct {
	*guard.RefusedError
	Tool *Tool
}

// Unwrap returns what says so.
func (e *DeniedError) Unwrap() error { return e.RefusedError }

// InvalidArgumentsError says that a call's arguments do not fit the tool's schema. The tool was not run.
type InvalidArgumentsError struct {
	Tool     *Tool
	Problems []jsonschema.Problem
	// Unknown are parameters that the schema does not know. They are no failure by
	// themselves, but a misspelt name is often why another one is missing.
	Unknown []jsonschema.UnknownParameter
	// Arguments are the given arguments as an object, with the text of those that could
	// not be read as what they should be; nil where nothing could be read.
	Arguments json.RawMessage
}

func (e *InvalidArgumentsError) Error() string {
	return "Invalid parameters: " + jsonschema.ProblemsText(e.Problems, e.Unknown)
}

// Kind implements the interface that fault.KindOf looks for.
func (e *InvalidArgumentsError) Kind() fault.Kind { return fault.KindInvalidArguments }

// TimeoutError says that a call was given up because its time was up.
type TimeoutError struct {
	Tool string
	// Request reports that Tool is the name of a request that is not a tool call.
	Request bool
	After   time.Duration
	// Idle reports that the time without progress was up, rather than the whole time.
	Idle bool
	// Detail is what is known of the cause ("the server is not reading its stdin").
	Detail string
	// Evidence is what the server wrote since it was asked, a line each.
	Evidence []string
}

// explain copies what err knows about the missing answer.
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
		return "--timeout gives more time between signs of progress; --trace shows what the server sent"
	}
	return "--max-time sets the absolute limit"
}

// UnavailableError says that toolx could not reach a tool's service over the network (EXEC-9).
type UnavailableError struct {
	Service string // the server's name, or the tool's where it has none
	Err     error
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("service unavailable: %s: %v", e.Service, e.Err)
}

// Unwrap returns the network's error.
func (e *UnavailableError) Unwrap() error { return e.Err }

// Kind implements the interface that fault.KindOf looks for.
func (e *UnavailableError) Kind() fault.Kind { return fault.KindConnect }

// Hint says what to look at.
func (e *UnavailableError) Hint() string {
	return "see whether the service runs, and whether its address is right"
}

// ToolError says that the tool ran and reported a failure, with its own message.
type ToolError struct {
	Message string
	// Code is the JSON-RPC error code where the server answered with one, else 0.
	Code int
}

func (e *ToolError) Error() string { return e.Message }

// Kind implements the interface that fault.KindOf looks for.
func (e *ToolError) Kind() fault.Kind { return fault.KindTool }

// Hint names the service behind the tool that could not be reached, where the failure mentions one (EXEC-9).
func (e *ToolError) Hint() string { return cause.NetworkHint(e.Message) }

// InterruptedError says that the user gave up; Tool is set where that was a call.
type InterruptedError struct {
	Tool   string
	Detail string // that the call went on all the same; may be empty
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

// MalformedError says that a server's reply is not what the protocol asks for.
type MalformedError struct {
	What   string // "the reply to tools/call"
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
