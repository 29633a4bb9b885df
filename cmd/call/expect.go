package call

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/correct"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/state"
	"toolx/pkg/words"
)

func (o *Options) declareExpect(cmd *cobra.Command) {
	flags := cmd.Flags()
	cli.TextsVar(flags, &o.expect, "expect", "fail unless the jq `EXPR` is true of the result (repeatable)")
	flags.StringVar(&o.saveAs, "save-as", "",
		"add the call, with an expectation that its result meets, to the batch in `FILE`")
	for _, flag := range []string{"expect", "save-as"} {
		cli.MarkFlagExcludes(cmd, "--"+flag+" is for the result of one call", flag,
			"batch", correct.FromToolCall, "dry-run", "edit")
	}
}

// checkExpectations makes a result a failure if one of the expectations is not true of it.
func checkExpectations(ctx context.Context, result *exec.Result, expectations []*render.JQ) {
	for _, one := range expectations {
		if result.Success {
			result.Err = one.Expect(ctx, result)
			result.Success = result.Err == nil
		}
	}
}

// saveCall adds a call to the file of --save-as, with the expectations that were given, or one that is derived from the
// result. It adds no failure that says little about the tool, such as that of a server that is down.
func (o *Options) saveCall(ctx context.Context, call exec.Call, result *exec.Result) error {
	if o.saveAs == "" {
		return nil
	}
	kind := fault.KindOf(result.Err)
	var expected, failure json.RawMessage // the members of the line; one of them stays nil
	switch wrong := (*render.ExpectError)(nil); {
	case result.Success:
		expressions := o.expect
		if derived := render.ExpectationOf(ctx, result); len(expressions) == 0 && derived != "" {
			expressions = []string{derived}
		}
		expected, _ = rawjson.Marshal(expressions) // texts always marshal
	case errors.As(result.Err, &wrong) || kind != fault.KindTool && kind != fault.KindInvalidArguments:
		o.Out.Log.Warn("the call was not added to " + o.saveAs)
		return nil
	default:
		failure = rawjson.Quote(string(kind))
	}
	name := call.Tool
	if o.Line.AdHoc { // there is no other server
		name = strings.TrimPrefix(name, result.Server+exec.Separator)
	}
	line := rawjson.Build("tool", name, "arguments", call.Arguments, "expect", expected, "error", failure)
	if err := appendLine(o.saveAs, line); err != nil {
		return fault.Usage("--save-as: cannot write "+o.saveAs+": "+fault.Reason(err), "name a file that you may write")
	}
	const shown = 200 // bytes
	if text := words.Clip(o.Out.Mask.Text(string(line)), shown); !o.Tools.Flags.Quiet {
		o.Out.Say("added to %s: %s", render.Safe(o.saveAs), render.Safe(text))
	}
	return nil
}

// appendLine adds JSON as a line to a file, in which characters that show nothing are visible.
func appendLine(name string, text []byte) error {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	var line bytes.Buffer
	if state.IsCut(file) {
		line.WriteByte('\n')
	}
	_ = rawjson.Escape(&line, rawjson.Compact(text)) // a Buffer takes everything
	line.WriteByte('\n')
	_, err = line.WriteTo(file)
	return err
}
