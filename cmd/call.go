package cmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolx/pkg/config"
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
	return withCommand(&o.server, func(args []string) error {
		// A flag that lacks --batch or --from-tool-call says more than the lack of a tool.
		if err := cmp.Or(checkGroups(cmd), o.batch.check(cmd, args), o.model.check(cmd, args)); err != nil {
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

func newCallCommand(app *App, run runFunc[callOptions]) *cobra.Command {
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
		ValidArgsFunction: o.model.complete(completeCall(app)),
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
	cmd.SetHelpFunc(helpOfTool(app, cmd.HelpFunc()))
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
		return usageError(err)
	}
	box, err := app.toolbox(toolboxOptions{
		server: o.server, strict: o.strict, keepNames: o.keepNames, tellsFailures: true,
		namesUnknown: o.output != "json", answers: &o.answers, reusesLists: true,
		guards: o.guards, stays: true,
	})
	if err == nil && !o.whole() {
		box.executor.Defaults.MaxOutput, err = app.maxOutput(o.maxOutput, box.config())
	}
	if err != nil {
		return app.printResult(ctx, &exec.Result{ToolName: o.tool, Err: err}, o.replyOptions, jq)
	}
	box.executor.Confirm = box.confirmCall(o.guards.yes)
	box.letLogin(o.tool)
	stop := app.showProgress(o.tool)
	defer stop()
	bounded, done := box.bounded(ctx, exec.TimeoutError{Tool: o.tool})
	defer done()
	var prepared exec.Call
	tool, err := box.findCalled(bounded, o)
	if err == nil {
		began = time.Now() // EXEC-12: what the server's start took is no part of reading the arguments
		prepared, err = box.prepareCall(bounded, o, tool)
	}
	if err != nil {
		rejected := box.executor.Reject(o.tool, o.given(), began, err)
		rejected.Err = app.elsewhere(rejected.Err, app.args)
		return app.printResult(ctx, rejected, o.replyOptions, jq)
	}
	if o.dryRun {
		err = box.printRequest(bounded, prepared, map[string]int{})
		return cmp.Or(ended(bounded, o.tool, slowSchema), err)
	}
	result := box.executor.Call(bounded, prepared)
	box.addStartTiming(result)
	stop()
	return app.printResult(bounded, result, o.replyOptions, jq)
}

// given returns the arguments as they were typed, for the log of a call that was not made (EXEC-11).
func (o callOptions) given() json.RawMessage {
	given, _ := rawjson.Marshal(struct { // texts always marshal
		Args []string `json:"--arg,omitempty"`
		JSON string   `json:"--args,omitempty"`
	}{o.args, o.object})
	return given
}

// input returns the arguments of a call as they were typed.
func (b *toolbox) input(o callOptions) exec.Input {
	return exec.Input{Args: o.args, Object: o.object, Stdin: b.Console.In}
}

// findCalled opens what the tool needs, and finds it. Arguments that no schema could accept are
// reported before a server starts.
func (b *toolbox) findCalled(ctx context.Context, o callOptions) (*exec.Tool, error) {
	if err := exec.CheckInput(b.input(o)); err != nil {
		return nil, b.explainInput(err, o)
	}
	tool, err := b.pool.Find(ctx, o.tool)
	return tool, cmp.Or(gaveUp(ctx, o.tool, ""), err)
}

// prepareCall reads the arguments by the schema of the tool.
func (b *toolbox) prepareCall(ctx context.Context, o callOptions, tool *exec.Tool) (exec.Call, error) {
	resume := exec.Pause(ctx) // standard input may take its time
	arguments, err := exec.ParseArgs(tool, b.input(o))
	resume()
	if err != nil {
		err = b.executor.Complete(ctx, err)
		return exec.Call{}, cmp.Or(ended(ctx, o.tool, slowSchema), err)
	}
	call := exec.Call{Tool: tool.Name, Target: tool, Arguments: arguments}
	call.Timeout, call.MaxTime = b.flags.timeout, b.flags.maxTime
	return call, nil
}

// explainInput returns a better error than err where the tool's name is the value of --trace, or a server.
func (b *toolbox) explainInput(err error, o callOptions) error {
	switch {
	case b.flags.trace == traceLines && (o.tool == traceFull || o.tool == traceLines):
		return fault.Usage("--trace takes its value after =", "--trace="+o.tool)
	case !b.adHoc && slices.Contains(b.pool.Names(), o.tool) && len(o.args) > 0 && !strings.Contains(o.args[0], "="):
		words := append([]string{"toolx", "call", o.tool + exec.Separator + o.args[0]}, o.args[1:]...)
		return fault.Usage("'"+o.tool+"' is a server, not a tool",
			"did you mean: "+exec.PasteLine(append(words, b.flags.connectionFlags()...)...))
	}
	return err
}

// addStartTiming adds what the server's start took to the time of its call, and whether the server ran before.
func (b *toolbox) addStartTiming(result *exec.Result) {
	session := b.pool.Session(result.Server)
	if session == nil || result.Timing == nil {
		return
	}
	if held := session.Held; held != nil {
		result.Session = &exec.SessionUse{Reused: held.Reused, AgeMS: exec.Milliseconds(held.Age)}
	}
	timing := session.Timing
	timing.CallMS = result.Timing.CallMS
	result.Timing = &timing
}

// defaultMaxOutput is the size in bytes at which output for a terminal is cut.
const defaultMaxOutput = 256 << 10

// maxRawError is how many bytes of a tool's failure stderr repeats where stdout has the raw result.
const maxRawError = 1 << 10

// maxOutput returns the size at which output is cut: the flag's, else the config's, else a default on a terminal, and
// none in a pipe (EXEC-14).
func (o *output) maxOutput(flag string, loaded *config.Config) (int64, error) {
	wanted := loaded.Defaults.MaxOutput
	if flag != "" {
		size, err := config.ParseSize(flag)
		if err != nil {
			return 0, fault.Usage("--max-output: "+err.Error(), "--max-output 1MiB")
		}
		wanted = &size
	}
	switch {
	case wanted != nil:
		if o.maxError = max(*wanted, defaultMaxOutput); *wanted == 0 {
			o.maxError = -1
		}
		return *wanted, nil
	case !o.Console.OutTTY:
		return 0, nil
	}
	return defaultMaxOutput, nil
}

// printResult prints a result in the format that was asked for. The error it returns is the call's own, marked as
// reported where the output has told it.
func (o *output) printResult(ctx context.Context, result *exec.Result, options replyOptions, jq *render.JQ) error {
	o.live.Clear()
	result.Err = o.masked(result.Err)
	if options.output == "raw" && len(result.Raw) > 0 {
		o.maxError = maxRawError
	}
	saveErr := o.saveBlocks(options.save, result)
	if jq != nil && result.Success {
		if _, read := render.JQInput(result); read {
			o.log.Info("the result is JSON in a text; --jq works on what it says")
		}
	}
	o.addNext(result, o.led.verb)
	as := render.ResultOptions{Format: render.Format(options.output), JQ: jq, Screen: o.outScreen()}
	if err := o.writeResult(ctx, result, as); err != nil {
		return err
	}
	if remark := render.TruncationRemark(result); remark != "" {
		o.log.Warn(remark)
	}
	if jq != nil && result.Success {
		if remark := jq.RemarkOnNull(ctx, result); remark != "" {
			o.log.Warn(remark)
		}
	}
	switch {
	case saveErr != nil:
		o.tell(saveErr)
		return &reportedError{saveErr}
	case result.Err != nil && options.output == "json":
		return &reportedError{result.Err}
	}
	return result.Err
}

// writeResult writes a result to stdout, and reports a failure to do so. With --jq under --json, stdout gets all of
// what the expression makes, or the envelope of its failure.
func (o *output) writeResult(ctx context.Context, result *exec.Result, as render.ResultOptions) error {
	var err error
	if as.JQ != nil && as.Format == render.FormatJSON {
		var picked bytes.Buffer
		if err = render.Result(ctx, &picked, result, as); err != nil {
			failed := *result
			failed.Success, failed.Err = false, o.masked(err)
			if render.Result(ctx, o.Console.Out, &failed, as) == nil {
				return &reportedError{err}
			}
		} else {
			_, err = picked.WriteTo(o.Console.Out)
		}
	} else {
		err = render.Result(ctx, o.Console.Out, result, as)
	}
	if err == nil {
		return nil
	}
	o.tell(err) // not as an envelope: part of the answer may be on stdout already
	return &reportedError{err}
}

// saveBlocks writes the binary blocks of a result into a folder, if one was named, and prints their paths. The result
// is printed even where that fails.
func (o *output) saveBlocks(folder string, result *exec.Result) error {
	if folder == "" || !result.Success {
		return nil
	}
	name := result.ToolName
	if o.led.adHoc { // no other server has anything to save
		name = strings.TrimPrefix(name, result.Server+exec.Separator)
	}
	paths, err := render.SaveBlocks(folder, name, result)
	for _, path := range paths {
		o.say("%s", render.Safe(path))
	}
	if err != nil {
		return fault.Usage("--save: "+err.Error(), "name a folder that can be written")
	}
	return nil
}

// printRequest prints the request that a call would send (--dry-run). shown counts the requests that were printed
// already, by server.
func (b *toolbox) printRequest(ctx context.Context, call exec.Call, shown map[string]int) error {
	prepared, err := b.executor.Prepare(ctx, call)
	if err != nil {
		return err
	}
	for _, warning := range prepared.Warnings {
		b.log.Warn(warning)
	}
	request, err := b.requestOf(prepared, shown[prepared.Tool.Server])
	if err != nil {
		return err
	}
	shown[prepared.Tool.Server]++
	_, err = fmt.Fprintf(b.Console.Out, "%s\n", request)
	return err
}

// requestOf returns the JSON-RPC request of a call, as it would be sent after that many others to its server. For one
// of toolx's own tools it is the request that a client of "toolx serve" would send.
func (b *toolbox) requestOf(prepared *exec.Prepared, after int) (json.RawMessage, error) {
	if session := b.pool.Session(prepared.Tool.Server); session != nil {
		params := session.ToolParams(prepared.Tool.Plain, prepared.Arguments)
		return session.NextRequest("tools/call", params, after)
	}
	return rawjson.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1 + after, "method": "tools/call",
		"params": servers.CallParams(prepared.Tool.Name, prepared.Arguments),
	})
}
