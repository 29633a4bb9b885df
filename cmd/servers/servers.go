// Package servers has the commands that list servers and edit their entries.
package servers

import (
	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/factory"
	"toolx/pkg/fault"
)

// New returns the command servers; run runs it.
func New(f *factory.Factory, run cli.RunFunc[serversListOptions]) *cobra.Command {
	o := serversListOptions{Out: f.Out, Tools: f.Tools}
	cmd := &cobra.Command{
		Use:   "servers [CLIENT…]",
		Short: "List, add, change, and export servers",
		Long: `List the servers in all configs on this machine: toolx's own, and those of other
clients such as Cursor, VS Code and Claude Desktop. Each row has a name, transport,
state and place, and other entries for the same server. Nothing is started; --connect
connects to each server and shows what it offers. In a pipe, each server is a line of
five tab-separated fields.

The subcommands edit config files and keep comments, order and spacing. They change
your own config (--user), the folder's (--project), or that of --config. Without a
flag, add writes to your own config, and the others change the file that has the server.

Exit codes: 0 listed, 2 wrong usage, or --connect and no server is trusted, 4 --connect
and no server responded.`,
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
	cmd.Flags().BoolVar(&o.connect, "connect", false, "connect to each server, and show what it offers")
	cmd.AddCommand(newServersShowCommand(f, runServersShow), newServersAddCommand(f, runServersAdd))
	for _, edit := range serversEdits() {
		cmd.AddCommand(newServersEditCommand(f, runServersEdit, edit))
	}
	cmd.AddCommand(newServersExportCommand(f, runServersExport))
	cmd.AddCommand(newServersWrapCommand(f, runServersWrap), newServersUnwrapCommand(f, runServersWrap))
	return cmd
}

// oneNamed reads the argument of a verb that takes the name of one server.
func oneNamed(name *string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 || args[0] == "" {
			return fault.Usage("a server name is required", "toolx servers "+cmd.Use+"; toolx servers lists them")
		}
		return cli.AtMostOne(name, "toolx servers "+cmd.Use)(cmd, args)
	}
}

// editExits are the exit codes of commands that change an entry.
const editExits = `Exit codes: 0 changed, or nothing to change; 2 wrong usage, no such server, or a file
that cannot be changed.`
