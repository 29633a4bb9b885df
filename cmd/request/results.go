package request

import (
	"bytes"
	"context"
	"io"
	"strings"

	"toolx/cmd/cli"
	"toolx/cmd/exit"
	"toolx/cmd/streams"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
	"toolx/pkg/words"
)

// Printer prints the results of calls and requests.
type Printer struct {
	Out  *streams.Streams
	Line *cli.CommandLine
}

// maxRawError is how many bytes of a tool's failure stderr repeats if stdout has the raw result.
const maxRawError = 1 << 10

// Limit returns the size at which output is cut: from the flag, else from the config, else a default on a terminal and
// none in a pipe (EXEC-14).
func (r *Printer) Limit(flag string, loaded *config.Config) (int64, error) {
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
		if r.Out.MaxError = max(*wanted, streams.DefaultMaxOutput); *wanted == 0 {
			r.Out.MaxError = -1
		}
		return *wanted, nil
	case !r.Out.Console.OutTTY:
		return 0, nil
	}
	return streams.DefaultMaxOutput, nil
}

// Print prints a result in the requested format. It returns the call's own error, marked as reported if the output has
// it.
func (r *Printer) Print(ctx context.Context, result *exec.Result, options ReplyFlags, jq *render.JQ) error {
	r.Out.Live.Clear()
	result.Err = r.Out.Masked(result.Err)
	if options.Output == "raw" && len(result.Raw) > 0 {
		r.Out.MaxError = maxRawError
	}
	saveErr := r.Save(options.Save, result)
	if jq != nil && result.Success {
		if _, read := render.JQInput(result); read {
			r.Out.Log.Info("the result is text that contains JSON; --jq filters that JSON")
		}
	}
	r.AddNext(result, r.Line.Command)
	as := render.ResultOptions{Format: render.Format(options.Output), JQ: jq, Screen: r.Out.OutScreen()}
	if err := r.Write(ctx, result, as); err != nil {
		return err
	}
	if remark := render.TruncationRemark(result); remark != "" {
		r.Out.Log.Warn(remark)
	}
	if jq != nil && result.Success {
		if remark := jq.RemarkOnNull(ctx, result); remark != "" {
			r.Out.Log.Warn(remark)
		}
	}
	switch {
	case saveErr != nil:
		r.Out.Report(saveErr)
		return exit.Reported(saveErr)
	case result.Err != nil && options.Output == "json":
		return exit.Reported(result.Err)
	}
	return result.Err
}

// Write writes a result to stdout, and reports a failure to do so. With --jq and --json, stdout gets the complete
// output of the expression, or the envelope of its failure.
func (r *Printer) Write(ctx context.Context, result *exec.Result, as render.ResultOptions) error {
	var err error
	if as.JQ != nil && as.Format == render.FormatJSON {
		var picked bytes.Buffer
		if err = render.Result(ctx, &picked, result, as); err != nil {
			failed := *result
			failed.Success, failed.Err = false, r.Out.Masked(err)
			if render.Result(ctx, r.Out.Console.Out, &failed, as) == nil {
				return exit.Reported(err)
			}
		} else {
			_, err = picked.WriteTo(r.Out.Console.Out)
		}
	} else {
		err = render.Result(ctx, r.Out.Console.Out, result, as)
	}
	if err == nil {
		return nil
	}
	r.Out.Report(err) // not as an envelope: part of the answer may be on stdout already
	return exit.Reported(err)
}

// Save writes the binary blocks of a result to a folder, if one was named, and prints their paths. The result is
// printed even if that fails.
func (r *Printer) Save(folder string, result *exec.Result) error {
	if folder == "" || !result.Success {
		return nil
	}
	name := result.ToolName
	if r.Line.AdHoc { // there is no other server
		name = strings.TrimPrefix(name, result.Server+exec.Separator)
	}
	paths, err := render.SaveBlocks(folder, name, result)
	for _, path := range paths {
		r.Out.Say("%s", render.Safe(path))
	}
	if err != nil {
		return fault.Usage("--save: "+err.Error(), "use a writable folder")
	}
	return nil
}

// PrintReply prints a result as call does.
func (r *Printer) PrintReply(
	ctx context.Context, result *exec.Result, options ReplyFlags, request Request, jq *render.JQ,
) error {
	if request.Show != nil {
		return request.Show(result)
	}
	if !result.Success || request.Text == nil {
		return r.Print(ctx, result, options, jq)
	}
	r.Out.Live.Clear()
	saveErr := r.Save(options.Save, result)
	var text bytes.Buffer
	if err := request.Text(&text, result); err != nil {
		return err
	}
	shown := text.String()
	if options.limit > 0 && int64(len(shown)) > options.limit { // EXEC-14
		head := words.Head(shown, int(options.limit))
		result.Truncated = &exec.Truncated{ShownBytes: int64(len(head)), TotalBytes: int64(len(shown))}
		shown = head + "\n"
	}
	if _, err := io.WriteString(r.Out.Console.Out, shown); err != nil {
		return err
	}
	if remark := render.TruncationRemark(result); remark != "" {
		r.Out.Log.Warn(remark)
	}
	return saveErr
}
