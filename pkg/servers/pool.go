package servers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"toolx/pkg/cause"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/servers/diagnose"
	mcphttp "toolx/pkg/servers/http"
	"toolx/pkg/servers/wire"
	"toolx/pkg/words"
)

// Defaults for connecting (MCP-3); the config and the command line override them.
const (
	DefaultAttempts     = 3
	DefaultBaseDelay    = 2 * time.Second
	DefaultStartTimeout = 30 * time.Second
)

// Options say how a Pool connects. For a field with its zero value, the server's entry decides, then the default. JSON
// of them has what a process needs that holds a server.
type Options struct {
	Bus      *exec.Bus      `json:"-"` // may be nil
	Registry *exec.Registry `json:"-"` // takes the tools of every opened server
	// Attempts is how often toolx tries to connect where another attempt can help; with Insists, whatever the failure.
	// BaseDelay is the wait before the second attempt; it doubles.
	Attempts  int
	Insists   bool
	BaseDelay time.Duration
	// MaxStarts is how many servers with a command start at the same time; zero means twice the number of processors.
	MaxStarts int
	// StartTimeout bounds the handshake of each attempt, and its tools/list. While a package manager fetches the server
	// it does not count, for maxFetch at most.
	StartTimeout time.Duration
	// Elsewhere is how long a program is waited for that says that it listens for HTTP, and answers nothing on stdout;
	// zero means elsewhereWait.
	Elsewhere time.Duration
	// NoStartLimit reports whether a start is not ended at StartTimeout: a StartOverdue says that it takes longer, and
	// whoever wants that stops the server.
	NoStartLimit bool
	// fetching finds the package manager that is fetching the server of a process; nil means Fetching.
	fetching   func(pid int) string
	Protocol   string
	MaxMessage int64
	// StdinGrace is how long closing a session waits for a server whose stdin has ended, before it sends a signal; zero
	// means 2 s.
	StdinGrace time.Duration
	// StderrDir is the folder for the servers' stderr logs; empty means that none are kept.
	StderrDir string
	// Version is toolx's own version, which it sends to servers.
	Version string
	// Secret is called with every value that must not be shown; it may be nil.
	Secret func(values ...string) `json:"-"`
	// EraFile is a file that remembers the era of servers over HTTP from one process to the next; empty means that the
	// era is found out each time.
	EraFile string
	// FirstID is the id of a session's first request; zero means that ids begin at random (see firstID), as callers of
	// tools want.
	FirstID int64
	// HTTP says how servers with a url are reached.
	HTTP mcphttp.ClientOptions `json:"-"`
	// Answers hold how every session answers the requests of its server.
	Answers Answers `json:"-"`
	// Lacks names what Answers do not advertise, for the errors of tools that may need it; empty where there is nothing
	// to name.
	Lacks string
	// Memory keeps what servers list; nil means that nothing is kept.
	Memory Memory `json:"-"`
	// Sessions are the servers that stay; nil means that each server is started, or connected with, by this process.
	Sessions *Sessions
	// KeepAlive is for how long the servers stay that say nothing of that; zero means that they end with this process.
	// Stays reports that this process may start one that stays.
	KeepAlive time.Duration
	Stays     bool
	// Fresh reports whether servers that stay are restarted when they are first used.
	Fresh bool
	// Watches reports whether what a server that stays does between requests is wanted.
	Watches bool
	// Hold names a session to start for each server by its name, as toolx session start does.
	Hold map[string]Record `json:"-"`
	// holder passes on what the server sends, where this process holds it for others.
	holder *holder
	// launch says how a server is started; nil means that its entry does.
	launch *config.Resolved
	// Consent is called before a server is used for the first time, and may ask the user; an entry that it has not
	// allowed does not resolve. It may be nil. The error is ctx's.
	Consent func(ctx context.Context, list ...*config.Server) error `json:"-"`
}

// Pool holds the sessions of all configured servers and opens each of them once, when it is needed. It is safe for
// concurrent use.
type Pool struct {
	mu      sync.Mutex // guards options.Answers
	options Options
	starts  *starts
	roster  atomic.Pointer[roster]
	noted   sync.Map          // what note has told
	freshed sync.Map          // the keys of sessions that Fresh has ended
	lost    map[string]Record // sessions that have ended unexpectedly, by the names of servers; guarded by mu
}

// roster is the servers that a pool knows. It is never changed, but replaced.
type roster struct {
	order   []string
	entries map[string]*entry
	// disabled holds the names of the servers in off, which the config switches off.
	disabled []string
	off      map[string]*config.Server
}

