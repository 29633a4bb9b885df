package cmd

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
	"toolx/cmd/exit"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/servers"
)

// callOptions are what a user says of one call.
type callOptions struct {
	replyOptions
	tool      string
	args      []string // k=v, in the order given
	object    string   // --args
	dryRun    bool
	strict    bool
	keepNames bool
	model     modelOptions
	batch     batchOptions
	guards    guardOptions
	edit      bool
}

// takeArgs reads the arguments: a tool and k=v, and a server's command line after --.
func (o *callOptions) takeArgs(cmd *cobra.Command, args []string) error {
	return cli.WithCommand(&o.server, func(args []string) error {
		// A flag that lacks --batch or --from-tool-call says more than the lack of a tool.
		if err := cmp.Or(cli.CheckGroups(cmd), o.batch.check(cmd, args), o.model.check(cmd, args)); err != nil {
			return err
		}
		if o.batch.from != "" && len(args) > 0 {
			o.tool = args[0]
		}
		if o.model.from != "" || o.batch.from != "" {
			return nil
		}
		if len(args) == 0 || args[0] == "" {
			return fault.Usage("name a tool", "toolx call TOOL; toolx list shows the tools")
		}
		o.tool = args[0]
		o.args = append(o.args, args[1:]...)
		return nil
	})(cmd, args)
}

func newCallCommand(app *App, run RunFunc[callOptions]) *cobra.Command {
	var o callOptions
	cmd := &cobra.Command{
		Use:   "call TOOL [k=v…] [-- COMMAND…]",
		Short: "Run one tool",
		Long: `Run one tool and print its result on stdout.

TOOL is server__tool, the name of a tool of the config, a plain name that only one
server has, or that of a built-in tool; toolx__tool is one of toolx's own in any case.
Arguments are typed by the tool's schema, never by their look:

  k=v        typed by the schema; a repeated key fills an array
  k:=JSON    always JSON
  k=@FILE    the file's content; k=@- reads standard input; @@ is a literal @
  a.b=v      inside the object a
  --args     the whole object: JSON, @FILE or - for standard input

toolx call TOOL --help shows what the tool takes, as it was last listed.

With --from-tool-call, the calls are those of a model: a provider's tool call, or a
whole message or response that holds some. All of them are made, and the message
that the provider takes with their results is printed.

With --batch, each line of a file is a call, and each line of stdout its result;
with a TOOL as well, a line is the arguments alone.

Exit codes: 0 success, 2 wrong usage or arguments, 3 authentication, 4 the server
was not reached, 5 the tool failed (or any call of a model's message; any tool of a
batch, which else has the code of its first failure), 6 the protocol was broken, 124
timeout, 130 interrupted.`,
		Example: `  toolx call echo --arg message=hi -- npx -y @modelcontextprotocol/server-everything
  toolx call zwave__control_zwave_device --arg device_name="Switch One" --arg command=on
  toolx call datetime time=2026-01-02 --json | jq -r .result.weekday
  toolx call search --args '{"query":"TODO","path":"."}' --jq '.matches[].file'
  toolx call --from-tool-call response.json --sequential
  toolx call --batch calls.jsonl --parallel 4`,
		Args:              o.takeArgs,
		ValidArgsFunction: o.model.complete(completeCall(app.tools)),
	}
	flags, formats := cmd.Flags(), []string{"text", "json", "raw"}
	declareArguments(flags, &o.args, &o.object)
	o.replyOptions.declare(flags, formats...)
	o.declareContent(flags)
	flags.BoolVar(&o.dryRun, "dry-run", false, "print the request instead of sending it")
	flags.BoolVar(&o.strict, "strict", false, "refuse parameters that the schema does not know")
	flags.BoolVar(&o.keepNames, "keep-names", false, "send parameter names as given, not normalized")
	flags.BoolVar(&o.edit, "edit", false, "fill the rest in on the terminal, with the form of toolx tui")
	o.model.declare(cmd)
	o.batch.declare(cmd)
	o.guards.declare(flags)
	o.guards.declareConfirm(flags)
	flags.BoolVarP(&o.guards.yes, "yes", "y", false, "make calls that are to be confirmed without asking")
	cmd.RunE = runs(app, &o, run, o.check(flags, formats...), o.guards.check)
	cmd.SetHelpFunc(helpOfTool(app.tools, cmd.HelpFunc()))
	return cmd
}

