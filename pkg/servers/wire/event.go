package wire

import (
	"encoding/json"
	"net/http"
	"time"

	"toolx/pkg/exec"
)

// Phase is the part of a session's life in which something happened.
type Phase string

// The phases of a session, in order.
const (
	PhaseStart    Phase = "before initialize" // nothing was answered yet
	PhaseIdle     Phase = "between requests"
	PhaseRequest  Phase = "during a request"
	PhaseShutdown Phase = "at shutdown"
)

// Event is an event about one server.
type Event interface {
	exec.Event
	// From is the name of the server.
	From() string
	// Source is Head without the time.
	Source() Head
}

// Head is embedded in each event: the time, and the name of the server.
type Head struct {
	At     time.Time
	Server string
	Writer string // of an event in a recording: which of the processes that write it; empty if there is one
}

// When implements exec.Event.
func (h Head) When() time.Time { return h.At }

// From implements Event.
func (h Head) From() string { return h.Server }

// Source implements Event. Processes that write one recording can each have a server of the same name.
func (h Head) Source() Head { return Head{Server: h.Server, Writer: h.Writer} }

// Now returns the Head of an event that happens now.
func Now(server string) Head { return Head{At: time.Now(), Server: server} }

// ProcessStarted says that a server's process runs.
type ProcessStarted struct {
	Head
	PID     int
	Command []string
	Cwd     string
}

// ProcessExited says that a server's process has ended.
type ProcessExited struct {
	Head
	How   string // "exit status 3", "signal: killed"
	Lived time.Duration
	// Asked reports whether toolx had closed the session before; Forced names the
	// signal that was needed, empty where closing stdin was enough.
	Asked  bool
	Forced string
}

// PipeInherited says that a server's process has ended while another one keeps a pipe of it open, which toolx is about
// to end. Subscribers can still find out which process that is now, not later.
type PipeInherited struct {
	Head
	Pipe string // "stdout" or "stderr"
}

// StdinClosed says that toolx has closed a server's stdin, which asks it to end.
type StdinClosed struct {
	Head
}

// FrameSent is one message written to a server. Bytes are without newline.
type FrameSent struct {
	Head
	ID     string // of a request, or of the server's request that is answered, as JSON; empty: none
	Method string // of a request or a notification; empty: an answer
	Bytes  []byte
}

// FrameReceived is one message that a server sent, unchanged.
type FrameReceived struct {
	Head
	Line int
	// ID is the id of a request, or of the request that is answered, as JSON and as the sender of the request wrote it,
	// in whatever form it came back; empty means none.
	ID     string
	Method string        // of a request or a notification; empty: an answer
	Took   time.Duration // of an answer: since its request was sent; zero: it answers none
	Bytes  []byte
}

// HTTPExchange is one exchange over HTTP: a request, and the head of its response. The messages that it carries are
// separate events. Headers have secrets.
type HTTPExchange struct {
	Head
	Verb     string
	URL      string // without password
	Request  int64  // the id of the request of MCP that it carried, zero where none
	Proto    string // HTTP/1.1, HTTP/2.0
	Status   int    // zero where there was no answer
	Sent     http.Header
	Received http.Header
	Reused   bool          // an open connection was used again
	Took     time.Duration // until the head of the answer
	Err      error
}

// PollutedLine is a line of stdout that has something besides a message.
type PollutedLine struct {
	Head
	Class Class
	// Line counts from 1; Offset is where in stdout the line begins, Column where
	// in the line the foreign bytes begin, both in bytes.
	Line   int
	Offset int64
	Column int
	Phase  Phase
	// Since is the time since the process was started.
	Since time.Duration
	// Text is the foreign text, at most maxEvidence bytes of Size, or as many as Stream.Keep says.
	Text []byte
	Size int64
	// Near has the bytes around the first bad byte of a text that is nearly a message, from byte NearAt of the text
	// on; nil where the whole text is bad.
	Near   []byte
	NearAt int
	// Salvaged counts the messages that were read from the line despite the fault.
	Salvaged int
	// Unended reports that the line had no newline at its end: stdout was quiet, or had ended.
	Unended bool
}

// OddFrame is a message that breaks the rules of JSON-RPC or MCP.
type OddFrame struct {
	Head
	Class Class
	Line  int
	Phase Phase
	Why   string // in words; empty where the class says it
	Bytes []byte // at most maxEvidence
	// Used reports that toolx took the message for what it must have meant.
	Used bool
}

// StderrLine is one line of a server's stderr, without newline.
type StderrLine struct {
	Head
	Text string
}

// LogMessage is a log message that a server sent through the protocol (notifications/message).
type LogMessage struct {
	Head
	Level  string // a syslog severity, as the server wrote it
	Logger string
	Data   json.RawMessage
}

// Notification is any other notification of a server.
type Notification struct {
	Head
	Method string
	Params json.RawMessage
}

// ServerRequest is a request of the server to the client, and how it was answered.
type ServerRequest struct {
	Head
	Method   string
	Answered bool // false: refused, with -32601 unless Busy
	Busy     bool // refused, since too many of the server's requests wait for their answers
}

// maxEvidence is how many bytes of a bad line an event keeps.
const maxEvidence = 4096

// Evidence cuts bytes for an event and copies them.
func Evidence(b []byte) []byte {
	return append([]byte(nil), b[:min(len(b), maxEvidence)]...)
}
