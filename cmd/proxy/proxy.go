// Package proxy has toolx proxy, which runs a server behind a filter.
package proxy

import (
	"cmp"
	"context"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/complete"
	"toolx/cmd/correct"
	"toolx/cmd/exit"
	"toolx/cmd/factory"
	"toolx/cmd/person"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/config"
	"toolx/pkg/console"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/mask"
	"toolx/pkg/servers"
	"toolx/pkg/servers/bridge"
	"toolx/pkg/servers/proxy"
	"toolx/pkg/servers/wire"
)

// Options say which server to run, and where non-JSON-RPC output goes.
type Options struct {
	Out         *streams.Streams
	Flags       *cli.Flags
	Tools       *toolset.Opener
	Consent     *person.Consent
	Bus         *exec.Bus
	PassSignals *atomic.Bool

	server     string   // a configured server's name; empty with a command
	command    []string // a server's command line
	log        string   // a file for foreign lines instead of stderr
	maxMessage string   // a size; empty: the config's, then the default
	guards     toolset.Guards
}

// New returns the command proxy; run runs it.
func New(f *factory.Factory, run cli.RunFunc[Options]) *cobra.Command {
	o := Options{
		Out: f.Out, Flags: f.Flags, Tools: f.Tools, Consent: f.Consent, Bus: f.Bus, PassSignals: f.PassSignals,
	}
	c := &cobra.Command{
		Use:   "proxy [flags] (SERVER | URL | -- COMMAND…)",
		Short: "Run a server behind a filter, or reach a remote one over stdio",
		Long: `Run a server and pass only JSON-RPC messages to the client, one per line, their bytes
unchanged. Messages are recovered from polluted lines; everything else on the server's
stdout goes to stderr after "toolx proxy:". In the client's config, put "toolx proxy --"
before the server's command.

With a URL, or a server that has one, connect a client that supports only stdio to a
server over HTTP: log in, reconnect, and translate between protocol versions.

With a command, toolx passes on stderr, standard input and signals, and exits with the
server's code, or 128 + N if signal N ended the server. A server that is still running
2 s after its standard input ended gets SIGTERM, then SIGKILL.

Exit codes: 2 wrong usage or config, 4 the server could not be started.`,
		Example: `  toolx proxy -- npx -y some-mcp-server
  toolx proxy https://host/mcp
  toolx proxy --log /tmp/server.log zwave
  toolx list -- toolx proxy -- node server.js`,
		Args:              cli.NameOrCommand(&o.command, func(own []string) error { return o.take(f.Flags, own) }),
		RunE:              cli.Run(&o, run, o.guards.Check),
		ValidArgsFunction: complete.Servers(f.Tools, 1),
	}
	flags := c.Flags()
	o.guards.Declare(flags)
	flags.StringVar(&o.log, "log", "", "append other output to `FILE`, with timestamps, instead of to stderr")
	flags.StringVar(&o.maxMessage, "max-message", "",
		"drop messages larger than `SIZE` (default: the config's maxMessage, or 64MiB)")
	return c
}

// take reads the arguments before "--": one server, or none if a command follows.
func (o *Options) take(flags *cli.Flags, own []string) error {
	const example = "toolx proxy -- npx -y @modelcontextprotocol/server-everything"
	if len(own) > 0 && flags.URL == "" && correct.MisplacedAs(own[0]) == correct.InURL {
		flags.URL, own = own[0], own[1:]
	}
	switch {
	case flags.URL != "" && len(own) > 0:
		return fault.Usage("give an address or a server's name, not both: "+strconv.Quote(own[0]), example)
	case flags.URL != "":
	case len(own) == 0 && len(o.command) == 0:
		return fault.Usage("a server name, or a command after --, is required", example)
	case len(own) > 0 && len(o.command) > 0:
		return fault.Usage("give a server's name or a command, not both: "+strconv.Quote(own[0]), example)
	case len(own) > 1:
		return fault.Usage("unexpected argument "+strconv.Quote(own[1]),
			"put -- before a command: toolx proxy -- "+strings.Join(own, " "))
	case len(own) == 1:
		o.server = own[0]
	}
	return nil
}

