package cmd

import (
	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/factory"
	"toolx/pkg/fault"
)

func newServersCommand(f *factory.Factory, run cli.RunFunc[serversListOptions]) *cobra.Command {
	o := serversListOptions{Out: f.Out, Tools: f.Tools}
	cmd := &cobra.Command{
		Use:   "servers [CLIENT…]",
		Short: "List the servers of this machine's configs; add, change, show and export them",
		Long: `List every server that the configs of this machine know: toolx's own, and those of other
clients such as Cursor, VS Code and Claude Desktop. Each has its name, which works
wherever a server's name does, how it is reached, its state, its place, and which
others start or reach the same. It starts nothing; --connect connects to all of them,
in parallel, and says what each offers. In a pipe each is a line of five fields with
tabs between.

The subcommands change config files, and leave everything else in them as it is:
comments, order, spaces. The file is your own config (--user), that of the folder
(--project), or the one of --config. Where neither is given, add writes to your own,
and the others change the file that the server stands in.

Exit codes: 0 listed; 2 wrong usage; --connect: 4 when no server answered, 2 when none
is trusted. Of the subcommands: ` + serversExits,
		Example: `  toolx servers
  toolx servers cursor vscode --connect
  toolx servers show cursor:files
  toolx servers add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes
  toolx servers disable docs`,
		Args: func(_ *cobra.Command, args []string) error { return o.take(args) },
		RunE: cli.Run(&o, run),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return append([]string{ownRows}, cli.ClientIDs()...), cobra.ShellCompDirectiveNoFileComp
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&o.connect, "connect", false, "connect to each server, and say what it offers")
	cmd.AddCommand(newServersShowCommand(f, runServersShow), newServersAddCommand(f, runServersAdd))
	for _, edit := range serversEdits() {
		cmd.AddCommand(newServersEditCommand(f, runServersEdit, edit))
	}
	cmd.AddCommand(newServersExportCommand(f, runServersExport))
	return cmd
}

// oneNamed reads the arguments of a verb that takes the name of one server.
func oneNamed(name *string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 || args[0] == "" {
			return fault.Usage("name a server", "toolx servers "+cmd.Use+"; toolx servers lists them")
		}
		return cli.AtMostOne(name, "toolx servers "+cmd.Use)(cmd, args)
	}
}

// serversExits are the exit codes of what changes a file.
const serversExits = `Exit codes: 0 changed, or nothing to change; 2 wrong usage, no such server, or a file
that cannot be changed; add: 3 authentication, 4 not reached, 5 the server refused, 6
the protocol was broken (the entry is kept).`
