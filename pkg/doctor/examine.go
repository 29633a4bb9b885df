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
	// Repeat is how often the server is started once more for its start-up time, and
	// how often each of Calls is made again; zero means that the clean run's start is all
	// there is, and that only tools are called again that say that they may be.
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
	// Watch is told every event of every server, for a trace; it may be nil.
	Watch func(exec.Event)
	// Doing is told what is being tried, for a live line; it may be nil.
	Doing func(server, what string)
	// HTTP says how servers with a url are reached.
	HTTP servers.HTTPOptions
	// Pinned are the Fingerprints of known tool definitions, by server and plain
	// name; nil means that none are pinned.
	Pinned map[string]map[string]string

	// idle and quiet replace the two waits where they are not zero.
	idle, quiet time.Duration
	// answer replaces the time within which a request must be answered, where it is
	// not zero.
	answer time.Duration
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

// maxMessage is the size in bytes of the largest message that is taken from a server
// whose entry says nothing of it: more than any client takes (the Go SDK's 16 MiB are
// the most), and little enough for the doctor's own memory.
const maxMessage = 20 << 20

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
	e.Launch, e.LaunchErr = server.Resolve(environ)
	o.hideSecrets(e)
	if e.LaunchErr != nil {
		return e
	}
	if e.overHTTP() {
		o.examineHTTP(ctx, e)
		return e
	}
	o.doing(server, "starting it as a client does")
	e.Clean = o.cleanRun(ctx, e)
	e.Node = nodeVersion(ctx, e)
	if ctx.Err() == nil && e.Handshaken() {
		o.doing(server, "starting it again, to probe it")
		e.Probe = o.probingRun(ctx, e, false)
		if _, ready := e.Probe.Marks["ready"]; !ready && ctx.Err() == nil {
			o.doing(server, "starting it again, to probe it gently")
			e.Again = o.probingRun(ctx, e, true)
		}
		e.Starts = o.repeat(ctx, e)
	}
	return e
}

// hideSecrets tells of a server's secrets, also where it cannot be started: the report
// shows its command line all the same.
func (o Options) hideSecrets(e *Evidence) {
	switch {
	case o.Secret == nil:
	case e.LaunchErr != nil:
		o.Secret(e.Server.Secrets()...)
	default:
		o.Secret(e.Launch.Secrets...)
	}
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
	life := o.newLife("clean")
	stop := life.lookBefore(o.limit())
	session, err := servers.Connect(ctx, e.Server, e.Launch, o.connecting(life))
	stop()
	if err != nil {
		run := life.end(ctx)
		if !errors.As(err, &run.Failure) {
			run.Failure = &servers.Failure{Server: e.Server.Name, Reason: err}
		}
		if endedByItself(run.Failure) {
			run.Ended = run.Failure
		}
		return run
	}
	life.watch.note()
	o.askClean(ctx, session)
	e.Calls = o.makeCalls(ctx, session, life.bus)
	tree, idle := o.watchIdle(ctx, session, life)
	speed := o.measure(ctx, session, life)
	o.measureCalls(ctx, session, life, e.Calls)
	life.watch.note()
	ended := session.Wire().Failure()
	session.Close(ctx)
	run := life.end(ctx)
	run.Protocol, run.Tree, run.Idle, run.Speed, run.Ended = session.Protocol, tree, idle, speed, ended
	return run
}

// connecting says how the session of a life is opened.
func (o Options) connecting(life *life) servers.Options {
	return servers.Options{
		Bus: life.bus, StartTimeout: o.limit(), StderrDir: o.StderrDir, Version: o.Version, MaxMessage: maxMessage,
		Secret: o.Secret, HTTP: o.HTTP,
	}
}

// watchIdle measures a server's processes while nothing is asked of it. One that is
// reached by HTTP has none here, and is not waited for.
func (o Options) watchIdle(ctx context.Context, session *servers.Session, life *life) ([]Process, *ProcessSample) {
	if session.PID == 0 {
		return nil, nil
	}
	tree := processTree(session.PID)
	life.mark("idle-begin")
	idle := sampleProcess(ctx, session.PID, cmp.Or(o.idle, IdleWait))
	life.mark("idle-end")
	return tree, idle
}

// askClean asks what every server must answer, and what none can. When nothing is
// answered twice in a row, nothing more will be.
func (o Options) askClean(ctx context.Context, session *servers.Session) {
	p := &prober{Options: o, wire: session.Wire(), modern: session.Protocol >= modernRevision}
	questions := []question{
		{"ping", nil},
		{"tools/list", nil}, // a second time: it should not change
		{"resources/list", nil},
		{"prompts/list", nil},
		{noSuchMethod, nil},
		{"tools/call", map[string]any{"name": noSuchTool, "arguments": map[string]any{}}},
		{"tools/call", map[string]any{"arguments": map[string]any{}}},
	}
	if p.modern {
		questions = questions[1:]
	}
	silent := 0
	for _, q := range questions {
		silent++
		if p.ask(ctx, q.method, p.params(q.params)) {
			silent = 0
		}
		if silent == 2 {
			return
		}
	}
}

// question is a request that the doctor makes.
type question struct {
	method string
	params map[string]any
}

// ask makes one bounded request and says whether it was answered. What came of it is
// in the events.
func (o Options) ask(ctx context.Context, wire *servers.Wire, method string, params any) (answered bool) {
	bounded, cancel := context.WithTimeout(ctx, cmp.Or(o.answer, answerLimit))
	defer cancel()
	_, err := wire.Request(bounded, method, params)
	var refused *servers.HTTPError
	return err == nil || errors.As(err, &refused) && refused.Status != 0
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
		result := o.besidePing(ctx, session, func() *exec.Result {
			return executor.Call(ctx, exec.Call{Tool: call.Tool, Arguments: call.Arguments})
		})
		run := &CallRun{Tool: call.Tool, Arguments: call.Arguments, Result: result}
		if sent, err := executor.Prepare(exec.Call{Tool: call.Tool, Arguments: call.Arguments}); err == nil {
			run.sent, run.repeatable = sent, saysRepeatable(sent.Tool)
		}
		runs = append(runs, run)
	}
	return runs
}

// besideAfter is how long a call runs before a ping is sent beside it.
const besideAfter = 100 * time.Millisecond

// besidePing makes a call and, where it takes time, a ping meanwhile: a server
// should answer that at once.
func (o Options) besidePing(ctx context.Context, session *servers.Session, call func() *exec.Result) *exec.Result {
	if session.Protocol >= modernRevision {
		return call()
	}
	running, done := context.WithCancel(ctx)
	var wait sync.WaitGroup
	wait.Go(func() {
		quiet(running, besideAfter)
		if running.Err() == nil {
			o.ask(ctx, session.Wire(), "ping", nil)
		}
	})
	result := call()
	done()
	wait.Wait()
	return result
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
