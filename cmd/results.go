package cmd

import (
	"bytes"
	"context"
	"io"
	"strings"

	"toolx/cmd/exit"
	"toolx/cmd/streams"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
	"toolx/pkg/words"
)

// results prints what calls and requests return.
type results struct {
	out  *streams.Streams
	line *commandLine
}

// maxRawError is how many bytes of a tool's failure stderr repeats where stdout has the raw result.
const maxRawError = 1 << 10

// maxOutput returns the size at which output is cut: the flag's, else the config's, else a default on a terminal, and
// none in a pipe (EXEC-14).
func (r *results) maxOutput(flag string, loaded *config.Config) (int64, error) {
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
		if r.out.MaxError = max(*wanted, streams.DefaultMaxOutput); *wanted == 0 {
			r.out.MaxError = -1
		}
		return *wanted, nil
	case !r.out.Console.OutTTY:
		return 0, nil
	}
	return streams.DefaultMaxOutput, nil
}

// printResult prints a result in the format that was asked for. The error it returns is the call's own, marked as
// reported where the output has told it.
func (r *results) printResult(ctx context.Context, result *exec.Result, options replyOptions, jq *render.JQ) error {
	r.out.Live.Clear()
	result.Err = r.out.Masked(result.Err)
	if options.output == "raw" && len(result.Raw) > 0 {
		r.out.MaxError = maxRawError
	}
	saveErr := r.saveBlocks(options.save, result)
	if jq != nil && result.Success {
		if _, read := render.JQInput(result); read {
			r.out.Log.Info("the result is JSON in a text; --jq works on what it says")
		}
	}
	r.addNext(result, r.line.command)
	as := render.ResultOptions{Format: render.Format(options.output), JQ: jq, Screen: r.out.OutScreen()}
	if err := r.writeResult(ctx, result, as); err != nil {
		return err
	}
	if remark := render.TruncationRemark(result); remark != "" {
		r.out.Log.Warn(remark)
	}
	if jq != nil && result.Success {
		if remark := jq.RemarkOnNull(ctx, result); remark != "" {
			r.out.Log.Warn(remark)
		}
	}
	switch {
	case saveErr != nil:
		r.out.Report(saveErr)
		return exit.Reported(saveErr)
	case result.Err != nil && options.output == "json":
		return exit.Reported(result.Err)
	}
	return result.Err
}

// writeResult writes a result to stdout, and reports a failure to do so. With --jq under --json, stdout gets all of
// what the expression makes, or the envelope of its failure.
func (r *results) writeResult(ctx context.Context, result *exec.Result, as render.ResultOptions) error {
	var err error
	if as.JQ != nil && as.Format == render.FormatJSON {
		var picked bytes.Buffer
		if err = render.Result(ctx, &picked, result, as); err != nil {
			failed := *result
			failed.Success, failed.Err = false, r.out.Masked(err)
			if render.Result(ctx, r.out.Console.Out, &failed, as) == nil {
				return exit.Reported(err)
			}
		} else {
			_, err = picked.WriteTo(r.out.Console.Out)
		}
	} else {
		err = render.Result(ctx, r.out.Console.Out, result, as)
	}
	if err == nil {
		return nil
	}
	r.out.Report(err) // not as an envelope: part of the answer may be on stdout already
	return exit.Reported(err)
}

// saveBlocks writes the binary blocks of a result into a folder, if one was named, and prints their paths. The result
// is printed even where that fails.
func (r *results) saveBlocks(folder string, result *exec.Result) error {
	if folder == "" || !result.Success {
		return nil
	}
	name := result.ToolName
	if r.line.adHoc { // no other server has anything to save
		name = strings.TrimPrefix(name, result.Server+exec.Separator)
	}
	paths, err := render.SaveBlocks(folder, name, result)
	for _, path := range paths {
		r.out.Say("%s", render.Safe(path))
	}
	if err != nil {
		return fault.Usage("--save: "+err.Error(), "name a folder that can be written")
	}
	return nil
}

// printReply prints a result as call does.
func (p *results) printReply(
	ctx context.Context, result *exec.Result, options replyOptions, r request, jq *render.JQ,
) error {
	if r.show != nil {
		return r.show(result)
	}
	if !result.Success || r.text == nil {
		return p.printResult(ctx, result, options, jq)
	}
	p.out.Live.Clear()
	saveErr := p.saveBlocks(options.save, result)
	var text bytes.Buffer
	if err := r.text(&text, result); err != nil {
		return err
	}
	shown := text.String()
	if options.limit > 0 && int64(len(shown)) > options.limit { // EXEC-14
		head := words.Head(shown, int(options.limit))
		result.Truncated = &exec.Truncated{ShownBytes: int64(len(head)), TotalBytes: int64(len(shown))}
		shown = head + "\n"
	}
	if _, err := io.WriteString(p.out.Console.Out, shown); err != nil {
		return err
	}
	if remark := render.TruncationRemark(result); remark != "" {
		p.out.Log.Warn(remark)
	}
	return saveErr
}
