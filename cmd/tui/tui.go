// Package tui has toolx tui, which shows the full-screen interface.
package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"toolx/cmd/build"
	"toolx/cmd/cli"
	"toolx/cmd/complete"
	"toolx/cmd/dev"
	doctorcmd "toolx/cmd/doctor"
	"toolx/cmd/factory"
	"toolx/cmd/person"
	"toolx/cmd/request"
	"toolx/cmd/stores"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/config"
	"toolx/pkg/doctor"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/procs"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/state"
	"toolx/pkg/tui"
)

// Options say what the full-screen interface shows.
type Options struct {
	Out     *streams.Streams
	Flags   *cli.Flags
	Tools   *toolset.Opener
	Consent *person.Consent
	Bus     *exec.Bus
	Show    func(context.Context, tui.Options) error

	names  []string   // servers of the config; none: all
	Start  *tui.Start // the tool to begin with, nil for none
	Of     string     // a tool's name, which may name the only server to show
	Server []string   // a command line after --
	// develop reports whether to watch the server's files.
	develop bool
	// Answers say how to answer servers' requests; dialogs ask the user the rest.
	Answers person.AnswerFlags
	Guards  toolset.Guards
}

// NewOptions returns options with the dependencies that f makes.
func NewOptions(f *factory.Factory) Options {
	return Options{Out: f.Out, Flags: f.Flags, Tools: f.Tools, Consent: f.Consent, Bus: f.Bus, Show: f.ShowTUI}
}

// New returns the command tui; run runs it.
func New(f *factory.Factory, run cli.RunFunc[Options]) *cobra.Command {
	o := NewOptions(f)
	cmd := &cobra.Command{
		Use:   "tui [SERVER…] [-- COMMAND…]",
		Short: "Browse and call tools in a full-screen interface",
		Long: `Browse servers with their tools, resources and prompts, fill in forms made from
schemas, call tools and see results, timing and messages. On a terminal, toolx without a
command does the same. Press ? for the keys. Questions from servers open a dialog, unless
a flag answers them. With the file of a recording (--record), the screen shows what it
has, and nothing is started.

Exit codes: 0 quit, 2 wrong usage or no terminal, 130 interrupted.`,
		Example: `  toolx tui
  toolx tui zwave
  toolx tui calls.jsonl
  toolx tui --dev -- node server.js
  toolx tui -- npx -y @modelcontextprotocol/server-everything`,
		Args:              cli.NamesOrCommand(&o.names, &o.Server),
		RunE:              cli.Run(&o, run, o.Answers.Check, o.Guards.Check),
		ValidArgsFunction: complete.ServersOrRecording(f.Tools),
	}
	cmd.Flags().BoolVar(&o.develop, "dev", false, "restart the server whenever its files change")
	o.Answers.Declare(cmd.Flags())
	o.Guards.Declare(cmd.Flags())
	o.Guards.DeclareConfirm(cmd.Flags())
	return cmd
}

// Run shows the full-screen interface until the user quits.
func Run(ctx context.Context, o Options) error {
	path := cli.RecordingNamed(o.names)
	switch {
	case path != "" && o.Flags.URL == "" && !o.develop:
		return o.showRecording(ctx, path)
	case !o.Out.HasScreen():
		return fault.Usage(noScreen, "toolx list shows the tools, toolx call TOOL calls one")
	case o.develop:
		o.Flags.NoSession = true // a session would run an older version
	}
	questions := tui.NewQuestions()
	box, err := o.Tools.Open(toolset.Options{
		KeepAlive: true, Watch: true, NoStartLimit: true,
		Server: o.Server, ReportFailures: true, Guards: o.Guards,
		Answers: &o.Answers, User: &person.User{Elicit: questions.Elicit, Sample: questions.Sample},
	})
	if err != nil {
		return err
	}
	o.names = append(o.names, o.Flags.Servers...)
	if server := exec.ServerOf(o.Of, box.Pool.Names()); server != "" {
		o.names = []string{server}
	}
	shown, err := cli.ServersNamed(box.Config().Servers, o.names)
	if err != nil {
		return err
	}
	if err := o.Consent.Ask(ctx, shown...); err != nil {
		return err
	}
	if o.develop && len(shown) != 1 {
		return fault.Usage("--dev is for one server", "toolx tui --dev SERVER, or toolx tui --dev -- COMMAND…")
	}
	return o.show(ctx, o.screen(ctx, box, shown, questions))
}

