package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolx/cmd/build"
	"toolx/cmd/cli"
	"toolx/cmd/complete"
	"toolx/cmd/factory"
	"toolx/cmd/person"
	"toolx/cmd/stores"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/doctor"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/procs"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/state"
	"toolx/pkg/tui"
)

// tuiOptions say what the terminal interface shows.
type tuiOptions struct {
	Out     *streams.Streams
	Flags   *cli.Flags
	Tools   *toolset.Opener
	Consent *person.Consent
	Bus     *exec.Bus
	Show    func(context.Context, tui.Options) error

	names  []string   // servers of the config; none: all
	start  *tui.Start // the tool to begin with, nil for none
	of     string     // a tool's name, which may name the only server to show
	server []string   // a command line after --
	// develop says that the server's files are watched.
	develop bool
	// answers say how servers that ask something back are answered; dialogs ask the user the rest.
	answers person.AnswerFlags
	guards  toolset.Guards
}

func newTUIOptions(f *factory.Factory) tuiOptions {
	return tuiOptions{Out: f.Out, Flags: f.Flags, Tools: f.Tools, Consent: f.Consent, Bus: f.Bus, Show: f.ShowTUI}
}

func newTUICommand(f *factory.Factory, run cli.RunFunc[tuiOptions]) *cobra.Command {
	o := newTUIOptions(f)
	cmd := &cobra.Command{
		Use:   "tui [SERVER…] [-- COMMAND…]",
		Short: "Browse tools, fill in forms, call, and watch, on the whole terminal",
		Long: `Show servers with their tools, resources and prompts, forms made from schemas, calls
with their timing, results, and what servers write meanwhile. toolx without a verb
does the same on a terminal. ? shows what every key does. What servers ask the user
comes as a dialog, unless a flag answers it.

Exit codes: 0 after q, 2 wrong usage or no terminal, 130 interrupted.`,
		Example: `  toolx tui
  toolx tui zwave
  toolx tui --dev -- node server.js
  toolx tui -- npx -y @modelcontextprotocol/server-everything`,
		Args:              cli.NamesOrCommand(&o.names, &o.server),
		RunE:              cli.Run(&o, run, o.answers.Check, o.guards.Check),
		ValidArgsFunction: complete.Servers(f.Tools, 0),
	}
	cmd.Flags().BoolVar(&o.develop, "dev", false, "restart the server whenever its files change")
	o.answers.Declare(cmd.Flags())
	o.guards.Declare(cmd.Flags())
	o.guards.DeclareConfirm(cmd.Flags())
	return cmd
}

// runTUI shows the terminal interface until the user quits.
func runTUI(ctx context.Context, o tuiOptions) error {
	if !o.Out.HasScreen() {
		return fault.Usage("the terminal interface needs a terminal that obeys control sequences",
			"toolx list shows the tools, toolx call TOOL calls one")
	}
	if o.develop {
		o.Flags.NoSession = true // it must be the program as it is now
	}
	questions := tui.NewQuestions()
	box, err := o.Tools.Open(toolset.Options{
		KeepAlive: true, Watches: true, NoStartLimit: true,
		Server: o.server, ReportFailures: true, Guards: o.guards,
		Answers: &o.answers, User: &person.User{Elicit: questions.Elicit, Sample: questions.Sample},
	})
	if err != nil {
		return err
	}
	o.names = append(o.names, o.Flags.Servers...)
	if server := exec.ServerOf(o.of, box.Pool.Names()); server != "" {
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
	program, adHoc := toolset.ProgramOf(box.AdHocServer())
	unmute := o.Out.Live.Mute() // nothing else writes to the terminal
	defer unmute()
	o.Out.Drawn.Store(true)
	defer o.Out.Drawn.Store(false)
	var entries tui.Entries
	if !box.AdHoc {
		entries = &tuiConfig{box: box, names: o.names, guards: o.guards}
	}
	return crashed(o.Out, o.Show(ctx, tui.Options{
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
		Start:     o.start,
		Questions: questions,
		OpenPage:  o.answers.Opener(),
		Request:   func(call exec.Call) (json.RawMessage, error) { return nextRequest(ctx, box, call) },
		Examine: func(ctx context.Context, name string) (*doctor.Report, error) {
			return examineOne(ctx, box, name)
		},
		Entries:  entries,
		Sources:  func(name string) (tui.Sources, error) { return sourcesFor(box, name) },
		Develop:  o.develop,
		Fetching: diagnose.Fetching,
		Memory:   procs.Memory,
		Hide:     o.Out.Mask.Text,
		Color:    o.Out.Console.Color,
		ASCII:    !speaksUTF8(os.Getenv),
	}), stores.State("crash.txt"))
}

// nextRequest returns the request that would be sent for a call.
func nextRequest(ctx context.Context, b *toolset.Set, call exec.Call) (json.RawMessage, error) {
	prepared, err := b.Executor.Prepare(ctx, call)
	if err != nil {
		return nil, err
	}
	return requestOf(b, prepared, 0)
}

// configName names the config for the screen: the last of its files, which wins, and how many others there are. It is
// empty where a server of the command line takes the place of the config.
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

// form returns options that show a call in its form, to be completed (--edit), and only the server that the tool's name
// names.
func (o callOptions) form() tuiOptions {
	form := o.screen
	form.server, form.answers, form.guards, form.of = o.Server, o.Answers, o.guards, o.tool
	form.start = &tui.Start{Tool: o.tool, Fill: o.fill}
	return form
}

// fill returns the arguments of the command line for the form of a tool. Where the error says that some are wrong, the
// result has the others, and the wrong ones as text, as far as the tool's parameters take text.
func (o callOptions) fill(tool *exec.Tool) (json.RawMessage, error) {
	parse := func(object string, args []string) (json.RawMessage, error) {
		return exec.ParseArgs(tool, exec.Input{Args: args, Object: object, Stdin: strings.NewReader("")})
	}
	arguments, wrong := parse(o.object, o.args)
	if wrong == nil {
		return arguments, nil
	}
	object := o.object
	arguments, err := parse(object, nil)
	if err != nil {
		object = ""
	}
	var taken []string
	for _, arg := range o.args {
		for _, written := range []string{arg, textArgument(arg)} {
			more := append(slices.Clip(taken), written)
			if value, err := parse(object, more); err == nil {
				arguments, taken = value, more
				break
			}
		}
	}
	return arguments, wrong
}

// textArgument writes an argument so that its value is text whatever the schema says.
func textArgument(arg string) string {
	key, value, ok := strings.Cut(arg, "=")
	if !ok {
		return arg // it has no value
	}
	return strings.TrimSuffix(key, ":") + ":=" + string(rawjson.Quote(value))
}

// speaksUTF8 reports whether the locale can show more than ASCII; one that is not set is taken for one that can.
func speaksUTF8(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := strings.ToLower(getenv(name)); value != "" {
			return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
		}
	}
	return true
}

// crashError is a panic of the terminal interface, with where its trace is.
type crashError struct {
	*tui.PanicError
	path  string   // of the file with the trace; empty where it could not be written
	trace []string // lines, where there is no file
}

// crashed writes the trace of a panic to a file, since nobody can read it on a terminal that was just restored. It
// returns any other error as it is.
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

// Details returns the trace where no file has it.
func (e *crashError) Details() []string { return e.trace }

// Hint implements the interface that fault.HintOf looks for.
func (e *crashError) Hint() string {
	if e.path == "" {
		return "this is a mistake in toolx: please report it with the trace above"
	}
	return "this is a mistake in toolx: please report it with the trace in " + e.path
}
