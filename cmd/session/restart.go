package session

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/factory"
	"toolx/cmd/person"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/servers/daemon"
)

func newSessionRestartCommand(f *factory.Factory, run cli.RunFunc[namesOptions]) *cobra.Command {
	o := namesOptions{Out: f.Out, Tools: f.Tools, Consent: f.Consent}
	cmd := &cobra.Command{
		Use:   "restart NAME…",
		Short: "Restart sessions",
		Long: `Stop sessions and start them again with their current config entries.

Exit codes: 0 the sessions are running, 2 wrong usage or an unknown name, 3
authentication required, 4 a server could not be reached, 130 interrupted.`,
		Example: `  toolx session restart browser`,
		Args: func(cmd *cobra.Command, args []string) error {
			if o.names = cli.WithServers(cmd, args); len(o.names) == 0 {
				return fault.Usage("a session name is required",
					"toolx session restart NAME; toolx session list shows them")
			}
			return nil
		},
		ValidArgsFunction: Complete,
		RunE:              cli.Run(&o, run),
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print the sessions as JSON")
	return cmd
}

func runSessionRestart(ctx context.Context, o namesOptions) error {
	run, err := newSessionRun(o.Tools)
	if err != nil {
		return err
	}
	found, err := run.named(o.names)
	if err != nil {
		return err
	}
	loaded, err := o.Consent.LoadConfig()
	if err != nil {
		return err
	}
	var list []*config.Server
	records := make(map[string]*daemon.Record)
	for _, record := range found {
		server := person.SessionEntry(loaded.Servers, record)
		if server == nil {
			return fault.Usage(fmt.Sprintf("session %s has a server that is not in the config: %q of %s",
				record.Name, record.Server, record.File), "end it with toolx session stop "+exec.ShellLine(record.Name))
		}
		if err := record.Restartable(); err != nil {
			return err
		}
		if _, err := run.store.Stop(ctx, record, daemon.StopTime); err != nil {
			return fmt.Errorf("session %s: %w", record.Name, err)
		}
		list = append(list, server)
		again := record.Again()
		again.Key = daemon.NamedKey(server, record.Alias) // which a session of keepAlive had not
		records[server.Name] = &again
	}
	return run.start(ctx, list, records, o.json)
}
