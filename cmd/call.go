package cmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/servers"
)

// callOptions are what a user says of one call.
type callOptions struct {
	tool      string
	args      []string // k=v, in the order given
	object    string   // --args
	output    string
	jq        string
	save      string
	maxOutput string
	dryRun    bool
	strict    bool
	keepNames bool
	server    []string // a command line behind --
	model     modelOptions
	edit      bool
	answers   answerOptions
}

func newCallCommand(app *App, run func(context.Context, *App, callOptions) error) *cobra.Command { //nolint:funlen // flags are a table
	var o callOptions
	var asJSON bool
	var objects []string // of --args, as often as it was given
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

With --from-tool-call, the calls are those of a model: a provider's tool call, or a
whole message or response that holds some. All of them are made, and the message
that the provider takes with their results is printed.

Exit codes: 0 success, 2 wrong usage or arguments, 3 authentication, 4 the server
was not reached, 5 the tool failed (or any call of a model's message), 6 the protocol
was broken, 124 timeout, 130 interrupted.`,
		Example: `  toolx call echo --arg message=hi -- npx -y @modelcontextprotocol/server-everything
  toolx call zwave__control_zwave_device --arg device_name="Switch One" --arg command=on
  toolx call math_eval expression='2^10' --json | jq .result
  toolx call search --args '{"query":"TODO","path":"."}' --jq '.matches[].file'
  toolx call --from-tool-call response.json --sequential`,
		Args: func(cmd *cobra.Command, args []string) (err error) {
			if args, o.server, err = splitDash(cmd, args); err != nil {
				return err
			}
			if err = o.model.check(cmd, args); err != nil || o.model.from != "" {
				return err
			}
			if len(args) == 0 || args[0] == "" {
				return fault.Usage("name a tool", "toolx call TOOL; toolx list shows the tools")
			}
			o.tool = args[0]
			o.args = append(o.args, args[1:]...)
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := oneOf("-o", o.output, "text", "json", "raw", "yaml"); err != nil {
				return err
			}
			if asJSON {
				o.output = "json"
			}
			if err := o.check(cmd.Flags(), objects); err != nil {
				return err
			}
			return run(cmd.Context(), app, o)
		},
		ValidArgsFunction: o.model.complete(completeTool(app)),
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&o.args, "arg", "a", nil, "one argument, `k=v` (repeatable)")
	flags.StringArrayVar(&objects, "args", nil, "all arguments as one `JSON` object, @FILE or -")
	flags.StringVarP(&o.output, "output", "o", "text", "`FORMAT`: text, json (the envelope), raw (the exact MCP result), yaml")
	flags.BoolVar(&asJSON, "json", false, "same as -o json")
	flags.StringVar(&o.jq, "jq", "", "print what the jq `EXPR` makes of the result")
	flags.StringVar(&o.save, "save", "", "write images, audio and other bytes into `DIR`")
	flags.StringVar(&o.maxOutput, "max-output", "", "cut the result at `SIZE` (the config's maxOutput, else 256KiB on a terminal; 0: never; not with -o raw)")
	flags.BoolVar(&o.dryRun, "dry-run", false, "print the request instead of sending it")
	flags.BoolVar(&o.strict, "strict", false, "refuse parameters that the schema does not know")
	flags.BoolVar(&o.keepNames, "keep-names", false, "send parameter names as given, not normalized")
	flags.BoolVar(&o.edit, "edit", false, "fill the rest in on the terminal, with the form of toolx tui")
	o.answers.declare(flags)
	o.model.declare(flags)
	return cmd
}

// check takes the object of --args, and refuses flags whose values say nothing, or too much.
func (o *callOptions) check(flags *pflag.FlagSet, objects []string) error {
	switch {
	case len(objects) > 1:
		return fault.Usage("--args is given twice",
			"give one object, and lay single arguments over it: --args @FILE k=v")
	case flags.Changed("args") && objects[0] == "":
		return fault.Usage("--args is empty", `--args '{"k":"v"}'`)
	case flags.Changed("save") && o.save == "":
		return fault.Usage("--save is empty", "--save DIR; --save . is this folder")
	}
	if len(objects) == 1 {
		o.object = objects[0]
	}
	return o.answers.check()
}

// runCall is the whole of a call, from the options to what is printed. Every
// failure from here on is a Result, so that --json has its envelope.
func runCall(ctx context.Context, app *App, o callOptions) error {
	switch {
	case o.model.from != "":
		return runModelCalls(ctx, app, o)
	case o.edit:
		return runTUI(ctx, app, o.form())
	}
	began := time.Now()
	jq, err := render.CompileJQ(o.jq)
	if err != nil {
		return &usageError{err}
	}
	box, err := app.toolbox(toolboxOptions{
		server: o.server, strict: o.strict, keepNames: o.keepNames, tellsFailures: true,
		namesUnknown: o.output != "json" && o.output != "yaml", answers: &o.answers,
	})
	if err == nil && o.output != "raw" && !o.wholeForJQ() { // raw is exact, whatever its size
		box.executor.Defaults.MaxOutput, err = app.maxOutput(o.maxOutput, box.config)
	}
	if err != nil {
		return app.printResult(ctx, &exec.Result{ToolName: o.tool, Err: err}, o, jq)
	}
	app.letLogin(box, o.tool)
	stop := app.showProgress(o.tool)
	defer stop()
	bounded, done := box.bounded(ctx, exec.TimeoutError{Tool: o.tool})
	defer done()
	prepared, err := box.prepareCall(bounded, app, o)
	if err != nil {
		return app.printResult(ctx, box.executor.Reject(o.tool, o.given(), began, err), o, jq)
	}
	if o.dryRun {
		err = app.printRequest(bounded, box, prepared, map[string]int{})
		return cmp.Or(ended(bounded, o.tool, slowSchema), err)
	}
	result := box.executor.Call(bounded, prepared)
	box.addStartTiming(result)
	stop()
	return app.printResult(ctx, result, o, jq)
}

// wholeForJQ reports whether --jq needs all of the result: what is cut is no JSON.
func (o callOptions) wholeForJQ() bool { return o.jq != "" && o.maxOutput == "" }

// given are the arguments as they were typed, for the log of a call that was not made (EXEC-11).
func (o callOptions) given() json.RawMessage {
	given, err := rawjson.Marshal(struct {
		Args []string `json:"--arg,omitempty"`
		JSON string   `json:"--args,omitempty"`
	}{o.args, o.object})
	if err != nil {
		return nil
	}
	return given
}

// prepareCall opens what the tool needs and reads the arguments by its schema; what is
// wrong without any schema is told before a server starts.
func (b *toolbox) prepareCall(ctx context.Context, app *App, o callOptions) (exec.Call, error) {
	input := exec.Input{Args: o.args, Object: o.object, Stdin: app.Console.In}
	if err := exec.CheckInput(input); err != nil {
		if app.flags.trace == traceLines && (o.tool == traceFull || o.tool == traceLines) {
			return exec.Call{}, fault.Usage("--trace takes its value behind =", "--trace="+o.tool)
		}
		if b.isServer(o.tool) && len(o.args) > 0 && !strings.Contains(o.args[0], "=") {
			words := append([]string{"toolx", "call", o.tool + exec.Separator + o.args[0]}, o.args[1:]...)
			err = fault.Usage("'"+o.tool+"' is a server, not a tool",
				"did you mean: "+exec.PasteLine(append(words, app.flags.reaching()...)...))
		}
		return exec.Call{}, err
	}
	tool, err := b.pool.Find(ctx, o.tool)
	if err = cmp.Or(gaveUp(ctx, o.tool, ""), err); err != nil {
		return exec.Call{}, err
	}
	resume := exec.Pause(ctx) // standard input may take its time
	arguments, err := exec.ParseArgs(tool, input)
	resume()
	if err != nil {
		err = b.executor.Complete(ctx, err)
		return exec.Call{}, cmp.Or(ended(ctx, o.tool, slowSchema), err)
	}
	return exec.Call{Tool: tool.Name, Target: tool, Arguments: arguments, Timeout: app.flags.timeout, MaxTime: app.flags.maxTime}, nil
}

// isServer reports whether a name is that of a server of the config.
func (b *toolbox) isServer(name string) bool {
	return !b.adHoc && slices.Contains(b.pool.Names(), name)
}

// addStartTiming adds what the server's start took to the time of its call.
func (b *toolbox) addStartTiming(result *exec.Result) {
	session := b.pool.Session(result.Server)
	if session == nil || result.Timing == nil {
		return
	}
	timing := session.Timing
	timing.CallMS = result.Timing.CallMS
	result.Timing = &timing
}

// defaultMaxOutput is where output for a terminal is cut: more helps nobody there.
const defaultMaxOutput = 256 << 10

// maxRawError is how many bytes of a tool's failure stderr repeats where stdout has the raw result.
const maxRawError = 1 << 10

// maxOutput is the size at which output is cut: the flag's, else the config's, else a
// default on a terminal, and none in a pipe (EXEC-14).
func (a *App) maxOutput(flag string, loaded *config.Config) (int64, error) {
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
		if a.maxError = max(*wanted, defaultMaxOutput); *wanted == 0 {
			a.maxError = -1
		}
		return *wanted, nil
	case !a.Console.OutTTY:
		return 0, nil
	}
	return defaultMaxOutput, nil
}

// printResult prints a result in the format that was asked for. The error it
// returns is the call's own, marked as reported where the output has told it.
func (a *App) printResult(ctx context.Context, result *exec.Result, o callOptions, jq *render.JQ) error {
	a.live.Clear()
	result.Err = a.masked(result.Err)
	if o.output == "raw" && len(result.Raw) > 0 {
		a.maxError = maxRawError
	}
	saveErr := a.saveBlocks(o.save, result)
	if jq != nil && result.Success {
		if _, read := render.JQInput(result); read {
			a.log.Info("the result is JSON in a text; --jq works on what it says")
		}
	}
	options := render.ResultOptions{Format: render.Format(o.output), JQ: jq, Screen: a.outScreen()}
	var picked bytes.Buffer // under --json stdout has all of what --jq makes, or the failure
	out := a.Console.Out
	if jq != nil && o.output == "json" {
		out = &picked
	}
	err := render.Result(ctx, out, result, options)
	switch {
	case out != io.Writer(&picked):
	case err == nil:
		_, err = picked.WriteTo(a.Console.Out)
	default:
		failed := *result
		failed.Success, failed.Err = false, a.masked(err)
		if render.Result(ctx, a.Console.Out, &failed, options) == nil {
			return &reportedError{err}
		}
	}
	if err != nil {
		// Part of the answer may be on stdout already: an envelope has no place there.
		a.tell(err)
		return &reportedError{err}
	}
	if remark := render.TruncationRemark(result); remark != "" {
		a.log.Warn(remark)
	}
	switch {
	case saveErr != nil:
		a.tell(saveErr)
		return &reportedError{saveErr}
	case result.Err != nil && (o.output == "json" || o.output == "yaml"):
		return &reportedError{result.Err}
	}
	return result.Err
}

// saveBlocks writes the binary blocks of a result into a folder, if one was named,
// and tells their paths. The result is printed all the same where that fails.
func (a *App) saveBlocks(folder string, result *exec.Result) error {
	if folder == "" || !result.Success {
		return nil
	}
	paths, err := render.SaveBlocks(folder, result)
	for _, path := range paths {
		fmt.Fprintln(a.live, render.Safe(path))
	}
	if err != nil {
		return fault.Usage("--save: "+err.Error(), "name a folder that can be written")
	}
	return nil
}

// printRequest prints the request that a call would send (--dry-run), and counts it in shown,
// which has how many were shown already for each server.
func (a *App) printRequest(ctx context.Context, box *toolbox, call exec.Call, shown map[string]int) error {
	prepared, err := box.executor.Prepare(ctx, call)
	if err != nil {
		return err
	}
	for _, warning := range prepared.Warnings {
		a.log.Warn(warning)
	}
	request, err := box.requestOf(prepared, shown[prepared.Tool.Server])
	if err != nil {
		return err
	}
	shown[prepared.Tool.Server]++
	_, err = fmt.Fprintf(a.Console.Out, "%s\n", request)
	return err
}

// requestOf returns the JSON-RPC request of a call, as it would be sent after so many others to its server; for one of
// toolx's own tools, to which none is sent, the one that a client of "toolx serve" would send.
func (b *toolbox) requestOf(prepared *exec.Prepared, after int) (json.RawMessage, error) {
	if session := b.pool.Session(prepared.Tool.Server); session != nil {
		return session.NextRequest("tools/call", servers.CallParams(prepared.Tool.Plain, prepared.Arguments), after)
	}
	return rawjson.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1 + after, "method": "tools/call",
		"params": servers.CallParams(prepared.Tool.Name, prepared.Arguments),
	})
}
