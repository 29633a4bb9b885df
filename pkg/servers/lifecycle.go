package servers

import (
	"time"

	"toolx/pkg/exec"
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

// Connected says that a session is open.
type Connected struct {
	wire.Head
	Attempt  int
	Protocol string
	Timing   exec.Timing
	// Attached describes a server that another process keeps; nil for any other.
	Attached *wire.Attached
}

// ConnectFailed says that toolx has given up connecting to a server (MCP-4).
type ConnectFailed struct {
	wire.Head
	Err error
}
