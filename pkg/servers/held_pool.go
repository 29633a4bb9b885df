package servers

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
	"toolx/pkg/state"
)

// joinNamed returns how to use the session that was started by a server's name, and reports whether there is one. It
// needs nothing of the entry, which may have changed since.
func (p *Pool) joinNamed(ctx context.Context, server *config.Server) (d dial, found bool, err error) {
	sessions := p.options.Sessions
	if sessions == nil || p.options.Hold[server.Name].Key != "" {
		return dial{}, false, nil
	}
	key := NamedKey(server, server.Session)
	if err := p.endForFresh(ctx, server.Name, key); err != nil || !sessions.exists(key) {
		return dial{}, false, err
	}
	conn, err := sessions.connect(ctx, key)
	if errors.Is(err, errNoHolder) {
		return dial{}, false, p.tellDead(server, key)
	}
	if ctx.Err() != nil {
		return dial{}, false, ctx.Err()
	}
	if errors.Is(err, errOtherToolx) {
		return dial{}, false, fault.Usage("the session of server '"+server.Name+"' belongs to another version of toolx",
			"toolx session restart "+exec.ShellLine(server.Name)+"; --no-session goes past it")
	}
	if err != nil {
		p.note(fmt.Sprintf("the session of server %q is not used: %v", server.Name, err))
		return dial{}, false, nil
	}
	d = p.options.dial(server, &config.Resolved{})
	d.join = func(ctx context.Context) (*held, error) {
		if first := conn; first != nil {
			conn = nil
			return d.over(key, first, nil)
		}
		again, err := sessions.connect(ctx, key)
		return d.over(key, again, err)
	}
	return d, true, nil
}

// over returns the link over a connection with the holder of a session, or the Failure for err.
func (d dial) over(key string, conn net.Conn, err error) (*held, error) {
	if err != nil {
		failure := &diagnose.Failure{Server: d.server.Name, Ending: diagnose.EndingNotHeld, Reason: err, Final: true}
		if errors.Is(err, errNoHolder) {
			failure.Ending = diagnose.EndingHolderGone
		}
		return nil, failure
	}
	h := newHeld(d.server.Name, conn, d.Bus)
	h.key = key
	return h, nil
}

// tellDead says that the process that held a session has ended without being asked to, and forgets the session. The
// session of an entry is started anew; one that had variables or headers on the command line cannot be, which is an
// error.
func (p *Pool) tellDead(server *config.Server, key string) error {
	record, err := p.options.Sessions.Read(key)
	p.options.Sessions.Forget(key)
	if err != nil {
		return nil //nolint:nilerr // nothing is known of it
	}
	if record.Dressed {
		return fault.Usage("the session of server '"+server.Name+"' has ended unexpectedly, and what it was started "+
			"with (--env or --header) is not kept", "start it as before: toolx session start --as "+server.Name+" …")
	}
	p.note(fmt.Sprintf("the session of server %q has ended unexpectedly (process %d held it): "+
		"the server is restarted, and what it kept in memory is lost", server.Name, record.Holder))
	p.holdAgain(server.Name, record)
	return nil
}

// holdAgain lets the next session of a server take the place of one that has ended.
func (p *Pool) holdAgain(server string, record *Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lost == nil {
		p.lost = make(map[string]Record)
	}
	p.lost[server] = record.Again()
}

// StopTime is how long the holder of a session may take to end its server.
const StopTime = 8 * time.Second

// Renew ends the session of a server that another process holds, for everybody who uses it, so that Open starts the
// server anew. It ends nothing if that is impossible, because what it was started with is not kept.
func (p *Pool) Renew(ctx context.Context, name string) error {
	session := p.Session(name)
	if session == nil || session.link.SessionKey() == "" {
		p.Stop(ctx, name)
		return nil
	}
	return p.endHeld(ctx, name, session.link.SessionKey(), func() { p.Stop(ctx, name) })
}

// stay lets a process of its own hold the server if that is wanted: because it is asked for by name, or the entry has
// keepAlive. The error is that of a session which cannot be restarted, though it has to be.
func (p *Pool) stay(ctx context.Context, d *dial) error {
	sessions, server := p.options.Sessions, d.server
	if sessions == nil {
		return nil
	}
	record, named := p.options.Hold[server.Name]
	if !named {
		p.mu.Lock()
		record, named = p.lost[server.Name]
		p.mu.Unlock()
	}
	limit := cmp.Or(server.KeepAlive, p.options.KeepAlive)
	if !named && limit <= 0 {
		return nil
	}
	spec := p.spec(d, record)
	if !named {
		spec.Key, spec.Limit = sessions.keepAliveKey(server, spec), limit
		if err := p.endForFresh(ctx, server.Name, spec.Key); err != nil {
			return err
		}
		if !p.options.Stays && !sessions.exists(spec.Key) {
			return nil
		}
	}
	d.join = func(ctx context.Context) (*held, error) {
		conn, err := sessions.start(ctx, spec)
		if err != nil && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return d.over(spec.Key, conn, err)
	}
	return nil
}

