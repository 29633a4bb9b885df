// Package call has toolx call: it runs one call, the calls in a file, or the calls in a model's message.
package call

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/complete"
	"toolx/cmd/correct"
	"toolx/cmd/exit"
	"toolx/cmd/factory"
	"toolx/cmd/request"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	tuicmd "toolx/cmd/tui"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
)

// Options describe one call.
type Options struct {
	Out       *streams.Streams
	Tools     *toolset.Opener
	Printer   *request.Printer
	Corrector *correct.Corrector
	Line      *cli.CommandLine

	request.ReplyFlags
	Tool      string
	Args      []string // k=v, in the order given
	Object    string   // --args
	DryRun    bool
	strict    bool
	keepNames bool
	model     modelOptions
	batch     batchOptions
	expect    []string // jq expressions that must be true of the result
	saveAs    string   // the file to which the call is added; empty for none
	Guards    toolset.Guards
	edit      bool
	screen    tuicmd.Options // for --edit
}

// takeArgs reads the arguments: a tool and k=v, and a server's command line after --.
func (o *Options) takeArgs(cmd *cobra.Command, args []string) error {
	return cli.WithCommand(&o.Server, func(args []string) error {
		// A flag without the --batch or --from-tool-call that it needs is a better explanation than a missing tool.
		if err := cmp.Or(cli.CheckGroups(cmd), o.batch.check(cmd, args), o.model.check(cmd, args)); err != nil {
			return err
		}
		if o.batch.from != "" && len(args) > 0 {
			o.Tool = args[0]
		}
		if o.model.from != "" || o.batch.from != "" {
			return nil
		}
		if len(args) == 0 || args[0] == "" {
			return fault.Usage("a tool name is required", "toolx call TOOL; toolx list shows the tools")
		}
		o.Tool = args[0]
		o.Args = append(o.Args, args[1:]...)
		return nil
	})(cmd, args)
}

// NewOptions returns options with the dependencies that f makes.
func NewOptions(f *factory.Factory) Options {
	return Options{
		Out: f.Out, Tools: f.Tools, Printer: f.Printer, Corrector: f.Corrector, Line: f.Line,
		screen: tuicmd.NewOptions(f),
	}
}

// New returns the command call; run runs it.
func New(f *factory.Factory, run cli.RunFunc[Options]) *cobra.Command {
	o := NewOptions(f)
	cmd := &cobra.Command{
		Use:   "call TOOL [k=v…] [-- COMMAND…]",
		Short: "Call a tool",
		Long: `Call a tool and print its result on stdout.

TOOL is server__tool, the name of a tool in the config, a name that only one server
has, or a built-in tool; toolx__tool is always a built-in one. The tool's schema gives
arguments their types:

  k=v        typed by the schema; a repeated key fills an array
  k:=JSON    always JSON
  k=@FILE    the file's content; k=@- reads standard input; @@ is a literal @
  a.b=v      inside the object a
  --args     the whole object: JSON, @FILE or - for standard input

toolx call TOOL --help shows the tool's parameters from the last listing.

--from-tool-call reads a model's tool call, message or response, runs its calls, and
prints the message that the provider expects in reply. --batch reads one call per line
and prints one result per line; with a TOOL, each line is just its arguments.

--expect tests the result with jq, and --save-as adds the call to a batch of tests.

Exit codes: 0 success, 2 wrong usage or arguments, 3 authentication required, 4 the
server could not be reached, 5 a tool failed or its result is not as expected (if only
other calls of a batch failed, the code of the first one), 6 the server broke the
protocol, 124 timeout, 130 interrupted.`,
		Example: `  toolx call echo --arg message=hi -- npx -y @modelcontextprotocol/server-everything
  toolx call zwave__control_zwave_device --arg device_name="Switch One" --arg command=on
  toolx call datetime time=2026-01-02 --json | jq -r .result.weekday
  toolx call search --args '{"query":"TODO","path":"."}' --jq '.matches[].file'
  toolx call --from-tool-call response.json --sequential
  toolx call --batch calls.jsonl --parallel 4
  toolx call datetime time=2026-01-02 --expect '.weekday == "Friday"' --save-as tests.jsonl
  toolx call --batch tests.jsonl --report junit=toolx.xml`,
		Args:              o.takeArgs,
		ValidArgsFunction: o.model.complete(complete.Call(f.Tools)),
	}
	flags, formats := cmd.Flags(), []string{"text", "json", "raw"}
	request.DeclareArguments(flags, &o.Args, &o.Object)
	o.ReplyFlags.Declare(flags, formats...)
	o.DeclareContent(flags)
	flags.BoolVar(&o.DryRun, "dry-run", false, "print the request instead of sending it")
	flags.BoolVar(&o.strict, "strict", false, "reject parameters that are not in the schema")
	flags.BoolVar(&o.keepNames, "keep-names", false, "do not normalize parameter names")
	flags.BoolVar(&o.edit, "edit", false, "fill in the remaining arguments in a form")
	o.model.declare(cmd)
	o.batch.declare(cmd)
	o.declareExpect(cmd)
	o.Guards.Declare(flags)
	o.Guards.DeclareConfirm(flags)
	flags.BoolVarP(&o.Guards.Yes, "yes", "y", false, "skip confirmation prompts")
	cmd.RunE = cli.Run(&o, run, o.Check(flags, formats...), o.Guards.Check)
	cmd.SetHelpFunc(helpOfTool(f.Tools))
	return cmd
}

