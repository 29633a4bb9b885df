// Package session has the commands that keep servers running between commands.
package session

import (
	"io"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/factory"
	"toolx/cmd/stores"
	"toolx/cmd/toolset"
	"toolx/pkg/fault"
	"toolx/pkg/servers"
	"toolx/pkg/servers/daemon"
	"toolx/pkg/words"
)

// New returns the command session.
func New(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "session start|list|stop|restart|logs",
		Short: "Keep servers running between commands",
		Long: `Keep servers running between commands, so that calls do not wait for a start and
servers with state (a browser, a database, a debugger) keep it from one command to the
next.

A session ends when it has not been used for a while. All commands except doctor and
proxy reuse a running session; --no-session ignores it. In a config, keepAlive: 10m
keeps the server running automatically.

Exit codes: 0 success, 2 wrong usage or an unknown name, 3 authentication required, 4 a
server could not be reached, 130 interrupted.`,
		Example: `  toolx session start browser
  toolx call browser__navigate --arg url=https://example.org
  toolx call browser__click --arg text=More
  toolx session stop browser`,
		Args: cli.NeedsSubcommand("toolx session start SERVER; the others are list, stop, restart and logs"),
		RunE: func(*cobra.Command, []string) error { return nil }, // never reached: Args always fails
	}
	cmd.AddCommand(
		newSessionStartCommand(f, runSessionStart),
		newSessionListCommand(f, runSessionList),
		newSessionStopCommand(f, runSessionStop),
		newSessionRestartCommand(f, runSessionRestart),
		newSessionLogsCommand(f, runSessionLogs),
		newSessionHoldCommand(f),
	)
	return cmd
}

// sessionRun is a run of a subcommand of toolx session.
type sessionRun struct {
	tools *toolset.Opener
	store *daemon.Sessions
}

func newSessionRun(tools *toolset.Opener) (sessionRun, error) {
	store := stores.Sessions()
	if store == nil {
		return sessionRun{}, fault.Usage("there is no folder to keep sessions in", "set XDG_RUNTIME_DIR, or HOME")
	}
	return sessionRun{tools, store}, nil
}

// statusTimeout limits how long a session's process may take to report its state.
const statusTimeout = 2 * time.Second

// newSessionHoldCommand returns the hidden verb that runs the server of a session. toolx starts it itself.
func newSessionHoldCommand(f *factory.Factory) *cobra.Command {
	return &cobra.Command{
		Use:    "hold",
		Short:  "Run the server of a session for other toolx processes",
		Hidden: true,
		Args:   cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			daemon.CloseInherited()
			http := f.Tools.HTTP()
			debug.FreeOSMemory()
			return servers.Serve(cmd.Context(), f.Out.Console.In, closing{f.Out.Console.Out}, http)
		},
	}
}

// closing adds a Close method to a writer.
type closing struct{ io.Writer }

// Close implements io.Closer.
func (c closing) Close() error {
	if file, ok := c.Writer.(io.Closer); ok {
		return file.Close()
	}
	return nil
}

// Complete completes names of sessions.
func Complete(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []string
	if store := stores.Sessions(); store != nil {
		names = words.Texts(store.Records(), func(r *daemon.Record) string { return r.Name })
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