// endForFresh ends a session that is to be restarted when it is first used.
func (p *Pool) endForFresh(ctx context.Context, server, key string) error {
	if _, ended := p.freshed.LoadOrStore(key, true); !p.options.Fresh || ended || !p.options.Sessions.exists(key) {
		return nil
	}
	return p.endHeld(ctx, server, key, func() {})
}

// endHeld ends a session for everybody who uses it, and lets the next one take its place. It ends nothing if that is
// impossible, because what it was started with is not kept; leave is called when it is certain to be possible.
func (p *Pool) endHeld(ctx context.Context, server, key string, leave func()) error {
	record, err := p.options.Sessions.Read(key)
	if err != nil {
		return fmt.Errorf("the session of server '%s' has no record: %w", server, err)
	}
	if err := record.Restartable(); err != nil {
		return err
	}
	leave()
	if _, err := p.options.Sessions.Stop(ctx, record, StopTime); err != nil {
		return fmt.Errorf("session %s: %w", record.Name, err)
	}
	if record.Named {
		p.holdAgain(server, record)
	}
	return nil
}

// spec returns what a holder has to know of a server.
func (p *Pool) spec(d *dial, record Record) *HoldSpec {
	server := d.server
	record.Name = server.Name
	if len(record.Command) == 0 && record.URL == "" { // a command line cannot change
		record.Entry = server.Identity()
	}
	if !server.OnCommandLine() && record.Server == "" && record.Entry != "" {
		record.Server, record.File = server.Plain(), server.File()
	}
	offered := d.Answers.capabilities()
	offered.Elicitation = elicitation() // a later client may have a user
	spec := &HoldSpec{
		Record: record, Options: d.Options, Launch: *d.launch, Transport: server.Transport, CACert: d.HTTP.CACert,
		Insecure: d.HTTP.Insecure, Offered: offered,
	}
	if spec.Launch.Cwd == "" { // a holder has another current folder
		spec.Launch.Cwd, _ = os.Getwd() // if that is gone, the server cannot start there either
	}
	spec.Cwd = spec.Launch.Cwd
	return spec
}

// heldNoMore reports whether err says that the holder ended before it could give the server.
func heldNoMore(err error) bool {
	var failure *diagnose.Failure
	return errors.As(err, &failure) && failure.Ending == diagnose.EndingHolderGone
}

// logIn opens a session of this process's own with a server that wants a login, which lets the person at the terminal
// log in, and closes it. The error is that of a server that is not held.
func (p *Pool) logIn(ctx context.Context, server *config.Server) error {
	if p.options.Consent != nil {
		if err := p.options.Consent(ctx, server); err != nil {
			return err
		}
	}
	d, err := p.dial(server)
	if err != nil {
		return err
	}
	session, err := d.open(ctx)
	if err == nil {
		session.Close(ctx)
	}
	return err
}

// attempt makes one attempt to open a session. Where a holder does not lead to one, it goes the way that is left, and
// changes d to it.
func (p *Pool) attempt(ctx context.Context, d *dial) (*Session, error) {
	session, err := d.open(ctx)
	if err == nil || d.join == nil {
		return session, err
	}
	_, named := p.options.Hold[d.server.Name]
	switch {
	case heldNoMore(err): // it came to its end while it was asked
		*d, err = p.prepare(ctx, d.server)
	case notHeld(err) && !named:
		p.note(fmt.Sprintf("server %q will not keep running: %v", d.server.Name, err))
		d.join, err = nil, nil
	case fault.KindOf(err) == fault.KindAuth: // a holder cannot ask anybody
		err = p.logIn(ctx, d.server)
	}
	if err != nil {
		return nil, err
	}
	return d.open(ctx)
}

// notHeld reports whether err says that no process can be had that holds a server.
func notHeld(err error) bool {
	var failure *diagnose.Failure
	return errors.As(err, &failure) && failure.Ending == diagnose.EndingNotHeld
}

// List describes all sessions, each asked within limit.
func (s *Sessions) List(ctx context.Context, limit time.Duration) []*SessionInfo {
	records := s.Records()
	list := make([]*SessionInfo, len(records))
	var wait sync.WaitGroup
	for i, record := range records {
		wait.Go(func() { list[i] = s.describe(ctx, record, limit) })
	}
	wait.Wait()
	return list
}

