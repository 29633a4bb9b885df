package cmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolx/pkg/fault"
	"toolx/pkg/serve"
	"toolx/pkg/servers"
)

// serveOptions say what is served, and where.
type serveOptions struct {
	file string // a config file; empty: the config that is found
	http serve.HTTPOptions
}

func newServeCommand(app *App, run func(context.Context, *App, serveOptions) error) *cobra.Command {
	var o serveOptions
	command := &cobra.Command{
		Use:   "serve [FILE]",
		Short: "Serve the config's tools as an MCP server on stdio, or over HTTP",
		Long: `Serve the tools that a config file defines (builtin, mock and internal ones) as an
MCP server on standard input and output, until standard input ends. Mocks can carry
a delay, an error, or faults, so that anyone can rehearse failure.

With --http it serves over streamable HTTP instead, until Ctrl-C: on this machine
only unless --allow-remote is given, and never to a web page from elsewhere. A token is
asked of every client: that in TOOLX_SERVE_TOKEN, or in a file that --token names, else a
new one that is printed on stderr. --no-token asks for none.

Exit codes: 0 when standard input ends or Ctrl-C is pressed, 2 for a wrong config, or
an address that cannot be had; a mock's crash fault ends the process with its own
code.`,
		Example: `  toolx serve testdata/zwave.yaml
  toolx list -- toolx serve testdata/zwave.yaml
  toolx serve testdata/zwave.yaml --http 127.0.0.1:8080`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fault.Usage("unexpected argument "+quote(args[1]),
					"toolx serve FILE; --config lays several files over each other")
			}
			if len(args) == 1 {
				o.file = args[0]
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.http.Address == "" && cmd.Flags().Changed("http") { // "$ADDR", which is not set: standard streams are not meant
				return fault.Usage("--http is empty", "--http 127.0.0.1:8080")
			}
			if err := o.http.Check(); err != nil {
				return err
			}
			return run(cmd.Context(), app, o)
		},
	}
	o.declare(command.Flags())
	return command
}

func (o *serveOptions) declare(flags *pflag.FlagSet) {
	flags.StringVar(&o.http.Address, "http", "", "serve over HTTP at `ADDR` (HOST:PORT, or PORT of this machine; port 0: any that is free)")
	flags.BoolVar(&o.http.Remote, "allow-remote", false, "let --http take an address that other machines reach")
	flags.StringVar(&o.http.Token, "token", "", "want the token that stands in a file of every client: `@FILE` (also: "+serve.TokenVariable+"; default: a new one)")
	flags.BoolVar(&o.http.Open, "no-token", false, "let --http serve every program and user that reaches it, without a token")
	flags.StringArrayVar(&o.http.Hosts, "allow-host", nil, "serve requests to host `NAME` too (repeatable)")
	flags.StringArrayVar(&o.http.Origins, "allow-origin", nil, "serve web pages of `ORIGIN` too (repeatable)")
}

// runServe serves until standard input, or the process, is to end.
func runServe(ctx context.Context, app *App, o serveOptions) error {
	app.asksNobody = true // standard input is the client's
	if o.file != "" {
		if _, err := os.Stat(o.file); err != nil {
			return fault.Usage(fmt.Sprintf("toolx serve %s: %s", o.file, fault.Reason(err)),
				"FILE is the config whose tools are served; without it, toolx serve takes the one that is found here")
		}
		app.flags.config = append(app.flags.config, o.file)
	}
	app.flushTime = unreadTime
	stdout := serve.NewAnswerWriter(app.Console.Out)
	crashes := &stage{stdout: stdout, stderr: app.live, exit: make(chan int, 1)}
	box, err := app.toolbox(toolboxOptions{configOnly: true, stage: crashes, confined: true})
	if err != nil {
		return err
	}
	tools, broken := working(box.registry.All())
	for _, wrong := range broken {
		app.tell(wrong)
	}
	switch {
	case len(tools) == 0 && len(broken) > 0:
		return &reportedError{broken[0]}
	case len(tools) == 0:
		return fault.Usage("the config defines no tools", "add some under tools:; docs/serve.md has an example")
	}
	served := serve.New(ctx, Version(), box.executor, tools)
	limit := cmp.Or(box.config.Defaults.MaxMessage, servers.DefaultMaxMessage)
	run := func() error {
		return served.Stdio(ctx, app.Console.In, stdout, limit, func(text string) { app.log.Warn(text) })
	}
	if o.http.Address != "" {
		endpoint, err := served.Listen(o.http, limit, app.log)
		if err != nil {
			return err
		}
		app.announce(endpoint)
		run = func() error { return endpoint.Serve(ctx) }
	}
	ended := make(chan error, 1)
	go func() { ended <- run() }()
	select {
	case code := <-crashes.exit:
		return &exitStatus{code}
	case err := <-ended:
		return err
	}
}

// announce tells on stderr where toolx serves, and the token that it made, which nobody knows otherwise.
func (a *App) announce(endpoint *serve.Endpoint) {
	a.mask.Add(endpoint.Token)
	url, scope := endpoint.URL(), ""
	if endpoint.Address.IP.IsUnspecified() {
		scope = ", and at every address of this machine"
	}
	if !a.flags.quiet {
		fmt.Fprintf(a.live, "serving at %s%s (Ctrl-C ends)\n", url, scope)
	}
	if endpoint.NewToken {
		fmt.Fprintf(a.live, "clients need this token, which is new each time: %s\n", endpoint.Token)
		fmt.Fprintf(a.live, "  toolx list --url %s -H 'Authorization: Bearer %s'\n", url, endpoint.Token)
	}
	if endpoint.Token == "" {
		who := "every user and program of this machine"
		if !endpoint.Address.IP.IsLoopback() {
			who = "whoever reaches this machine"
		}
		a.log.Warn(who + " can call these tools, for no token is wanted (toolx makes one unless given \"--no-token\")")
	}
}

// stage is the process on which mocks rehearse failure.
type stage struct {
	stdout, stderr io.Writer
	exit           chan int
}

func (s *stage) Stdout(line string) { _, _ = io.WriteString(s.stdout, line+"\n") }
func (s *stage) Stderr(line string) { _, _ = io.WriteString(s.stderr, line+"\n") }

// Exit makes runServe return with that code, in mid-call; the first code counts. As
// nothing happens in a process that has crashed, it does not return.
func (s *stage) Exit(code int) {
	select {
	case s.exit <- code:
	default:
	}
	select {}
}
