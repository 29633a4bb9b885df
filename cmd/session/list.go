package session

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/factory"
	"toolx/cmd/stores"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers/daemon"
	"toolx/pkg/words"
)

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