// The states of a session besides those that its holder tells.
const (
	StateDead   = "dead"
	StateSilent = "not answering"
)

func (s *Sessions) describe(ctx context.Context, record *Record, limit time.Duration) *SessionInfo {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	told, err := s.ask(bounded, record.Key, methodInfo)
	switch {
	case err == nil:
		return told
	case errors.Is(err, errNoHolder), heldNoMore(err):
		return &SessionInfo{Record: *record, State: StateDead}
	}
	return &SessionInfo{Record: *record, State: StateSilent, Ended: err.Error()}
}

// ask asks the holder of a session about it.
func (s *Sessions) ask(ctx context.Context, key, method string) (*SessionInfo, error) {
	conn, err := s.connect(ctx, key)
	if err != nil {
		return nil, err
	}
	h := newHeld("", conn, nil)
	defer h.Close(ctx)
	_ = h.Begin()
	return h.info(ctx, method)
}

// Stop ends a session: the server in order, then its holder; what does not end within limit is killed. It returns what
// was known of the session before.
func (s *Sessions) Stop(ctx context.Context, record *Record, limit time.Duration) (*SessionInfo, error) {
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	info, err := s.ask(bounded, record.Key, methodStop)
	if errors.Is(err, errNoHolder) {
		s.Forget(record.Key)
		return &SessionInfo{Record: *record, State: StateDead}, nil
	}
	process, found := os.FindProcess(record.Holder)
	other := errors.Is(err, errOtherToolx)
	if other && found == nil {
		info = &SessionInfo{Record: *record}
		_ = process.Signal(syscall.SIGTERM) // which every version takes for the end
	}
	if (err == nil || other || heldNoMore(err)) && s.waitReleased(bounded, record.Key) {
		return cmp.Or(info, &SessionInfo{Record: *record, State: StateDead}), nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	// On Linux the kernel ends the server with its holder; elsewhere the end of its stdin does.
	if found == nil {
		_ = process.Kill() // it may have ended just now
	}
	again, cancelAgain := context.WithTimeout(ctx, limit)
	defer cancelAgain()
	if !s.waitReleased(again, record.Key) {
		return nil, fmt.Errorf("process %d, which holds the session, does not end", record.Holder)
	}
	s.Forget(record.Key)
	return &SessionInfo{Record: *record, State: StateSilent}, nil
}

// followPause is how often the log of a server is looked at for more.
const followPause = 250 * time.Millisecond

// Follow returns the lines of the log of a session's server. With more, it goes on until ctx or the session ends, also
// when the server is started anew.
func (s *Sessions) Follow(ctx context.Context, record *Record, more bool) (iter.Seq[string], error) {
	conn, err := s.connect(ctx, record.Key)
	if err != nil {
		return nil, err
	}
	h := newHeld("", conn, nil)
	_ = h.Begin()
	told, err := h.info(ctx, methodWatch)
	if err != nil {
		h.Close(ctx)
		return nil, err
	}
	return func(yield func(string) bool) {
		defer h.Close(ctx)
		var log tail
		for log.follow(told.StderrPath, yield) && more && ctx.Err() == nil {
			wire.WaitFor(ctx, h.Done, followPause)
			if now, err := h.info(ctx, methodInfo); err == nil {
				told = now
			} else if last := h.last.Load(); last != nil {
				told, more = last, false // once more, for its last words
			} else {
				more = false
			}
		}
	}, nil
}

// tail reads the lines of a file that grows.
type tail struct {
	path string
	at   int64 // where the next line begins
}

// follow yields the lines that have come, those of another file after those of the one before, and reports whether more
// are wanted.
func (t *tail) follow(path string, yield func(string) bool) bool {
	if !t.lines(yield) {
		return false
	}
	if path == t.path {
		return true
	}
	*t = tail{path: path}
	return t.lines(yield)
}

// lines yields the lines of the file that have come, and reports whether more are wanted.
func (t *tail) lines(yield func(string) bool) bool {
	file, err := state.Open(t.path, os.O_RDONLY)
	if err != nil {
		return true // it is made with the first line
	}
	defer file.Close()
	_, _ = file.Seek(t.at, io.SeekStart) // a file can be sought in
	for in := bufio.NewReader(file); ; {
		text, err := in.ReadString('\n')
		if err != nil {
			return true
		}
		t.at += int64(len(text))
		if !yield(strings.TrimRight(text, "\r\n")) {
			return false
		}
	}
}
