package session

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/factory"
	"toolx/cmd/person"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
	"toolx/pkg/servers/daemon"
	"toolx/pkg/words"
)

// namesOptions have the names of sessions.
type namesOptions struct {
	Out     *streams.Streams
	Tools   *toolset.Opener
	Consent *person.Consent

	names []string
	all   bool
	json  bool
}

func newSessionStopCommand(f *factory.Factory, run cli.RunFunc[namesOptions]) *cobra.Command {
	o := namesOptions{Out: f.Out, Tools: f.Tools, Consent: f.Consent}
	cmd := &cobra.Command{
		Use:   "stop NAME… | stop --all",
		Short: "Stop sessions",
		Long: `Stop sessions. Each server gets time to shut down, then it is killed. A dead session is
removed from the list.

Exit codes: 0 stopped, 1 a process did not exit, 2 wrong usage or an unknown name.`,
		Example: `  toolx session stop browser
  toolx session stop --all`,
		Args: func(cmd *cobra.Command, args []string) error {
			o.names = cli.WithServers(cmd, args)
			return nil
		},
		ValidArgsFunction: Complete,
		RunE:              cli.Run(&o, run, o.check),
	}
	cmd.Flags().BoolVar(&o.all, "all", false, "stop every session")
	return cmd
}

func (o *namesOptions) check() error {
	switch {
	case o.all && len(o.names) > 0:
		return fault.Usage("--all takes no names", "toolx session stop --all")
	case !o.all && len(o.names) == 0:
		return fault.Usage("a session name is required",
			"toolx session stop NAME, or --all; toolx session list shows them")
	}
	return nil
}

// named returns the records of sessions by their names, or all without names. Several projects may have servers with
// the same name: in a project's folder, a name means that project's session, and elsewhere all.
func (r sessionRun) named(names []string) ([]*daemon.Record, error) {
	records := r.store.Records()
	if len(names) == 0 {
		return records, nil
	}
	var found []*daemon.Record
	for _, name := range names {
		other := func(record *daemon.Record) bool { return record.Name != name }
		named := slices.DeleteFunc(slices.Clone(records), other)
		if len(named) == 0 {
			fix := "toolx session start " + exec.ShellLine(name) + " starts one"
			if known := words.Texts(records, func(r *daemon.Record) string { return r.Name }); len(known) > 0 {
				fix = "the sessions are " + strings.Join(known, ", ") + "; " + fix
			}
			return nil, fault.Usage("no session named "+strconv.Quote(name), fix)
		}
		if len(named) > 1 {
			named = r.ofThisProject(named)
		}
		found = append(found, named...)
	}
	return found, nil
}

// ofThisProject returns the records of sessions whose entries the config has; all of them if it has none.
func (r sessionRun) ofThisProject(records []*daemon.Record) []*daemon.Record {
	loaded, err := r.tools.Consent.LoadConfig()
	if err != nil { // sessions can still be stopped
		return records
	}
	foreign := func(record *daemon.Record) bool { return person.SessionEntry(loaded.Servers, record) == nil }
	if here := slices.DeleteFunc(slices.Clone(records), foreign); len(here) > 0 {
		return here
	}
	return records
}

func runSessionStop(ctx context.Context, o namesOptions) error {
	run, err := newSessionRun(o.Tools)
	if err != nil {
		return err
	}
	records, err := run.named(o.names)
	if err != nil {
		return err
	}
	if len(records) == 0 {
		o.Out.Say("no session is running")
	}
	for _, record := range records {
		info, err := run.store.Stop(ctx, record, daemon.StopTime)
		switch {
		case err != nil:
			return fmt.Errorf("session %s: %w", record.Name, err)
		case info.State == daemon.StateDead:
			o.Out.Say("%s had ended already; it is forgotten", render.Safe(record.Name))
		case info.State == daemon.StateSilent:
			o.Out.Say("%s did not answer, and was killed", render.Safe(record.Name))
		default:
			o.Out.Say("%s has ended", render.Safe(record.Name))
		}
	}
	return nil
}