const noScreen = "the full-screen interface needs a terminal that supports control sequences"

// show shows the interface until the user quits.
func (o Options) show(ctx context.Context, screen tui.Options) error {
	unmute := o.Out.Live.Mute() // nothing else writes to the terminal
	defer unmute()
	o.Out.Drawn.Store(true)
	defer o.Out.Drawn.Store(false)
	return crashed(o.Out, o.Show(ctx, screen), stores.State("crash.txt"))
}

// screen returns the options of the interface, with functions for everything that needs packages of commands.
func (o Options) screen(
	ctx context.Context, box *toolset.Set, shown []*config.Server, questions *tui.Questions,
) tui.Options {
	program, adHoc := toolset.ProgramOf(box.AdHocServer())
	var entries tui.Entries
	if !box.AdHoc {
		entries = &tuiConfig{box: box, names: o.names, guards: o.Guards}
	}
	return tui.Options{
		In:       o.Out.Console.In,
		Out:      o.Out.Stdout,
		Servers:  shown,
		Pool:     box.Pool,
		Executor: box.Executor,
		Bus:      o.Bus,
		Local:    !box.AdHoc && len(o.names) == 0,
		Config:   func() string { return configName(box) },
		Folder:   o.repeatIn(box),
		History:  stores.History(),

		Program:   o.Out.Mask.Text(program),
		AdHoc:     adHoc,
		Start:     o.Start,
		Questions: questions,
		OpenPage:  o.Answers.Opener(),
		Request:   func(call exec.Call) (json.RawMessage, error) { return nextRequest(ctx, box, call) },
		Examine: func(ctx context.Context, name string) (*doctor.Report, error) {
			return doctorcmd.ExamineOne(ctx, box, name)
		},
		Entries:  entries,
		Sources:  func(name string) (tui.Sources, error) { return dev.SourcesFor(box, name) },
		Develop:  o.develop,
		Fetching: diagnose.Fetching,
		Memory:   procs.Memory,
		Hide:     o.Out.Mask.Text,
		Color:    o.Out.Console.Color,
		ASCII:    o.Out.ASCII(),
	}
}

// nextRequest returns the request that a call would send.
func nextRequest(ctx context.Context, b *toolset.Set, call exec.Call) (json.RawMessage, error) {
	prepared, err := b.Executor.Prepare(ctx, call)
	if err != nil {
		return nil, err
	}
	return request.RequestOf(b, prepared, 0)
}

// configName names the config for the screen: the last of its files, which takes precedence, and the number of others.
// It is empty if a server on the command line replaces the config.
func configName(b *toolset.Set) string {
	files := b.Config().Files
	switch n := len(files); {
	case b.AdHoc || n == 0:
		return ""
	case n == 1:
		return filepath.Base(files[0])
	default:
		return fmt.Sprintf("%s +%d", filepath.Base(files[n-1]), n-1)
	}
}

// crashError is a panic of the interface, with the location of its trace.
type crashError struct {
	*tui.PanicError
	path  string   // of the file with the trace; empty if it could not be written
	trace []string // lines, if there is no file
}

// crashed writes the trace of a panic to a file, because it would be unreadable on a terminal that was just restored.
// It returns any other error unchanged.
func crashed(o *streams.Streams, err error, path string) error {
	var panicked *tui.PanicError
	if !errors.As(err, &panicked) {
		return err
	}
	text := o.Mask.Text("toolx " + build.Version() + "\n" + panicked.Error() + "\n\n" + panicked.Stack)
	if path != "" && state.Replace(path, []byte(text)) == nil {
		return &crashError{PanicError: panicked, path: path}
	}
	return &crashError{PanicError: panicked, trace: strings.Split(strings.TrimSpace(panicked.Stack), "\n")}
}

func (e *crashError) Unwrap() error { return e.PanicError }

// Details returns the trace if no file has it.
func (e *crashError) Details() []string { return e.trace }

// Hint implements the interface that fault.HintOf looks for.
func (e *crashError) Hint() string {
	if e.path == "" {
		return "this is a bug in toolx: please report it with the trace above"
	}
	return "this is a bug in toolx: please report it with the trace in " + e.path
}
