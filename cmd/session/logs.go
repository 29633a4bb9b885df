package session

import (
	"context"
	"io"
	"iter"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/factory"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/fault"
	"toolx/pkg/servers/daemon"
)

// logsOptions say whose stderr to show.
type logsOptions struct {
	Out   *streams.Streams
	Tools *toolset.Opener

	name   string
	follow bool
	json   bool
}

func newSessionLogsCommand(f *factory.Factory, run cli.RunFunc[logsOptions]) *cobra.Command {
	o := logsOptions{Out: f.Out, Tools: f.Tools}
	cmd := &cobra.Command{
		Use:   "logs NAME",
		Short: "Show the stderr of a session's server",
		Long: `Show the stderr of a session's server since it started; -f keeps printing until
Ctrl-C.

Exit codes: 0 shown, 2 wrong usage, an unknown name, or no log, 130 interrupted.`,
		Example: `  toolx session logs browser
  toolx session logs -f browser`,
		Args: func(cmd *cobra.Command, args []string) error {
			if args = cli.WithServers(cmd, args); len(args) != 1 {
				return fault.Usage("exactly one session name is required",
					"toolx session logs NAME; toolx session list shows them")
			}
			o.name = args[0]
			return nil
		},
		ValidArgsFunction: Complete,
		RunE:              cli.Run(&o, run),
	}
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "keep printing what the server writes")
	cmd.Flags().BoolVar(&o.json, "json", false, "print each line as JSON: session, line")
	return cmd
}

// sessionLine is a line of --json.
type sessionLine struct {
	Session string `json:"session"`
	Line    string `json:"line"`
}

// Trace returns a recording, as it grows, of what passes between the server of a session and its clients. Reading ends
// when ctx or the session ends.
func Trace(ctx context.Context, tools *toolset.Opener, name string) (io.ReadCloser, error) {
	return attached(tools, name, func(store *daemon.Sessions, record *daemon.Record) (io.ReadCloser, error) {
		return store.Trace(ctx, record)
	})
}

// attached returns what attaching to the session with a name gives.
func attached[T any](
	tools *toolset.Opener, name string, attach func(*daemon.Sessions, *daemon.Record) (T, error),
) (none T, err error) {
	run, err := newSessionRun(tools)
	if err != nil {
		return none, err
	}
	records, err := run.named([]string{name})
	if err != nil {
		return none, err
	}
	result, err := attach(run.store, records[0])
	if err != nil {
		return none, fault.Usage("session "+name+": "+err.Error(), "toolx session list shows its state")
	}
	return result, nil
}

func runSessionLogs(ctx context.Context, o logsOptions) error {
	follow := func(store *daemon.Sessions, record *daemon.Record) (iter.Seq[string], error) {
		return store.Follow(ctx, record, o.follow)
	}
	lines, err := attached(o.Tools, o.name, follow)
	if err != nil {
		return err
	}
	for line := range lines {
		if o.json {
			err = o.Out.PrintJSON(sessionLine{o.name, line})
		} else {
			err = o.Out.PrintLine(line)
		}
		if err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return nil
}
