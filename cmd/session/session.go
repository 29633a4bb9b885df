// Package session has the commands that keep servers running between commands.
package session

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"runtime/debug"
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
	"toolx/cmd/stores"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
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
		Args: cli.NeedsSubcommand("unknown subcommand %q of session",
			"toolx session start SERVER; the others are list, stop, restart and logs"),
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
		return fault.Usage("name a server", "toolx session start SERVER; toolx servers lists them")
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

// statusTimeout limits how long a session's process may take to report its state.
const statusTimeout = 2 * time.Second

// listOptions say how to list sessions.
type listOptions struct {
	Out   *streams.Streams
	Tools *toolset.Opener

	json bool
}

func newSessionListCommand(f *factory.Factory, run cli.RunFunc[listOptions]) *cobra.Command {
	o := listOptions{Out: f.Out, Tools: f.Tools}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List running sessions",
		Long: `List running sessions: name, state, process, age, idle time, number of calls, memory,
and server. States are ready, busy, starting, ended (the next call starts the server
again), not answering, and dead (the session's process has exited).

Exit codes: 0 listed, even if there are none; 2 wrong usage.`,
		Example: `  toolx session list
  toolx session list --json | jq -r '.sessions[].name'`,
		Args: cli.NoArguments,
		RunE: cli.Run(&o, run),
	}
	cmd.Flags().BoolVar(&o.json, "json", false, `print {"sessions":[{"name":…},…]}`)
	return cmd
}

func runSessionList(ctx context.Context, o listOptions) error {
	var infos []*daemon.Info
	run := sessionRun{o.Tools, stores.Sessions()}
	if run.store != nil {
		if err := run.store.Usable(); err != nil {
			o.Out.Log.Warn(err.Error())
		}
		infos = run.store.List(ctx, statusTimeout)
	}
	if len(infos) == 0 && !o.json {
		o.Out.Say("no session is running; toolx session start SERVER starts one")
	}
	return run.print(infos, o.json)
}

// sessionRow is a session as --json prints it.
type sessionRow struct {
	Name    string   `json:"name"`
	Server  string   `json:"server,omitempty"`
	State   string   `json:"state"`
	Ended   string   `json:"ended,omitempty"`
	PID     int      `json:"pid,omitempty"`
	Holder  int      `json:"holder_pid"`
	AgeMS   int64    `json:"age_ms"`
	IdleMS  int64    `json:"idle_ms"`
	LimitMS int64    `json:"idle_limit_ms"`
	Calls   int      `json:"calls"`
	Clients int      `json:"clients"`
	Memory  int64    `json:"memory_bytes,omitempty"`
	Kept    bool     `json:"keep_alive,omitempty"`
	Command []string `json:"command,omitempty"`
	URL     string   `json:"url,omitempty"`
	Where   string   `json:"where,omitempty"`
	Log     string   `json:"log,omitempty"`
	Toolx   string   `json:"toolx"`
	Started string   `json:"started"`
}

func (r sessionRun) row(info *daemon.Info) sessionRow {
	r.tools.Out.Mask.Add(config.AdHoc(info.Command, info.URL, nil).Secrets()...)
	hide := r.tools.Out.Mask.Text
	row := sessionRow{
		Name: info.Name, Server: info.Server, State: info.State, Ended: hide(info.Ended), PID: info.PID,
		Holder: info.Daemon, AgeMS: info.Age.Milliseconds(), IdleMS: info.Idle.Milliseconds(),
		LimitMS: info.Limit.Milliseconds(), Calls: info.Calls, Clients: info.Clients, Memory: info.Memory,
		Kept: !info.Named, URL: hide(info.URL), Where: info.File, Log: info.StderrPath, Toolx: info.Toolx,
		Started: info.Started.UTC().Format(time.RFC3339),
	}
	for _, word := range info.Command {
		row.Command = append(row.Command, hide(word))
	}
	return row
}

func (r sessionRun) print(infos []*daemon.Info, asJSON bool) error {
	rows := []sessionRow{}
	for _, info := range infos {
		rows = append(rows, r.row(info))
	}
	if asJSON {
		return r.tools.Out.PrintJSON(map[string]any{"sessions": rows})
	}
	table := make([][]string, len(rows))
	for i, row := range rows {
		table[i] = row.fields(r.tools.Out.OutScreen().TTY)
	}
	return r.tools.Out.PrintTable([]string{"NAME", "STATE", "PID", "AGE", "IDLE", "CALLS", "MEMORY", "SERVER"}, table)
}

// fields returns the columns of a session: with units for people, in milliseconds and bytes in a pipe.
func (r sessionRow) fields(person bool) []string {
	age, idle := strconv.FormatInt(r.AgeMS, 10), strconv.FormatInt(r.IdleMS, 10)
	memory := strconv.FormatInt(r.Memory, 10)
	if person {
		age, idle = shortTime(r.AgeMS), shortTime(r.IdleMS)
		memory = exec.Bytes(r.Memory)
	}
	what := cmp.Or(r.Server, r.URL, exec.ShellLine(r.Command...))
	if r.Ended != "" && person {
		what += ": " + words.FirstLine(r.Ended)
	}
	return []string{r.Name, r.State, strconv.Itoa(r.PID), age, idle, strconv.Itoa(r.Calls), memory, what}
}

// shortTime formats a time in milliseconds for people, in whole seconds.
func shortTime(ms int64) string {
	return (time.Duration(ms) * time.Millisecond).Round(time.Second).String()
}

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
		ValidArgsFunction: completeSessions,
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
		return fault.Usage("name a session", "toolx session stop NAME, or --all; toolx session list shows them")
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
				return fault.Usage("name a session", "toolx session restart NAME; toolx session list shows them")
			}
			return nil
		},
		ValidArgsFunction: completeSessions,
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
			return fault.Usage(fmt.Sprintf("session %s was started for the entry %s of %s, which is gone, or not used "+
				"in this folder", record.Name, strconv.Quote(record.Server), record.File),
				"toolx session stop "+exec.ShellLine(record.Name)+" ends it")
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
				return fault.Usage("name one session", "toolx session logs NAME; toolx session list shows them")
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

// completeSessions completes names of sessions.
func completeSessions(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []string
	if store := stores.Sessions(); store != nil {
		names = words.Texts(store.Records(), func(r *daemon.Record) string { return r.Name })
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
