package watch

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/complete"
	"toolx/cmd/exit"
	"toolx/cmd/factory"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
)

// pingOptions say which servers to check.
type pingOptions struct {
	Out   *streams.Streams
	Tools *toolset.Opener

	names   []string
	command []string // a command line after --
	json    bool
}

// NewPing returns the command ping; run runs it.
func NewPing(f *factory.Factory, run cli.RunFunc[pingOptions]) *cobra.Command {
	o := pingOptions{Out: f.Out, Tools: f.Tools}
	cmd := &cobra.Command{
		Use:   "ping [SERVER…] [-- COMMAND…]",
		Short: "Check that servers respond",
		Long: `Start servers and check that each responds: to MCP's ping, or to server/discover if
the protocol revision has no ping. Each server that responds gets a line: name, response
time, protocol revision, and the server's own name and version.

Exit codes: 0 all responded, 2 wrong usage, an unknown server, or no server at all, 3
authentication required, 4 a server could not be reached, 5 a server refused, 6 a server
broke the protocol, 124 timeout, 130 interrupted.`,
		Example: `  toolx ping
  toolx ping zwave --json
  toolx ping -- npx -y @modelcontextprotocol/server-everything`,
		Args:              cli.NamesOrCommand(&o.names, &o.command),
		RunE:              cli.Run(&o, run),
		ValidArgsFunction: complete.Servers(f.Tools, 0),
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print a line of JSON for each server, whether it responds or not")
	return cmd
}

// pong is the outcome of a ping.
type pong struct {
	Server   string  `json:"server"`
	OK       bool    `json:"ok"`
	PingMS   float64 `json:"ping_ms,omitempty"`
	StartMS  float64 `json:"start_ms,omitempty"` // process or connection, handshake, and list
	Protocol string  `json:"protocol,omitempty"`
	Name     string  `json:"name,omitempty"` // the server's own name
	Version  string  `json:"version,omitempty"`
	Error    string  `json:"error,omitempty"`
	Kind     string  `json:"kind,omitempty"`

	err error
}

// RunPing opens and pings the servers in parallel, and reports them in order.
func RunPing(ctx context.Context, o pingOptions) error {
	box, err := o.Tools.Open(toolset.Options{Server: o.command, ReportFailures: true})
	if err != nil {
		return err
	}
	names, err := box.NamedServers(o.names)
	if err != nil {
		return err
	}
	stop := o.Tools.ShowProgress("ping")
	defer stop()
	bounded, done := box.Bounded(ctx, exec.TimeoutError{Tool: "ping", Request: true})
	defer done()
	pongs := make([]pong, len(names))
	var wait sync.WaitGroup
	for i, name := range names {
		wait.Go(func() { pongs[i] = pingOne(bounded, box, name) })
	}
	wait.Wait()
	stop()
	return printPongs(o.Out, pongs, o.json, ctx.Err() != nil)
}

func pingOne(ctx context.Context, b *toolset.Set, name string) pong {
	p := pong{Server: name}
	session, err := b.Pool.Open(ctx, name)
	if err != nil {
		return p.failed(b.Out.Masked(cmp.Or(toolset.GaveUp(ctx, "ping", name), err)))
	}
	result := b.Executor.Do(ctx, exec.Operation{
		Name: "ping", Server: name, Method: "ping", Timeout: b.Flags.Timeout, MaxTime: b.Flags.MaxTime,
		Run: func(ctx context.Context, _ func(exec.Progress)) (json.RawMessage, error) { return session.Ping(ctx) },
	})
	hide := b.Out.Mask.Text
	p.Protocol, p.Name, p.Version = session.Protocol, hide(session.Info.Name), hide(session.Info.Version)
	p.PingMS = result.Timing.CallMS
	start := session.Timing.StartMS + session.Timing.InitializeMS + session.Timing.ListMS
	p.StartMS = math.Round(start*1000) / 1000
	if result.Err != nil {
		return p.failed(b.Out.Masked(result.Err))
	}
	p.OK = true
	return p
}

// failed returns p for a server that did not answer.
func (p pong) failed(err error) pong {
	p.err, p.Error, p.Kind = err, err.Error(), string(fault.KindOf(err))
	return p
}

// printPongs prints the outcome of each ping and returns the first failure. After an interruption it prints the
// outcomes so far.
func printPongs(out *streams.Streams, pongs []pong, asJSON, interrupted bool) error {
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
			err = out.PrintJSON(one)
		case one.OK:
			err = out.PrintFields(one.Server, fmt.Sprintf("%.2f ms", one.PingMS), one.Protocol,
				strings.TrimSpace(one.Name+" "+one.Version))
		default:
			out.ShowError(one.err)
		}
		if err != nil {
			return err
		}
		if one.err != nil && first == nil {
			first = exit.Reported(one.err)
		}
	}
	switch {
	case interrupted && asJSON:
		return exit.Reported(&exec.InterruptedError{})
	case interrupted:
		return &exec.InterruptedError{}
	}
	return first
}
