package cmd

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	askcmd "toolx/cmd/ask"
	doctorcmd "toolx/cmd/doctor"
	"toolx/cmd/exit"
	"toolx/cmd/streams"
	"toolx/pkg/console"
	"toolx/pkg/exec"
	"toolx/pkg/render"
)

// reportOutcome reports err to the user, unless that was done already, and returns the exit code. If answer is not nil,
// it prints the failure on stdout instead.
func reportOutcome(o *streams.Streams, err error, answer func(error) error) int {
	var reported *exit.ReportedError
	var status *exit.Status
	if err == nil || errors.As(err, &reported) || errors.As(err, &status) || console.IsBrokenPipe(err) {
		return exit.CodeOf(err)
	}
	o.Live.Stop()
	if answer == nil || answer(err) != nil {
		o.Report(err)
	}
	return exit.CodeOf(err)
}

// failureJSON returns a function that prints an error in the verb's own JSON: the envelope, or the doctor's report. It
// returns nil without --json. Parsing stops at the first wrong flag, so failureJSON also looks for --json after it, but
// not after "--".
func (a *App) failureJSON(verb *cobra.Command, args []string) func(error) error {
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
		return func(err error) error {
			return doctorcmd.PrintFailure(a.factory.Out, err)
		}
	case "ask":
		return func(err error) error { return askcmd.PrintAskFailure(a.factory.Out, strings.Join(own, " "), err) }
	}
	result := &exec.Result{}
	// The first argument of other verbs is no tool.
	if len(own) > 0 && verb.Name() != "list" && verb.Name() != "status" && !flags.Changed("from-tool-call") {
		result.ToolName = own[0]
	}
	return func(err error) error {
		result.Err = a.factory.Out.Masked(err)
		a.factory.Printer.AddNext(result, verb.CommandPath())
		return render.Result(context.Background(), a.factory.Out.Console.Out, result,
			render.ResultOptions{Format: render.FormatJSON, Screen: a.factory.Out.OutScreen()})
	}
}