// Run ends when the server does, with its exit code.
func Run(ctx context.Context, o Options) error {
	o.Consent.NoQuestions = true // standard input is the client's
	server, defaults, err := proxied(o.Tools, o)
	if err != nil {
		return err
	}
	o.guards.Narrow(server)
	report, err := newProxyReport(o.Out, o.log, server.MaxMessage)
	if err != nil {
		return fault.Usage("--log: "+err.Error(), "use a writable file")
	}
	o.Bus.Subscribe(report.take)
	if err := o.Tools.RecordTrace(true); err != nil {
		return err
	}
	o.Out.FlushTime = streams.UnreadTime
	if server.URL != "" {
		err := runBridge(ctx, o, server, defaults)
		report.close()
		return err
	}
	o.PassSignals.Store(true)
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, cli.EndingSignals()...)
	defer signal.Stop(signals)

	code, err := servers.Proxy(server, proxy.Options{
		In: o.Out.Console.In, Out: o.Out.Stdout, Err: o.Out.Console.Err,
		Signals:    signals,
		MaxMessage: server.MaxMessage,
		Bus:        o.Bus,
		Trace:      o.Flags.Trace != "" || o.Flags.Record != "",
		Record:     o.Flags.Record != "",
		Secret:     o.Out.Mask.Add,
	})
	report.close()
	if err != nil && !console.IsBrokenPipe(err) {
		return err
	}
	return &exit.Status{Code: code}
}

// runBridge connects the client with a server over HTTP.
func runBridge(ctx context.Context, o Options, server *config.Server, defaults config.Defaults) error {
	connection := o.Tools.Connection(defaults)
	err := servers.Bridge(ctx, server, connection, bridge.Options{
		In: o.Out.Console.In, Out: o.Out.Stdout, Login: o.Tools.Logins.Unattended(server, connection.HTTP),
	})
	if console.IsBrokenPipe(err) {
		return nil
	}
	return err
}

// expandHeaders replaces the variables and references in the headers of a server on the command line: clients start
// toolx without a shell that would have done so.
func expandHeaders(server *config.Server, sources *config.Sources, masker *mask.Masker) error {
	if len(server.Headers) == 0 {
		return nil
	}
	written := config.Server{Name: server.Name, URL: config.Literal(server.URL), Headers: server.Headers}
	written.SetSources(sources)
	resolved, err := written.Resolve(os.Environ())
	if err != nil {
		return fault.Usage(err.Error(), fault.HintOf(err))
	}
	server.Headers = resolved.Headers
	masker.Add(resolved.Secrets...)
	return nil
}

// proxied returns the server to run, with the size limit of its messages, and the defaults of its config. A command
// needs no config, so a broken config does not matter.
func proxied(a *toolset.Opener, o Options) (*config.Server, config.Defaults, error) {
	limit, none := int64(0), config.Defaults{}
	if o.maxMessage != "" {
		var err error
		if limit, err = config.ParseSize(o.maxMessage); err != nil || limit == 0 {
			return nil, none, fault.Usage("--max-message "+strconv.Quote(o.maxMessage)+" is not a size",
				"--max-message 256MiB")
		}
	}
	adHoc, err := a.Flags.AdHoc(o.command)
	if err != nil {
		return nil, none, err
	}
	if adHoc != nil {
		adHoc.MaxMessage = cmp.Or(limit, wire.DefaultMaxMessage)
		return adHoc, none, expandHeaders(adHoc, a.Consent.Sources, a.Out.Mask)
	}
	loaded, err := a.Consent.LoadConfig()
	if err != nil {
		return nil, none, err
	}
	a.ReportRemarks(loaded)
	server, err := cli.ServerNamed(loaded.Servers, o.server, "put -- before a command: toolx proxy -- "+o.server)
	if err != nil {
		return nil, none, err
	}
	a.ReportNotes(loaded, server)
	if server.Disabled {
		return nil, none, servers.Disabled(server)
	}
	server.MaxMessage = cmp.Or(limit, server.MaxMessage, loaded.Defaults.MaxMessage, wire.DefaultMaxMessage)
	return server, loaded.Defaults, nil
}
