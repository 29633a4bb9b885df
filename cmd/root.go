// Package cmd is the command line: it assembles the commands, runs one, and turns an error into a message and an exit
// code. Each family of commands is a package below it. What they share is in further packages, and package factory
// makes it.
package cmd

import (
	"context"
	"io"
	"math"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	askcmd "toolx/cmd/ask"
	authcmd "toolx/cmd/auth"
	"toolx/cmd/build"
	"toolx/cmd/call"
	"toolx/cmd/cli"
	"toolx/cmd/complete"
	contractcmd "toolx/cmd/contract"
	convertcmd "toolx/cmd/convert"
	"toolx/cmd/dev"
	doctorcmd "toolx/cmd/doctor"
	"toolx/cmd/exit"
	"toolx/cmd/factory"
	"toolx/cmd/help"
	historycmd "toolx/cmd/history"
	"toolx/cmd/list"
	"toolx/cmd/proxy"
	"toolx/cmd/resources"
	"toolx/cmd/secret"
	servecmd "toolx/cmd/serve"
	serverscmd "toolx/cmd/servers"
	"toolx/cmd/session"
	"toolx/cmd/toolset"
	"toolx/cmd/trace"
	trustcmd "toolx/cmd/trust"
	tuicmd "toolx/cmd/tui"
	"toolx/cmd/watch"
	"toolx/pkg/console"
	"toolx/pkg/fault"
	"toolx/pkg/words"
)

// Main runs toolx with the given arguments (without the program's name) and returns the exit code (docs/exit-codes.md).
// Ctrl-C shuts down cleanly; a second Ctrl-C kills.
func Main(c *console.Console, args []string) int {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 { // unless GOMEMLIMIT has set one
		debug.SetMemoryLimit(softMemoryLimit)
	}
	return newApp(c).run(args)
}

// softMemoryLimit is the size in bytes above which the garbage collector works harder, so that toolx's memory does not
// grow much beyond the data that it keeps.
const softMemoryLimit = 160 << 20

// run is Main with one App.
func (a *App) run(args []string) int {
	defer console.KeepSIGPIPE()()
	ctx, hurry, interrupt, stop := interruptible()
	defer stop()

	a.factory.Keyboard.Over, a.factory.Keyboard.Interrupt = ctx.Done(), interrupt
	ended := make(chan int, 1)
	go func() { ended <- a.main(ctx, hurry, args) }()
	select {
	case code := <-ended:
		return code
	case <-overdue(ctx, hurry, a.factory.PassSignals.Load):
		// A read of standard input, or a write to a pipe that no one reads, cannot be interrupted. The process and its
		// servers must still end.
		a.factory.Tools.Kill()
		return exit.Interrupted
	}
}

// main runs the verb, reports the outcome, and closes everything.
func (a *App) main(ctx, hurry context.Context, args []string) int {
	root := newRootCommand(a.factory, args...)
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		complete.Completer{Tools: a.factory.Tools}.Set(root, args[1:])
	}
	a.factory.Line.Args = args
	root.SetArgs(args)
	verb, err := root.ExecuteContextC(ctx)
	a.factory.Corrector.Cmd = verb
	code := reportOutcome(a.factory.Out, a.factory.Corrector.Explain(err, args), a.failureJSON(verb, args))
	a.factory.Tools.Close(ctx, hurry)
	return code
}

// The time after which an interrupted toolx exits unconditionally: a little more than TeardownTime after the first
// signal, and almost at once after the second.
const (
	overdueTime  = toolset.TeardownTime + 500*time.Millisecond
	overdueHurry = 200 * time.Millisecond
)

// overdue returns a channel that is closed when an interrupted toolx has used up its time to exit, unless exempt
// returns true.
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

// interruptible returns a context that the first SIGINT, SIGTERM or SIGHUP ends, and one that the second ends. After
// that, signals have their usual effect. interrupt counts as a signal, because a form reads Ctrl-C as a key.
func interruptible() (ctx, hurry context.Context, interrupt, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	hurry, cancelHurry := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, cli.EndingSignals()...)
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
	interrupt = func() {
		select {
		case signals <- os.Interrupt:
			<-ctx.Done()
		default: // two are waiting already
		}
	}
	return ctx, hurry, interrupt, func() {
		signal.Stop(signals)
		close(ended)
		cancel()
		cancelHurry()
	}
}

// Command returns the tree of all verbs for generators and tests; it is never run.
func Command() *cobra.Command {
	return newRootCommand(factory.New(console.New(strings.NewReader(""), io.Discard, io.Discard)))
}

