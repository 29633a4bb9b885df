package servers

import (
	"context"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers/daemon"
	mcphttp "toolx/pkg/servers/http"
	"toolx/pkg/servers/protocol"
)

// Defaults for connecting (MCP-3); the config and the command line override them.
const (
	defaultAttempts     = 3
	defaultBaseDelay    = 2 * time.Second
	defaultStartTimeout = 30 * time.Second
)

// Options say how a Pool connects. For a field with its zero value, the server's entry decides, then the default.
// JSON of them has what a process needs that keeps a server for others.
type Options struct {
	protocol.Options
	Registry *exec.Registry `json:"-"` // takes the tools of every opened server
	// Attempts is how often toolx tries to connect where another attempt can help; with RetryAll, whatever the failure.
	// BaseDelay is the wait before the second attempt; it doubles.
	Attempts  int
	RetryAll  bool
	BaseDelay time.Duration
	// OneAttempt reports that the process which asks this one for the server makes the other attempts.
	OneAttempt bool
	// MaxStarts is how many servers with a command start at the same time; zero means twice the number of processors.
	MaxStarts int
	// StdinGrace is how long closing a session waits for a server whose stdin has ended, before it sends a signal; zero
	// means 2 s.
	StdinGrace time.Duration
	// StderrDir is the folder for the servers' stderr logs; empty means that none are kept.
	StderrDir string
	// Secret is called with every value that must not be shown; it may be nil.
	Secret func(values ...string) `json:"-"`
	// HTTP says how servers with a url are reached.
	HTTP mcphttp.ClientOptions `json:"-"`
	// Lacks names what Answers do not advertise, for the errors of tools that may need it; empty where there is nothing
	// to name.
	Lacks string
	// Sessions are where sessions are kept between commands; nil means that each server is started, or connected with,
	// by this process.
	Sessions *daemon.Sessions `json:"-"`
	// KeepAlive is how long sessions are kept of servers whose entries do not say; zero means that they end with this
	// process. StartSessions reports that this process may start the process that keeps one.
	KeepAlive     time.Duration
	StartSessions bool
	// Fresh reports whether sessions are restarted when they are first used.
	Fresh bool
	// Watch reports whether what the server of a session does between requests is wanted.
	Watch bool
	// NewSessions names a session to start for each server by its name, as toolx session start does.
	NewSessions map[string]daemon.Record `json:"-"`
	// Consent is called before a server is used for the first time, and may ask the user; an entry that it has not
	// allowed does not resolve. It may be nil. The error is ctx's.
	Consent func(ctx context.Context, list ...*config.Server) error `json:"-"`
}
