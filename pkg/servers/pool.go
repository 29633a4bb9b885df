package servers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
)

// Pool holds the sessions of all configured servers and opens each of them once, when it is needed. It is safe for
// concurrent use.
type Pool struct {
	connector
	set atomic.Pointer[serverSet]
}

// serverSet is the servers that a pool has. It is never changed, but replaced.
type serverSet struct {
	order   []string
	entries map[string]*entry
	// disabled holds the names of the servers in off, which the config switches off.
	disabled []string
	off      map[string]*config.Server
}

// entry is one server and its session, once one was asked for.
type entry struct {
	server *config.Server

	mu      sync.Mutex
	opening *opening
}

// opening is one run of attempts to connect, which several callers may wait for. It continues while the context of
// any of them, unless the server is stopped.
type opening struct {
	server  string
	tried   chan struct{} // closed when the first attempt has ended, or the server is silent
	silent  chan struct{} // closed when the server has not answered for a while, or done is
	done    chan struct{} // closed when session or err is set
	ctx     context.Context
	cancel  context.CancelFunc
	session *protocol.Session
	err     error
	// searched reports that the user did not name the server: it is opened as one of all.
	searched bool

	mu      sync.Mutex
	waiting int           // how many callers' contexts have not ended
	forget  []func() bool // each stops the wait for the end of a caller's context
}

// NewPool returns a Pool of the servers that are not disabled; it starts nothing.
func NewPool(list []*config.Server, options Options) *Pool {
	p := &Pool{connector: connector{options: options, starts: NewStarts(options.MaxStarts)}}
	p.reopen = p.Open
	p.set.Store(newServerSet(list))
	options.Registry.KnowServers(p.Names()...)
	return p
}

func newServerSet(list []*config.Server) *serverSet {
	set := &serverSet{entries: make(map[string]*entry), off: make(map[string]*config.Server)}
	for _, server := range list {
		if server.Disabled {
			set.disabled, set.off[server.Name] = append(set.disabled, server.Name), server
			continue
		}
		set.order = append(set.order, server.Name)
		set.entries[server.Name] = &entry{server: server}
	}
	return set
}

func (p *Pool) known() *serverSet { return p.set.Load() }

// Change gives the pool the servers of a config that has changed. The sessions of servers whose entries are the same go
// on, but for that of again; those of the others end, and their tools are gone. ctx bounds the wait for that. One call
// of it runs at a time.
func (p *Pool) Change(ctx context.Context, list []*config.Server, again string) {
	next, before := newServerSet(list), p.known()
	p.options.Registry.KnowServers(next.order...)
	var ended sync.WaitGroup
	for name, old := range before.entries {
		if now := next.entries[name]; now != nil && name != again && now.server.Identity() == old.server.Identity() {
			next.entries[name] = old
			continue
		}
		ended.Go(func() {
			old.stop(ctx)
			p.options.Registry.ReplaceServer(name)
		})
	}
	p.set.Store(next)
	ended.Wait()
}

// Disabled returns the error of using a server that the config switches off. It names the setting and carries the
// server's configured hint.
func Disabled(server *config.Server) *fault.UsageError {
	setting, origin := server.DisabledBy()
	message := "server '" + server.Name + "' is disabled in the config"
	if origin.File != "" {
		message = fmt.Sprintf("server '%s' is disabled (%s, %s)", server.Name, setting, origin)
	}
	return &fault.UsageError{
		Message: message,
		Fix:     diagnose.JoinHints(server.Hint, "remove \""+setting+"\" there, or give the server's command after --"),
	}
}

// Known returns nil if name is that of a server that can be opened. Otherwise it returns a *fault.UsageError that says
// whether the server is disabled or missing from the config.
func (p *Pool) Known(name string) error {
	known := p.known() // which Change may replace
	switch {
	case known.entries[name] != nil:
		return nil
	case known.off[name] != nil:
		return Disabled(known.off[name])
	}
	return &fault.UsageError{
		Message: fmt.Sprintf("no server named %q", name),
		Fix:     "known servers: " + strings.Join(known.order, ", "),
		Server:  name,
	}
}

// Names returns the servers' names in the order of the config.
func (p *Pool) Names() []string { return p.known().order }

