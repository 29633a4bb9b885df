package cmd

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/servers"
)

// pingOptions say which servers are asked for a sign of life.
type pingOptions struct {
	names   []string
	command []string // a command line behind --
	json    bool
}

func newPingCommand(app *App, run func(context.Context, *App, pingOptions) error) *cobra.Command {
	var o pingOptions
	cmd := &cobra.Command{
		Use:   "ping [SERVER…] [-- COMMAND…]",
		Short: "Ask servers for a sign of life",
		Long: `Start servers and ask each for a sign of life: MCP's ping, or server/discover where
the revision has no ping. A line for each that answered has its name, the time of the
answer, the revision of MCP, and what the server calls itself.

Exit codes: 0 all answered, 2 wrong usage, unknown server or none, 3 authentication, 4 a
server was not reached, 5 one refused, 6 the protocol was broken, 124 timeout, 130
interrupted.`,
		Example: `  toolx ping
  toolx ping zwave --json
  toolx ping -- npx -y @modelcontextprotocol/server-everything`,
		Args: func(cmd *cobra.Command, args []string) (err error) {
			o.names, o.command, err = splitDash(cmd, args)
			if err == nil && len(o.names) > 0 && len(o.command) > 0 {
				return fault.Usage("name servers, or give a command behind --, not both", "toolx ping -- COMMAND…")
			}
			return err
		},
		RunE:              func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), app, o) },
		ValidArgsFunction: completeServers(app),
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print a line of JSON for each server, also of those that did not answer")
	return cmd
}

// pong is what became of a ping.
type pong struct {
	Server   string  `json:"server"`
	OK       bool    `json:"ok"`
	PingMS   float64 `json:"ping_ms,omitempty"`
	StartMS  float64 `json:"start_ms,omitempty"` // process or connection, handshake, and list
	Protocol string  `json:"protocol,omitempty"`
	Name     string  `json:"name,omitempty"` // what the server calls itself
	Version  string  `json:"version,omitempty"`
	Error    string  `json:"error,omitempty"`
	Kind     string  `json:"kind,omitempty"`

	err error
}

// runPing opens the servers and pings them, in parallel, and tells of each in order.
func runPing(ctx context.Context, app *App, o pingOptions) error {
	box, err := app.toolbox(toolboxOptions{server: o.command, tellsFailures: true})
	if err != nil {
		return err
	}
	if err := cmp.Or(box.needServers(), box.knowServers(o.names)); err != nil {
		return err
	}
	stop := app.showProgress("ping")
	defer stop()
	names := distinct(o.names)
	if len(names) == 0 {
		names = box.pool.Names()
	}
	bounded, done := box.bounded(ctx, exec.TimeoutError{Tool: "ping", Request: true})
	defer done()
	pongs := make([]pong, len(names))
	var wait sync.WaitGroup
	for i, name := range names {
		wait.Go(func() {
			session, err := box.pool.Open(bounded, name)
			if err != nil {
				err = cmp.Or(gaveUp(bounded, "ping", name), err)
			}
			pongs[i] = app.ping(bounded, box, servers.Opened{Server: name, Session: session, Err: err})
		})
	}
	wait.Wait()
	stop()
	return app.printPongs(pongs, o.json, ctx.Err() != nil)
}

// printPongs prints what became of the pings and returns the first failure. After an interruption, what is known by
// then is printed all the same; of the others there is nothing to tell but that.
func (a *App) printPongs(pongs []pong, asJSON, interrupted bool) error {
	var first error
	for _, one := range pongs {
		if interrupted && fault.KindOf(one.err) == fault.KindInterrupted {
			if !asJSON {
				continue
			}
			one.fail(&exec.InterruptedError{})
		}
		if err := a.printPong(one, asJSON); err != nil {
			return err
		}
		if one.err != nil && first == nil {
			first = &reportedError{one.err}
		}
	}
	switch {
	case interrupted && asJSON:
		return &reportedError{&exec.InterruptedError{}}
	case interrupted:
		return &exec.InterruptedError{}
	}
	return first
}

// fail makes p that of a server which did not answer.
func (p *pong) fail(err error) { p.err, p.Error, p.Kind = err, err.Error(), string(fault.KindOf(err)) }

// distinct are names, each once, in the order in which they were given.
func distinct(names []string) []string {
	var once []string
	for _, name := range names {
		if !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return once
}

// knowServers refuses names that no server has.
func (b *toolbox) knowServers(names []string) error {
	for _, name := range names {
		if err := b.pool.Known(name); err != nil {
			return err
		}
	}
	return nil
}

func (a *App) ping(ctx context.Context, box *toolbox, opened servers.Opened) pong {
	p := pong{Server: opened.Server, err: opened.Err}
	if opened.Err == nil {
		session := opened.Session
		result := box.executor.Do(ctx, exec.Operation{
			Name: "ping", Server: opened.Server, Method: "ping", Timeout: a.flags.timeout, MaxTime: a.flags.maxTime,
			Run: func(ctx context.Context, _ func(exec.Progress)) (json.RawMessage, error) { return session.Ping(ctx) },
		})
		p.err, p.Protocol, p.Name, p.Version = result.Err, session.Protocol, session.Info.Name, session.Info.Version
		p.PingMS = result.Timing.CallMS
		start := session.Timing.StartMS + session.Timing.InitializeMS + session.Timing.ListMS
		p.StartMS = math.Round(start*1000) / 1000
	}
	if p.OK = p.err == nil; !p.OK {
		p.fail(a.masked(p.err))
	}
	return p
}

func (a *App) printPong(p pong, asJSON bool) error {
	if !p.OK && !asJSON {
		a.showError(p.err)
		return nil
	}
	if asJSON {
		line, err := rawjson.Marshal(p)
		if err != nil {
			return err
		}
		return a.printJSONLine(line)
	}
	_, err := fmt.Fprintf(a.Console.Out, "%s\t%.2f ms\t%s\t%s\n", a.shown(p.Server), p.PingMS, a.shown(p.Protocol),
		a.shown(strings.TrimSpace(p.Name+" "+p.Version)))
	return err
}

// printJSONLine prints a line of JSON, safe for a terminal where stdout is one.
func (a *App) printJSONLine(line []byte) error {
	line = append(line, '\n')
	if a.Console.OutTTY {
		return render.EscapeJSON(a.Console.Out, line)
	}
	_, err := a.Console.Out.Write(line)
	return err
}

// shown is untrusted text for a field of a line of stdout.
func (a *App) shown(text string) string { return render.Field(text, a.outScreen()) }
