package servers

import (
	"fmt"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
)

// Attempt says that an attempt to connect begins.
type Attempt struct {
	wire.Head
	Attempt int // from 1
	Of      int
	Limit   time.Duration // of the attempt
}

// Retry says that an attempt to connect failed and when the next one comes (MCP-3).
type Retry struct {
	wire.Head
	Attempt int // the one that failed, from 1
	Of      int
	Delay   time.Duration
	Err     error
	// Searched reports that the user named no server, so that all are asked for a tool.
	Searched bool
}

// StartOverdue says that a server has not answered within the limit of its start, and that toolx waits on.
type StartOverdue struct {
	wire.Head
	Took     time.Duration // so far
	Launcher string        // the package manager that is still fetching the server, such as npx; empty: none is
}

// Text returns the event as a sentence for the log.
func (e StartOverdue) Text() string {
	if e.Launcher == "" {
		return fmt.Sprintf("server %q has not answered after %s; toolx waits on", e.Server, diagnose.Rounded(e.Took))
	}
	return fmt.Sprintf("server %q: %s is still downloading it after %s; toolx waits on", e.Server, e.Launcher,
		diagnose.Rounded(e.Took))
}

// Connected says that a session is open.
type Connected struct {
	wire.Head
	Attempt  int
	Protocol string
	Timing   exec.Timing
	// Held says how a server that stays is used; nil for any other.
	Held *Held
}

// ConnectFailed says that toolx has given up connecting to a server (MCP-4).
type ConnectFailed struct {
	wire.Head
	Err error
}

// SessionLost says that nothing more can come over an open session, although its server may live on: its process closed
// a pipe, or the stream of events ended. The end of a process is reported as ProcessExited instead.
type SessionLost struct {
	wire.Head
	Why *diagnose.Failure
}

// ToolsChanged says that a server's tools were listed anew, because it said that they
// had changed, and that the Registry has the new ones.
type ToolsChanged struct {
	wire.Head
	Tools int
}