// newRootCommand returns the tree of verbs, or as much of it as a command line needs.
func newRootCommand(f *factory.Factory, args ...string) *cobra.Command {
	root := &cobra.Command{
		Use:   "toolx",
		Short: "Call and debug tools of MCP servers. Without a command, toolx opens its full-screen interface.",
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
				return tuicmd.Run(cmd.Context(), tuicmd.NewOptions(f))
			}
			cmd.SetOut(f.Out.Console.Err)
			_ = cmd.Help()
			if serverscmd.NothingConfigured(f.Consent) {
				f.Out.Say("\n%s", serverscmd.NoConfig)
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
	all := groups(f)
	root.SetHelpFunc(help.Show(shownGroups(all)))
	root.SetHelpCommand(help.New(f))
	f.Flags.Declare(root.PersistentFlags())
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		// With an unset variable, --url "$URL" would silently mean the config's servers.
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
			return fault.Usage("cannot combine --server with a command after -- or --url",
				"leave one of them out")
		}
		f.Corrector.Cmd, f.Line.Command = cmd, cmd.CommandPath()
		f.Consent.Named = cli.ClientsNamed(cmd, args)
		return f.Tools.Begin()
	}
	addVerbs(root, all, args)
	return root
}

// addVerbs adds every verb; if the command line begins with the name of one, that one alone: the flags of all take a
// twentieth of a short command.
func addVerbs(root *cobra.Command, all []group, args []string) {
	if len(args) > 2 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		args = args[1:]
	}
	var verbs []verb
	for _, g := range all {
		verbs = append(verbs, g.verbs...)
	}
	named := func(v verb) bool { return len(args) > 0 && v.name == args[0] && v.command != nil }
	if at := slices.IndexFunc(verbs, named); at >= 0 {
		verbs = verbs[at : at+1]
	}
	for _, v := range verbs {
		if v.command != nil {
			root.AddCommand(v.command())
		}
	}
}

// shownGroups returns what the help shows of groups.
func shownGroups(all []group) []help.Group {
	shown := make([]help.Group, len(all))
	for i, g := range all {
		shown[i] = help.Group{Title: g.title, Commands: words.Texts(g.verbs, func(v verb) string { return v.name })}
	}
	return shown
}

// group is a group of verbs in the help.
type group struct {
	title string
	verbs []verb
}

// verb is a command below the root. It has no command if cobra adds it.
type verb struct {
	name    string
	command func() *cobra.Command
}

// groups returns all verbs, in the order of the help.
func groups(f *factory.Factory) []group {
	return []group{
		{"Use tools", []verb{
			{"list", func() *cobra.Command { return list.New(f, list.Run) }},
			{"show", func() *cobra.Command { return list.NewShow(f, list.RunShow) }},
			{"call", func() *cobra.Command { return call.New(f, call.Run) }},
			{"ask", func() *cobra.Command { return askcmd.New(f, askcmd.Run) }},
			{"tui", func() *cobra.Command { return tuicmd.New(f, tuicmd.Run) }},
		}},
		{"Debug servers", []verb{
			{"doctor", func() *cobra.Command { return doctorcmd.New(f, doctorcmd.Run) }},
			{"dev", func() *cobra.Command { return dev.New(f, dev.Run) }},
			{"watch", func() *cobra.Command { return watch.New(f, watch.Run) }},
			{"raw", func() *cobra.Command { return resources.NewRaw(f, resources.RunRaw) }},
			{"ping", func() *cobra.Command { return watch.NewPing(f, watch.RunPing) }},
			{"proxy", func() *cobra.Command { return proxy.New(f, proxy.Run) }},
			{"trace", func() *cobra.Command { return trace.New(f, trace.Run) }},
			{"snapshot", func() *cobra.Command { return contractcmd.NewSnapshot(f, contractcmd.RunSnapshot) }},
			{"diff", func() *cobra.Command { return contractcmd.NewDiff(f, contractcmd.RunDiff) }},
			{"history", func() *cobra.Command { return historycmd.New(f, historycmd.RunList) }},
		}},
		{"Manage servers", []verb{
			{"servers", func() *cobra.Command { return serverscmd.New(f, serverscmd.RunList) }},
			{"session", func() *cobra.Command { return session.New(f) }},
			{"auth", func() *cobra.Command { return authcmd.New(f) }},
			{"trust", func() *cobra.Command { return trustcmd.New(f, trustcmd.Run) }},
			{"secret", func() *cobra.Command { return secret.New(f) }},
			{"init", func() *cobra.Command { return serverscmd.NewInit(f, serverscmd.RunInit) }},
		}},
		{"Share tools", []verb{
			{"serve", func() *cobra.Command { return servecmd.New(f, servecmd.Run) }},
			{"convert", func() *cobra.Command { return convertcmd.New(f, convertcmd.Run) }},
		}},
		{"More", []verb{
			{"resources", func() *cobra.Command { return resources.New(f) }},
			{"prompts", func() *cobra.Command { return resources.NewPrompts(f) }},
			{"complete", func() *cobra.Command { return resources.NewComplete(f, resources.RunComplete) }},
			{"completion", func() *cobra.Command { return newCompletionCommand(f) }},
			{"help", nil},
			{"version", func() *cobra.Command { return newVersionCommand(f, runVersion) }},
			{"conformance-client", func() *cobra.Command { return newConformanceCommand(f, runConformance) }},
		}},
	}
}
