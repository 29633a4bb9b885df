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
	"toolx/pkg/extension"
	"toolx/pkg/procs"
	"toolx/pkg/servers"
	mcphttp "toolx/pkg/servers/http"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
)

// Options configures Examine.
type Options struct {
	// Calls are tool calls to make in separate runs.
	Calls []evidence.Call
	// Safe adds calls that safeArguments considers harmless.
	Safe bool
	// CallTimeout is the time limit of a call without progress; zero means the Executor's default, negative no limit.
	CallTimeout time.Duration
	// Limit bounds the handshake, and tools/list; zero means 30 s.
	Limit time.Duration
	// Environ is the environment that servers inherit; nil means toolx's own (--env-like).
	Environ []string
	// StderrDir is the folder for stderr logs; empty means none are kept.
	StderrDir string
	// Version is the version of toolx, sent to servers.
	Version string
	// Secret receives every value that must not be shown; it may be nil.
	Secret func(values ...string)
	// Watch receives every event of every server, for a trace; it may be nil.
	Watch func(exec.Event)
	// Doing receives the current step, for progress output; it may be nil.
	Doing func(server, what string)
	// HTTP configures connections to HTTP servers.
	HTTP mcphttp.ClientOptions
	// Pinned are the tool definitions in the baseline; nil without one.
	Pinned evidence.Pins

	// Waits and Busy are for tests. Busy reports whether the machine is too busy for two processes of a server at a
	// time; nil means to measure that.
	Waits Waits
	Busy  func() bool

	// starts limits how many servers start at the same time.
	starts *servers.Starts
}

// Waits overrides time limits of an examination; zero keeps the default.
type Waits struct {
	Idle, Quiet time.Duration // IdleWait and ProbeWait
	Answer      time.Duration // AnswerLimit
	NoAnswer    time.Duration // NoAnswerTimeout
}

// Examine gathers the evidence about servers in parallel. loaded is their config; nil for a server on the command line.
// Every step has a time limit, and the number of servers that start at the same time is limited.
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

// hideSecrets masks a server's secrets, even if it cannot be started, because the report shows its command line.
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

// cleanRun runs the server as a normal client does. Once there is a session, it calls ready, which may be nil, with the
// run so far.
func (o Options) cleanRun(ctx context.Context, e *evidence.Evidence, ready func(*evidence.Run)) *evidence.Run {
	active := o.newRun("clean")
	started := o.starting(ctx, e.Launch)
	stop := active.noteBefore(o.limit())
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
	if o.Safe { // otherwise release the tools, which may be many
		e.Offered = session.Tools()
	}
	ended := session.Wire().Failure()
	session.Close(ctx)
	run := active.end(ctx)
	run.Protocol, run.Ended, run.Queued = session.Protocol, ended, first.Queued
	run.Tree, run.Listening = tree, listening
	return run
}

// connecting returns the options for opening a run's session. started is also called if a slow server delays others.
func (o Options) connecting(active *activeRun, started func()) servers.Options {
	return servers.Options{
		Options: protocol.Options{
			Bus: active.bus, StartTimeout: o.limit(), Version: o.Version, MaxMessage: evidence.MaxMessage,
			FirstID: 1, // makes reports reproducible
			Started: started,
		},
		StderrDir: o.StderrDir, Secret: o.Secret, HTTP: o.HTTP,
	}
}

// watchIdle leaves a server idle for a while, and returns its processes and their listening sockets. It skips HTTP
// servers.
func (o Options) watchIdle(ctx context.Context, session *protocol.Session) (tree []procs.Process, listening []string) {
	if session.PID == 0 {
		return nil, nil
	}
	quiet(ctx, cmp.Or(o.Waits.Idle, evidence.IdleWait), session.Done())
	tree = procs.Tree(session.PID)
	return tree, procs.Listening(tree)
}

// askClean sends requests that every server must support, and some that none does. It stops after two requests in a row
// without a response. Requests that may need the server's backend get more time, because libraries retry connections.
func (o Options) askClean(ctx context.Context, session *protocol.Session) {
	p := &prober{Options: o, wire: session.Wire(), modern: session.Protocol >= evidence.ModernRevision}
	o.readExtensions(ctx, session, p)
	questions := []question{
		{method: "ping"},
		{method: "tools/list"}, // a second time, to compare
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
	const moreLimits = 10 // times the limit, in total, for requests that need a backend
	silent, left := 0, moreLimits*o.answerLimit()
	for _, q := range questions {
		silent++
		limit, began := o.answerLimit(), time.Now()
		if q.backend {
			limit += left
		}
		if _, answered := o.askWithin(ctx, limit, p.wire, q.method, p.params(q.params)); answered {
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

// readExtensions reads the pages of apps and the files of skills, within limits. It stops if there is no response.
func (o Options) readExtensions(ctx context.Context, session *protocol.Session, p *prober) {
	const maxReads, maxSize, maxTotal = 32, 1 << 20, 16 << 20
	bounded, cancel := context.WithTimeout(ctx, o.answerLimit())
	defer cancel()
	skills, _ := session.Skills(bounded) // the response is in the events
	var files []extension.File
	for _, tool := range session.Tools() {
		if app := extension.ReadApp(tool.Definition); app != nil && app.URI != "" {
			files = append(files, extension.File{URI: app.URI})
		}
	}
	for _, entry := range skills {
		files = append(files, extension.ReadSkill(entry).Files...)
	}
	asked, total := make(map[string]bool), 0
	for _, file := range files {
		if asked[file.URI] || file.Size > maxSize {
			continue
		}
		asked[file.URI] = true
		params := p.params(map[string]any{"uri": file.URI})
		size, answered := o.askWithin(ctx, o.answerLimit(), p.wire, "resources/read", params)
		if total += size; !answered || total > maxTotal || len(asked) == maxReads {
			return
		}
	}
}

// question is a request that the doctor makes.
type question struct {
	method  string
	params  map[string]any
	backend bool // the response may need the server's backend
}

// answerLimit is the time limit of a request that needs no work.
func (o Options) answerLimit() time.Duration { return cmp.Or(o.Waits.Answer, evidence.AnswerLimit) }

// askWithin sends a request with a time limit. It returns the size of the response and reports whether there was one.
// The response is in the events.
func (o Options) askWithin(
	ctx context.Context, limit time.Duration, wire *protocol.Wire, method string, params any,
) (size int, answered bool) {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	answer, err := wire.Request(bounded, method, params)
	if err == nil {
		return len(answer.Frame), true
	}
	var refused *mcphttp.Error
	return 0, errors.As(err, &refused) && refused.Status != 0
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

// nodeVersion runs node -v with the server's node ("v22.1.0"). It returns nothing if the server's package does not
// require a version.
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

// printed runs a program and returns the first line that it prints, or nothing if it fails. The program runs like a
// server, so the line arrives as a polluted line.
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
