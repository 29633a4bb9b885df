package servers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/daemon"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/protocol"
)

// attachNamed returns how to use the session that was started by a server's name, and reports whether there is one. It
// needs nothing of the entry, which may have changed since.
func (c *connector) attachNamed(ctx context.Context, server *config.Server) (d dial, found bool, err error) {
	sessions := c.options.Sessions
	if sessions == nil || c.options.NewSessions[server.Name].Key != "" {
		return dial{}, false, nil
	}
	key := daemon.NamedKey(server, server.Session)
	if err := c.endForFresh(ctx, server.Name, key); err != nil || !sessions.Exists(key) {
		return dial{}, false, err
	}
	d = c.dialTo(server, &config.Resolved{})
	first, err := sessions.Connect(ctx, key, d.client())
	if errors.Is(err, daemon.ErrNoDaemon) {
		return dial{}, false, c.reportDead(server, key)
	}
	if ctx.Err() != nil {
		return dial{}, false, ctx.Err()
	}
	if errors.Is(err, daemon.ErrOtherVersion) {
		return dial{}, false, fault.Usage("the session of server '"+server.Name+"' belongs to another version of toolx",
			"toolx session restart "+exec.ShellLine(server.Name)+"; --no-session goes past it")
	}
	if err != nil {
		c.note(fmt.Sprintf("the session of server %q is not used: %v", server.Name, err))
		return dial{}, false, nil
	}
	d.attach = func(ctx context.Context) (protocol.Transport, error) {
		if client := first; client != nil {
			first = nil
			return client, nil
		}
		client, err := sessions.Connect(ctx, key, d.client())
		return client, d.unattached(err)
	}
	return d, true, nil
}

// client says what a client of the server's session has to know.
func (d dial) client() daemon.ClientOptions {
	offered := d.Answers.Capabilities()
	return daemon.ClientOptions{Server: d.Server, Bus: d.Bus, Version: d.Version, Offered: offered, Watch: d.Watch}
}

// unattached returns the Failure of a server whose session cannot be attached to, nil where err is nil.
func (d dial) unattached(err error) error {
	if err == nil {
		return nil
	}
	failure := &diagnose.Failure{Server: d.Server.Name, Ending: diagnose.EndingNoDaemon, Reason: err, Final: true}
	if errors.Is(err, daemon.ErrNoDaemon) {
		failure.Ending = diagnose.EndingDaemonGone
	}
	return failure
}

// reportDead reports that the process which kept a session has ended without being asked to, and forgets the session.
// The session of an entry is started again; one that had variables or headers on the command line cannot be, which is
// an error.
func (c *connector) reportDead(server *config.Server, key string) error {
	record, err := c.options.Sessions.Read(key)
	c.options.Sessions.Forget(key)
	if err != nil {
		return nil //nolint:nilerr // nothing is known of it
	}
	if record.Dressed {
		return fault.Usage("the session of server '"+server.Name+"' has ended, and its --env or --header is not kept",
			"start it as before: toolx session start --as "+server.Name+" …")
	}
	c.note(fmt.Sprintf("the session of server %q has ended unexpectedly (process %d kept it): "+
		"the server is restarted, and what it kept in memory is lost", server.Name, record.Daemon))
	c.replace(server.Name, record)
	return nil
}

// replace lets the next session of a server take the place of one that has ended.
func (c *connector) replace(server string, record *daemon.Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost == nil {
		c.lost = make(map[string]daemon.Record)
	}
	c.lost[server] = record.Again()
}

// keep lets another process keep the server if that is wanted: because its session is asked for by name, or the entry
// has keepAlive. The error is that of a session which cannot be restarted, though it has to be.
func (c *connector) keep(ctx context.Context, d *dial) error {
	sessions, server := c.options.Sessions, d.Server
	if sessions == nil {
		return nil
	}
	record, named := c.options.NewSessions[server.Name]
	if !named {
		c.mu.Lock()
		record, named = c.lost[server.Name]
		c.mu.Unlock()
	}
	limit := cmp.Or(server.KeepAlive, c.options.KeepAlive)
	if !named && limit <= 0 {
		return nil
	}
	spec := d.spec(record)
	if !named {
		spec.Key, spec.Limit = sessions.KeepAliveKey(server, spec, d.Protocol), limit
		if err := c.endForFresh(ctx, server.Name, spec.Key); err != nil {
			return err
		}
		if !c.options.StartSessions && !sessions.Exists(spec.Key) {
			return nil
		}
	}
	d.attach = func(ctx context.Context) (protocol.Transport, error) {
		client, err := sessions.Start(ctx, spec, d.client())
		if err != nil && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return client, d.unattached(err)
	}
	return nil
}

