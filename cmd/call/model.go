package call

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/correct"
	"toolx/cmd/exit"
	"toolx/cmd/request"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/convert"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/words"
)

// modelOptions say how to run a model's tool calls.
type modelOptions struct {
	// from is the file with the model's message, "-" for standard input; empty if there is none.
	from       string
	format     string // of the results; empty means that of the calls
	sequential bool
	textCalls  bool // also run calls that are written as text
}

func (o *modelOptions) declare(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.from, correct.FromToolCall, "", "run the calls in a model's message, from `FILE` or stdin")
	flags.Lookup(correct.FromToolCall).NoOptDefVal = "-"
	flags.StringVar(&o.format, "result-format", "",
		"`FORMAT` of the results of --from-tool-call, such as openai (default: the format of the calls)")
	flags.BoolVar(&o.textCalls, "text-calls", false,
		"with --from-tool-call: also run calls that the model wrote as text, such as JSON in a code fence")
	flags.BoolVar(&o.sequential, "sequential", false, "with --from-tool-call: run the calls one after another")
	cli.MarkFlagExcludes(cmd, "the message has the tools and their arguments",
		correct.FromToolCall, "arg", "args", "jq")
	cli.MarkFlagsNeed(cmd, correct.FromToolCall, "result-format", "sequential", "text-calls")
}

// complete lets the shell complete the message's file, and other complete the other arguments.
func (o *modelOptions) complete(other cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if o.from != "" {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return other(cmd, args, typed)
	}
}

// check refuses options that messages do not support, and accepts the file as an argument after the flag.
func (o *modelOptions) check(cmd *cobra.Command, args []string) error {
	if o.from == "" {
		return nil
	}
	if output, _ := cmd.Flags().GetString("output"); output == "raw" {
		return fault.Usage("cannot combine -o raw and --from-tool-call",
			"--result-format mcp gives MCP's own results")
	}
	if len(args) > 1 || len(args) == 1 && o.from != "-" {
		return fault.Usage("--from-tool-call takes one message, and no tool",
			"toolx call --from-tool-call message.json")
	}
	if len(args) == 1 {
		o.from = args[0]
	}
	if o.format == "" {
		return nil
	}
	format, err := convert.ParseFormat(o.format)
	if err != nil {
		return fault.Usage("--result-format: "+err.Error(), "leave it out for the format of the calls")
	}
	o.format = string(format)
	return nil
}

// modelCall is one call of a model's message.
type modelCall struct {
	asked convert.ToolCall
	tool  *exec.Tool
	// err is why the call cannot be made.
	err   error
	began time.Time
}

// runModelCalls runs the calls in a model's message through the Executor, and prints the message to send back. A failed
// call is a result for the model; an earlier error is for the user.
func runModelCalls(ctx context.Context, o Options) error {
	message, err := readModelMessage(o.Out, o.model)
	if err != nil {
		return err
	}
	box, err := o.Tools.Open(toolset.Options{
		Server: o.Server, Strict: o.strict, KeepNames: o.keepNames, Answers: &o.Answers, Guards: o.Guards,
		KeepAlive: true,
	})
	if err != nil {
		return err
	}
	box.Executor.Confirm = box.ConfirmCall(o.Guards.Yes)
	if box.Executor.Defaults.MaxOutput, err = o.Printer.Limit(o.MaxOutput, box.Config()); err != nil {
		return err
	}
	stop := o.Tools.ShowProgress("tool calls")
	defer stop()
	// All calls use the servers that are being opened, so one limit applies to them.
	bounded, done := box.Bounded(ctx, exec.TimeoutError{Tool: "tool calls", Request: true})
	defer done()
	calls := findModelTools(bounded, box, message.Calls)
	if o.DryRun {
		stop()
		return printModelRequests(ctx, box, calls)
	}
	results := makeModelCalls(ctx, box, calls, o.model.sequential)
	stop()
	if ctx.Err() != nil {
		return &exec.InterruptedError{}
	}
	format := cmp.Or(convert.Format(o.model.format), message.Format)
	if err := printModelResults(o.Printer, o, format, message.Calls, results); err != nil {
		return err
	}
	failed := 0
	for _, result := range results {
		if !result.Success {
			failed++
		}
	}
	if failed == 0 {
		return nil
	}
	// The log and the results have reported each failure.
	err = fmt.Errorf("%d of %d tool calls failed", failed, len(results))
	return exit.Reported(exit.Fail(err, fault.KindTool, ""))
}

