package session

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/complete"
	"toolx/cmd/exit"
	"toolx/cmd/factory"
	"toolx/cmd/person"
	"toolx/cmd/toolset"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
	"toolx/pkg/servers"
	"toolx/pkg/servers/daemon"
)

// startOptions say which servers to keep running.
type startOptions struct {
	Tools *toolset.Opener

	names   []string
	command []string
	as      string
	idle    time.Duration
	json    bool
}

func newSessionStartCommand(f *factory.Factory, run cli.RunFunc[startOptions]) *cobra.Command {
	o := startOptions{Tools: f.Tools, idle: daemon.DefaultIdle}
	cmd := &cobra.Command{
		Use:   "start SERVER… | start --as NAME SERVER | start --as NAME -- COMMAND…",
		Short: "Start sessions",
		Long: `Start servers and keep them running for later commands. --as names the session: its
tools then start with that name (work__browser_click), and one server can have several
independent sessions. A command after -- or an address after --url needs a name.

Exit codes: 0 the sessions are running, 2 wrong usage or an unknown name, 3
authentication required, 4 a server could not be reached, 130 interrupted.`,
		Example: `  toolx session start github browser
  toolx session start --as work --idle 2h browser
  toolx session start --as ev -- npx -y @modelcontextprotocol/server-everything`,
		Args:              cli.NamesOrCommand(&o.names, &o.command),
		ValidArgsFunction: complete.Servers(f.Tools, 0),
		RunE: cli.Run(&o, run, func() error {
			return o.check(f.Flags.URL)
		}),
	}
	cmd.Flags().StringVar(&o.as, "as", "", "name the session `NAME`")
	cmd.Flags().Var(cli.TimeFlag{Limit: &o.idle}, "idle", "stop the session when it has not been used for `D`")
	cmd.Flags().Lookup("idle").DefValue = "30m"
	cmd.Flags().BoolVar(&o.json, "json", false, "print the sessions as JSON")
	return cmd
}

func (o *startOptions) check(url string) error {
	named := len(o.command) == 0 && url == ""
	switch {
	case named && len(o.names) == 0:
		return fault.Usage("a server name is required", "toolx session start SERVER; toolx servers lists them")
	case !named && o.as == "":
		return fault.Usage("a session for a command or an address needs a name", "toolx session start --as NAME …")
	case o.as != "" && len(o.names) > 1:
		return fault.Usage("--as is for one server", "toolx session start --as "+exec.ShellLine(o.as)+" SERVER")
	case o.as != "" && strings.Trim(o.as, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "":
		return fault.Usage("the name "+strconv.Quote(o.as)+" cannot be used before a tool's name",
			"--as takes letters, digits, -, _ and .")
	case strings.HasPrefix(o.as, "-"):
		return fault.Usage("the name "+strconv.Quote(o.as)+" starts like a flag",
			"start it with a letter or a digit")
	case o.idle <= 0:
		return fault.Usage("--idle must be more than 0", "--idle 30m")
	}
	return nil
}

func runSessionStart(ctx context.Context, o startOptions) error {
	run, err := newSessionRun(o.Tools)
	if err != nil {
		return err
	}
	list, records, err := run.toHold(o)
	if err != nil {
		return err
	}
	for _, record := range records {
		record.Limit = o.idle
	}
	return run.start(ctx, list, records, o.json)
}

// toHold returns the entries for which to start sessions, and the record of each session.
func (r sessionRun) toHold(
	o startOptions,
) (list []*config.Server, records map[string]*daemon.Record, err error) {
	adHoc, err := r.tools.Flags.AdHoc(o.command)
	if err != nil {
		return nil, nil, err
	}
	loaded, err := r.tools.Consent.LoadConfig()
	r.tools.ReportRemarks(loaded)
	if err != nil && adHoc == nil {
		return nil, nil, err
	}
	taken := func(s *config.Server) bool { return s.Name == o.as && !s.Session }
	if o.as != "" && slices.ContainsFunc(loaded.Servers, taken) {
		return nil, nil, fault.Usage("the config has a server named "+strconv.Quote(o.as), "--as takes another name")
	}
	if adHoc != nil {
		list = []*config.Server{adHoc}
	}
	for _, name := range o.names {
		server, err := cli.ServerNamed(loaded.Servers, name, "toolx servers lists those of other clients too")
		switch {
		case err != nil:
			return nil, nil, err
		case server.Disabled:
			return nil, nil, servers.Disabled(server)
		}
		list = append(list, server)
	}
	records = make(map[string]*daemon.Record)
	for i, server := range list {
		record := &daemon.Record{Named: true, Alias: o.as != "" || server.Session}
		if adHoc != nil {
			record.Command, record.URL = o.command, r.tools.Flags.URL
			record.Dressed = len(r.tools.Flags.Env) > 0 || len(r.tools.Flags.Headers) > 0
		}
		if adHoc == nil {
			record.Server, record.File = server.Plain(), server.File()
		}
		if o.as != "" {
			list[i] = person.Renamed(server, o.as, true)
		}
		record.Key = daemon.NamedKey(list[i], record.Alias)
		records[list[i].Name] = record
	}
	return list, records, nil
}

// start starts sessions that are not running yet, and prints the running sessions.
func (r sessionRun) start(
	ctx context.Context, list []*config.Server, records map[string]*daemon.Record, asJSON bool,
) error {
	running := make(map[string]bool)
	for _, info := range r.store.List(ctx, statusTimeout) {
		running[info.Key] = info.State != daemon.StateDead
	}
	holds := make(map[string]daemon.Record)
	var names []string
	for _, server := range list {
		record := records[server.Name]
		names = append(names, server.Name)
		if running[record.Key] {
			r.tools.Out.Say("a session of %s is already running", render.Safe(server.Name))
			continue
		}
		holds[server.Name] = *record
	}
	box, err := r.tools.Open(toolset.Options{
		Servers: list, ReportFailures: true, Answers: &person.AnswerFlags{}, NewSessions: holds, Sessions: r.store,
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		box.AllowLogin(name + exec.Separator)
	}
	bounded, done := box.Bounded(ctx, exec.TimeoutError{Tool: "session", Request: true})
	defer done()
	opened, err := box.StartServers(bounded, "session", names, box.Pool.OpenAll)
	if err != nil {
		return err
	}
	toolset.ReportFailed(box.Out, opened, false)
	infos := slices.DeleteFunc(r.store.List(ctx, statusTimeout), func(info *daemon.Info) bool {
		return !slices.ContainsFunc(opened, func(o servers.Opened) bool {
			return o.Err == nil && records[o.Server].Key == info.Key
		})
	})
	if err := r.print(infos, asJSON); err != nil {
		return err
	}
	if failed := toolset.FirstFailure(opened); failed != nil {
		return exit.Reported(failed)
	}
	return nil
}
