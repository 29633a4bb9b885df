// Package cmd is the command line. A verb has a file of its own with an options struct, a constructor that declares
// flags and checks them, and a run function that does not know cobra. Errors become messages and exit codes in exit.go.
package cmd

import (
	"context"
	"io"
	"math"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"toolx/cmd/build"
	"toolx/cmd/cli"
	"toolx/cmd/complete"
	"toolx/cmd/exit"
	"toolx/cmd/factory"
	"toolx/cmd/toolset"
	"toolx/pkg/console"
	"toolx/pkg/fault"
)

// Main runs toolx with the given arguments (without the program's name) and returns the exit code (docs/exit-codes.md).
// Ctrl-C ends what is running in order; a second Ctrl-C kills it.
func Main(c *console.Console, args []string) int {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 { // else GOMEMLIMIT has set one
		debug.SetMemoryLimit(softMemoryLimit)
	}
	return newApp(c).run(args)
}

// softMemoryLimit is the size in bytes above which the garbage collector works harder, so that what a server sends does
// not make toolx much larger than what toolx keeps of it.
const softMemoryLimit = 160 << 20

// run is Main with one App.
func (a *App) run(args []string) int {
	defer console.KeepSIGPIPE()()
	ctx, hurry, stop := interruptible()
	defer stop()

	a.factory.Keyboard.Over = ctx.Done()
	ended := make(chan int, 1)
	go func() { ended <- a.main(ctx, hurry, args) }()
	select {
	case code := <-ended:
		return code
	case <-overdue(ctx, hurry, a.factory.PassSignals.Load):
		// A read of standard input, or a write to a pipe that nobody reads, cannot be interrupted. The process and its
		// servers end all the same.
		a.factory.Tools.Kill()
		return exit.Interrupted
	}
}

// main runs the verb, reports how it ended, and closes what was opened.
func (a *App) main(ctx, hurry context.Context, args []string) int {
	root := newRootCommand(a.factory)
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		// Setting them takes a twentieth of the start of any other command.
		complete.Completer{Tools: a.factory.Tools}.SetAll(root)
	}
	a.factory.Line.Args = args
	root.SetArgs(args)
	verb, err := root.ExecuteContextC(ctx)
	a.factory.Corrector.Cmd = verb
	code := reportOutcome(a.factory.Out, a.factory.Corrector.Explain(err, args), a.failureJSON(verb, args))
	a.factory.Tools.Close(ctx, hurry)
	return code
}

// The time after which an interrupted toolx ends in any case: after the first signal somewhat more than teardownTime,
// after the second next to none.
const (
	overdueTime  = toolset.TeardownTime + 500*time.Millisecond
	overdueHurry = 200 * time.Millisecond
)

// overdue returns a channel that is closed when an interrupted toolx has had its time to end; never where exempt holds.
func overdue(ctx, hurry context.Context, exempt func() bool) <-chan struct{} {
	over := make(chan struct{})
	go func() {
		<-ctx.Done()
		if exempt() {
			return
		}
		select {
		case <-time.After(overdueTime):
		case <-hurry.Done():
			<-time.After(overdueHurry)
		}
		close(over)
	}()
	return over
}

// endingSignals returns the signals that end toolx. A hang-up that was ignored when toolx began, as nohup asks for,
// does not.
func endingSignals() []os.Signal {
	ending := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		ending = append(ending, syscall.SIGHUP)
	}
	return ending
}

// interruptible returns a context that the first SIGINT, SIGTERM or SIGHUP ends, and one that the second ends. After
// that the signals have their usual effect.
func interruptible() (ctx, hurry context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	hurry, cancelHurry := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, endingSignals()...)
	ended := make(chan struct{})
	go func() {
		for _, end := range []func(){cancel, cancelHurry} {
			select {
			case <-signals:
				end()
			case <-ended:
				return
			}
		}
		signal.Stop(signals)
	}()
	return ctx, hurry, func() {
		signal.Stop(signals)
		close(ended)
		cancel()
		cancelHurry()
	}
}

