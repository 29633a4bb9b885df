package doctor

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"time"

	"toolx/pkg/cmdline"
	"toolx/pkg/config"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	"toolx/pkg/procs"
	"toolx/pkg/servers"
	mcphttp "toolx/pkg/servers/http"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
)

// Options say how servers are examined.
type Options struct {
	// Calls are real calls to make, in runs of their own.
	Calls []evidence.Call
	// Safe reports whether tools are called too whose calls the user need not name: see safeArguments.
	Safe bool
	// CallTimeout is how long a call may go on without progress; zero means the
	// Executor's default, less than zero for ever.
	CallTimeout time.Duration
	// Limit bounds the handshake, and tools/list; zero means 30 s.
	Limit time.Duration
	// Environ is the environment that servers inherit; nil means toolx's own. It is
	// how a client's smaller one is tried (--env-like).
	Environ []string
	// StderrDir takes the servers' stderr logs; empty means none are kept.
	StderrDir string
	// Version is toolx's own, told to servers.
	Version string
	// Secret receives every value that must not be shown; it may be nil.
	Secret func(values ...string)
	// Watch receives every event of every server, for a trace; it may be nil.
	Watch func(exec.Event)
	// Doing receives what is being tried, for a live line; it may be nil.
	Doing func(server, what string)
	// HTTP says how servers with a url are reached.
	HTTP mcphttp.ClientOptions
	// Pinned are the definitions that the baseline knows; nil means that none are pinned.
	Pinned evidence.Pins

	// Waits are for tests, and so is Busy, which reports whether the machine has no processor left for a second start;
	// nil means to measure that.
	Waits Waits
	Busy  func() bool

	// starts bounds how many servers start at the same time.
	starts *servers.Starts
}

// Waits replace the times of an examination that are not zero.
type Waits struct {
	Idle, Quiet time.Duration // the two waits of a healthy server's examination
	Answer      time.Duration // within which a request must be answered
	NoAnswer    time.Duration // in which a server answers that says that it listens for HTTP
}

// Examine gathers the evidence about servers, in parallel, and the config they stand in (nil for a server on the
// command line). Every step is bounded, and so is the number of servers that start at the same time.
func Examine(ctx context.Context, loaded *config.Config, list []*config.Server, options Options) *evidence.Fleet {
	fleet := &evidence.Fleet{Config: loaded, Pinned: options.Pinned, Servers: make([]*evidence.Evidence, len(list))}
	limit := 0
	if loaded != nil {
		limit = loaded.Defaults.MaxStarts
	}
	options.starts = servers.NewStarts(limit)
	var wait sync.WaitGroup
	for i, server := range list {
		wait.Go(func() { fleet.Servers[i] = options.examine(ctx, loaded, server) })
	}
	wait.Wait()
	return fleet
}

func (o Options) examine(ctx context.Context, loaded *config.Config, server *config.Server) *evidence.Evidence {
	began := time.Now()
	asked := o.Safe || len(o.callsFor(server.Name)) > 0
	e := &evidence.Evidence{Server: server, Config: loaded, CallsAsked: asked, Safe: o.Safe}
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
	if e.OverHTTP() {
		o.examineHTTP(ctx, e)
		return e
	}
	o.examineProcess(ctx, e)
	return e
}

// hideSecrets masks a server's secrets, also where it cannot be started: the report
// shows its command line all the same.
func (o Options) hideSecrets(e *evidence.Evidence) {
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
	return evidence.DefaultLimit
}

// cleanRun is the server's run as a well-behaved client sees it. Once there is a session, ready receives what the run
// has shown so far; it may be nil.
func (o Options) cleanRun(ctx context.Context, e *evidence.Evidence, ready func(*evidence.Run)) *evidence.Run {
	active := o.newRun("clean")
	started := o.starting(ctx, e.Launch)
	stop := active.lookBefore(o.limit())
	connecting := o.connecting(active, started)
	connecting.StdinGrace = evidence.StdinGrace
	connecting.NoAnswerTimeout = cmp.Or(o.Waits.NoAnswer, evidence.NoAnswerTimeout)
	session, err := servers.Connect(ctx, e.Server, e.Launch, connecting)
	started()
	stop()
	if err != nil {
		return active.failed(ctx, e, err)
	}
	active.watch.note()
	first := active.record.Run(active.name, active.began)
	first.Protocol, first.Tree = session.Protocol, procs.Tree(session.PID)
	first.Queued = procs.Queued(first.Tree)
	if ready != nil {
		ready(first)
	}
	o.askClean(ctx, session)
	tree, listening := o.watchIdle(ctx, session)
	active.watch.note()
	if o.Safe { // they keep the session, and can be many
		e.Offered = session.Tools()
	}
	ended := session.Wire().Failure()
	session.Close(ctx)
	run := active.end(ctx)
	run.Protocol, run.Ended, run.Queued = session.Protocol, ended, first.Queued
	run.Tree, run.Listening = tree, listening
	return run
}

