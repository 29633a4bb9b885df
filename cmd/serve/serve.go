// Package serve has toolx serve, which serves the config's tools over MCP.
package serve

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"toolx/cmd/build"
	"toolx/cmd/cli"
	"toolx/cmd/complete"
	"toolx/cmd/exit"
	"toolx/cmd/factory"
	"toolx/cmd/person"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/recording"
	"toolx/pkg/serve"
	"toolx/pkg/servers/wire"
)

// Options say what to serve, and where.
type Options struct {
	Out     *streams.Streams
	Flags   *cli.Flags
	Tools   *toolset.Opener
	Consent *person.Consent

	file string // a config file; empty: the config that is found
	http serve.HTTPOptions
	// replay is the file of a recording to answer from.
	replay string

	guards toolset.Guards
}

// New returns the command serve; run runs it.
func New(f *factory.Factory, run cli.RunFunc[Options]) *cobra.Command {
	o := Options{Out: f.Out, Flags: f.Flags, Tools: f.Tools, Consent: f.Consent}
	cmd := &cobra.Command{
		Use:   "serve [FILE]",
		Short: "Serve the config's tools over MCP",
		Long: `Serve the tools that a config file defines (builtin, mock and internal ones) as an MCP
server on standard input and output. Mocks can have a delay, an error or faults, to test
how clients handle failures.

--http serves over streamable HTTP until Ctrl-C: only on this machine unless
--allow-remote is given, and not to web pages from other sites. Clients need a token,
from TOOLX_SERVE_TOKEN or --token; otherwise toolx generates one and prints it on
stderr. --no-token accepts unauthenticated clients.

--replay answers as a recording did (--record): requests match by method and parameters.
It reports requests that the recording does not have, with the closest one.

A mock's crash fault exits with the code in the config.

Exit codes: 0 standard input ended or Ctrl-C, 2 wrong usage or config, or an address
that cannot be used.`,
		Example: `  toolx serve testdata/zwave.yaml
  toolx list -- toolx serve testdata/zwave.yaml
  toolx serve testdata/zwave.yaml --http 127.0.0.1:8080
  toolx serve --replay calls.jsonl`,
		Args:              cli.AtMostOne(&o.file, "toolx serve FILE; --config can merge several files"),
		ValidArgsFunction: complete.Files("yaml", "yml", "json"),
	}
	flags := cmd.Flags()
	o.guards.Declare(flags)
	o.guards.DeclareConfirm(flags)
	flags.StringVar(&o.http.Address, "http", "",
		"serve over HTTP at `ADDR`: HOST:PORT, or a PORT on this machine (0: any free one)")
	flags.BoolVar(&o.http.Remote, "allow-remote", false, "let --http use an address that other machines can reach")
	flags.StringVar(&o.http.Token, "token", "",
		"require the token in a file from every client: `@FILE` (also: "+serve.TokenVariable+"; default: a new one)")
	flags.BoolVar(&o.http.Open, "no-token", false, "let --http accept unauthenticated clients")
	cli.TextsVar(flags, &o.http.Hosts, "allow-host", "also serve requests to host `NAME` (repeatable)")
	cli.TextsVar(flags, &o.http.Origins, "allow-origin", "also serve web pages from `ORIGIN` (repeatable)")
	flags.StringVar(&o.replay, "replay", "", "answer as the recording in `FILE` did, on standard streams")
	cmd.MarkFlagsMutuallyExclusive("token", "no-token")
	cli.MarkFlagExcludes(cmd, "a recording is served on standard streams", "replay", "http")
	cli.MarkFlagsNeed(cmd, "http", "allow-remote", "token", "no-token", "allow-host", "allow-origin")
	cmd.RunE = cli.Run(&o, run, func() error {
		if o.http.Address == "" && flags.Changed("http") { // as with --http "$ADDR" where ADDR is not set
			return fault.Usage("--http is empty", "--http 127.0.0.1:8080")
		}
		return o.http.Check()
	}, o.guards.Check)
	return cmd
}

