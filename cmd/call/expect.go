package call

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/correct"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/words"
)

// expectOptions say what the result of one call must be.
type expectOptions struct {
	expressions []string
	saveAs      string // the file to which the call is added; empty for none
}

func (o *expectOptions) declare(cmd *cobra.Command) {
	flags := cmd.Flags()
	cli.TextsVar(flags, &o.expressions, "expect", "fail unless the jq `EXPR` is true of the result (repeatable)")
	flags.StringVar(&o.saveAs, "save-as", "",
		"add the call, with an expectation that its result meets, to the batch in `FILE`")
	for _, flag := range []string{"expect", "save-as"} {
		cli.MarkFlagExcludes(cmd, "--"+flag+" is for the result of one call", flag,
			"batch", correct.FromToolCall, "dry-run", "edit")
	}
}

// expectation is what the result of one call must be.
type expectation struct {
	all  []*render.Expectation
	file *os.File // to which the call is added; nil for none
}

// open compiles the expressions and opens the file, so that errors come before a server starts.
func (o *expectOptions) open() (*expectation, error) {
	all, err := compileExpectations(o.expressions)
	if err != nil || o.saveAs == "" {
		return &expectation{all: all}, err
	}
	file, err := os.OpenFile(o.saveAs, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fault.Usage("--save-as: cannot write "+o.saveAs+": "+fault.Reason(err),
			"name a file that you may write")
	}
	return &expectation{all, file}, nil
}

func compileExpectations(expressions []string) (all []*render.Expectation, err error) {
	for _, expression := range expressions {
		one, err := render.CompileExpectation(expression)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// checkExpectations makes a result a failure if one of the expectations is not true of it.
func checkExpectations(ctx context.Context, all []*render.Expectation, result *exec.Result) {
	for _, one := range all {
		if result.Success {
			result.Err = one.Check(ctx, result)
			result.Success = result.Err == nil
		}
	}
}

// check returns a result with its expectations checked: a copy, because the execution log reads the original meanwhile.
func (e *expectation) check(ctx context.Context, result *exec.Result) *exec.Result {
	checked := *result
	checkExpectations(ctx, e.all, &checked)
	return &checked
}

// save adds a call to the file, with the expectations that were given, or one that is derived from the result. It saves
// no failure that says little about the tool, such as that of a server that is down.
func (e *expectation) save(ctx context.Context, o Options, call exec.Call, result *exec.Result) error {
	if e.file == nil {
		return nil
	}
	defer e.file.Close()
	var wrong *render.ExpectError
	kind := fault.KindOf(result.Err)
	var expected []string
	var expect, failure json.RawMessage // the members of the line; one of them stays nil
	switch {
	case result.Success && len(o.expect.expressions) > 0:
		expected = o.expect.expressions
	case result.Success:
		if derived := render.ExpectationOf(ctx, result); derived != "" {
			expected = []string{derived}
		}
	case errors.As(result.Err, &wrong) || kind != fault.KindTool && kind != fault.KindInvalidArguments:
		o.Out.Log.Warn("the call was not added to " + o.expect.saveAs)
		return nil
	default:
		failure = rawjson.Quote(string(kind))
	}
	if len(expected) > 0 {
		var err error
		if expect, err = rawjson.Marshal(expected); err != nil {
			return err
		}
	}
	name := call.Tool
	if o.Line.AdHoc { // there is no other server
		name = strings.TrimPrefix(name, result.Server+exec.Separator)
	}
	line := rawjson.Build("tool", name, "arguments", call.Arguments, "expect", expect, "error", failure)
	if err := appendLine(e.file, line); err != nil {
		return fmt.Errorf("--save-as %s: %w", o.expect.saveAs, err)
	}
	o.Out.Say("added to %s: %s", render.Safe(o.expect.saveAs), render.Safe(words.Clip(string(line), maxShownLine)))
	return nil
}

// maxShownLine is the most bytes of the line in the message about it.
const maxShownLine = 200

// appendLine adds JSON as a line to a file, in which characters that show nothing are visible.
func appendLine(file *os.File, text []byte) error {
	var line bytes.Buffer
	info, err := file.Stat()
	if err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		last := make([]byte, 1)
		if _, err = file.ReadAt(last, info.Size()-1); last[0] != '\n' {
			line.WriteByte('\n')
		}
	}
	if err = errors.Join(err, rawjson.Escape(&line, rawjson.Compact(text))); err != nil {
		return err
	}
	line.WriteByte('\n')
	_, err = line.WriteTo(file)
	return err
}
