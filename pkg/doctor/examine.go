package doctor

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"sync"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers"
)

// Options say how servers are examined.
type Options struct {
	// Calls are real calls to make in the clean run.
	Calls []Call
	// Repeat is how often the server is started for its start-up time; zero and one
	// mean that the clean run's time is all there is.
	Repeat int
	// Limit bounds the handshake, and tools/list; zero means 30 s.
	Limit time.Duration
	// Environ is the environment that servers inherit; nil means toolx's own. It is
	// how a client's smaller one is tried (--env-like).
	Environ []string
	// StderrDir takes the servers' stderr logs; empty means none are kept.
	StderrDir string
	// Version is toolx's own, told to servers.
	Version string
	// Secret is told every value that must not be shown; it may be nil.
	Secret func(values ...string)
	// Doing is told what is being tried, for a live line; it may be nil.
	Doing func(server, what string)
	// Pinned are the Fingerprints of known tool definitions, by server and plain
	// name; nil means that none are pinned.
	Pinned map[string]map[string]string

	// idle and quiet replace the two waits where they are not zero.
	idle, quiet time.Duration
}

// Call is a real call that the user asks for.
type Call struct {
	Server    string // empty: every server that is examined
	Tool      string // the plain name
	Arguments json.RawMessage
}

// The times of an examination. IdleWait is one of the two waits that a healthy
// server's examination consists of; the other is in the probing run.
const (
	IdleWait  = time.Second
	probeWait = 500 * time.Millisecond

	defaultLimit  = 30 * time.Second
	discoverLimit = 3 * time.Second
	answerLimit   = 2 * time.Second
	endLimit      = 2 * time.Second
)

// Names that no server has: asking for them is a safe way to see its error paths.
const (
	noSuchMethod = "toolx/no-such-method"
	noSuchTool   = "toolx_no_such_tool"
	noSuchCursor = "toolx-no-such-cursor"
)

// Examine gathers the evidence about servers, in parallel, and the config they
// stand in (nil for a server on the command line). It ends by itself: every step
// is bounded.
func Examine(ctx context.Context, loaded *config.Config, list []*config.Server, options Options) *Fleet {
	fleet := &Fleet{Config: loaded, Pinned: options.Pinned, Servers: make([]*Evidence, len(list))}
	var wait sync.WaitGroup
	for i, server := range list {
		wait.Go(func() { fleet.Servers[i] = options.examine(ctx, loaded, server) })
	}
	wait.Wait()
	return fleet
}

func (o Options) examine(ctx context.Context, loaded *config.Config, server *config.Server) *Evidence {
	began := time.Now()
	e := &Evidence{Server: server, Config: loaded}
	defer func() { e.Duration, e.Cut = time.Since(began), ctx.Err() != nil }()
	environ := o.Environ
	if environ == nil {
		environ = os.Environ()
	}
	if e.Launch, e.LaunchErr = server.Resolve(environ); e.LaunchErr != nil || e.Launch.URL != "" {
		return e
	}
	if o.Secret != nil {
		o.Secret(e.Launch.Secrets...)
	}
	o.doing(server, "starting it as a client does")
	e.Clean = o.cleanRun(ctx, e)
	e.Node = nodeVersion(ctx, e)
	if ctx.Err() == nil && e.Handshaken() {
		o.doing(server, "starting it again, to probe it")
		e.Probe = o.probingRun(ctx, e)
	}
	return e
}

func (o Options) doing(server *config.Server, what string) {
	if o.Doing != nil {
		o.Doing(server.Name, what)
	}
}

func (o Options) limit() time.Duration {
	if o.Limit > 0 {
		return o.Limit
	}
	return defaultLimit
}

// cleanRun is the server's life as a well-behaved client sees it.
func (o Options) cleanRun(ctx context.Context, e *Evidence) *Run {
	record, bus, began := &recorder{}, &exec.Bus{}, time.Now()
	bus.Subscribe(record.take)
	session, err := servers.Connect(ctx, e.Server, e.Launch, servers.Options{
		Bus: bus, StartTimeout: o.limit(), StderrDir: o.StderrDir, Version: o.Version,
	})
	marks := make(map[string]time.Time)
	var (
		idle *ProcessSample
		tree []Process
	)
	if err == nil {
		o.askClean(ctx, session)
		e.Calls = o.makeCalls(ctx, session, bus)
		tree = processTree(session.PID)
		marks["idle-begin"] = time.Now()
		idle = sampleProcess(ctx, session.PID, cmp.Or(o.idle, IdleWait))
		marks["idle-end"] = time.Now()
		session.Close(ctx)
	}
	run := record.run("clean", began)
	run.Marks, run.Idle, run.Tree = marks, idle, tree
	if err == nil {
		run.Protocol = session.Protocol
	} else if !errors.As(err, &run.Failure) {
		run.Failure = &servers.Failure{Server: e.Server.Name, Reason: err}
	}
	return run
}

