package doctor

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"toolx/pkg/doctor/evidence"
	"toolx/pkg/servers"
)

// prober asks what no client asks, in the probing run.
type prober struct {
	Options
	*life
	wire *servers.Wire
	// modern says that the server has no handshake, so that each request needs
	// metadata, and that there is no ping.
	modern bool
	// patience is how long the handshake may take, started how long the clean run's
	// process took to start.
	patience, started time.Duration
}

// patience is how long a server that has started before may take to start again:
// much longer than it took, and no longer than it may.
func (o Options) patience(e *evidence.Evidence) time.Duration {
	const atLeast, times = 10 * time.Second, 8
	took, _ := evidence.StartTime(e)
	return min(o.limit(), max(atLeast, times*took))
}

// probingRun is the server's life under a client that is not kind: the other era's
// first message, requests out of turn, garbage, and a signal. A gentle one leaves
// out what comes before the handshake.
func (o Options) probingRun(ctx context.Context, e *evidence.Evidence, gentle bool) *evidence.Run {
	life := o.newLife("probing")
	wire, err := servers.Dial(e.Server, e.Launch, servers.WireOptions{
		Bus: life.bus, MaxMessage: cmp.Or(e.Server.MaxMessage, evidence.MaxMessage),
	})
	if err != nil {
		run := life.end(ctx)
		errors.As(err, &run.Failure)
		return run
	}
	p := &prober{
		Options: o, life: life, wire: wire, modern: e.Clean.Protocol >= evidence.ModernRevision,
		patience: o.patience(e),
	}
	p.started, _ = evidence.StartTime(e)
	p.probe(ctx, gentle)
	ended, pending := wire.Failure(), wire.Pending()
	if _, ready := life.marks["ready"]; ready && ended == nil {
		life.watch.note()
		p.terminate(ctx)
	}
	wire.Close(ctx)
	run := life.end(ctx)
	run.Failure, run.Ended, run.Pending = ended, ended, pending
	return run
}

// probe asks the questions of the probing run; it stops where the server does.
func (p *prober) probe(ctx context.Context, gentle bool) {
	if !gentle {
		p.beforeHandshake(ctx)
	}
	if !p.modern && !p.shakeHands(ctx) {
		return
	}
	p.mark("ready")
	p.watch.note()
	p.ask(ctx, "tools/list", p.params(map[string]any{"cursor": evidence.NoSuchCursor}))
	p.burst(ctx)
	p.mark("notification")
	_ = p.wire.Notify(ctx, "notifications/toolx/unknown", nil)
	p.mark("garbage")
	_ = p.wire.WriteLine(ctx, []byte("this line is not JSON-RPC"))
	quiet(ctx, cmp.Or(p.quiet, evidence.ProbeWait))
	p.alive(ctx)
}

// beforeHandshake asks what a client of the other era asks first, and what must
// wait for the handshake. The first of it waits for the server's start too, which says
// nothing about the question; where the clean run's took long, the machine may be busy.
func (p *prober) beforeHandshake(ctx context.Context) {
	bounded, cancel := context.WithTimeout(ctx, p.started+cmp.Or(p.answer, max(evidence.DiscoverLimit, 4*p.started)))
	defer cancel()
	answer, err := p.wire.Request(bounded, "server/discover", modernParams(p.Version, evidence.ModernRevision))
	if err == nil && answer.Error == nil && evidence.SupportedVersions(answer.Result) != nil {
		p.ask(ctx, "server/discover", modernParams(p.Version, evidence.InventedRevision))
	}
	if !p.modern {
		p.ask(ctx, "tools/list", nil)
	}
}

// ask makes one bounded request and reports whether it was answered. What came of it is
// in the events.
func (p *prober) ask(ctx context.Context, method string, params any) (answered bool) {
	return p.Options.ask(ctx, p.wire, method, params)
}

// alive asks for the simplest answer that there is.
func (p *prober) alive(ctx context.Context) {
	if p.modern {
		p.ask(ctx, "server/discover", modernParams(p.Version, evidence.ModernRevision))
		return
	}
	p.ask(ctx, "ping", nil)
}

// params are params as the server's era wants them; nil leaves them out.
func (p *prober) params(params map[string]any) any {
	switch {
	case p.modern:
		return withMeta(p.Version, params)
	case params == nil:
		return nil
	}
	return params
}

// shakeHands reports whether the server agreed to any revision: to the invented one, or
// where it refused that, to the common one.
func (p *prober) shakeHands(ctx context.Context) bool {
	bounded, cancel := context.WithTimeout(ctx, p.patience)
	defer cancel()
	for _, revision := range []string{evidence.InventedRevision, evidence.CommonRevision} {
		answer, err := p.wire.Request(bounded, "initialize", map[string]any{
			"protocolVersion": revision,
			"capabilities":    map[string]any{},
			"clientInfo":      map[string]any{"name": "toolx", "version": p.Version},
		})
		if err != nil {
			return false
		}
		if answer.Error == nil {
			return p.wire.Notify(ctx, "notifications/initialized", nil) == nil
		}
	}
	return false
}

// burst asks for several signs of life at once.
func (p *prober) burst(ctx context.Context) {
	p.mark("burst")
	var wait sync.WaitGroup
	for range evidence.BurstSize {
		wait.Go(func() { p.alive(ctx) })
	}
	wait.Wait()
	p.mark("burst-end")
}

// terminate sends the signal by which systems end programs, and sees what comes of
// it.
func (p *prober) terminate(ctx context.Context) {
	p.mark("terminate")
	p.wire.Terminate()
	bounded, cancel := context.WithTimeout(ctx, evidence.EndLimit)
	defer cancel()
	switch {
	case p.wire.Exited(bounded):
		p.mark("terminated")
	case ctx.Err() == nil:
		p.mark("survived")
	}
}

// modernParams are the params of MCP 2026-07-28's probe, naming a revision.
func modernParams(version, revision string) map[string]any {
	return map[string]any{"_meta": map[string]any{
		"io.modelcontextprotocol/protocolVersion":    revision,
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "toolx", "version": version},
	}}
}

// withMeta adds to params what every request of MCP 2026-07-28 carries.
func withMeta(version string, params map[string]any) map[string]any {
	all := modernParams(version, evidence.ModernRevision)
	for name, value := range params {
		all[name] = value
	}
	return all
}
