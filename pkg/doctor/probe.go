package doctor

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/servers"
	"toolx/pkg/servers/protocol"
)

// prober sends the unusual requests of the probing run.
type prober struct {
	Options
	*activeRun
	wire   *protocol.Wire
	server *config.Server
	launch *config.Resolved
	// modern is set if the server uses a revision without handshake and ping, where each request needs metadata.
	modern bool
	// restartTimeout is the time limit of the handshake; started is how long the clean run's process took to start.
	restartTimeout, started time.Duration
}

// restartTimeout is the time limit of a restart: 8 times the first start, at least 10 s, at most the limit.
func (o Options) restartTimeout(e *evidence.Evidence) time.Duration {
	const atLeast, times = 10 * time.Second, 8
	took, _ := evidence.StartTime(e)
	return min(o.limit(), max(atLeast, times*took))
}

// newProber returns a prober of a server whose clean run opened a session.
func (o Options) newProber(e *evidence.Evidence) *prober {
	p := &prober{
		Options: o, server: e.Server, launch: e.Launch, modern: e.Clean.Protocol >= evidence.ModernRevision,
		restartTimeout: o.restartTimeout(e),
	}
	p.started, _ = evidence.StartTime(e)
	return p
}

// run starts the server again and sends invalid and out-of-order requests, then a signal; gentle skips those before
// the handshake.
func (p *prober) run(ctx context.Context, gentle bool) *evidence.Run {
	p.activeRun = p.newRun("probing")
	started := p.starting(ctx, p.launch)
	// A server that takes longer may be waiting, and must not delay others. Its package is already downloaded.
	defer time.AfterFunc(evidence.AnswerLimit, started).Stop()
	wire, err := servers.Dial(p.server, p.launch, servers.Options{Options: protocol.Options{
		Bus: p.bus, MaxMessage: cmp.Or(p.server.MaxMessage, evidence.MaxMessage),
	}})
	if err != nil {
		started()
		run := p.end(ctx)
		errors.As(err, &run.Failure)
		return run
	}
	p.wire = &wire.Wire
	p.probe(ctx, gentle, started)
	ended, pending := wire.Failure(), wire.Pending()
	if _, ready := p.marks["ready"]; ready && ended == nil {
		p.activeRun.watch.note()
		p.terminate(ctx, wire)
	}
	wire.Close(ctx)
	run := p.end(ctx)
	run.Failure, run.Ended, run.Pending = ended, ended, pending
	return run
}

// probe sends the requests of the probing run until the server ends. It calls started after the handshake.
func (p *prober) probe(ctx context.Context, gentle bool, started func()) {
	if !gentle {
		p.beforeHandshake(ctx)
	}
	ready := p.modern || p.shakeHands(ctx)
	started()
	if !ready {
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
	quiet(ctx, cmp.Or(p.Waits.Quiet, evidence.ProbeWait), p.wire.Done())
	p.ping(ctx)
}

// beforeHandshake sends the first request of a client of the other era, and a request that must wait for the handshake.
// The first timeout includes the server's start, and is longer if the clean run started slowly.
func (p *prober) beforeHandshake(ctx context.Context) {
	limit := cmp.Or(p.Waits.Answer, max(evidence.DiscoverLimit, 4*p.started))
	bounded, cancel := context.WithTimeout(ctx, p.started+limit)
	defer cancel()
	answer, err := p.wire.Request(bounded, "server/discover", modernParams(p.Version, evidence.ModernRevision))
	if err == nil && answer.Error == nil && evidence.SupportedVersions(answer.Result) != nil {
		p.ask(ctx, "server/discover", modernParams(p.Version, evidence.InventedRevision))
	}
	if !p.modern {
		p.ask(ctx, "tools/list", nil)
	}
}

// ask sends a request with a time limit. The response is in the events.
func (p *prober) ask(ctx context.Context, method string, params any) {
	p.askWithin(ctx, p.answerLimit(), p.wire, method, params)
}

// ping sends ping, or server/discover if the revision has no ping.
func (p *prober) ping(ctx context.Context) {
	if p.modern {
		p.ask(ctx, "server/discover", modernParams(p.Version, evidence.ModernRevision))
		return
	}
	p.ask(ctx, "ping", nil)
}

// params returns params with the metadata of the server's era; nil if there are none.
func (p *prober) params(params map[string]any) any {
	switch {
	case p.modern:
		return withMeta(p.Version, params)
	case params == nil:
		return nil
	}
	return params
}

// shakeHands reports whether the handshake succeeded, with the invented revision or, if the server rejects that, the
// common one.
func (p *prober) shakeHands(ctx context.Context) bool {
	bounded, cancel := context.WithTimeout(ctx, p.restartTimeout)
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

// burst sends several pings at once.
func (p *prober) burst(ctx context.Context) {
	p.mark("burst")
	var wait sync.WaitGroup
	for range evidence.BurstSize {
		wait.Go(func() { p.ping(ctx) })
	}
	wait.Wait()
	p.mark("burst-end")
}

// terminate asks the process to terminate and records whether it exits in time.
func (p *prober) terminate(ctx context.Context, process *servers.Process) {
	p.mark("terminate")
	process.Terminate()
	bounded, cancel := context.WithTimeout(ctx, evidence.EndLimit)
	defer cancel()
	switch {
	case process.Exited(bounded):
		p.mark("terminated")
	case ctx.Err() == nil:
		p.mark("survived")
	}
}

// modernParams returns the params of a modern request for a revision.
func modernParams(version, revision string) map[string]any {
	return map[string]any{"_meta": map[string]any{
		"io.modelcontextprotocol/protocolVersion":    revision,
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "toolx", "version": version},
	}}
}

// withMeta adds the metadata that MCP 2026-07-28 requires.
func withMeta(version string, params map[string]any) map[string]any {
	all := modernParams(version, evidence.ModernRevision)
	for name, value := range params {
		all[name] = value
	}
	return all
}
