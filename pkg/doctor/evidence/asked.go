package evidence

import "time"

// The JSON-RPC errors of MCP 2026-07-28 for headers that are missing, or say another
// thing than the body, and for a revision that the server does not speak.
const (
	MismatchCode    = -32020
	UnsupportedCode = -32022
)

// The times of an examination. A healthy server's takes little more than the two waits, which look for something that
// should not happen: a server that is left alone writes nothing, opens no port and does not exit (IdleWait), and one
// that was sent a line that is not JSON does not exit (ProbeWait). They end early only with the server.
const (
	IdleWait  = 600 * time.Millisecond
	ProbeWait = 500 * time.Millisecond
	// LateWait is how long a call's answer is looked for after the call was given up.
	LateWait = time.Second

	DefaultLimit  = 30 * time.Second
	DiscoverLimit = 3 * time.Second
	AnswerLimit   = 2 * time.Second
	// NoAnswerTimeout is how long the doctor waits for a server that says it listens for HTTP.
	NoAnswerTimeout = 5 * time.Second
	EndLimit        = 2 * time.Second
	// StdinGrace is how long a server may take to exit after its stdin closes; clients wait 2 s.
	StdinGrace = 5 * time.Second
)

// MaxMessage is the size in bytes of the largest message that is taken from a server whose entry says nothing of it:
// more than any client takes (the Go SDK's 16 MiB are the most), and little enough for the doctor's own memory.
const MaxMessage = 20 << 20

// Names that no server has: asking for them is a safe way to see its error paths.
const (
	NoSuchMethod = "toolx/no-such-method"
	NoSuchTool   = "toolx_no_such_tool"
	NoSuchCursor = "toolx-no-such-cursor"
)

// LegacyRevisions are those that initialize can agree on, oldest first.
func LegacyRevisions() []string {
	return []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}
}

// The names of the raw questions.
const (
	AskedInitialize  = "initialize"  // as a client of the legacy revisions asks it
	AskedInitialized = "initialized" // the notification after it
	AskedPing        = "ping"        // as a client asks it
	AskedList        = "tools/list"  // the same
	AskedTool        = "tools/call"  // of a tool that no server has
	AskedVersion     = "version"     // ping, naming a revision that never was
	AskedNoSession   = "no session"  // ping, without the session's id
	AskedOtherID     = "other id"    // ping, with the id of a session that never was
	AskedStream      = "GET"         // the stream of the session
	AskedDelete      = "DELETE"      // the end of the session
	AskedOrigin      = "origin"      // initialize, as of a web page from elsewhere
	AskedHost        = "host"        // initialize, to another host's name
	AskedMismatch    = "mismatch "   // and a header: modern, and the header says another thing than the body
	AskedUnknown     = "unknown"     // modern: a method that no server has
	AskedOldStream   = "old-stream"  // GET, of a server that may speak the older HTTP with SSE
	AskedAccept      = "accept "     // and what: ping with another Accept
	AskedBare        = "bare"        // initialize, without what the entry has to get in
)

// What raw requests say in headers.
const (
	ForeignOrigin = "http://evil.example" // of a web page from elsewhere
	ForeignHost   = "evil.example"        // a name that such a page makes lead to this machine

	InventedSession = "00000000-0000-4000-8000-000000000000" // an id that no server gives
	BothTypes       = "application/json, text/event-stream"
	SessionHeader   = "Mcp-Session-Id"
	VersionHeader   = "Mcp-Protocol-Version"
	MethodHeader    = "Mcp-Method"
	NameHeader      = "Mcp-Name"
)

// OtherAccepts are what clients send as Accept that do not know better.
func OtherAccepts() []string { return []string{"application/json", "text/event-stream", "*/*", ""} }

// ModernRevision is the first revision of MCP without a handshake.
const ModernRevision = "2026-07-28"

// The revisions that the probing run offers: one that never was, and one that every server of today's knows.
const (
	InventedRevision = "1999-01-01"
	CommonRevision   = "2025-11-25"
)

// BurstSize is how many requests are under way at once.
const BurstSize = 8
