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
)

// pingOptions say which servers are asked for a sign of life.
type pingOptions struct {
	names   []string
	command []string // a command line after --
	json    bool
}

func newPingCommand(app *App, run runFunc[pingOptions]) *cobra.Command {
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
		Args:              namesOrCommand(&o.names, &o.command),
		RunE:              runs(app, &o, run),
		ValidArgsFunction: completeServers(app, 0),
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print a line of JSON for each server, whether it answered or not")
	return cmd
}

// pong is the outcome of a ping.
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

// runPing opens the servers and pings them, in parallel, and reports each in order.
func runPing(ctx context.Context, app *App, o pingOptions) error {
	box, err := app.toolbox(toolboxOptions{server: o.command, tellsFailures: true})
	if err != nil {
		return err
	}
	names, err := box.namedServers(o.names)
	if err != nil {
		return err
	}
	stop := app.showProgress("ping")
	defer stop()
	bounded, done := box.bounded(ctx, exec.TimeoutError{Tool: "ping", Request: true})
	defer done()
	pongs := make([]pong, len(names))
	var wait sync.WaitGroup
	for i, name := range names {
		wait.Go(func() { pongs[i] = box.ping(bounded, name) })
	}
	wait.Wait()
	stop()
	return printPongs(app.output, pongs, o.json, ctx.Err() != nil)
}

// namedServers returns the servers of these names, each once, or all where there are none. The error says that a server
// is unknown or that there is none at all.
func (b *toolbox) namedServers(names []string) ([]string, error) {
	names, err := expandClients(b.config().Servers, names)
	if err != nil {
		return nil, err
	}
	wanted := ""
	if len(names) > 0 {
		wanted = names[0]
	}
	if err := b.needServers(wanted); err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := b.pool.Known(name); err != nil {
			return nil, err
		}
	}
	if len(names) == 0 {
		return b.pool.Names(), nil
	}
	return distinct(names), nil
}

// distinct returns what a list has, each once, in its order.
func distinct[T comparable](list []T) []T {
	var once []T
	for _, one := range list {
		if !slices.Contains(once, one) {
			once = append(once, one)
		}
	}
	return once
}

func (b *toolbox) ping(ctx context.Context, name string) pong {
	p := pong{Server: name}
	session, err := b.pool.Open(ctx, name)
	if err != nil {
		return p.failed(b.masked(cmp.Or(gaveUp(ctx, "ping", name), err)))
	}
	result := b.executor.Do(ctx, exec.Operation{
		Name: "ping", Server: name, Method: "ping", Timeout: b.flags.timeout, MaxTime: b.flags.maxTime,
		Run: func(ctx context.Context, _ func(exec.Progress)) (json.RawMessage, error) { return session.Ping(ctx) },
	})
	p.Protocol, p.Name, p.Version = session.Protocol, b.mask.Text(session.Info.Name), b.mask.Text(session.Info.Version)
	p.PingMS = result.Timing.CallMS
	start := session.Timing.StartMS + session.Timing.InitializeMS + session.Timing.ListMS
	p.StartMS = math.Round(start*1000) / 1000
	if result.Err != nil {
		return p.failed(b.masked(result.Err))
	}
	p.OK = true
	return p
}

// failed returns p as that of a server which did not answer.
func (p pong) failed(err error) pong {
	p.err, p.Error, p.Kind = err, err.Error(), string(fault.KindOf(err))
	return p
}

// printPongs prints the outcome of each ping and returns the first failure. After an interruption it prints what is
// known by then.
func printPongs(out *output, pongs []pong, asJSON, interrupted bool) error {
	var first error
	for _, one := range pongs {
		if interrupted && fault.KindOf(one.err) == fault.KindInterrupted {
			if !asJSON {
				continue
			}
			one = one.failed(&exec.InterruptedError{})
		}
		var err error
		switch {
		case asJSON:
			err = out.printJSON(one)
		case one.OK:
			err = out.printFields(one.Server, fmt.Sprintf("%.2f ms", one.PingMS), one.Protocol,
				strings.TrimSpace(one.Name+" "+one.Version))
		default:
			out.showError(one.err)
		}
		if err != nil {
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
