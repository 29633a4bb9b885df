package cmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
)

// runFunc runs a verb with its options. Each constructor of a verb takes one, so that a test can look at the options.
type runFunc[O any] func(context.Context, *App, O) error

// runs returns what cobra runs for a verb: the checks of its options, then run with the options.
func runs[O any](app *App, o *O, run runFunc[O], checks ...func() error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error {
		for _, check := range checks {
			if err := check(); err != nil {
				return err
			}
		}
		return run(cmd.Context(), app, *o)
	}
}

// withCommand reads the arguments of a verb that takes a server's command line after "--": that goes to command, what
// stands before it to take.
func withCommand(command *[]string, take func(args []string) error) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch dash := cmd.ArgsLenAtDash(); {
		case dash < 0:
		case dash == len(args):
			return fault.Usage("the command after -- is missing",
				cmd.CommandPath()+" … -- npx -y @modelcontextprotocol/server-everything")
		default:
			args, *command = args[:dash], args[dash:]
		}
		return take(args)
	}
}

// nameOrCommand is withCommand for a verb whose first argument is the name of a server: --server gives it as well.
func nameOrCommand(command *[]string, take func(args []string) error) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		return withCommand(command, func(args []string) error { return take(withServers(cmd, args)) })(cmd, args)
	}
}

// withServers returns the arguments of a verb that takes names of servers, those of --server first.
func withServers(cmd *cobra.Command, args []string) []string {
	named, _ := cmd.Flags().GetStringArray("server")
	return append(named, args...)
}

// namesOrCommand reads the arguments of a verb that takes names of servers, or one server's command line.
func namesOrCommand(names, command *[]string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		return withCommand(command, func(args []string) error {
			*names = withServers(cmd, args)
			switch {
			case len(args) > 0 && len(*names) > len(args):
				return fault.Usage("name servers as arguments, or by --server, not both",
					exec.PasteLine(append(strings.Fields(cmd.CommandPath()), distinct(*names)...)...))
			case len(args) > 0 && len(*command) > 0:
				return fault.Usage("name servers, or give a command after --, not both",
					cmd.CommandPath()+" -- COMMAND…")
			}
			return nil
		})(cmd, args)
	}
}

// atMostOne reads the arguments of a verb that takes one at most, into value.
func atMostOne(value *string, fix string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fault.Usage("unexpected argument "+quote(args[1]), fix)
		}
		if len(args) == 1 {
			*value = args[0]
		}
		return nil
	}
}

// needsSubcommand refuses a verb that only has subcommands; unknown says so of any other word, with one %q.
func needsSubcommand(unknown, fix string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fault.Usage(cmd.Name()+" needs a subcommand", fix)
		}
		return fault.Usage(fmt.Sprintf(unknown, args[0]), fix)
	}
}

// noArguments refuses any argument.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fault.Usage("unexpected argument "+quote(args[0]), cmd.CommandPath()+" takes none")
	}
	return nil
}

// readInput reads a file that the user names, or standard input where the name is "-".
func (o *output) readInput(name string) ([]byte, error) {
	read := func() ([]byte, error) { return os.ReadFile(name) }
	if name == "-" {
		name = "standard input"
		read = func() ([]byte, error) { return io.ReadAll(o.Console.In) }
	}
	data, err := read()
	if err != nil {
		return nil, fault.Usage("cannot read "+name+": "+fault.Reason(err), "name a file that you may read")
	}
	return data, nil
}

// readWhole is readInput that the end of ctx interrupts.
func (o *output) readWhole(ctx context.Context, name string) ([]byte, error) {
	var data []byte
	read := make(chan error, 1)
	go func() {
		var err error
		data, err = o.readInput(name)
		read <- err
	}()
	select {
	case <-ctx.Done():
		return nil, &exec.InterruptedError{}
	case err := <-read:
		return data, err
	}
}

// serverNamed returns the server of a name. The error names those that there are, and then says fix.
func serverNamed(all []*config.Server, name, fix string) (*config.Server, error) {
	var names []string
	for _, server := range all {
		if server.Name == name {
			return server, nil
		}
		names = append(names, server.Name)
	}
	if len(names) > 0 {
		fix = "known servers: " + strings.Join(names, ", ") + "; " + fix
	}
	return nil, &fault.UsageError{Message: "no server is named " + quote(name), Fix: fix, Server: name}
}