// entry is one server and its session, once somebody has asked for it.
type entry struct {
	server *config.Server

	mu      sync.Mutex
	opening *opening
}

// opening is one run of attempts to connect, which several callers may wait for. It goes on as long as the context of
// any of them, unless the server is stopped.
type opening struct {
	server  string
	tried   chan struct{} // closed when the first attempt has ended, or the server is silent
	silent  chan struct{} // closed when the server has not answered for a while, or done is
	done    chan struct{} // closed when session or err is set
	ctx     context.Context
	cancel  context.CancelFunc
	session *Session
	err     error
	// searched reports that nobody named the server: it is opened as one of all.
	searched bool

	mu      sync.Mutex
	waiting int           // how many callers' contexts have not ended
	forget  []func() bool // each stops the wait for the end of a caller's context
}

// NewPool returns a Pool of the servers that are not disabled; it starts nothing.
func NewPool(list []*config.Server, options Options) *Pool {
	p := &Pool{options: options, starts: newStarts(options.MaxStarts)}
	known := &roster{entries: make(map[string]*entry), off: make(map[string]*config.Server)}
	for _, server := range list {
		if server.Disabled {
			known.disabled, known.off[server.Name] = append(known.disabled, server.Name), server
			continue
		}
		known.order = append(known.order, server.Name)
		known.entries[server.Name] = &entry{server: server}
	}
	p.roster.Store(known)
	options.Registry.KnowServers(known.order...)
	return p
}

func (p *Pool) known() *roster { return p.roster.Load() }

// Change gives the pool the servers of a config that has changed. The sessions of servers whose entries are the same go
// on, but for that of again; those of the others end, and their tools are gone. ctx bounds the wait for that. One call
// of it runs at a time.
func (p *Pool) Change(ctx context.Context, list []*config.Server, again string) {
	next, before := NewPool(list, p.options).known(), p.known()
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
	p.roster.Store(next)
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
	switch {
	case p.known().entries[name] != nil:
		return nil
	case p.known().off[name] != nil:
		return Disabled(p.known().off[name])
	}
	return &fault.UsageError{
		Message: "no server is named '" + name + "'",
		Fix:     "the config has: " + strings.Join(p.known().order, ", "),
		Server:  name,
	}
}

// Names returns the servers' names in the order of the config.
func (p *Pool) Names() []string { return p.known().order }