// Open returns the session of a server, and starts the server if it does not run (ROUTE-4). The tools are in the
// Registry when it returns. The error is a *ConnectError, ctx's, or an *exec.NotFoundError for an unknown server.
func (p *Pool) Open(ctx context.Context, name string) (*protocol.Session, error) {
	e := p.known().entries[name]
	if e == nil {
		return nil, &exec.NotFoundError{Name: name, UnknownServer: name, Servers: p.known().order}
	}
	o := p.begin(ctx, e, false)
	select {
	case <-o.done:
		return o.session, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// begin starts opening a server unless that is done or under way. A session that has ended is closed and replaced by a
// new one.
func (p *Pool) begin(ctx context.Context, e *entry, searched bool) *opening {
	e.mu.Lock()
	defer e.mu.Unlock()
	before := e.opening
	if before != nil && before.join(ctx) {
		return before
	}
	o := &opening{
		server: e.server.Name, searched: searched,
		tried: make(chan struct{}), silent: make(chan struct{}), done: make(chan struct{}),
	}
	// The first caller may leave while others wait.
	o.ctx, o.cancel = context.WithCancel(context.WithoutCancel(ctx))
	o.join(ctx)
	e.opening = o
	tried, silent := sync.OnceFunc(func() { close(o.tried) }), sync.OnceFunc(func() { close(o.silent) })
	go func() {
		defer tried() // after done, so that who sees it knows whether there is another attempt
		defer silent()
		defer o.end()
		if before != nil { // else two processes could want the same device or port
			<-before.done
			if before.session != nil {
				before.session.Close(o.ctx)
			}
		}
		o.session, o.err = p.connect(o.ctx, e.server, searched, tried, func() {
			tried()
			silent()
		})
	}()
	return o
}

// join makes the opening last at least as long as ctx. It reports whether the opening can be used: one that failed, was
// given up, or whose session has ended cannot.
func (o *opening) join(ctx context.Context) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case wire.Closed(o.done):
		return o.err == nil && !wire.Closed(o.session.Done())
	case o.ctx.Err() != nil:
		return false
	}
	o.waiting++
	o.forget = append(o.forget, context.AfterFunc(ctx, o.leave))
	return true
}

// leave cancels the opening when the last caller has left.
func (o *opening) leave() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.waiting--; o.waiting == 0 {
		o.cancel()
	}
}

// end signals that session or err is set.
func (o *opening) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.done)
	for _, forget := range o.forget {
		forget()
	}
	o.forget = nil
	o.cancel()
}

// Opened is the outcome of opening one server.
type Opened struct {
	Server  string
	Session *protocol.Session // nil where Err says why
	Err     error
}

// OpenAll opens the named servers in parallel, or all where none is named, and returns the outcome of each in their
// order (MCP-5).
func (p *Pool) OpenAll(ctx context.Context, names ...string) []Opened {
	if len(names) == 0 {
		names = p.known().order
	}
	opened := make([]Opened, len(names))
	var wait sync.WaitGroup
	for i, name := range names {
		wait.Go(func() {
			session, err := p.Open(ctx, name)
			opened[i] = Opened{Server: name, Session: session, Err: err}
		})
	}
	wait.Wait()
	return opened
}

// Search does what OpenAll does where the user named none of the servers: it reports less about those that fail.
func (p *Pool) Search(ctx context.Context, names ...string) []Opened {
	p.beginAll(ctx, names, nil)
	return p.OpenAll(ctx, names...)
}

// OpenResponsive does what OpenAll does, but leaves out servers that have been silent for a while if another one is
// ready. They go on starting, and their tools appear once they answer.
func (p *Pool) OpenResponsive(ctx context.Context, names ...string) []Opened {
	openings := p.beginAll(ctx, names, nil)
	_ = waitAll(ctx, openings, func(o *opening) chan struct{} { return o.silent })
	var responsive []string
	ready := false
	for _, o := range openings {
		if wire.Closed(o.done) {
			responsive = append(responsive, o.server)
			ready = ready || o.err == nil
		}
	}
	if !ready {
		responsive = names
	}
	return p.OpenAll(ctx, responsive...)
}

// OpenTried opens the named servers in parallel, or all where none is named, and returns, in their order, the outcome
// for those that succeed or finally fail with the first attempt. The others are retried meanwhile, so that they do not
// delay callers who do not need them (MCP-5); OpenAll waits for them. The error is ctx's.
func (p *Pool) OpenTried(ctx context.Context, names ...string) ([]Opened, error) {
	if len(names) == 0 {
		names = p.known().order
	}
	openings := p.beginAll(ctx, names, nil)
	if err := waitAll(ctx, openings, triedOf); err != nil {
		return nil, err
	}
	var opened []Opened
	for _, o := range openings {
		if wire.Closed(o.done) {
			opened = append(opened, Opened{Server: o.server, Session: o.session, Err: o.err})
		}
	}
	return opened, nil
}

// Find returns the tool that a name means, and opens the servers that it needs for that: one server for a qualified
// name (ROUTE-1, ROUTE-4), none for a tool of the config or one named after exec.Own, otherwise those that had the tool
// when they were last asked; all where there is no such server, or none has it now. Where the name has the form of a
// qualified one and its server does not exist, those are left out whose tools are known to be others. A server that
// fails its first attempt delays nothing if another server, or toolx itself, has the tool (MCP-5).
//
// The error is the Registry's, or an *UnreachedError where servers that might have the tool could not be reached.
func (p *Pool) Find(ctx context.Context, name string) (*exec.Tool, error) {
	tool, err := (&lookup{pool: p, name: name}).find(ctx)
	var missing *exec.NotFoundError
	if p.options.Lacks != "" && errors.As(err, &missing) && len(missing.Candidates) == 0 &&
		missing.UnknownServer == "" && !slices.Contains(missing.Servers, name) {
		for _, server := range p.Names() {
			session := p.Session(server)
			// Over HTTP an announcement may not come before the answer. Similar names explain the error as well.
			if session != nil && (session.Announced() || session.Announces() && len(missing.Near) == 0) {
				missing.Lacks = p.options.Lacks
			}
		}
	}
	return tool, err
}

