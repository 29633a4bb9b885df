package evidence

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
)

// Died returns how the run's process exited before it was asked to, or nil.
func (r *Run) Died() *diagnose.Failure {
	if r == nil || r.Ended == nil || r.Ended.Ending != diagnose.EndingExited &&
		r.Ended.Ending != diagnose.EndingKilled {
		return nil
	}
	return r.Ended
}

// PID returns the pid of the run's server, or zero.
func (r *Run) PID() int { return first[wire.ProcessStarted](r).PID }

// StdinClosed returns when toolx closed the server's stdin, or the zero time.
func (r *Run) StdinClosed() time.Time { return first[wire.StdinClosed](r).At }

// first returns the first event of a type, or its zero value.
func first[T exec.Event](r *Run) (event T) {
	for _, event := range EventsOf[T](r) {
		return event
	}
	return event
}

// Shutdown returns how long the process ran after its stdin was closed, and how it exited. ok is false if it exited
// earlier or its exit is unknown.
func (r *Run) Shutdown() (took time.Duration, exit *wire.ProcessExited, ok bool) {
	exit, closed := r.Exit(), r.StdinClosed()
	started := first[wire.ProcessStarted](r).At
	if exit == nil || !exit.Asked || closed.IsZero() || started.IsZero() {
		return 0, nil, false
	}
	return max(0, started.Add(exit.Lived).Sub(closed)), exit, true
}

// Answered reports whether a request got its response in time.
func (x *Exchange) Answered() bool { return x != nil && x.Frame != nil && !x.Late }

// Refused reports whether a request got an HTTP error without a JSON-RPC response.
func (x *Exchange) Refused() bool { return !x.Answered() && x.status >= http.StatusBadRequest }

// Open returns the first request that was pending at a time, or nil.
func (r *Run) Open(at time.Time) *Exchange {
	return r.find(func(x *Exchange) bool { return x.Waits(at) })
}

// After returns the first request of a method since a mark, or nil.
func (r *Run) After(mark, method string) *Exchange {
	begun, marked := r.Marks[mark]
	if !marked {
		return nil
	}
	return r.find(func(x *Exchange) bool { return x.Method == method && !x.At.Before(begun) })
}

// Asked returns the requests of a method in order. A nil run has none.
func (r *Run) Asked(method string) []*Exchange {
	var list []*Exchange
	if r == nil {
		return nil
	}
	for _, x := range r.Exchanges {
		if x.Method == method {
			list = append(list, x)
		}
	}
	return list
}

// Read returns the request to read a resource, or nil.
func (r *Run) Read(uri string) *Exchange {
	return r.find(func(x *Exchange) bool { return x.Method == "resources/read" && NameIn(x.Sent) == uri })
}

// Probing returns the last probing run, or nil.
func (e *Evidence) Probing() *Run { return cmp.Or(e.Again, e.Probe) }

// Initialized returns the clean run's initialize request, or nil. It may have a response even if there is no session.
func (e *Evidence) Initialized() *Exchange { return e.Clean.Exchange("initialize", 0) }

// Modern reports whether the clean run negotiated a revision without a handshake.
func (e *Evidence) Modern() bool { return e.Clean != nil && e.Clean.Protocol >= ModernRevision }

// Capability returns a declared capability, or nil; known is false if the server did not declare any capabilities.
func (e *Evidence) Capability(name string) (declared json.RawMessage, known bool) {
	var source json.RawMessage
	if x := e.Initialized(); x.Answered() {
		source = x.Result
	}
	if x := e.Clean.Exchange("server/discover", 0); x.Answered() && x.Result != nil {
		source = x.Result
	}
	return MemberAt(source, "capabilities", name), source != nil
}

// MemberAt follows member names into nested objects. It returns nil if one is missing.
func MemberAt(value json.RawMessage, names ...string) json.RawMessage {
	for _, name := range names {
		value = rawjson.Get(value, name)
	}
	return value
}

// Members returns the members of an object by name. The last of several duplicates counts.
func Members(object json.RawMessage) map[string]json.RawMessage {
	members := make(map[string]json.RawMessage)
	for member := range rawjson.Each(object) {
		members[member.Name] = member.Value
	}
	return members
}

// IsObject reports whether text is a JSON object.
func IsObject(text json.RawMessage) bool { return bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) }

// MethodNotFound is the error code for an unknown method (JSON-RPC 2.0 §5.1).
const MethodNotFound = -32601

// ErrorCode returns the code of a JSON-RPC error; ok is false if it is not an integer.
func ErrorCode(failure json.RawMessage) (code int64, ok bool) {
	raw := MemberAt(failure, "code")
	return code, raw != nil && json.Unmarshal(raw, &code) == nil
}

// SupportedVersions returns the revisions in a result of server/discover; nil if the result is invalid.
func SupportedVersions(result json.RawMessage) []string {
	var versions []string
	if json.Unmarshal(MemberAt(result, "supportedVersions"), &versions) != nil {
		return nil
	}
	return versions
}