// readModelMessage reads a model's message from a file, or from standard input. One without a call is an error.
func readModelMessage(out *streams.Streams, o modelOptions) (*convert.Message, error) {
	name := o.from
	data, err := out.ReadInput(name)
	if err != nil {
		return nil, err
	}
	if name == "-" {
		name = "standard input"
	}
	message, err := convert.ReadCalls(data, "")
	if err != nil {
		return nil, fault.Usage(name+": "+err.Error(), "pass a model's tool call, message or response")
	}
	if len(message.Calls) == 0 {
		written := convert.WrittenCalls(message.Text)
		switch {
		case len(written) > 0 && o.textCalls: // the model gets text back
			message.Calls, message.Format = written, convert.Hermes
		case len(written) > 0:
			return nil, fault.Usage(name+" has no tool call: the model wrote one as text",
				"--text-calls runs it")
		}
	}
	if len(message.Calls) == 0 {
		return nil, fault.Usage(fmt.Sprintf("%s has no tool call: it is %s", name, message.Seen),
			"pass a tool call, or an assistant message or response with tool calls")
	}
	out.Log.Info(fmt.Sprintf("read %s in the format %s", words.Count(len(message.Calls), "tool call"), message.Format))
	return message, nil
}

// findModelTools finds the tools that a model calls, and starts their servers.
func findModelTools(ctx context.Context, b *toolset.Set, asked []convert.ToolCall) []modelCall {
	calls := make([]modelCall, len(asked))
	var wait sync.WaitGroup
	for i, one := range asked {
		calls[i] = modelCall{asked: one, began: time.Now()}
		if one.Err != nil {
			calls[i].err = exit.Fail(one.Err, fault.KindInvalidArguments, "")
			continue
		}
		wait.Go(func() {
			tool, err := findModelTool(ctx, b, one.Name)
			if err != nil {
				err = cmp.Or(toolset.GaveUp(ctx, one.Name, ""), err)
			}
			calls[i].tool, calls[i].err = tool, err
		})
	}
	wait.Wait()
	return calls
}

// findModelTool finds a tool by the name that a model uses: the tool's own, qualified or not, else one that was fitted
// to a provider. It starts only the server in the name, or all servers if the name has none. If a name can be split
// into server and tool in several ways, it is interpreted as in conversions (convert.FitName).
func findModelTool(ctx context.Context, b *toolset.Set, name string) (*exec.Tool, error) {
	if named := exec.ServersOf(name, b.Pool.Names()); len(named) > 1 {
		for _, opened := range b.Pool.OpenAll(ctx, named...) {
			if opened.Err != nil { // the name cannot be resolved without that server
				return nil, opened.Err
			}
		}
		if tool, err := findFittedTool(b, name); tool != nil || err != nil {
			return tool, err
		}
	}
	tool, err := b.Pool.Find(ctx, name)
	if err == nil {
		return tool, nil
	}
	var missing *exec.NotFoundError
	if errors.As(err, &missing) && len(missing.Candidates) > 0 {
		return nil, err
	}
	if tool, fitErr := findFittedTool(b, name); tool != nil || fitErr != nil {
		return tool, fitErr
	}
	if missing == nil || exec.ServerOf(name, b.Pool.Names()) != "" {
		return nil, err
	}
	// The fitted name may belong to a server that is still retrying.
	b.Pool.OpenAll(ctx)
	if tool, fitErr := findFittedTool(b, name); tool != nil || fitErr != nil {
		return tool, fitErr
	}
	return nil, err
}

