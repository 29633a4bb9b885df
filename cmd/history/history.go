// Package history has the commands for logged calls.
package history

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolx/cmd/call"
	"toolx/cmd/cli"
	"toolx/cmd/correct"
	"toolx/cmd/factory"
	"toolx/cmd/request"
	"toolx/cmd/resources"
	"toolx/cmd/stores"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/cmdline"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/history"
	"toolx/pkg/mask"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

const historyExits = `Exit codes: 0 success, 2 wrong usage or no such call.`

// New returns the command history; run runs it.
func New(f *factory.Factory, run cli.RunFunc[listOptions]) *cobra.Command {
	o := listOptions{Out: f.Out}
	cmd := &cobra.Command{
		Use:   "history",
		Short: "List, show, and rerun logged calls",
		Long: `List logged calls, newest last: number, time, outcome, duration, tool and arguments.
toolx logs every call with its arguments and result, and masks secrets; defaults:
{log: false} in the config turns that off. In a pipe, each call is a line of six
tab-separated fields.

A call keeps its number until the oldest part of the log is deleted.

` + historyExits,
		Example: `  toolx history
  toolx history --last 0 --json | jq -r 'select(.success | not) | .error'
  toolx history show 12
  toolx history rerun 12`,
		Args: needsNothingOr("toolx history list, show N, rerun N or clear"),
		RunE: cli.Run(&o, run, o.check),
	}
	o.declare(cmd)
	cmd.AddCommand(
		newHistoryListCommand(f, run), newHistoryShowCommand(f, runHistoryShow),
		newHistoryRerunCommand(f, runHistoryRerun), newHistoryClearCommand(f, runHistoryClear),
	)
	return cmd
}

// needsNothingOr refuses arguments of a verb that works with or without a subcommand.
func needsNothingOr(fix string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return fault.Usage("unknown subcommand "+strconv.Quote(args[0]), fix)
		}
		return nil
	}
}

// listOptions say which calls to list.
type listOptions struct {
	Out *streams.Streams

	last   int
	failed bool
	json   bool
}

func (o *listOptions) declare(cmd *cobra.Command) {
	cmd.Flags().IntVarP(&o.last, "last", "n", 20, "list the last `N` calls; 0: all")
	cmd.Flags().BoolVar(&o.failed, "failed", false, "list only calls that failed")
	cmd.Flags().BoolVar(&o.json, "json", false, "print a line of JSON for each call, as it was logged")
}

func (o *listOptions) check() error {
	if o.last < 0 {
		return fault.Usage("--last must not be negative", "--last 0 lists all calls")
	}
	return nil
}

func newHistoryListCommand(f *factory.Factory, run cli.RunFunc[listOptions]) *cobra.Command {
	o := listOptions{Out: f.Out}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List logged calls, like toolx history",
		Long:  "List the calls in the execution log, newest last.\n\n" + historyExits,
		Args:  cli.NoArguments,
		RunE:  cli.Run(&o, run, o.check),
	}
	o.declare(cmd)
	return cmd
}

// RunList prints the last calls.
func RunList(_ context.Context, o listOptions) error {
	wanted := o.last
	if o.failed {
		wanted = 0 // the last of those that failed
	}
	calls, err := history.Calls(stores.History(), wanted)
	if err != nil {
		return historyUnreadable(err)
	}
	if o.failed {
		calls = slices.DeleteFunc(calls, func(call history.Call) bool { return call.Success })
	}
	if o.last > 0 && len(calls) > o.last {
		calls = calls[len(calls)-o.last:]
	}
	if o.json {
		for _, call := range calls {
			if err := o.Out.PrintJSON(call); err != nil {
				return err
			}
		}
		return nil
	}
	if len(calls) == 0 {
		o.Out.Say("no calls in %s", stores.History())
		return nil
	}
	var rows [][]string
	for _, call := range calls {
		rows = append(rows, historyRow(o.Out, call))
	}
	return o.Out.PrintTable([]string{"N", "TIME", "OUTCOME", "TOOK", "TOOL", "ARGUMENTS"}, rows)
}

// historyRow returns the fields of a call: shortened on a terminal, complete in a pipe.
func historyRow(o *streams.Streams, call history.Call) []string {
	outcome, at, arguments := "ok", call.Time.UTC().Format(time.RFC3339), string(call.Arguments)
	if !call.Success {
		outcome = cmp.Or(string(call.Kind), "failed")
	}
	if o.OutScreen().TTY {
		at = call.Time.Local().Format("2006-01-02 15:04:05")
		const others = 72 // usual columns of the other fields
		arguments = words.Clip(arguments, max(20, o.Console.Width-others))
	}
	tool := call.Tool
	if call.Method != "" {
		tool = call.Method + " " + tool
	}
	took := call.Duration().Round(time.Microsecond).String()
	return []string{strconv.Itoa(call.Number), at, outcome, took, tool, arguments}
}

