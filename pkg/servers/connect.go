package servers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"toolx/pkg/cause"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers/daemon"
	"toolx/pkg/servers/diagnose"
	mcphttp "toolx/pkg/servers/http"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
)

// connector connects with servers: it says how each is reached, makes the attempts, and finds or starts the process
// that keeps a session.
type connector struct {
	mu      sync.Mutex // guards options.Answers, and lost
	options Options
	starts  *Starts
	// reopen opens the session of a server again.
	reopen  func(ctx context.Context, server string) (*protocol.Session, error)
	noted   sync.Map                 // the texts that note has reported
	freshed sync.Map                 // the keys of sessions that Fresh has ended
	lost    map[string]daemon.Record // sessions that have ended unexpectedly, by the names of servers
}

// maxEnded is how many sessions may end while they are asked, in one attempt.
const maxEnded = 5

// connect makes the attempts (MCP-3, MCP-4, MCP-6) and registers the tools; it calls tried before the wait for another
// attempt, and silent if the server does not answer for a while.
func (c *connector) connect(
	ctx context.Context, server *config.Server, searched bool, tried, silent func(),
) (*protocol.Session, error) {
	d, err := c.prepare(ctx, server)
	if err != nil {
		return nil, err
	}
	attempts, delay := d.Attempts, d.BaseDelay
	for attempt := 1; ; attempt++ {
		started, err := c.starts.Begin(ctx, d.Launch)
		if err != nil {
			return nil, err
		}
		d.Started, d.Silent = started, silent
		c.options.Bus.Emit(Attempt{
			Head: wire.Now(server.Name), Attempt: attempt, Of: attempts, Limit: d.StartTimeout,
		})
		session, err := c.attempt(ctx, &d)
		started()
		// A session that ends while it is asked does not count as an attempt. Where many processes use a server that
		// cannot start, each of them may meet several sessions that end.
		for ended := 0; sessionEnded(err) && ended < maxEnded; ended++ {
			if d, err = c.prepare(ctx, server); err != nil {
				return nil, err
			}
			if started, err = c.starts.Begin(ctx, d.Launch); err != nil {
				return nil, err
			}
			d.Started, d.Silent = started, silent
			session, err = d.open(ctx)
			started()
		}
		if err == nil {
			session.FollowTools(func(tools []*exec.Tool) { // from now on, its tools are called
				c.options.Registry.ReplaceServer(server.Name, tools...)
			})
			c.options.Bus.Emit(Connected{
				Head: wire.Now(server.Name), Attempt: attempt,
				Protocol: session.Protocol, Timing: session.Timing, Attached: session.Attached,
			})
			session.Announce()
			return session, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if attempt >= attempts || d.OneAttempt || !d.again(err) {
			return nil, c.giveUp(server, attempt, err)
		}
		wait := max(delay, askedToWait(err, d.StartTimeout))
		c.options.Bus.Emit(Retry{
			Head: wire.Now(server.Name), Attempt: attempt, Of: attempts, Delay: wait, Err: err,
			Searched: searched,
		})
		tried()
		if !wire.Waited(ctx, wait) {
			return nil, ctx.Err()
		}
		delay *= 2
	}
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
	case d.RetryAll:
		return true
	}
	switch failure.Policy() {
	case cause.Transient:
		return true
	case cause.Unknown:
		return !d.Server.OnCommandLine() // else someone is debugging it
	}
	return false
}

// prepare returns how to reach a server: through its session, if another process keeps one, else as its entry says,
// once the user has consented. The error is ctx's, Consent's, or a *ConnectError.
func (c *connector) prepare(ctx context.Context, server *config.Server) (dial, error) {
	if d, found, err := c.attachNamed(ctx, server); found || err != nil {
		return d, err
	}
	if c.options.Consent != nil {
		if err := c.options.Consent(ctx, server); err != nil {
			return dial{}, err
		}
	}
	d, err := c.dial(server)
	if err != nil {
		return dial{}, c.giveUp(server, 0, err)
	}
	return d, c.keep(ctx, &d)
}

// dial combines the entry, the options and the defaults.
func (c *connector) dial(server *config.Server) (dial, error) {
	launch, err := c.options.Launch, error(nil)
	if launch == nil {
		launch, err = resolve(server)
	}
	if err != nil {
		return dial{}, err
	}
	if c.options.Secret != nil {
		c.options.Secret(launch.Secrets...)
	}
	if len(launch.Withheld) > 0 && launch.Command != "" {
		c.options.Bus.Emit(exec.Notice{Time: exec.Now(), Level: slog.LevelInfo, Server: server.Name, Text: fmt.Sprintf(
			"server %q does not get %s: its entry has to name what is toolx's own", server.Name,
			strings.Join(launch.Withheld, ", "))})
	}
	return c.dialTo(server, launch), nil
}

// dialTo returns how a server is reached that is started, or reached, as launch says.
func (c *connector) dialTo(server *config.Server, launch *config.Resolved) dial {
	c.mu.Lock()
	defer c.mu.Unlock()
	d := c.options.dial(server, launch)
	d.Reopen = func(ctx context.Context) (*protocol.Session, error) { return c.reopen(ctx, server.Name) }
	return d
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

func (c *connector) giveUp(server *config.Server, attempts int, err error) error {
	failed := &ConnectError{Server: server.Name, Attempts: attempts, Last: err, Advice: server.Hint}
	if failure, ok := errors.AsType[*diagnose.Failure](err); ok {
		if why := failure.Cause(); why != nil && why.Rule != "" {
			text := fmt.Sprintf("server %q: rule %s recognized the cause", server.Name, why.Rule)
			c.options.Bus.Emit(exec.Notice{Time: exec.Now(), Level: slog.LevelInfo, Server: server.Name, Text: text})
		}
	}
	c.options.Bus.Emit(ConnectFailed{Head: wire.Now(server.Name), Err: failed})
	return failed
}

// note warns once.
func (c *connector) note(text string) {
	if _, told := c.noted.LoadOrStore(text, true); !told {
		c.options.Bus.Emit(exec.Notice{Time: exec.Now(), Level: slog.LevelWarn, Text: text})
	}
}

// remark says something that only those want to know who ask for it.
func (c *connector) remark(text string) {
	c.options.Bus.Emit(exec.Notice{Time: exec.Now(), Level: slog.LevelInfo, Text: text})
}
