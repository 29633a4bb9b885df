package cmd

import (
	"cmp"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolx/pkg/config"
	"toolx/pkg/console"
	"toolx/pkg/fault"
	"toolx/pkg/servers"
)

// proxyOptions say which server is run, and where what is no message goes.
type proxyOptions struct {
	server     string   // a configured server's name; empty where command says what to run
	command    []string // a server's command line
	log        string   // a file that takes foreign lines instead of stderr
	maxMessage string   // a size; empty: the config's, then the default
}

func newProxyCommand(app *App, run func(*App, proxyOptions) error) *cobra.Command {
	var o proxyOptions
	c := &cobra.Command{
		Use:   "proxy [flags] (SERVER | -- COMMAND…)",
		Short: "Stand between a client and a server that pollutes its stdout",
		Long: `Run a server for any MCP client, and let only JSON-RPC messages reach the client,
one a line, their bytes untouched. Messages are found in lines that are not clean.
Everything else on the server's stdout goes to stderr, behind "toolx proxy:"; the
server's own stderr passes as it is. In the client's config, put "toolx proxy --"
before the server's command.

Standard input, its end, and signals are passed on; the exit code is the server's.
A server that is silent for 2 s after standard input has ended, or has nobody to
write to, is ended by SIGTERM, then SIGKILL.

Exit codes: the server's, 128 + N where signal N ended it; 2 for wrong usage or
config, 4 where it could not be started.`,
		Example: `  toolx proxy -- npx -y some-mcp-server
  toolx proxy --log /tmp/stray.log zwave
  toolx list -- toolx proxy -- node server.js`,
		Args: func(cmd *cobra.Command, args []string) error {
			own, command, err := splitDash(cmd, args)
			if err != nil {
				return err
			}
			if o.command = command; len(own) == 1 {
				o.server = own[0]
			}
			return checkProxied(own, command)
		},
		RunE:              func(*cobra.Command, []string) error { return run(app, o) },
		ValidArgsFunction: completeProxied(app),
	}
	flags := c.Flags()
	flags.StringVar(&o.log, "log", "", "append what is no message to `FILE`, with the time, instead of writing it to stderr")
	flags.StringVar(&o.maxMessage, "max-message", "", "drop messages of more than `SIZE` (default: the config's maxMessage, else 64MiB)")
	return c
}

// checkProxied refuses anything but one server, or one command behind "--".
func checkProxied(own, command []string) error {
	const example = "toolx proxy -- npx -y @modelcontextprotocol/server-everything"
	switch {
	case len(own) == 0 && len(command) == 0:
		return fault.Usage("name a server, or give its command behind --", example)
	case len(own) > 0 && len(command) > 0:
		return fault.Usage("a server's name and a command are one too many: "+quote(own[0]), example)
	case len(own) > 1:
		return fault.Usage("unexpected argument "+quote(own[1]),
			"a command stands behind --: toolx proxy -- "+strings.Join(own, " "))
	}
	return nil
}

// runProxy ends when the server does, with its exit code.
func runProxy(app *App, o proxyOptions) error {
	app.asksNobody = true // standard input is the client's
	server, limit, err := app.proxied(o)
	if err != nil {
		return err
	}
	report, err := newProxyReport(app, o.log, limit)
	if err != nil {
		return fault.Usage("--log: "+err.Error(), "name a file that can be written")
	}
	app.bus.Subscribe(report.take)
	if err := app.recordTrace(); err != nil {
		return err
	}
	app.patient.Store(true)
	app.flushTime = unreadTime
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, endingSignals()...)
	defer signal.Stop(signals)

	code, err := servers.Proxy(server, servers.ProxyOptions{
		In: app.Console.In, Out: app.stdout, Err: app.Console.Err,
		Signals:    signals,
		MaxMessage: limit,
		Bus:        app.bus,
		Trace:      app.flags.trace != "" || app.flags.traceFile != "",
		Secret:     app.mask.Add,
	})
	report.close()
	if err != nil && !console.IsBrokenPipe(err) {
		return err
	}
	return &exitStatus{code}
}

// proxied is the server that is run, and the limit on its messages in bytes. A
// command needs no config, so that a broken one is no obstacle.
func (a *App) proxied(o proxyOptions) (server *config.Server, limit int64, err error) {
	if o.maxMessage != "" {
		if limit, err = config.ParseSize(o.maxMessage); err != nil || limit == 0 {
			return nil, 0, fault.Usage("--max-message "+quote(o.maxMessage)+" is no size", "--max-message 256MiB")
		}
	}
	if adHoc, err := a.adHoc(o.command); adHoc != nil || err != nil {
		return adHoc, cmp.Or(limit, servers.DefaultMaxMessage), err
	}
	loaded, err := a.loadConfig()
	if err != nil {
		return nil, 0, err
	}
	a.tellRemarks(loaded)
	i := slices.IndexFunc(loaded.Servers, func(s *config.Server) bool { return s.Name == o.server })
	if i < 0 {
		return nil, 0, unknownServer(o.server, loaded.Servers)
	}
	server = loaded.Servers[i]
	a.tellNotes(loaded, server)
	if server.Disabled {
		return nil, 0, servers.Disabled(server)
	}
	return server, cmp.Or(limit, server.MaxMessage, loaded.Defaults.MaxMessage, servers.DefaultMaxMessage), nil
}

// unknownServer is a usage error that names the servers that there are.
func unknownServer(name string, known []*config.Server) error {
	var names []string
	for _, server := range known {
		names = append(names, server.Name)
	}
	text := "no servers are configured"
	if len(names) > 0 {
		text = "known servers: " + strings.Join(names, ", ")
	}
	return fault.Usage("no server is named "+quote(name)+" ("+text+")",
		"a command stands behind --: toolx proxy -- "+name)
}

// completeProxied completes what a proxy runs. Where it is no configured server, the
// shell completes files: what stands behind "--" is a command.
func completeProxied(app *App) cobra.CompletionFunc {
	complete := completeServer(app)
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		names, _ := complete(cmd, args, typed)
		return names, cobra.ShellCompDirectiveDefault
	}
}

// completeServer completes the name of one configured server.
func completeServer(app *App) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		const nothingElse = cobra.ShellCompDirectiveNoFileComp
		if len(args) > 0 {
			return nil, nothingElse
		}
		app.log = slog.New(slog.DiscardHandler) // the user is typing: there is no place for words
		loaded, _ := app.loadConfig()           // what cannot be parsed has no names
		var names []cobra.Completion
		for _, server := range loaded.Servers {
			if strings.HasPrefix(server.Name, typed) && !server.Disabled {
				app.mask.Add(server.Secrets()...)
				command := strings.Join(append([]string{server.Command}, server.Args...), " ")
				names = append(names, cobra.CompletionWithDesc(server.Name, command))
			}
		}
		return names, nothingElse
	}
}