// askClean asks what every server must answer, and what none can.
func (o Options) askClean(ctx context.Context, session *servers.Session) {
	wire := session.Wire()
	ask(ctx, wire, "ping", nil)
	ask(ctx, wire, "tools/list", nil) // a second time: it should not change
	if session.Capabilities.Resources != nil {
		ask(ctx, wire, "resources/list", nil)
	}
	if session.Capabilities.Prompts != nil {
		ask(ctx, wire, "prompts/list", nil)
	}
	ask(ctx, wire, noSuchMethod, nil)
	ask(ctx, wire, "tools/call", map[string]any{"name": noSuchTool, "arguments": map[string]any{}})
	ask(ctx, wire, "tools/call", map[string]any{"arguments": map[string]any{}})
}

// ask makes one bounded request. What came of it is in the events.
func ask(ctx context.Context, wire *servers.Wire, method string, params any) (answered bool) {
	bounded, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	_, err := wire.Request(bounded, method, params)
	return err == nil
}

// makeCalls makes the calls that the user asked for, through the one Executor.
func (o Options) makeCalls(ctx context.Context, session *servers.Session, bus *exec.Bus) []*CallRun {
	registry := exec.NewRegistry(bus)
	registry.Register(session.Tools()...)
	executor := &exec.Executor{Registry: registry, Bus: bus}
	var runs []*CallRun
	for _, call := range o.Calls {
		if call.Server != "" && call.Server != session.Name {
			continue
		}
		result := executor.Call(ctx, exec.Call{Tool: call.Tool, Arguments: call.Arguments})
		runs = append(runs, &CallRun{Tool: call.Tool, Arguments: call.Arguments, Result: result})
	}
	return runs
}

// probingRun is the server's life under a client that is not kind: the other era's
// first message, requests out of turn, garbage, and a signal.
func (o Options) probingRun(ctx context.Context, e *Evidence) *Run {
	record, bus, began := &recorder{}, &exec.Bus{}, time.Now()
	bus.Subscribe(record.take)
	marks := make(map[string]time.Time)
	wire, err := servers.Dial(e.Server, e.Launch, servers.WireOptions{Bus: bus})
	if err != nil {
		run := record.run("probing", began)
		errors.As(err, &run.Failure)
		return run
	}
	o.probe(ctx, wire, marks)
	pending := wire.Pending()
	failure := wire.Failure()
	wire.Close(ctx)
	run := record.run("probing", began)
	run.Marks, run.Failure, run.Pending = marks, failure, pending
	return run
}

// probe asks the questions of the probing run; it stops where the server does.
func (o Options) probe(ctx context.Context, wire *servers.Wire, marks map[string]time.Time) {
	bounded, cancel := context.WithTimeout(ctx, discoverLimit)
	_, _ = wire.Request(bounded, "server/discover", modernParams(o.Version))
	cancel()
	ask(ctx, wire, "tools/list", nil) // before initialize
	if !o.shakeHands(ctx, wire, "1999-01-01") && !o.shakeHands(ctx, wire, "2025-11-25") {
		return
	}
	marks["garbage"] = time.Now()
	_ = wire.WriteLine(ctx, []byte("this line is not JSON-RPC"))
	if !ask(ctx, wire, "ping", nil) {
		return
	}
	marks["notification"] = time.Now()
	_ = wire.Notify(ctx, "notifications/toolx/unknown", nil)
	ask(ctx, wire, "tools/list", map[string]any{"cursor": noSuchCursor})
	o.burst(ctx, wire, marks)
	quiet(ctx, cmp.Or(o.quiet, probeWait))
	marks["terminate"] = time.Now()
	wire.Terminate()
	bounded, cancel = context.WithTimeout(ctx, endLimit)
	defer cancel()
	if wire.Exited(bounded) {
		marks["terminated"] = time.Now()
	}
}

// shakeHands offers a revision and says whether the server agreed to anything.
func (o Options) shakeHands(ctx context.Context, wire *servers.Wire, revision string) bool {
	bounded, cancel := context.WithTimeout(ctx, o.limit())
	defer cancel()
	answer, err := wire.Request(bounded, "initialize", map[string]any{
		"protocolVersion": revision,
		"capabilities":    map[string]any{},
		"clientInfo":      map[string]any{"name": "toolx", "version": o.Version},
	})
	if err != nil || answer.Error != nil {
		return false
	}
	return wire.Notify(ctx, "notifications/initialized", nil) == nil
}

// burst sends eight pings at once.
func (o Options) burst(ctx context.Context, wire *servers.Wire, marks map[string]time.Time) {
	marks["burst"] = time.Now()
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() { ask(ctx, wire, "ping", nil) })
	}
	wait.Wait()
	marks["burst-end"] = time.Now()
}

// modernParams are the params of MCP 2026-07-28's probe.
func modernParams(version string) map[string]any {
	return map[string]any{"_meta": map[string]any{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "toolx", "version": version},
	}}
}

// quiet waits for d, or ctx's end.
func quiet(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