// Open returns the session of a server, and starts the server if it does not run (ROUTE-4). The tools are in the
// Registry when it returns. The error is a *ConnectError, ctx's, or an *exec.NotFoundError for an unknown server.
func (p *Pool) Open(ctx context.Context, name string) (*Session, error) {
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
		o.session, o.err = p.connect(o, e.server, tried, func() {
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
	Session *Session // nil where Err says why
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
	tool, err := p.find(ctx, name)
	var missing *exec.NotFoundError
	if p.options.Lacks != "" && errors.As(err, &missing) && len(missing.Candidates) == 0 &&
		missing.UnknownServer == "" && !slices.Contains(missing.Servers, name) {
		for _, server := range p.Names() {
			session := p.Session(server)
			// Over HTTP an announcement may not come before the answer. Similar names explain the error as well.
			if session != nil && (session.Announced() || session.announces() && len(missing.Near) == 0) {
				missing.Lacks = p.options.Lacks
			}
		}
	}
	return tool, err
}

func (p *Pool) find(ctx context.Context, name string) (*exec.Tool, error) {
	registry := p.options.Registry
	if server := exec.ServerOf(name, p.known().disabled); server != "" && exec.ServerOf(name, p.known().order) == "" {
		return nil, Disabled(p.known().off[server])
	}
	if named := exec.ServersOf(name, p.known().order); len(named) > 0 {
		return p.findOnAny(ctx, named, name)
	}
	if tool := registry.Settled(name); tool != nil {
		return tool, nil
	}
	if preferred := registry.Preferred(); preferred != "" {
		return p.findOn(ctx, preferred, name)
	}
	owners := p.beginOwners(ctx, name)
	if err := waitAll(ctx, slices.Collect(maps.Values(owners)), triedOf); err != nil {
		return nil, err
	}
	if len(owners) > 0 {
		tool, err := registry.Find(name)
		var denied *exec.DeniedError // another server may have one that may be used
		if err == nil && !tool.BuiltIn || err != nil && !unknown(err) && !errors.As(err, &denied) {
			return p.chosen(name, tool, nil), err
		}
	}
	names, others := p.known().order, []*exec.Tool(nil)
	if prefix, _, found := strings.Cut(name, exec.Separator); found && len(owners) == 0 {
		names, others = p.mayHave(name, prefix+exec.Separator)
	}
	tool, err := p.findOnAll(ctx, name, p.beginAll(ctx, names, owners), owners)
	return tool, p.nearOthers(err, name, others)
}

// findOnAll looks for a plain name on all servers. owners are those that had such a tool.
func (p *Pool) findOnAll(
	ctx context.Context, name string, openings []*opening, owners map[string]*opening,
) (*exec.Tool, error) {
	registry := p.options.Registry
	if err := waitAll(ctx, openings, triedOf); err != nil {
		return nil, err
	}
	tool, err := registry.Find(name)
	if err == nil || !unknown(err) || namesNoServer(err) && len(owners) == 0 {
		return p.chosen(name, tool, openings), err
	}
	if err := waitAll(ctx, openings, func(o *opening) chan struct{} { return o.done }); err != nil {
		return nil, err
	}
	var wait sync.WaitGroup
	for _, o := range openings {
		if o.session != nil {
			wait.Go(func() { p.askAgain(ctx, o.session, name) })
		}
	}
	wait.Wait()
	if tool, err = registry.Find(name); err == nil || !unknown(err) {
		return p.chosen(name, tool, openings), err
	}
	return nil, p.unreached(err, openings, owners)
}

// triedOf returns the channel that is closed when the first attempt has ended, or takes long.
func triedOf(o *opening) chan struct{} { return o.tried }

// chosen returns tool, and warns where the plain name could mean another one: a built-in tool, or that of a server that
// was not reached.
func (p *Pool) chosen(name string, tool *exec.Tool, openings []*opening) *exec.Tool {
	if tool == nil {
		return nil
	}
	if shadowed := p.options.Registry.Shadowed(tool); shadowed != nil {
		p.note(fmt.Sprintf("%s is the tool of server '%s'; toolx's own is %s", name, tool.Server,
			p.options.Registry.NameOf(shadowed)))
	}
	if !tool.BuiltIn {
		return tool
	}
	var missed []string
	var reasons []string
	for _, o := range openings {
		switch {
		case !wire.Closed(o.done): // a Retry has told why
			missed = append(missed, o.server)
		case o.err != nil:
			missed = append(missed, o.server)
			reasons = append(reasons, words.FirstLine(o.err.Error()))
		}
	}
	if len(missed) > 0 {
		reason := ""
		if len(reasons) > 0 {
			reason = " (" + strings.Join(reasons, "; ") + ")"
		}
		p.note(fmt.Sprintf("%s is toolx's own tool: %s not reached%s, and no other server has a tool of that name; "+
			"%s%s%s asks no server", name, wereNames(missed), reason, exec.Own, exec.Separator, name))
	}
	return tool
}

// note warns once.
func (p *Pool) note(text string) {
	if _, told := p.noted.LoadOrStore(text, true); !told {
		p.options.Bus.Emit(exec.Notice{Time: exec.Now(), Level: slog.LevelWarn, Text: text})
	}
}

// unreached adds the servers that were not reached to the error of an unknown name, a server that had it first.
func (p *Pool) unreached(err error, openings []*opening, owners map[string]*opening) error {
	failed := &UnreachedError{}
	errors.As(err, &failed.Missing)
	for _, o := range openings {
		switch one := (Opened{Server: o.server, Err: o.err}); {
		case o.err == nil:
		case owners[one.Server] != nil && failed.Owner == "":
			failed.Owner = one.Server
			failed.Failed = slices.Insert(failed.Failed, 0, one)
		default:
			failed.Failed = append(failed.Failed, one)
		}
	}
	if len(failed.Failed) == 0 {
		return err
	}
	failed.Alone = len(failed.Failed) == len(p.known().order) && len(failed.Missing.Near) == 0
	return failed
}

// namesNoServer reports whether err is about a qualified name whose server does not exist (ROUTE-2). A tool's own name
// may look like one, so the servers were asked first; servers that are being retried are not waited for.
func namesNoServer(err error) bool {
	var missing *exec.NotFoundError
	return errors.As(err, &missing) && missing.UnknownServer != ""
}

// findOnAny opens the servers that a qualified name may name, the longest first, until one has the tool.
func (p *Pool) findOnAny(ctx context.Context, named []string, name string) (tool *exec.Tool, err error) {
	for _, server := range named {
		if tool, err = p.findOn(ctx, server, name); err == nil || !unknown(err) {
			return tool, err
		}
	}
	return nil, err
}

// findOn opens one server and then looks for the tool.
func (p *Pool) findOn(ctx context.Context, server, name string) (*exec.Tool, error) {
	session, err := p.Open(ctx, server)
	if err != nil {
		return nil, err
	}
	tool, err := p.options.Registry.Find(name)
	if err != nil && unknown(err) {
		p.askAgain(ctx, session, name)
		return p.options.Registry.Find(name)
	}
	return tool, err
}

// beginAll starts opening the named servers but for those that have been begun already, and returns the openings in the
// order of names.
func (p *Pool) beginAll(ctx context.Context, names []string, begun map[string]*opening) []*opening {
	openings := make([]*opening, 0, len(names))
	for _, name := range names {
		o := begun[name]
		if o == nil {
			o = p.begin(ctx, p.known().entries[name], true)
		}
		openings = append(openings, o)
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

// unknown reports whether err says that no tool has the name, rather than that several do.
func unknown(err error) bool {
	var missing *exec.NotFoundError
	return errors.As(err, &missing) && len(missing.Candidates) == 0
}

// connect makes the attempts (MCP-3, MCP-4, MCP-6) and registers the tools; it calls tried before the wait for another
// attempt, and silent if the server does not answer for a while.
func (p *Pool) connect(o *opening, server *config.Server, tried, silent func()) (*Session, error) {
	ctx := o.ctx
	d, err := p.prepare(ctx, server)
	if err != nil {
		return nil, err
	}
	attempts, delay := d.Attempts, d.BaseDelay
	for attempt := 1; ; attempt++ {
		started, err := p.starts.begin(ctx, d.launch)
		if err != nil {
			return nil, err
		}
		d.started, d.silent = started, silent
		p.options.Bus.Emit(Attempt{
			Head: wire.Now(server.Name), Attempt: attempt, Of: attempts, Limit: d.StartTimeout,
		})
		session, err := p.attempt(ctx, &d)
		started()
		if err == nil {
			session.reopen = func(ctx context.Context) (*Session, error) { return p.Open(ctx, server.Name) }
			p.options.Registry.ReplaceServer(server.Name, session.Tools()...) // from now on, its tools are called
			session.relist.follow(session, server, p.options.Registry)
			p.options.Bus.Emit(Connected{
				Head: wire.Now(server.Name), Attempt: attempt,
				Protocol: session.Protocol, Timing: session.Timing, Held: session.Held,
			})
			session.link.Announce()
			go session.tellLoss()
			return session, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if attempt >= attempts || d.holder != nil || !d.again(err) {
			return nil, p.giveUp(server, attempt, err)
		}
		wait := max(delay, askedToWait(err, d.StartTimeout))
		p.options.Bus.Emit(Retry{
			Head: wire.Now(server.Name), Attempt: attempt, Of: attempts, Delay: wait, Err: err,
			Searched: o.searched,
		})
		tried()
		if !wire.Waited(ctx, wait) {
			return nil, ctx.Err()
		}
		delay *= 2
	}
}

// prepare returns how to reach a server: through the session that stays, if there is one, else as its entry says, once
// the user has consented. The error is ctx's, Consent's, or a *ConnectError.
func (p *Pool) prepare(ctx context.Context, server *config.Server) (dial, error) {
	if d, found, err := p.joinNamed(ctx, server); found || err != nil {
		return d, err
	}
	if p.options.Consent != nil {
		if err := p.options.Consent(ctx, server); err != nil {
			return dial{}, err
		}
	}
	d, err := p.dial(server)
	if err != nil {
		return dial{}, p.giveUp(server, 0, err)
	}
	return d, p.stay(ctx, &d)
}

// askedToWait returns how long a server's response asks to wait (Retry-After), or zero where it asks for nothing, or
// for more than longest.
func askedToWait(err error, longest time.Duration) time.Duration {
	var failed *mcphttp.Error
	if !errors.As(err, &failed) {
		return 0
	}
	if asked, _ := failed.RetryAfter(); asked <= longest {
		return asked
	}
	return 0
}

// again reports whether to start a server once more after err, with which an attempt failed (MCP-6). An explicit
// number of retries is kept, whatever the failure, but for a missing program: the specification would retry that too.
func (d *dial) again(err error) bool {
	var failure *diagnose.Failure
	switch {
	case !errors.As(err, &failure):
		return true
	case failure.Final, failure.Ending == diagnose.EndingNotFound, failure.Ending == diagnose.EndingClosed:
		return false
	case d.Insists:
		return true
	}
	switch failure.Policy() {
	case cause.Transient:
		return true
	case cause.Unknown:
		return !d.server.OnCommandLine() // else someone is debugging it
	}
	return false
}

// Connect makes one attempt to open a session, outside any Pool: without retry or Registry. The error is a *Failure, or
// ctx's where that ended first.
func Connect(ctx context.Context, server *config.Server, launch *config.Resolved, options Options) (*Session, error) {
	return options.dial(server, launch).open(ctx)
}

// dial combines the entry, the options and the defaults.
func (p *Pool) dial(server *config.Server) (dial, error) {
	if p.options.launch != nil {
		return p.options.dial(server, p.options.launch), nil
	}
	launch, err := resolve(server)
	if err != nil {
		return dial{}, err
	}
	if p.options.Secret != nil {
		p.options.Secret(launch.Secrets...)
	}
	if len(launch.Withheld) > 0 && launch.Command != "" {
		p.options.Bus.Emit(exec.Notice{Time: exec.Now(), Level: slog.LevelInfo, Text: fmt.Sprintf(
			"server %q does not get %s: its entry has to name what is toolx's own", server.Name,
			strings.Join(launch.Withheld, ", "))})
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.options.dial(server, launch), nil
}

// resolve expands an entry in toolx's own environment. The error is a *Failure for variables that are not set and
// values that cannot be used.
func resolve(server *config.Server) (*config.Resolved, error) {
	failure := &diagnose.Failure{Server: server.Name, URL: server.URL}
	if server.Command != "" {
		failure.Command = append([]string{server.Command}, server.Args...)
	}
	launch, err := server.Resolve(os.Environ())
	if err != nil {
		var unset *config.UnsetError
		failure.Ending, failure.Reason = diagnose.EndingUnusable, err
		if errors.As(err, &unset) {
			failure.Ending = diagnose.EndingUnset
		}
		return nil, failure
	}
	return launch, nil
}

// dial merges the options over the entry, and both over the defaults.
func (o Options) dial(server *config.Server, launch *config.Resolved) dial {
	o.launch = launch
	o.Attempts = cmp.Or(o.Attempts, server.Retry.Attempts, DefaultAttempts)
	o.BaseDelay = cmp.Or(o.BaseDelay, server.Retry.BaseDelay, DefaultBaseDelay)
	o.StartTimeout = cmp.Or(o.StartTimeout, server.StartTimeout, DefaultStartTimeout)
	o.Elsewhere = cmp.Or(o.Elsewhere, elsewhereWait)
	o.MaxMessage = cmp.Or(server.MaxMessage, o.MaxMessage, wire.DefaultMaxMessage)
	o.Protocol = cmp.Or(o.Protocol, server.Protocol)
	o.HTTP.Secret = o.Secret
	return dial{Options: o, server: server}
}

func (p *Pool) giveUp(server *config.Server, attempts int, err error) error {
	failed := &ConnectError{Server: server.Name, Attempts: attempts, Last: err, Advice: server.Hint}
	if failure, ok := errors.AsType[*diagnose.Failure](err); ok {
		if c := failure.Cause(); c != nil && c.Rule != "" {
			p.options.Bus.Emit(exec.Notice{Time: exec.Now(), Level: slog.LevelInfo, Text: fmt.Sprintf(
				"server %q: rule %s recognized the cause", server.Name, c.Rule)})
		}
	}
	p.options.Bus.Emit(ConnectFailed{Head: wire.Now(server.Name), Err: failed})
	return failed
}

// Stop ends the session of one server, or stops opening it; ctx bounds the wait. Open starts the server anew.
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

// Close closes all sessions in parallel; ctx bounds the wait. Servers that are still being opened are given up: a
// server that is to be retried delays nobody (MCP-5).
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
			o.session.link.Kill()
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
		return "ended", o.session.Protocol, diagnose.Of(o.session.link.RPC(), "").Error()
	}
	return "ready", o.session.Protocol, ""
}

// Session returns the open session of a server, nil where there is none.
func (p *Pool) Session(name string) *Session {
	e := p.known().entries[name]
	if e == nil {
		return nil
	}
	if o := e.last(); o != nil && wire.Closed(o.done) {
		return o.session
	}
	return nil
}
