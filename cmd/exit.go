package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolx/pkg/console"
	"toolx/pkg/doctor/report"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
	"toolx/pkg/words"
)

// The exit codes: the promise to scripts (docs/exit-codes.md).
const (
	exitOK          = 0
	exitUnforeseen  = 1
	exitUsage       = 2
	exitAuth        = 3
	exitConnect     = 4
	exitTool        = 5
	exitProtocol    = 6
	exitTimeout     = 124
	exitInterrupted = 130
)

// exitCode is the only place where an error becomes a number.
func exitCode(err error) int {
	if err == nil || console.IsBrokenPipe(err) {
		return exitOK
	}
	var status *exitStatus
	if errors.As(err, &status) {
		return status.code
	}
	for _, known := range kindCodes {
		if known.Kind == fault.KindOf(err) {
			return known.ExitCode
		}
	}
	return exitUnforeseen
}

// failure gives an error a kind, and a hint where hint is not empty.
type failure struct {
	error
	kind fault.Kind
	hint string
}

func (e *failure) Unwrap() error { return e.error }

// Kind implements the interface that fault.KindOf looks for.
func (e *failure) Kind() fault.Kind { return e.kind }

// Hint implements the interface that fault.HintOf looks for.
func (e *failure) Hint() string { return cmp.Or(e.hint, fault.HintOf(e.error)) }

// usageError makes a usage error of one whose package does not know kinds.
func usageError(err error) error { return &failure{error: err, kind: fault.KindUsage} }

// exitStatus ends toolx with an exit code and no message: that of a server, or of a mock that is set to crash.
type exitStatus struct{ code int }

func (e *exitStatus) Error() string { return fmt.Sprintf("exit status %d", e.code) }

// reportedError is an error that the user has been told of, so only its exit code is left.
type reportedError struct{ error }

func (e *reportedError) Unwrap() error { return e.error }

// editedError shows an error in other words: without its secrets, or shorter.
type editedError struct {
	error
	message func(string) string // nil: as it is
	detail  func(string) string // for the hint and for each detail; nil: there are none
	masked  bool
}

func (e *editedError) Unwrap() error { return e.error }

func (e *editedError) Error() string {
	if e.message == nil {
		return e.error.Error()
	}
	return e.message(e.error.Error())
}

// Hint returns the hint of the error, edited.
func (e *editedError) Hint() string {
	if e.detail == nil {
		return ""
	}
	return e.detail(fault.HintOf(e.error))
}

// Details returns the details of the error, each edited.
func (e *editedError) Details() []string {
	if e.detail == nil {
		return nil
	}
	details := slices.Clone(fault.DetailsOf(e.error))
	for i := range details {
		details[i] = e.detail(details[i])
	}
	return details
}

// masked hides secrets in what err says. It leaves alone what a tool itself answered (NORM-6).
func (o *output) masked(err error) error {
	var already *editedError
	if err == nil || fault.KindOf(err) == fault.KindTool || errors.As(err, &already) && already.masked {
		return err
	}
	return &editedError{err, o.mask.Text, o.mask.Text, true}
}

// maxDetail is how many bytes of each detail of an error, and of its hint, are shown.
const maxDetail = 8 << 10

// shortError cuts an error to what takes limit bytes on stderr; a negative limit means none. The JSON of a failure has
// the whole message.
func shortError(err error, limit int64) error {
	return &editedError{
		error: err,
		message: func(text string) string {
			if limit < 0 {
				return text
			}
			shown := words.Head(text, int(limit))
			for {
				// Escapes and indented lines take more room than the text.
				size := len(render.SafeBlock(shown)) + 2*strings.Count(shown, "\n")
				if size <= int(limit) {
					break
				}
				shown = words.Head(shown, int(int64(len(shown))*limit/int64(size)))
			}
			if len(shown) == len(text) {
				return text
			}
			return fmt.Sprintf("%s…\n(%s of %s shown; --json prints all)",
				shown, exec.Bytes(int64(len(shown))), exec.Bytes(int64(len(text))))
		},
		detail: func(text string) string { return words.Clip(text, maxDetail) },
	}
}

// report reports err to the user, unless that has been done, and returns the exit code. Where answer is not nil, it
// prints the failure on stdout instead.
func (o *output) report(err error, answer func(error) error) int {
	var reported *reportedError
	var status *exitStatus
	if err == nil || errors.As(err, &reported) || errors.As(err, &status) || console.IsBrokenPipe(err) {
		return exitCode(err)
	}
	o.live.Stop()
	if answer == nil || answer(err) != nil {
		o.tell(err)
	}
	return exitCode(err)
}

// failureJSON returns what prints an error in the verb's own JSON: the envelope, or the doctor's report. It is nil
// where the verb was not asked for JSON. Parsing ends at the first wrong flag, and --json may follow it; what
// comes after "--" is the server's.
func (o *output) failureJSON(verb *cobra.Command, args []string) func(error) error {
	flags := verb.Flags()
	asked, err := flags.GetBool("json")
	if err != nil {
		return nil // the verb has no such flag
	}
	format, _ := flags.GetString("output")
	if at := slices.Index(args, "--"); at >= 0 {
		args = args[:at]
	}
	if !asked && format != "json" && !slices.Contains(args, "--json") {
		return nil
	}
	own := flags.Args()
	if at := flags.ArgsLenAtDash(); at >= 0 {
		own = own[:at]
	}
	switch verb.Name() {
	case "doctor":
		return func(err error) error { return o.printReport(failedReport(o.masked(err)), report.JSON, "") }
	case "ask":
		return func(err error) error { return o.askFailureLine(strings.Join(own, " "), err) }
	}
	result := &exec.Result{}
	// The first argument of other verbs is no tool.
	if len(own) > 0 && verb.Name() != "list" && verb.Name() != "status" && !flags.Changed("from-tool-call") {
		result.ToolName = own[0]
	}
	return func(err error) error {
		result.Err = o.masked(err)
		o.addNext(result, verb.CommandPath())
		return render.Result(context.Background(), o.Console.Out, result,
			render.ResultOptions{Format: render.FormatJSON, Screen: o.outScreen()})
	}
}