// connecting says how the session of a run is opened. It calls started also when the server only makes others wait.
func (o Options) connecting(active *activeRun, started func()) servers.Options {
	return servers.Options{
		Options: protocol.Options{
			Bus: active.bus, StartTimeout: o.limit(), Version: o.Version, MaxMessage: evidence.MaxMessage,
			FirstID: 1, // a report, and what reproduces it, is the same each time
			Started: started,
		},
		StderrDir: o.StderrDir, Secret: o.Secret, HTTP: o.HTTP,
	}
}

// watchIdle leaves a server alone for a while, and returns its processes and the sockets on which they listen. One that
// is reached by HTTP has none here, and is not waited for.
func (o Options) watchIdle(ctx context.Context, session *protocol.Session) (tree []procs.Process, listening []string) {
	if session.PID == 0 {
		return nil, nil
	}
	quiet(ctx, cmp.Or(o.Waits.Idle, evidence.IdleWait), session.Done())
	tree = procs.Tree(session.PID)
	return tree, procs.Listening(tree)
}

// askClean asks what every server must answer, and what none can. When nothing is answered twice in a row, nothing more
// will be. Answers for which a server may ask its backend are waited for longer: libraries try to connect again and
// again.
func (o Options) askClean(ctx context.Context, session *protocol.Session) {
	p := &prober{Options: o, wire: session.Wire(), modern: session.Protocol >= evidence.ModernRevision}
	questions := []question{
		{method: "ping"},
		{method: "tools/list"}, // a second time: it should not change
		{method: "resources/list", backend: true},
		{method: "prompts/list", backend: true},
		{method: evidence.NoSuchMethod},
		{
			method: "tools/call", backend: true,
			params: map[string]any{"name": evidence.NoSuchTool, "arguments": map[string]any{}},
		},
		{method: "tools/call", params: map[string]any{"arguments": map[string]any{}}},
	}
	if p.modern {
		questions = questions[1:]
	}
	const moreLimits = 10 // how many more limits the answers that need a backend may take in total
	silent, left := 0, moreLimits*o.answerLimit()
	for _, q := range questions {
		silent++
		limit, began := o.answerLimit(), time.Now()
		if q.backend {
			limit += left
		}
		if o.askWithin(ctx, limit, p.wire, q.method, p.params(q.params)) {
			silent = 0
		}
		if q.backend {
			left -= min(left, max(0, time.Since(began)-o.answerLimit()))
		}
		if silent == 2 {
			return
		}
	}
}

// question is a request that the doctor makes.
type question struct {
	method  string
	params  map[string]any
	backend bool // the server may ask its backend before it answers
}

// answerLimit is how long an answer that needs no work is waited for.
func (o Options) answerLimit() time.Duration { return cmp.Or(o.Waits.Answer, evidence.AnswerLimit) }

// askWithin makes a request with a limit and reports whether it was answered. What came of it is in the events.
func (o Options) askWithin(
	ctx context.Context, limit time.Duration, wire *protocol.Wire, method string, params any,
) (answered bool) {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_, err := wire.Request(bounded, method, params)
	var refused *mcphttp.Error
	return err == nil || errors.As(err, &refused) && refused.Status != 0
}

// quiet waits for d, or until ended is closed or ctx ends.
func quiet(ctx context.Context, d time.Duration, ended <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ended:
	case <-ctx.Done():
	}
}

// nodeVersion asks the node that runs the server for its version ("v22.1.0"), where
// the server's package says which it needs; else it is empty.
func nodeVersion(ctx context.Context, e *evidence.Evidence) string {
	found, ok := e.NodePackage()
	if !ok || found.Engines.Node == "" {
		return ""
	}
	bounded, cancel := context.WithTimeout(ctx, evidence.AnswerLimit)
	defer cancel()
	return strings.TrimSpace(printed(bounded, e.Server, &config.Resolved{
		Command: cmdline.NodeOf(e.Launch.Command, e.Launch.Args), Args: []string{"-v"},
		Env: e.Launch.Env, Cwd: e.Launch.Cwd,
	}))
}

// printed runs a program that prints one line and ends; it is empty where that came
// to nothing. To the wire such a program is a server with text on its stdout.
func printed(ctx context.Context, server *config.Server, launch *config.Resolved) string {
	var (
		mu   sync.Mutex
		line string
	)
	bus := &exec.Bus{}
	bus.Subscribe(func(event exec.Event) {
		if text, is := event.(wire.PollutedLine); is {
			mu.Lock()
			defer mu.Unlock()
			if line == "" {
				line = string(text.Text)
			}
		}
	})
	wire, err := servers.Dial(server, launch, servers.Options{Options: protocol.Options{Bus: bus}})
	if err != nil {
		return ""
	}
	wire.Exited(ctx)
	wire.Close(ctx)
	mu.Lock()
	defer mu.Unlock()
	return line
}