// Run makes a call and prints its result. Every failure is a Result, so that --json prints an envelope.
func Run(ctx context.Context, o Options) error {
	switch {
	case o.batch.from != "":
		return runBatch(ctx, o)
	case o.model.from != "":
		return runModelCalls(ctx, o)
	case o.edit:
		return tuicmd.Run(ctx, o.form())
	}
	began := time.Now()
	jq, err := render.CompileJQ(o.Jq)
	if err != nil {
		return exit.Usage(err)
	}
	expected, err := render.CompileExpectations(o.expect)
	if err != nil {
		return err
	}
	box, err := o.Tools.Open(toolset.Options{
		Server: o.Server, Strict: o.strict, KeepNames: o.keepNames, ReportFailures: true,
		SuggestUnknown: o.Output != "json", Answers: &o.Answers, ReusesLists: true,
		Guards: o.Guards, KeepAlive: true,
	})
	if checks := expected != nil && o.MaxOutput == ""; err == nil && !o.Whole() && !checks {
		box.Executor.Defaults.MaxOutput, err = o.Printer.Limit(o.MaxOutput, box.Config())
	}
	if err != nil {
		return o.Printer.Print(ctx, &exec.Result{ToolName: o.Tool, Err: err}, o.ReplyFlags, jq)
	}
	box.Executor.Confirm = box.ConfirmCall(o.Guards.Yes)
	box.AllowLogin(o.Tool)
	stop := o.Tools.ShowProgress(o.Tool)
	defer stop()
	bounded, done := box.Bounded(ctx, exec.TimeoutError{Tool: o.Tool})
	defer done()
	var prepared exec.Call
	input := exec.Input{Args: o.Args, Object: o.Object, Stdin: box.Out.Console.In}
	tool, err := findCalled(bounded, box, o, input)
	if err == nil {
		began = time.Now() // EXEC-12: what the server's start took is no part of reading the arguments
		prepared, err = prepareCall(bounded, box, tool, input)
	}
	if err != nil {
		rejected := box.Executor.Reject(o.Tool, o.given(), began, err)
		rejected.Err = o.Corrector.Explain(rejected.Err, o.Line.Args)
		return o.Printer.Print(ctx, rejected, o.ReplyFlags, jq)
	}
	if o.DryRun {
		err = printRequest(bounded, box, prepared, map[string]int{})
		return cmp.Or(toolset.Ended(bounded, o.Tool, toolset.SlowSchema), err)
	}
	result := box.Executor.Call(bounded, prepared)
	checkExpectations(bounded, result, expected)
	box.AddStartTiming(result)
	stop()
	failed := o.Printer.Print(bounded, result, o.ReplyFlags, jq)
	return cmp.Or(failed, o.saveCall(ctx, prepared, result))
}

