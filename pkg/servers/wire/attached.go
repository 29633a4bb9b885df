package wire

import (
	"context"
	"encoding/json"
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

// Client is a client of MCP in whose name a session is opened, so that the server sees it in place of toolx.
type Client struct {
	Protocol     string          // the revision that it requests
	Initialize   json.RawMessage // the params of its initialize; nil for a client of 2026-07-28
	Info         mcp.Implementation
	Capabilities mcp.ClientCapabilities
	// Answer lets a client of the older era answer what a server of 2026-07-28 asks for.
	Answer func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
}

// Modern reports whether it speaks revision 2026-07-28 or later.
func (c *Client) Modern() bool { return mcp.IsModernProtocol(c.Protocol) }