// endForFresh ends a session that is to be restarted when it is first used.
func (c *connector) endForFresh(ctx context.Context, server, key string) error {
	if _, ended := c.freshed.LoadOrStore(key, true); !c.options.Fresh || ended || !c.options.Sessions.Exists(key) {
		return nil
	}
	return c.endSession(ctx, server, key, func() {})
}

// endSession ends a session for all that use it, and lets the next one take its place. It ends nothing if that is
// impossible, because what it was started with is not kept; leave is called when it is certain to be possible.
func (c *connector) endSession(ctx context.Context, server, key string, leave func()) error {
	record, err := c.options.Sessions.Read(key)
	if err != nil {
		return fmt.Errorf("the session of server '%s' has no record: %w", server, err)
	}
	if err := record.Restartable(); err != nil {
		return err
	}
	leave()
	if _, err := c.options.Sessions.Stop(ctx, record, daemon.StopTime); err != nil {
		return fmt.Errorf("session %s: %w", record.Name, err)
	}
	if record.Named {
		c.replace(server, record)
	}
	return nil
}

// spec returns what the process has to know that keeps the server.
func (d dial) spec(record daemon.Record) *daemon.Spec {
	server := d.Server
	record.Name = server.Name
	if len(record.Command) == 0 && record.URL == "" { // a command line cannot change
		record.Entry = server.Identity()
	}
	if !server.OnCommandLine() && record.Server == "" && record.Entry != "" {
		record.Server, record.File = server.Plain(), server.File()
	}
	backend, _ := rawjson.Marshal(backendSettings{ // texts and numbers always encode
		Options: d.Options, Transport: server.Transport, CACert: d.HTTP.CACert, Insecure: d.HTTP.Insecure,
	})
	spec := &daemon.Spec{
		Record: record, Launch: *d.Launch, Offered: d.Answers.Capabilities(), MaxMessage: d.MaxMessage,
		Backend: backend,
	}
	spec.Offered.Elicitation = protocol.AskingCapability() // a later client may have a user
	if spec.Launch.Cwd == "" {                             // the other process has another current folder
		spec.Launch.Cwd, _ = os.Getwd() // if that is gone, the server cannot start there either
	}
	spec.Cwd = spec.Launch.Cwd
	return spec
}

// sessionEnded reports whether err says that the session ended before it could be used.
func sessionEnded(err error) bool {
	var failure *diagnose.Failure
	return errors.As(err, &failure) && failure.Ending == diagnose.EndingDaemonGone
}

// logIn opens a session of this process's own with a server that wants a login, which lets the person at the terminal
// log in, and closes it.
func (c *connector) logIn(ctx context.Context, server *config.Server) error {
	if c.options.Consent != nil {
		if err := c.options.Consent(ctx, server); err != nil {
			return err
		}
	}
	d, err := c.dial(server)
	if err != nil {
		return err
	}
	session, err := d.open(ctx)
	if err == nil {
		session.Close(ctx)
	}
	return err
}

// attempt makes one attempt to open a session. Where no process can keep the server, or the one that does cannot ask
// for a login, it goes the way that is left, and changes d to it.
func (c *connector) attempt(ctx context.Context, d *dial) (*protocol.Session, error) {
	session, err := d.open(ctx)
	if err == nil || d.attach == nil {
		return session, err
	}
	_, named := c.options.NewSessions[d.Server.Name]
	switch {
	case noSession(err) && !named:
		c.note(fmt.Sprintf("server %q will not keep running: %v", d.Server.Name, err))
		d.attach, err = nil, nil
	case fault.KindOf(err) == fault.KindAuth: // only this process has a terminal
		err = c.logIn(ctx, d.Server)
	}
	if err != nil {
		return nil, err
	}
	return d.open(ctx)
}

// noSession reports whether err says that no process can be started that keeps a server.
func noSession(err error) bool {
	var failure *diagnose.Failure
	return errors.As(err, &failure) && failure.Ending == diagnose.EndingNoDaemon
}