// runCall makes a call, from the options to what is printed. Every failure is a Result, so that --json has its
// envelope.
func runCall(ctx context.Context, app *App, o callOptions) error {
	switch {
	case o.batch.from != "":
		return runBatch(ctx, app, o)
	case o.model.from != "":
		return runModelCalls(ctx, app, o)
	case o.edit:
		return runTUI(ctx, app, o.form())
	}
	began := time.Now()
	jq, err := render.CompileJQ(o.jq)
	if err != nil {
		return exit.Usage(err)
	}
	box, err := app.tools.toolbox(toolboxOptions{
		server: o.server, strict: o.strict, keepNames: o.keepNames, tellsFailures: true,
		namesUnknown: o.output != "json", answers: &o.answers, reusesLists: true,
		guards: o.guards, stays: true,
	})
	if err == nil && !o.whole() {
		box.executor.Defaults.MaxOutput, err = app.results.maxOutput(o.maxOutput, box.config())
	}
	if err != nil {
		return app.results.printResult(ctx, &exec.Result{ToolName: o.tool, Err: err}, o.replyOptions, jq)
	}
	box.executor.Confirm = box.confirmCall(o.guards.yes)
	box.letLogin(o.tool)
	stop := app.out.ShowProgress(app.bus, o.tool)
	defer stop()
	bounded, done := box.bounded(ctx, exec.TimeoutError{Tool: o.tool})
	defer done()
	var prepared exec.Call
	tool, err := findCalled(bounded, box, o)
	if err == nil {
		began = time.Now() // EXEC-12: what the server's start took is no part of reading the arguments
		prepared, err = prepareCall(bounded, box, o, tool)
	}
	if err != nil {
		rejected := box.executor.Reject(o.tool, o.given(), began, err)
		rejected.Err = app.corrector.elsewhere(rejected.Err, app.line.args)
		return app.results.printResult(ctx, rejected, o.replyOptions, jq)
	}
	if o.dryRun {
		err = printRequest(bounded, box, prepared, map[string]int{})
		return cmp.Or(ended(bounded, o.tool, slowSchema), err)
	}
	result := box.executor.Call(bounded, prepared)
	box.addStartTiming(result)
	stop()
	return app.results.printResult(bounded, result, o.replyOptions, jq)
}

// given returns the arguments as they were typed, for the log of a call that was not made (EXEC-11).
func (o callOptions) given() json.RawMessage {
	given, _ := rawjson.Marshal(struct { // texts always marshal
		Args []string `json:"--arg,omitempty"`
		JSON string   `json:"--args,omitempty"`
	}{o.args, o.object})
	return given
}

// inputOf returns the arguments of a call as they were typed.
func inputOf(b *toolbox, o callOptions) exec.Input {
	return exec.Input{Args: o.args, Object: o.object, Stdin: b.out.Console.In}
}

// findCalled opens what the tool needs, and finds it. Arguments that no schema could accept are
// reported before a server starts.
func findCalled(ctx context.Context, b *toolbox, o callOptions) (*exec.Tool, error) {
	if err := exec.CheckInput(inputOf(b, o)); err != nil {
		return nil, explainInput(b, err, o)
	}
	tool, err := b.pool.Find(ctx, o.tool)
	return tool, cmp.Or(gaveUp(ctx, o.tool, ""), err)
}

// prepareCall reads the arguments by the schema of the tool.
func prepareCall(ctx context.Context, b *toolbox, o callOptions, tool *exec.Tool) (exec.Call, error) {
	resume := exec.Pause(ctx) // standard input may take its time
	arguments, err := exec.ParseArgs(tool, inputOf(b, o))
	resume()
	if err != nil {
		err = b.executor.Complete(ctx, err)
		return exec.Call{}, cmp.Or(ended(ctx, o.tool, slowSchema), err)
	}
	call := exec.Call{Tool: tool.Name, Target: tool, Arguments: arguments}
	call.Timeout, call.MaxTime = b.flags.Timeout, b.flags.MaxTime
	return call, nil
}

// explainInput returns a better error than err where the tool's name is the value of --trace, or a server.
func explainInput(b *toolbox, err error, o callOptions) error {
	switch {
	case b.flags.Trace == cli.TraceLines && (o.tool == cli.TraceFull || o.tool == cli.TraceLines):
		return fault.Usage("--trace takes its value after =", "--trace="+o.tool)
	case !b.adHoc && slices.Contains(b.pool.Names(), o.tool) && len(o.args) > 0 && !strings.Contains(o.args[0], "="):
		words := append([]string{"toolx", "call", o.tool + exec.Separator + o.args[0]}, o.args[1:]...)
		return fault.Usage("'"+o.tool+"' is a server, not a tool",
			"did you mean: "+exec.PasteLine(append(words, b.flags.ConnectionFlags()...)...))
	}
	return err
}

// printRequest prints the request that a call would send (--dry-run). shown counts the requests that were printed
// already, by server.
func printRequest(ctx context.Context, b *toolbox, call exec.Call, shown map[string]int) error {
	prepared, err := b.executor.Prepare(ctx, call)
	if err != nil {
		return err
	}
	for _, warning := range prepared.Warnings {
		b.out.Log.Warn(warning)
	}
	request, err := requestOf(b, prepared, shown[prepared.Tool.Server])
	if err != nil {
		return err
	}
	shown[prepared.Tool.Server]++
	_, err = fmt.Fprintf(b.out.Console.Out, "%s\n", request)
	return err
}

// requestOf returns the JSON-RPC request of a call, as it would be sent after that many others to its server. For one
// of toolx's own tools it is the request that a client of "toolx serve" would send.
func requestOf(b *toolbox, prepared *exec.Prepared, after int) (json.RawMessage, error) {
	if session := b.pool.Session(prepared.Tool.Server); session != nil {
		params := session.ToolParams(prepared.Tool.Plain, prepared.Arguments)
		return session.NextRequest("tools/call", params, after)
	}
	return rawjson.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1 + after, "method": "tools/call",
		"params": servers.CallParams(prepared.Tool.Name, prepared.Arguments),
	})
}