// findFittedTool finds a tool by its fitted name; it returns an error if several tools match.
func findFittedTool(b *toolset.Set, name string) (*exec.Tool, error) {
	all := b.Registry.Offered()
	known := make([]convert.ModelTool, len(all))
	byTool := make(map[convert.ModelTool]*exec.Tool, len(all))
	for i, tool := range all {
		known[i] = convert.ModelTool{Server: tool.Prefix(), Plain: tool.Plain}
		byTool[known[i]] = tool
	}
	found := convert.FindName(name, known)
	if len(found) > 1 {
		ambiguous := &exec.NotFoundError{Name: name}
		for _, one := range found {
			ambiguous.Candidates = append(ambiguous.Candidates, byTool[one].Name)
		}
		return nil, ambiguous
	}
	if len(found) == 0 {
		return nil, nil
	}
	return byTool[found[0]], nil
}

// makeModelCalls runs the calls, in parallel unless sequential is set, and returns their results in the same order.
func makeModelCalls(ctx context.Context, b *toolset.Set, calls []modelCall, sequential bool) []*exec.Result {
	results := make([]*exec.Result, len(calls))
	var wait sync.WaitGroup
	for i, call := range calls {
		if sequential {
			results[i] = makeModelCall(ctx, b, call)
			continue
		}
		wait.Go(func() { results[i] = makeModelCall(ctx, b, call) })
	}
	wait.Wait()
	return results
}

func makeModelCall(ctx context.Context, b *toolset.Set, call modelCall) *exec.Result {
	var result *exec.Result
	if call.err != nil {
		result = b.Executor.Reject(call.asked.Name, call.asked.Arguments, call.began, call.err)
	} else {
		result = b.Executor.Call(ctx, modelRequest(b, call))
		b.AddStartTiming(result)
	}
	result.Err = b.Out.Masked(result.Err)
	return result
}

// modelRequest returns the call for the Executor.
func modelRequest(b *toolset.Set, call modelCall) exec.Call {
	return exec.Call{
		Tool: call.tool.Name, Target: call.tool, Arguments: call.asked.Arguments,
		FromModel: true, Untyped: call.asked.Untyped,
		Timeout: b.Flags.Timeout, MaxTime: b.Flags.MaxTime,
	}
}

// printModelRequests prints the requests that the calls would send, one per line (--dry-run), up to the first call that
// cannot be made.
func printModelRequests(ctx context.Context, b *toolset.Set, calls []modelCall) error {
	shown := make(map[string]int)
	for _, call := range calls {
		err := call.err
		if err == nil {
			err = printRequest(ctx, b, modelRequest(b, call), shown)
		}
		if ctx.Err() != nil {
			return &exec.InterruptedError{}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// printModelResults prints the message for the model; with -o json also the envelopes of the calls.
func printModelResults(
	r *request.Printer, options Options, format convert.Format, asked []convert.ToolCall, made []*exec.Result,
) error {
	written := make([]convert.ToolResult, len(made))
	for i, result := range made {
		if err := r.Save(options.Save, result); err != nil {
			return err
		}
		written[i] = modelResult(asked[i], result)
	}
	message, err := convert.WriteResults(format, written)
	if err != nil {
		return err
	}
	if options.Output == "text" {
		return r.Out.PrintDocument(message, "json")
	}
	if !json.Valid(message) {
		message = rawjson.Quote(string(message))
	}
	document, err := rawjson.Marshal(struct {
		Format  convert.Format  `json:"format"`
		Calls   []*exec.Result  `json:"calls"`
		Message json.RawMessage `json:"message"`
	}{format, made, message})
	if err != nil {
		return err
	}
	if options.Output == "json" {
		options.Output = "jsonl"
	}
	return r.Out.PrintDocument(document, options.Output)
}

// modelResult returns a result in the form for a model (EXEC-16).
func modelResult(asked convert.ToolCall, result *exec.Result) convert.ToolResult {
	told := convert.ToolResult{Call: asked, Text: result.String(), Content: result.Content, IsError: !result.Success}
	if !result.Success {
		told.Text = exec.ModelText(result.Err)
		return told
	}
	if structured := rawjson.Get(result.Raw, "structuredContent"); string(structured) != "null" {
		told.Structured = structured
	}
	return told
}
