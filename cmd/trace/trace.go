// Package trace has toolx trace, which shows a recording.
package trace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/factory"
	"toolx/cmd/person"
	"toolx/cmd/session"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/recording"
	"toolx/pkg/servers/wire"
	"toolx/pkg/state"
	"toolx/pkg/words"
)

// Options say which recording to show, and what of it.
type Options struct {
	Out     *streams.Streams
	Tools   *toolset.Opener
	Consent *person.Consent

	file   string
	attach string // a session or a wrapped server, instead of a file
	follow bool
	only   []string // globs of methods
	slow   time.Duration
	json   bool
	har    bool
}

// New returns the command trace; run runs it.
func New(f *factory.Factory, run cli.RunFunc[Options]) *cobra.Command {
	o := Options{Out: f.Out, Tools: f.Tools, Consent: f.Consent}
	cmd := &cobra.Command{
		Use:   "trace FILE | trace --attach NAME",
		Short: "Show a recording",
		Long: `Show what --record has written: requests of client (→) and server (←) with their
outcome and time, notifications, stderr, other output on stdout, and how processes
ended, with the cause. Requests are where they were sent. FILE can be a recording of
mcporter, or - for stdin. In a pipe, the columns are separated by tabs.

--attach shows live what passes between a session (toolx session) or a wrapped server
(toolx servers wrap) and its clients, until the session ends, or Ctrl-C.

Exit codes: 0 success, 2 wrong usage, or not a recording, 130 Ctrl-C.`,
		Example: `  toolx trace calls.jsonl
  toolx trace calls.jsonl -f --only 'tools/*'
  toolx trace calls.jsonl --slow 1s --json | jq .method
  toolx trace --attach browser`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case o.attach != "" && len(args) > 0:
				return fault.Usage("--attach shows no file", "toolx trace --attach NAME, or toolx trace FILE")
			case o.attach != "":
				o.follow = true
				return nil
			case len(args) != 1 || args[0] == "":
				return fault.Usage("trace needs the file of a recording",
					"toolx trace FILE, after a command with --record FILE")
			}
			o.file = args[0]
			return nil
		},
		RunE: cli.Run(&o, run, o.check),
	}
	flags := cmd.Flags()
	flags.BoolVarP(&o.follow, "follow", "f", false, "keep reading as the file grows, until Ctrl-C")
	cli.TextsVar(flags, &o.only, "only", "show only messages whose method matches `GLOB` (repeatable)")
	flags.Var(cli.TimeFlag{Limit: &o.slow}, "slow", "show only requests that took `D` or longer, or have no response")
	flags.BoolVar(&o.json, "json", false, "print each line as JSON")
	flags.BoolVar(&o.har, "har", false, "print requests as an HTTP archive (HAR 1.2), which browsers can open")
	flags.StringVar(&o.attach, "attach", "", "show live the messages of the session or wrapped server `NAME`")
	_ = cmd.RegisterFlagCompletionFunc("attach", session.Complete) // the flag exists
	cmd.MarkFlagsMutuallyExclusive("attach", "har")
	cmd.MarkFlagsMutuallyExclusive("json", "har")
	cmd.MarkFlagsMutuallyExclusive("follow", "har")
	return cmd
}

func (o *Options) check() error {
	if o.slow < 0 {
		return fault.Usage("--slow must not be negative", "--slow 1s")
	}
	for _, glob := range o.only {
		if _, err := path.Match(glob, ""); err != nil || glob == "" {
			return fault.Usage(fmt.Sprintf("--only %q is not a glob", glob), "--only 'tools/*'")
		}
	}
	return nil
}

// Run prints the recording, and a summary on stderr.
func Run(ctx context.Context, o Options) error {
	in, err := o.open(ctx)
	if err != nil {
		return err
	}
	defer in.Close() // it was only read

	var rows []*row
	var failed error
	read := &reader{add: func(r *row) { rows = append(rows, r) }, done: func(*row) {}, keep: o.har}
	if o.follow {
		read.add = func(*row) {}
		read.done = func(r *row) { failed = errors.Join(failed, o.print(r)) }
	}
	name := cmp.Or(o.attach, o.file)
	skipped := recording.Skipped(name, func(why string) { o.Out.Log.Warn(why) })
	archive := make(archive)
	err = recording.Read(in, func(event wire.Event) {
		read.take(event)
		if o.har {
			archive.take(event)
		}
	}, skipped)
	if err != nil {
		return fault.Usage(name+": "+err.Error(), "toolx trace reads what --record has written")
	}
	read.end()
	if err := errors.Join(failed, o.finish(rows, archive)); err != nil {
		return err
	}
	if o.attach != "" && ctx.Err() == nil {
		o.Out.Say("%s has ended", o.attach)
	}
	o.Out.Say("%s", read.summary())
	if ctx.Err() != nil {
		return &exec.InterruptedError{}
	}
	return nil
}

