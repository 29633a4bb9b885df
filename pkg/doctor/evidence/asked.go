package evidence

import "time"

// JSON-RPC error codes of MCP 2026-07-28: a header is missing or contradicts the body, and an unsupported revision.
const (
	MismatchCode    = -32020
	UnsupportedCode = -32022
)

// Time limits of an examination. A healthy server takes little more than the two waits, which end early only if the
// server exits: an idle server should not print, open ports or exit (IdleWait), and an invalid line should not make it
// exit (ProbeWait).
const (
	IdleWait  = 600 * time.Millisecond
	ProbeWait = 500 * time.Millisecond
	// LateWait is how long to wait for the response to a call that timed out.
	LateWait = time.Second

	DefaultLimit  = 30 * time.Second
	DiscoverLimit = 3 * time.Second
	AnswerLimit   = 2 * time.Second
	// NoAnswerTimeout is how long to wait for a server that reports that it listens for HTTP.
	NoAnswerTimeout = 5 * time.Second
	EndLimit        = 2 * time.Second
	// StdinGrace is how long a server may take to exit after its stdin closes; clients wait 2 s.
	StdinGrace = 5 * time.Second
)

// MaxMessage is the default limit of a message in bytes. It is above every client's limit (the highest is 16 MiB, in
// the Go SDK).
const MaxMessage = 20 << 20

// Names that no server has. Requests with them safely exercise error paths.
const (
	NoSuchMethod = "toolx/no-such-method"
	NoSuchTool   = "toolx_no_such_tool"
	NoSuchCursor = "toolx-no-such-cursor"
)

// LegacyRevisions returns the revisions with a handshake, oldest first.
func LegacyRevisions() []string {
	return []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}
}

// Names of the raw requests.
const (
	AskedInitialize  = "initialize"  // as clients of legacy revisions send it
	AskedInitialized = "initialized" // the notification after it
	AskedPing        = "ping"        // as clients send it
	AskedList        = "tools/list"  // the same
	AskedTool        = "tools/call"  // of NoSuchTool
	AskedVersion     = "version"     // ping with InventedRevision
	AskedNoSession   = "no session"  // ping without the session id
	AskedOtherID     = "other id"    // ping with InventedSession
	AskedStream      = "GET"         // the stream of the session
	AskedDelete      = "DELETE"      // the end of the session
	AskedOrigin      = "origin"      // initialize with ForeignOrigin
	AskedHost        = "host"        // initialize with ForeignHost
	AskedMismatch    = "mismatch "   // plus a header: a modern request whose header contradicts its body
	AskedUnknown     = "unknown"     // a modern request with NoSuchMethod
	AskedOldStream   = "old-stream"  // GET for the older HTTP+SSE transport
	AskedAccept      = "accept "     // plus a value: ping with that Accept header
	AskedBare        = "bare"        // initialize without the entry's credentials
)

// Header names and values of raw requests.
const (
	ForeignOrigin = "http://evil.example" // of an unrelated web page
	ForeignHost   = "evil.example"        // a name that DNS rebinding can point to this machine

	InventedSession = "00000000-0000-4000-8000-000000000000" // an id that no server issues
	BothTypes       = "application/json, text/event-stream"
	SessionHeader   = "Mcp-Session-Id"
	VersionHeader   = "Mcp-Protocol-Version"
	MethodHeader    = "Mcp-Method"
	NameHeader      = "Mcp-Name"
)

// OtherAccepts returns the Accept headers of clients that do not follow the specification.
func OtherAccepts() []string { return []string{"application/json", "text/event-stream", "*/*", ""} }

// ModernRevision is the first revision of MCP without a handshake.
const ModernRevision = "2026-07-28"

// The revisions that the probing run offers: one that does not exist, and one that every current server supports.
const (
	InventedRevision = "1999-01-01"
	CommonRevision   = "2025-11-25"
)

// BurstSize is how many requests are sent at once.
const BurstSize = 8
