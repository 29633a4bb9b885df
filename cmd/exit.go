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
	"toolx/pkg/mask"
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
	switch fault.KindOf(err) {
	case fault.KindUsage, fault.KindInvalidArguments, fault.KindNotFound:
		return exitUsage
	case fault.KindAuth:
		return exitAuth
	case fault.KindConnect:
		return exitConnect
	case fault.KindTool:
		return exitTool
	case fault.KindProtocol:
		return exitProtocol
	case fault.KindTimeout:
		return exitTimeout
	case fault.KindInterrupted:
		return exitInterrupted
	}
	return exitUnforeseen
}

// usageError marks an error of a package that cannot know exec's kinds.
type usageError struct{ error }

func (e *usageError) Unwrap() error { return e.error }

// Kind implements the interface that fault.KindOf looks for.
func (e *usageError) Kind() fault.Kind { return fault.KindUsage }

// exitStatus ends toolx with a code of its own and no words: a mock that is served and set to crash.
type exitStatus struct{ code int }

func (e *exitStatus) Error() string { return fmt.Sprintf("exit status %d", e.code) }

// reportedError is an error that the user has been told of: only its code is left.
type reportedError struct{ error }

func (e *reportedError) Unwrap() error { return e.error }

// maskedError shows an error without the secrets that it may quote: a server's command line, its last words.
type maskedError struct {
	error
	mask *mask.Masker
}

// masked hides secrets in what err says. What a tool itself answered is passed on unchanged (NORM-6).
func (a *App) masked(err error) error {
	var already *maskedError
	if err == nil || fault.KindOf(err) == fault.KindTool || errors.As(err, &already) {
		return err
	}
	return &maskedError{err, a.mask}
}

func (e *maskedError) Error() string { return e.mask.Text(e.error.Error()) }
func (e *maskedError) Unwrap() error { return e.error }
func (e *maskedError) Hint() string  { return e.mask.Text(fault.HintOf(e.error)) }

// Details are the details of the error, each line masked.
func (e *maskedError) Details() []string {
	details := slices.Clone(fault.DetailsOf(e.error))
	for i := range details {
		details[i] = e.mask.Text(details[i])
	}
	return details
}

// report tells the user of err, unless that has been done, and returns the exit code. Under --json the verb's own form
// of a failure goes to stdout instead: answer prints it, nil where JSON was not asked for.
func (a *App) report(err error, answer func(error) error) int {
	var reported *reportedError
	var status *exitStatus
	if err == nil || errors.As(err, &reported) || errors.As(err, &status) || console.IsBrokenPipe(err) {
		return exitCode(err)
	}
	a.live.Stop()
	if answer != nil && answer(err) == nil {
		return exitCode(err)
	}
	a.tell(err)
	return exitCode(err)
}

// tell writes a failure to stderr. It ignores a closed pipe.
func (a *App) tell(err error) {
	if !console.IsBrokenPipe(err) {
		a.showError(a.masked(err))
	}
}

// showError writes an error to stderr. What a stranger can make as long as he likes is cut.
func (a *App) showError(err error) {
	_ = render.Error(a.live, &shortError{err, cmp.Or(a.maxError, defaultMaxOutput)}, a.screen())
}

// shortError is an error of which at most limit bytes are shown, all of them where limit
// is negative. Its JSON has the whole.
type shortError struct {
	error
	limit int64
}

// maxDetail is how many bytes of each detail of an error, and of its hint, are shown.
const maxDetail = 8 << 10

func (e *shortError) Unwrap() error { return e.error }

func (e *shortError) Error() string {
	text := e.error.Error()
	if e.limit < 0 || int64(len(text)) <= e.limit {
		return text
	}
	return fmt.Sprintf("%s\n(%s of %s shown; --json prints all)", words.Clip(text, int(e.limit)), exec.Bytes(e.limit), exec.Bytes(int64(len(text))))
}

func (e *shortError) Hint() string { return words.Clip(fault.HintOf(e.error), maxDetail) }

// Details are the details of the error, each cut.
func (e *shortError) Details() []string {
	details := slices.Clone(fault.DetailsOf(e.error))
	for i := range details {
		details[i] = words.Clip(details[i], maxDetail)
	}
	return details
}

// failureJSON prints an error in the form that the verb has for it: the envelope, or the doctor's report. It is nil
// where the verb was not asked for JSON. Parsing ends at the first wrong flag: --json may stand behind it, but what
// stands behind "--" is not toolx's.
func (a *App) failureJSON(verb *cobra.Command, args []string) func(error) error {
	flags := verb.Flags()
	asked, err := flags.GetBool("json")
	if err != nil {
		return nil // the verb has no such flag
	}
	output, _ := flags.GetString("output")
	if at := slices.Index(args, "--"); at >= 0 {
		args = args[:at]
	}
	if !asked && output != "json" && !slices.Contains(args, "--json") {
		return nil
	}
	if verb.Name() == "doctor" {
		return func(err error) error { return a.printReport(failedReport(a.masked(err)), report.JSON, "") }
	}
	if verb.Name() == "ask" {
		question := flags.Args()
		if at := flags.ArgsLenAtDash(); at >= 0 {
			question = question[:at]
		}
		return func(err error) error { return a.askFailureLine(strings.Join(question, " "), err) }
	}
	result := &exec.Result{}
	if verb.Name() != "list" && verb.Name() != "status" && !flags.Changed("from-tool-call") { // whose argument is a file
		result.ToolName = flags.Arg(0)
		if flags.ArgsLenAtDash() == 0 {
			result.ToolName = "" // the argument is a server's command
		}
	}
	return func(err error) error {
		result.Err = a.masked(err)
		return render.Result(context.Background(), a.Console.Out, result, render.ResultOptions{Format: render.FormatJSON, Screen: a.outScreen()})
	}
}