// Run serves until standard input ends, or the process is stopped.
func Run(ctx context.Context, o Options) error {
	o.Consent.NoQuestions = true // standard input is the client's
	if o.replay != "" {
		return o.runReplay(ctx)
	}
	if o.file != "" {
		if _, err := os.Stat(o.file); err != nil {
			return fault.Usage(fmt.Sprintf("toolx serve %s: %s", o.file, fault.Reason(err)),
				"FILE is the config with the tools to serve; without it, toolx serve uses the config of this folder")
		}
		o.Flags.Config = append(o.Flags.Config, o.file)
	}
	o.Out.FlushTime = streams.UnreadTime
	stdout := serve.NewAnswerWriter(o.Out.Console.Out)
	stage := &faultStage{stdout: stdout, stderr: o.Out.Live, exit: make(chan int, 1)}
	box, err := o.Tools.Open(toolset.Options{
		ConfigOnly: true, Stage: stage, Confined: true, Guards: o.guards, KeepAlive: true,
	})
	if err != nil {
		return err
	}
	tools, broken := toolset.WorkingTools(o.Out, box.Registry.All())
	switch {
	case len(tools) == 0 && broken != nil:
		return exit.Reported(broken)
	case len(tools) == 0 && len(box.Registry.Denied()) > 0:
		return box.Registry.Denied()[0].Denied()
	case len(tools) == 0:
		return fault.Usage("the config defines no tools", "add some under tools:; docs/serve.md has an example")
	}
	listed := make(map[string]bool)
	for _, tool := range append(tools, box.Registry.Denied()...) {
		listed[tool.Plain] = true
	}
	for _, warning := range o.guards.Build().Removed(exec.Own, listed) {
		o.Out.Log.Warn(warning)
	}
	served := serve.New(ctx, build.Version(), box.Executor, tools)
	limit := cmp.Or(box.Config().Defaults.MaxMessage, wire.DefaultMaxMessage)
	run := func() error {
		return served.Stdio(ctx, o.Out.Console.In, stdout, limit, func(text string) { o.Out.Log.Warn(text) })
	}
	if o.http.Address != "" {
		endpoint, err := served.Listen(o.http, limit, o.Out.Log)
		if err != nil {
			return err
		}
		announce(o.Out, endpoint)
		run = func() error { return endpoint.Serve(ctx) }
	}
	ended := make(chan error, 1)
	go func() { ended <- run() }()
	select {
	case code := <-stage.exit:
		return &exit.Status{Code: code}
	case err := <-ended:
		return err
	}
}

// runReplay answers from a recording until standard input ends, or the process is stopped.
func (o *Options) runReplay(ctx context.Context) error {
	if o.file != "" {
		return fault.Usage("cannot combine --replay and a config", "toolx serve --replay FILE")
	}
	replay := &recording.Replay{Mask: o.Out.Mask.JSON}
	warn := func(text string) { o.Out.Log.Warn(text) }
	if err := recording.ReadFile(o.replay, replay.Take, warn); err != nil {
		return fault.Usage("--replay "+o.replay+": "+fault.Reason(err),
			"a command with --record FILE writes a recording")
	}
	if len(replay.Servers) != 1 {
		return fault.Usage(fmt.Sprintf("%s has recordings of %d servers", o.replay, len(replay.Servers)),
			`keep one: jq -c 'select(.server == "NAME")' `+o.replay)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- replay.Serve(o.Out.Console.In, o.Out.Console.Out, warn)
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return nil
	}
}

// announce prints on stderr the address at which toolx serves, and the token if toolx made it.
func announce(out *streams.Streams, endpoint *serve.Endpoint) {
	out.Mask.Add(endpoint.Token)
	url, scope := endpoint.URL(), ""
	if endpoint.Address.IP.IsUnspecified() {
		scope = ", and at every address of this machine"
	}
	if !out.Settings.Quiet {
		out.Say("serving at %s%s (Ctrl-C stops)", url, scope)
	}
	if endpoint.NewToken {
		out.Say("clients need this token, new with each start: %s", endpoint.Token)
		out.Say("  toolx list --url %s -H 'Authorization: Bearer %s'", url, endpoint.Token)
	}
	if endpoint.Token == "" {
		who := "every user and program on this machine"
		if !endpoint.Address.IP.IsLoopback() {
			who = "everyone who can reach this machine"
		}
		out.Log.Warn(who + ` can call these tools, since no token is asked for (without "--no-token", toolx makes one)`)
	}
}

// faultStage lets mocks simulate faults in this process.
type faultStage struct {
	stdout, stderr io.Writer
	exit           chan int
}

func (s *faultStage) Stdout(line string) { _, _ = io.WriteString(s.stdout, line+"\n") }
func (s *faultStage) Stderr(line string) { _, _ = io.WriteString(s.stderr, line+"\n") }

// Exit makes Run return with a code in the middle of a call; the first code counts. Like a crash, it does not return.
func (s *faultStage) Exit(code int) {
	select {
	case s.exit <- code:
	default:
	}
	select {}
}