// open opens the recording; with --follow, its end is reached when ctx ends.
func (o *Options) open(ctx context.Context) (in io.ReadCloser, err error) {
	switch client, _ := config.ClientOf(o.attach); {
	case client != nil:
		return o.wrapped(ctx, client)
	case o.attach != "":
		return session.Trace(ctx, o.Tools, o.attach)
	case o.file == "-":
		return io.NopCloser(o.Out.Console.In), nil
	case o.follow:
		in, err = recording.Follow(ctx, o.file, func() {})
	default:
		in, err = state.Open(o.file, os.O_RDONLY)
	}
	if err != nil {
		return nil, fault.Usage("cannot read "+o.file+": "+fault.Reason(err), "a command with --record FILE writes one")
	}
	return in, nil
}

// wrapped opens the recording that a wrapped server of another client writes.
func (o *Options) wrapped(ctx context.Context, client *config.Client) (io.ReadCloser, error) {
	loaded, err := o.Consent.LoadConfig()
	if err != nil {
		return nil, err
	}
	server, err := cli.ServerNamed(loaded.Servers, o.attach, "toolx servers "+client.ID+" lists them")
	if err != nil {
		return nil, err
	}
	file, command := server.Wrapped()
	if command == nil {
		return nil, fault.Usage(o.attach+" is not wrapped", "toolx servers wrap "+exec.ShellLine(o.attach))
	}
	in, err := recording.Follow(ctx, file, func() {})
	if err != nil {
		return nil, fault.Usage("cannot read "+file+": "+fault.Reason(err), "restart "+o.attach+" in the client")
	}
	return in, nil
}

// finish prints what is printed at the end.
func (o *Options) finish(rows []*row, archive archive) error {
	if o.har {
		return archive.print(o, rows)
	}
	if o.json {
		for _, r := range rows {
			if err := o.print(r); err != nil {
				return err
			}
		}
		return nil
	}
	var table [][]string
	for _, r := range rows {
		if o.wants(r) {
			table = append(table, r.fields(o.time))
		}
	}
	return o.Out.PrintTable([]string{"TIME", "SERVER", "WHAT", "TOOK", "OUTCOME"}, table)
}

// print prints a row at once.
func (o *Options) print(r *row) error {
	switch {
	case !o.wants(r):
		return nil
	case o.json:
		return o.Out.PrintJSON(r)
	}
	return o.Out.PrintFields(r.fields(o.time)...)
}

// time returns a time: as short as people need it, or as programs do.
func (o *Options) time(at time.Time) string {
	if o.Out.OutScreen().TTY {
		return at.Local().Format("15:04:05.000")
	}
	return at.UTC().Format("2006-01-02T15:04:05.000Z")
}

// wants reports whether the flags select a row.
func (o *Options) wants(r *row) bool {
	if o.slow > 0 && r.Outcome != outcomeNoResponse && r.TookMS < exec.Milliseconds(o.slow) {
		return false
	}
	if len(o.only) == 0 {
		return true
	}
	for _, glob := range o.only {
		if ok, _ := path.Match(glob, r.Method); ok {
			return true
		}
	}
	return false
}

// summary counts what was read.
func (r *reader) summary() string {
	said := []string{words.Count(r.requests, "request")}
	for _, one := range []struct {
		n    int
		what string
	}{{r.failed, "failed"}, {len(r.waiting), "without response"}} {
		if one.n > 0 {
			said = append(said, fmt.Sprintf("%d %s", one.n, one.what))
		}
	}
	if r.stdout > 0 {
		said = append(said, words.Count(r.stdout, "unexpected line")+" on stdout")
	}
	return strings.Join(said, ", ")
}
