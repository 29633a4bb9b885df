package protocol

import (
	"fmt"
	"time"

	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
)

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

// SessionLost says that nothing more can come over an open session, although its server may live on: its process closed
// a pipe, or the stream of events ended. The end of a process is reported as ProcessExited instead.
type SessionLost struct {
	wire.Head
	Why *diagnose.Failure
}

// ToolsChanged says that a server's tools were listed again because the server announced a change, and that the
// Registry has the new ones.
type ToolsChanged struct {
	wire.Head
	Tools int
}
