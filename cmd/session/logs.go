package session

import (
	"context"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/factory"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/fault"
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
		ValidArgsFunction: completeSessions,
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

func runSessionLogs(ctx context.Context, o logsOptions) error {
	run, err := newSessionRun(o.Tools)
	if err != nil {
		return err
	}
	records, err := run.named([]string{o.name})
	if err != nil {
		return err
	}
	lines, err := run.store.Follow(ctx, records[0], o.follow)
	if err != nil {
		return fault.Usage("session "+o.name+": "+err.Error(), "toolx session list shows its state")
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
