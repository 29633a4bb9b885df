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

	"toolx/pkg/config"
	"toolx/pkg/doctor"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/procs"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/state"
	"toolx/pkg/tui"
)

// tuiOptions say what the terminal interface shows.
type tuiOptions struct {
	names  []string   // servers of the config; none: all
	start  *tui.Start // the tool to begin with, nil for none
	of     string     // a tool's name, which may name the only server to show
	server []string   // a command line after --
	// develop says that the server's files are watched.
	develop bool
	// answers say how servers that ask something back are answered; dialogs ask the user the rest.
	answers answerOptions
	guards  guardOptions
}

func newTUICommand(app *App, run runFunc[tuiOptions]) *cobra.Command {
	var o tuiOptions
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
		Args:              namesOrCommand(&o.names, &o.server),
		RunE:              runs(app, &o, run, o.answers.check, o.guards.check),
		ValidArgsFunction: completeServers(app, 0),
	}
	cmd.Flags().BoolVar(&o.develop, "dev", false, "restart the server whenever its files change")
	o.answers.declare(cmd.Flags())
	o.guards.declare(cmd.Flags())
	o.guards.declareConfirm(cmd.Flags())
	return cmd
}

// runTUI shows the terminal interface until the user quits.
func runTUI(ctx context.Context, app *App, o tuiOptions) error {
	if !app.hasScreen() {
		return fault.Usage("the terminal interface needs a terminal that obeys control sequences",
			"toolx list shows the tools, toolx call TOOL calls one")
	}
	if o.develop {
		app.flags.noSession = true // it must be the program as it is now
	}
	questions := tui.NewQuestions()
	box, err := app.toolbox(toolboxOptions{
		stays: true, watches: true, patient: true,
		server: o.server, tellsFailures: true, guards: o.guards,
		answers: &o.answers, user: &person{elicit: questions.Elicit, sample: questions.Sample},
	})
	if err != nil {
		return err
	}
	o.names = append(o.names, app.flags.servers...)
	if server := exec.ServerOf(o.of, box.pool.Names()); server != "" {
		o.names = []string{server}
	}
	shown, err := serversNamed(box.config().Servers, o.names)
	if err != nil {
		return err
	}
	if err := app.consent.ask(ctx, shown...); err != nil {
		return err
	}
	if o.develop && len(shown) != 1 {
		return fault.Usage("--dev is for one server", "toolx tui --dev SERVER, or toolx tui --dev -- COMMAND…")
	}
	program, adHoc := programOf(box.adHocServer())
	unmute := app.live.Mute() // nothing else writes to the terminal
	defer unmute()
	app.drawn.Store(true)
	defer app.drawn.Store(false)
	var entries tui.Entries
	if !box.adHoc {
		entries = &tuiConfig{toolbox: box, names: o.names, guards: o.guards}
	}
	return app.crashed(app.showTUI(ctx, tui.Options{
		In:       app.Console.In,
		Out:      app.stdout,
		Servers:  shown,
		Pool:     box.pool,
		Executor: box.executor,
		Bus:      app.bus,
		Local:    !box.adHoc && len(o.names) == 0,
		Config:   box.configName,
		Folder:   o.repeatIn(box),
		History:  historyLog(),

		Program:   app.mask.Text(program),
		AdHoc:     adHoc,
		Start:     o.start,
		Questions: questions,
		OpenPage:  o.answers.opener(),
		Request:   func(call exec.Call) (json.RawMessage, error) { return box.nextRequest(ctx, call) },
		Examine:   box.examineOne,
		Entries:   entries,
		Sources:   box.sources,
		Develop:   o.develop,
		Fetching:  diagnose.Fetching,
		Memory:    procs.Memory,
		Hide:      app.mask.Text,
		Color:     app.Console.Color,
		ASCII:     !speaksUTF8(os.Getenv),
	}), stateFile("crash.txt"))
}

// nextRequest returns the request that would be sent for a call.
func (b *toolbox) nextRequest(ctx context.Context, call exec.Call) (json.RawMessage, error) {
	prepared, err := b.executor.Prepare(ctx, call)
	if err != nil {
		return nil, err
	}
	return b.requestOf(prepared, 0)
}

// configName names the config for the screen: the last of its files, which wins, and how many others there are. It is
// empty where a server of the command line takes the place of the config.
func (b *toolbox) configName() string {
	files := b.config().Files
	switch n := len(files); {
	case b.adHoc || n == 0:
		return ""
	case n == 1:
		return filepath.Base(files[0])
	default:
		return fmt.Sprintf("%s +%d", filepath.Base(files[n-1]), n-1)
	}
}

// hasScreen reports whether the whole terminal can be drawn on.
func (o *output) hasScreen() bool {
	return o.Console.InTTY && o.Console.OutTTY && os.Getenv("TERM") != "dumb"
}

// form returns options that show a call in its form, to be completed (--edit), and only the server that the tool's name
// names.
func (o callOptions) form() tuiOptions {
	return tuiOptions{
		server: o.server, answers: o.answers, guards: o.guards, of: o.tool,
		start: &tui.Start{Tool: o.tool, Fill: o.fill},
	}
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

// serversNamed returns the servers of these names; all that are not disabled where there are no names.
func serversNamed(all []*config.Server, names []string) ([]*config.Server, error) {
	names, err := expandClients(all, names)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return slices.DeleteFunc(slices.Clone(all), func(server *config.Server) bool { return server.Disabled }), nil
	}
	var shown []*config.Server
	for _, name := range distinct(names) {
		server, err := serverNamed(all, name, "toolx list shows their tools")
		switch {
		case err != nil:
			return nil, err
		case server.Disabled:
			return nil, servers.Disabled(server)
		}
		shown = append(shown, server)
	}
	return shown, nil
}

// examineOne lets the doctor examine one server, in sessions of its own.
func (b *toolbox) examineOne(ctx context.Context, name string) (*doctor.Report, error) {
	list, err := serversNamed(b.config().Servers, []string{name})
	if err != nil {
		return nil, err
	}
	fleet := doctor.Examine(ctx, b.config(), list, b.examination())
	fleet.Config = nil // the report is about the server, not the config
	return doctor.Judge(fleet, doctor.Selection{}), nil
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
func (o *output) crashed(err error, path string) error {
	var panicked *tui.PanicError
	if !errors.As(err, &panicked) {
		return err
	}
	text := o.mask.Text("toolx " + Version() + "\n" + panicked.Error() + "\n\n" + panicked.Stack)
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