// Outcome describes the response to a request.
func (x *Exchange) Outcome() string {
	code, coded := int64(0), false
	if x != nil {
		code, coded = ErrorCode(x.Error)
	}
	switch {
	case x == nil:
		return "was not sent"
	case x.Late:
		return fmt.Sprintf("was answered after %s, too late", Milliseconds(x.Took))
	case x.Refused():
		return fmt.Sprintf("was refused with HTTP %d, without a JSON-RPC error", x.status)
	case !x.Answered():
		return "was not answered"
	case coded:
		return fmt.Sprintf("was answered with error %d", code)
	case x.Error != nil:
		return "was answered with an error that has no code"
	case x.Result == nil:
		return "was answered with neither result nor error"
	}
	return "was answered with a result"
}

// Waited returns " in" and the time limit for a request without a response, and otherwise nothing.
func Waited(x *Exchange) string {
	if x.Answered() || x.Late || x.Refused() {
		return ""
	}
	return " in " + Milliseconds(AnswerLimit)
}

// LastOutput returns the last output of a server that exited, one note per line.
func LastOutput(died *diagnose.Failure) []string {
	var notes []string
	for _, line := range died.Stdout {
		notes = append(notes, "stdout: "+line)
	}
	for _, line := range died.Stderr {
		notes = append(notes, "stderr: "+line)
	}
	if len(notes) == 0 {
		notes = []string{"it printed nothing to stdout or stderr"}
	}
	return notes
}

// LastOutput is like the function LastWords, but takes protocol messages in this run into account.
func (r *Run) LastOutput(died *diagnose.Failure) []string {
	if len(died.Stdout)+len(died.Stderr) == 0 && len(EventsOf[wire.FrameReceived](r)) > 0 {
		return []string{"it wrote only protocol messages to stdout, and nothing to stderr"}
	}
	return LastOutput(died)
}

// DiedBeforeHandshake reports whether the server ended on a request that the probing run sends before the handshake.
// The handshake checks report that.
func (r *Run) DiedBeforeHandshake() bool {
	_, ready := r.Marks["ready"]
	return r.Name == "probing" && !ready && r.Exchange("server/discover", 0) != nil
}

// aliveUntilGarbage reports whether the server responded to the whole burst of requests before the invalid line.
func (r *Run) aliveUntilGarbage() bool {
	began, ended, garbage := r.Marks["burst"], r.Marks["burst-end"], r.Marks["garbage"]
	answered := 0
	for _, x := range r.Exchanges {
		if !x.At.Before(began) && !x.At.After(ended) && x.Answered() {
			answered++
		}
	}
	return !garbage.IsZero() && answered == BurstSize
}

// SilentInHandshake reports whether initialize timed out.
func SilentInHandshake(e *Evidence) bool {
	failure := e.Clean.Failure
	return failure != nil && failure.Ending == diagnose.EndingSilent && failure.Waiting == "initialize"
}

// StartTime returns the time from the start of the clean run's process to its response to initialize; ok is false if
// that timed out.
func StartTime(e *Evidence) (took time.Duration, ok bool) {
	x := e.Initialized()
	if !x.Answered() {
		return 0, false
	}
	return x.At.Add(x.Took).Sub(e.Clean.Began), true
}

// SecondStartTime returns the time from the start of the probing run's process to its first response; ok is false if
// there was none.
func SecondStartTime(e *Evidence) (took time.Duration, ok bool) {
	run := e.Probe
	if run == nil {
		return 0, false
	}
	x := run.find((*Exchange).Answered)
	if x == nil {
		return 0, false
	}
	return x.At.Add(x.Took).Sub(run.Began), true
}

// ByID returns the request with the id of a response, whose JSON type may differ, or nil.
func (r *Run) ByID(id string) *Exchange {
	return r.find(func(x *Exchange) bool { return x.ID == PlainID(id) })
}

// find returns the first request for which is returns true, or nil.
func (r *Run) find(is func(*Exchange) bool) *Exchange {
	if at := slices.IndexFunc(r.Exchanges, is); at >= 0 {
		return r.Exchanges[at]
	}
	return nil
}

// AfterGivingUp describes how long after its cancellation a request got a response.
func (r *Run) AfterGivingUp(x *Exchange) string {
	for _, sent := range EventsOf[wire.FrameSent](r) {
		if sent.Method == "notifications/cancelled" &&
			string(MemberAt(sent.Bytes, "params", "requestId")) == x.ID {
			return Milliseconds(max(0, x.At.Add(x.Took).Sub(sent.At))) + " after it was cancelled"
		}
	}
	return "after its time limit"
}

// Waits reports whether the request was pending at a time.
func (x *Exchange) Waits(at time.Time) bool {
	return !x.At.After(at) && (x.Frame == nil || x.At.Add(x.Took).After(at))
}