// given returns the arguments as they were typed, for the log of a call that was not made (EXEC-11).
func (o Options) given() json.RawMessage {
	given, _ := rawjson.Marshal(struct { // texts always marshal
		Args []string `json:"--arg,omitempty"`
		JSON string   `json:"--args,omitempty"`
	}{o.Args, o.Object})
	return given
}

// findCalled opens what the tool needs, and finds it. Arguments that no schema could accept are
// reported before a server starts.
func findCalled(ctx context.Context, b *toolset.Set, o Options, input exec.Input) (*exec.Tool, error) {
	if err := exec.CheckInput(input); err != nil {
		return nil, explainInput(b, err, o)
	}
	tool, err := b.Pool.Find(ctx, o.Tool)
	return tool, cmp.Or(toolset.GaveUp(ctx, o.Tool, ""), err)
}

// prepareCall reads the arguments by the schema of the tool.
func prepareCall(ctx context.Context, b *toolset.Set, tool *exec.Tool, input exec.Input) (exec.Call, error) {
	resume := exec.Pause(ctx) // standard input may take its time
	arguments, err := exec.ParseArgs(tool, input)
	resume()
	if err != nil {
		err = b.Executor.Complete(ctx, err)
		return exec.Call{}, cmp.Or(toolset.Ended(ctx, tool.Name, toolset.SlowSchema), err)
	}
	call := exec.Call{Tool: tool.Name, Target: tool, Arguments: arguments}
	call.Timeout, call.MaxTime = b.Flags.Timeout, b.Flags.MaxTime
	return call, nil
}

// explainInput returns a better error than err if the tool's name is the value of --trace, or a server.
func explainInput(b *toolset.Set, err error, o Options) error {
	switch {
	case b.Flags.Trace == cli.TraceLines && (o.Tool == cli.TraceFull || o.Tool == cli.TraceLines):
		return fault.Usage("--trace takes its value after =", "--trace="+o.Tool)
	case !b.AdHoc && slices.Contains(b.Pool.Names(), o.Tool) && len(o.Args) > 0 && !strings.Contains(o.Args[0], "="):
		words := append([]string{"toolx", "call", o.Tool + exec.Separator + o.Args[0]}, o.Args[1:]...)
		return fault.Usage("'"+o.Tool+"' is a server, not a tool",
			"did you mean: "+exec.PasteLine(append(words, b.Flags.ConnectionFlags()...)...))
	}
	return err
}

// printRequest prints the request that a call would send (--dry-run). shown counts the requests printed so far, by
// server.
func printRequest(ctx context.Context, b *toolset.Set, call exec.Call, shown map[string]int) error {
	prepared, err := b.Executor.Prepare(ctx, call)
	if err != nil {
		return err
	}
	for _, warning := range prepared.Warnings {
		b.Out.Log.Warn(warning)
	}
	request, err := request.RequestOf(b, prepared, shown[prepared.Tool.Server])
	if err != nil {
		return err
	}
	shown[prepared.Tool.Server]++
	_, err = fmt.Fprintf(b.Out.Console.Out, "%s\n", request)
	return err
}

// ReadLogged uses the arguments of a logged call: those that were sent, or for one that could not be read, those that
// were typed (see given).
func (o *Options) ReadLogged(arguments json.RawMessage) {
	var typed struct {
		Args   []string `json:"--arg"`
		Object string   `json:"--args"`
	}
	isTyped := rawjson.Get(arguments, "--arg") != nil || rawjson.Get(arguments, "--args") != nil
	if isTyped && json.Unmarshal(arguments, &typed) == nil {
		o.Args, o.Object = typed.Args, typed.Object
		return
	}
	o.Object = string(arguments)
}