func historyUnreadable(err error) error {
	return fault.Usage("cannot read the execution log: "+fault.Reason(err), "see "+stores.History())
}

// oneOptions select one call.
type oneOptions struct {
	Out *streams.Streams

	number int
	json   bool
}

// take reads the number of a call.
func (o *oneOptions) take(verb string, args []string) error {
	fix := "toolx history " + verb + " N; toolx history shows the numbers"
	if len(args) != 1 {
		return fault.Usage("exactly one call number is required", fix)
	}
	number, err := strconv.Atoi(args[0])
	if err != nil || number < 1 {
		return fault.Usage(strconv.Quote(args[0])+" is not the number of a call", fix)
	}
	o.number = number
	return nil
}

// call returns the selected call.
func (o *oneOptions) call() (*history.Call, error) {
	call, err := history.Find(stores.History(), o.number)
	if err != nil {
		return nil, historyUnreadable(err)
	}
	if call == nil {
		return nil, fault.Usage(fmt.Sprintf("the execution log has no call %d", o.number),
			"toolx history shows the numbers")
	}
	return call, nil
}

func newHistoryShowCommand(f *factory.Factory, run cli.RunFunc[oneOptions]) *cobra.Command {
	o := oneOptions{Out: f.Out}
	cmd := &cobra.Command{
		Use:   "show N",
		Short: "Show a logged call with its arguments and result",
		Long: `Show a logged call: time, duration, origin, arguments, and result or error. Secrets are
masked in the log.

` + historyExits,
		Args: func(_ *cobra.Command, args []string) error { return o.take("show", args) },
		RunE: cli.Run(&o, run),
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print the call as JSON, as it was logged")
	return cmd
}

func runHistoryShow(_ context.Context, o oneOptions) error {
	call, err := o.call()
	if err != nil {
		return err
	}
	if o.json {
		return o.Out.PrintJSON(call)
	}
	rows := [][]string{
		{"tool", call.Tool},
		{"method", call.Method},
		{"server", call.Server},
		{"program", call.Program},
		{"time", call.Time.Local().Format(time.RFC3339)},
		{"took", call.Duration().Round(time.Microsecond).String()},
		{"arguments", logged(call.Arguments, int64(call.ArgumentsBytes))},
		{"result", logged(call.Result, call.ResultBytes)},
		{"error", call.Error},
		{"kind", string(call.Kind)},
	}
	return o.Out.PrintTable(nil, slices.DeleteFunc(rows, func(row []string) bool { return row[1] == "" }))
}

// logged returns a value from the log on one line, with its size if it was cut.
func logged(value json.RawMessage, size int64) string {
	if len(value) == 0 {
		return ""
	}
	text := string(value)
	if size > 0 {
		return fmt.Sprintf("%s… (%s in all)", rawjson.Unquote(value), exec.Bytes(size))
	}
	return text
}

type clearOptions struct{ Out *streams.Streams }

func newHistoryClearCommand(f *factory.Factory, run cli.RunFunc[clearOptions]) *cobra.Command {
	return &cobra.Command{
		Use:   "clear",
		Short: "Remove all logged calls",
		Long:  "Delete the log of all calls, with their arguments and results.\n\n" + historyExits,
		Args:  cli.NoArguments,
		RunE:  cli.Run(&clearOptions{f.Out}, run),
	}
}

func runHistoryClear(_ context.Context, o clearOptions) error {
	calls, err := history.Clear(stores.History())
	if err != nil {
		return fault.Usage("cannot remove the execution log: "+fault.Reason(err), "see "+stores.History())
	}
	o.Out.Say("removed %s", words.Count(calls, "call"))
	return nil
}

// rerunOptions say which call to run again, and how.
type rerunOptions struct {
	Out      *streams.Streams
	Tools    *toolset.Opener
	Requests *request.Sender

	oneOptions
	call call.Options
}

func newHistoryRerunCommand(f *factory.Factory, run cli.RunFunc[rerunOptions]) *cobra.Command {
	o := rerunOptions{Out: f.Out, Tools: f.Tools, Requests: f.Requests, call: call.NewOptions(f)}
	formats := []string{"text", "json", "raw"}
	cmd := &cobra.Command{
		Use:   "rerun N [-- COMMAND…]",
		Short: "Run a logged call again",
		Long: `Run a logged call again with the same arguments: a tool call, or a resource or prompt
that was read. The new call is logged like any other.

The server is the one with that name in the current config, or the command line of the
logged call, unless -- gives another. The log does not contain --cwd and --env. A call
whose arguments are masked or shortened in the log cannot be rerun.

Other exit codes are those of toolx call.

` + historyExits,
		Example: `  toolx history rerun 12
  toolx history rerun 12 --dry-run`,
		Args: cli.WithCommand(&o.call.Server, func(args []string) error { return o.take("rerun", args) }),
	}
	flags := cmd.Flags()
	o.call.ReplyFlags.Declare(flags, formats...)
	o.call.DeclareContent(flags)
	flags.BoolVar(&o.call.DryRun, "dry-run", false, "print the request instead of sending it")
	flags.BoolVarP(&o.call.Guards.Yes, "yes", "y", false, "skip confirmation prompts")
	o.call.Guards.Declare(flags)
	o.call.Guards.DeclareConfirm(flags)
	cmd.RunE = cli.Run(&o, run, o.call.Check(flags, formats...), o.call.Guards.Check)
	return cmd
}

// runHistoryRerun runs a logged call like toolx call, or like the command that made it.
func runHistoryRerun(ctx context.Context, o rerunOptions) error {
	logged, err := o.oneOptions.call()
	if err != nil {
		return err
	}
	if err := rerunnable(logged); err != nil {
		return err
	}
	if err := findLoggedServer(o.Tools, logged, &o.call); err != nil {
		return err
	}
	switch logged.Method {
	case "":
		o.call.Tool = loggedTool(logged)
		o.call.ReadLogged(logged.Arguments)
		return call.Run(ctx, o.call)
	case "resources/read":
		return resources.RunResourceRead(ctx, resources.ResourceOptions{
			Requests: o.Requests, ReplyFlags: o.call.ReplyFlags, URI: logged.Tool,
		})
	}
	return resources.RunPromptGet(ctx, resources.PromptOptions{
		Out: o.Out, Requests: o.Requests,
		ReplyFlags: o.call.ReplyFlags, Prompt: logged.Tool, Object: string(logged.Arguments),
	})
}

// rerunnable returns why a call cannot be run again from the log.
func rerunnable(call *history.Call) error {
	say := func(why, fix string) error { return fault.Usage(fmt.Sprintf("call %d %s", call.Number, why), fix) }
	switch {
	case !slices.Contains([]string{"", "resources/read", "prompts/get"}, call.Method):
		return say("was "+call.Method+", which cannot be rerun", "toolx raw SERVER "+call.Method+" --args JSON")
	case call.IsCut():
		return say("has arguments that the log has cut",
			"give them: "+exec.PasteLine("toolx", "call", call.Tool, "--args", "@FILE"))
	case call.IsMasked():
		return say("has secrets that the log masks", "put them in place of "+mask.Mask+": "+
			exec.PasteLine("toolx", "call", call.Tool, "--args", string(call.Arguments)))
	}
	return nil
}

// findLoggedServer sets the command line or address of a call's server if no config has it. It warns if this config
// does not have the server.
func findLoggedServer(a *toolset.Opener, call *history.Call, o *call.Options) error {
	if len(o.Server) > 0 || a.Flags.URL != "" || call.Server == "" {
		return nil
	}
	if call.Program == "" {
		loaded, err := a.Consent.LoadConfig()
		named := func(server *config.Server) bool { return server.Name == call.Server }
		if err == nil && !slices.ContainsFunc(loaded.Servers, named) {
			a.Out.Log.Warn(fmt.Sprintf("call %d was made with the server '%s' of another config: --config names it",
				call.Number, call.Server))
		}
		return nil // the call itself reports problems of a config
	}
	if correct.MisplacedAs(call.Program) == correct.InURL {
		a.Flags.URL = call.Program
		return nil
	}
	commands := cmdline.ShellCommands(call.Program)
	if len(commands) != 1 || exec.PasteLine(commands[0].Words...) != call.Program ||
		strings.Contains(call.Program, mask.Mask) {
		return fault.Usage(fmt.Sprintf("the log does not have the full command line of call %d: %s", call.Number,
			call.Program), fmt.Sprintf("toolx history rerun %d -- COMMAND…", call.Number))
	}
	o.Server = commands[0].Words
	return nil
}

// loggedTool returns the name for finding a logged call's tool. One of toolx's own tools has no server, and must not be
// confused with a server's tool of the same name.
func loggedTool(call *history.Call) string {
	found := call.Success || slices.Contains([]fault.Kind{
		fault.KindTool, fault.KindInvalidArguments, fault.KindTimeout, fault.KindInterrupted,
	}, call.Kind)
	if call.Server == "" && found && !strings.HasPrefix(call.Tool, exec.Own+exec.Separator) {
		return exec.Own + exec.Separator + call.Tool
	}
	return call.Tool
}
