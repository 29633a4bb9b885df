package wire

import (
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// Attached describes the server of a session that another process keeps: what that process has agreed on with it.
type Attached struct {
	Protocol     string
	Info         mcp.Implementation
	Capabilities mcp.ServerCapabilities
	Instructions string
	PID          int
	// Reused reports that the server was running already, Age for how long.
	Reused bool
	Age    time.Duration
}