// beginAll starts opening the named servers but for those that have been begun already, and returns the openings in the
// order of names. A server that Change has removed meanwhile is left out.
func (p *Pool) beginAll(ctx context.Context, names []string, begun map[string]*opening) []*opening {
	openings := make([]*opening, 0, len(names))
	for _, name := range names {
		if o := begun[name]; o != nil {
			openings = append(openings, o)
		} else if e := p.known().entries[name]; e != nil {
			openings = append(openings, p.begin(ctx, e, true))
		}
	}
	return openings
}

func waitAll(ctx context.Context, openings []*opening, channel func(*opening) chan struct{}) error {
	for _, o := range openings {
		select {
		case <-channel(o):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// triedOf returns the channel that is closed when the first attempt has ended, or takes long.
func triedOf(o *opening) chan struct{} { return o.tried }

// Stop ends the session of one server, or stops opening it; ctx bounds the wait. Open starts the server again.
func (p *Pool) Stop(ctx context.Context, name string) {
	if e := p.known().entries[name]; e != nil {
		e.stop(ctx)
	}
}

// last returns what was opened last, nil if that is nothing.
func (e *entry) last() *opening {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.opening
}

// stop ends the session that was opened last, if there is one.
func (e *entry) stop(ctx context.Context) {
	o := e.last()
	if o == nil {
		return
	}
	o.cancel()
	<-o.done
	if o.session != nil {
		o.session.Close(ctx)
	}
}

// Renew ends the session of a server that another process keeps, for all that use it, so that Open starts the server
// again. It ends nothing if that is impossible, because what it was started with is not kept.
func (p *Pool) Renew(ctx context.Context, name string) error {
	session := p.Session(name)
	if session == nil || session.SessionKey() == "" {
		p.Stop(ctx, name)
		return nil
	}
	return p.endSession(ctx, name, session.SessionKey(), func() { p.Stop(ctx, name) })
}

// AwaitTools waits for the tools of servers that list none and may list some soon (see Session.AwaitTools).
func (p *Pool) AwaitTools(ctx context.Context, opened []Opened) {
	var wait sync.WaitGroup
	for _, one := range opened {
		if s := one.Session; s != nil {
			wait.Go(func() { s.AwaitTools(ctx, func() bool { return len(s.Tools()) > 0 }) })
		}
	}
	wait.Wait()
}

// SetRoots replaces the roots of all sessions, open and future.
func (p *Pool) SetRoots(ctx context.Context, roots []protocol.Root) {
	p.mu.Lock()
	p.options.Answers.Roots = append([]protocol.Root{}, roots...)
	p.mu.Unlock()
	for _, name := range p.known().order {
		if session := p.Session(name); session != nil {
			// A server that cannot be notified has ended, which is reported elsewhere.
			_ = session.SetRoots(ctx, roots)
		}
	}
}

// Close closes all sessions in parallel; ctx bounds the wait. Servers that are still being opened are given up: a
// server that is to be retried delays no caller (MCP-5).
func (p *Pool) Close(ctx context.Context) {
	var wait sync.WaitGroup
	for _, e := range p.known().entries {
		wait.Go(func() { e.stop(ctx) })
	}
	wait.Wait()
}

// Kill ends the processes of all open sessions at once and does not wait.
func (p *Pool) Kill() {
	for _, e := range p.known().entries {
		o := e.last()
		if o == nil {
			continue
		}
		o.cancel()
		if wire.Closed(o.done) && o.session != nil {
			o.session.Kill()
		}
	}
}

// Status returns the state of a server: "not started", "starting", "ready" with the agreed protocol, "failed" or
// "ended" with the reason, "disabled".
func (p *Pool) Status(name string) (status, protocol, reason string) {
	e := p.known().entries[name]
	if e == nil {
		return "disabled", "", ""
	}
	o := e.last()
	switch {
	case o == nil:
		return "not started", "", ""
	case !wire.Closed(o.done):
		return "starting", "", ""
	case o.err != nil:
		return "failed", "", o.err.Error()
	case wire.Closed(o.session.Done()):
		return "ended", o.session.Protocol, o.session.Failure().Error()
	}
	return "ready", o.session.Protocol, ""
}

// Session returns the open session of a server, nil where there is none.
func (p *Pool) Session(name string) *protocol.Session {
	e := p.known().entries[name]
	if e == nil {
		return nil
	}
	if o := e.last(); o != nil && wire.Closed(o.done) {
		return o.session
	}
	return nil
}