// Command returns the tree of all verbs, for what is made from it; it is never run.
func Command() *cobra.Command {
	return newRootCommand(factory.New(console.New(strings.NewReader(""), io.Discard, io.Discard)))
}

func newRootCommand(f *factory.Factory) *cobra.Command {
	root := &cobra.Command{
		Use:   "toolx",
		Short: "Invoke and debug the tools of MCP servers and of your own config",
		Long: `toolx invokes and debugs tools from a terminal. Tools live on MCP servers (child
processes that speak JSON-RPC) and in a config file (builtin, mock, internal).
Without a verb it shows them on the whole terminal (toolx tui).

The config is the nearest toolx.yaml, toolx.yml, toolx.json, .toolx.yaml or
.mcp.json from the working directory upwards, over the user's own; a server's
command line after -- is used instead of the configured servers.`,
		Example: `  toolx list
  toolx call echo --arg message=hi -- npx -y @modelcontextprotocol/server-everything
  toolx call zwave__control_zwave_device --arg deviceName="Switch One" --arg action=on`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return f.Corrector.UnknownVerb(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.Out.HasScreen() {
				return runTUI(cmd.Context(), newTUIOptions(f))
			}
			cmd.SetOut(f.Out.Console.Err)
			_ = cmd.Help()
			if nothingConfigured(f.Consent) {
				f.Out.Say("\n%s", noConfig)
			}
			return exit.Reported(fault.Usage("no command given", ""))
		},
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.Version = build.Line()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetIn(f.Out.Console.In)
	root.SetOut(f.Out.Console.Out)
	root.SetErr(f.Out.Console.Err)
	root.SetFlagErrorFunc(f.Corrector.FlagError)
	root.SetHelpCommand(newHelpCommand(f))
	f.Flags.Declare(root.PersistentFlags())
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		// With a variable that is not set, --url "$URL" would mean the config's servers.
		if f.Flags.URL == "" && cmd.Flags().Changed("url") {
			return fault.Usage("--url is empty", "--url https://host/mcp")
		}
		if err := f.Flags.ReadOutput(cmd); err != nil {
			return err
		}
		if err := cli.CheckGroups(cmd); err != nil {
			return err
		}
		if cmd.ArgsLenAtDash() < 0 {
			if err := f.Flags.CheckNoCommand(); err != nil {
				return err
			}
		}
		if len(f.Flags.Servers) > 0 && (cmd.ArgsLenAtDash() >= 0 || f.Flags.URL != "") {
			return fault.Usage("--server names a configured server, and a command after -- or --url gives another",
				"leave one of them out")
		}
		f.Corrector.Cmd, f.Line.Command = cmd, cmd.CommandPath()
		f.Consent.Named = cli.ClientsNamed(cmd, args)
		return f.Tools.Begin()
	}
	addVerbs(root, f)
	return root
}

// addVerbs adds every verb, in the order of the help.
func addVerbs(root *cobra.Command, f *factory.Factory) {
	root.AddCommand(
		newListCommand(f, runList),
		newShowCommand(f, runShow),
		newCallCommand(f, runCall),
		newHistoryCommand(f, runHistoryList),
		newResourcesCommand(f),
		newPromptsCommand(f),
		newCompleteCommand(f, runComplete),
		newConvertCommand(f, runConvert),
		newAskCommand(f, runAsk),
		newTUICommand(f, runTUI),
		newServeCommand(f, runServe),
		newProxyCommand(f, runProxy),
		newPingCommand(f, runPing),
		newRawCommand(f, runRaw),
		newWatchCommand(f, runWatch),
		newDevCommand(f, runDev),
		newDoctorCommand(f, runDoctor),
		newInitCommand(f, runInit),
		newServersCommand(f, runServersList),
		newSessionCommand(f),
		newTrustCommand(f, runTrust),
		newAuthCommand(f),
		newSecretCommand(f),
		newCompletionCommand(f),
		newConformanceCommand(f, runConformance),
		newVersionCommand(f, runVersion),
	)
}
