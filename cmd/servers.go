package cmd

import (
	"github.com/spf13/cobra"

	"toolx/pkg/fault"
)

func newServersCommand(app *App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "servers add|remove|rename|enable|disable|export",
		Short: "Change the servers of the config, and export them to other clients",
		Long: `Change the servers of the config, and export them to other clients. Everything else in
a file stays as it is: comments, order, spaces.

The file is your own config (--user), that of the folder (--project), or the one of
--config. Where neither is given, add writes to your own, and the others change the
file that the server stands in.

` + serversExits,
		Example: `  toolx servers add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes
  toolx servers add docs https://example.com/mcp --project
  toolx servers disable docs
  toolx servers remove files`,
		Args: func(_ *cobra.Command, args []string) error {
			problem := "servers needs a subcommand"
			if len(args) > 0 {
				problem = "servers: unknown subcommand " + quote(args[0])
			}
			return fault.Usage(problem, "toolx servers add NAME -- COMMAND…; toolx servers --help names the others")
		},
		RunE: func(*cobra.Command, []string) error { return nil }, // never reached: Args always fails
	}
	cmd.AddCommand(
		newServersAddCommand(app, runServersAdd),
		newServersRemoveCommand(app, runServersEdit),
		newServersRenameCommand(app, runServersEdit),
		newServersEnableCommand(app, runServersEdit),
		newServersDisableCommand(app, runServersEdit),
		newServersExportCommand(app, runServersExport),
	)
	return cmd
}

// serversExits are the exit codes of what changes a file.
const serversExits = `Exit codes: 0 changed, or nothing to change; 2 wrong usage, no such server, or a file
that cannot be changed; add: 3 authentication, 4 not reached, 5 the server refused, 6
the protocol was broken (the entry is kept).`
