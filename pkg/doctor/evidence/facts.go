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

// Died returns how the run's process ended unasked, or nil.
func (r *Run) Died() *diagnose.Failure {
	if r == nil || r.Ended == nil || r.Ended.Ending != diagnose.EndingExited &&
		r.Ended.Ending != diagnose.EndingKilled {
		return nil
	}
	return r.Ended
}

// PID returns the process number of the run's server, or zero.
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

// Shutdown returns how long the process lived after its stdin was closed, and how it ended. ok is false if
// it ended earlier or was not seen to end.
func (r *Run) Shutdown() (took time.Duration, exit *wire.ProcessExited, ok bool) {
	exit, closed := r.Exit(), r.StdinClosed()
	started := first[wire.ProcessStarted](r).At
	if exit == nil || !exit.Asked || closed.IsZero() || started.IsZero() {
		return 0, nil, false
	}
	return max(0, started.Add(exit.Lived).Sub(closed)), exit, true
}

// Answered reports whether a request got its answer while the doctor waited for it.
func (x *Exchange) Answered() bool { return x != nil && x.Frame != nil && !x.Late }

// Refused reports whether the HTTP status refused a request, without an answer of JSON-RPC.
func (x *Exchange) Refused() bool { return !x.Answered() && x.status >= http.StatusBadRequest }

// Open returns the first request that had no answer at a time, or nil.
func (r *Run) Open(at time.Time) *Exchange {
	return r.find(func(x *Exchange) bool { return x.Waits(at) })
}

// After returns the first request of a method that was sent no earlier than a mark, or nil.
func (r *Run) After(mark, method string) *Exchange {
	begun, marked := r.Marks[mark]
	if !marked {
		return nil
	}
	return r.find(func(x *Exchange) bool { return x.Method == method && !x.At.Before(begun) })
}

// Asked returns the requests of a method, in order; none of a nil run.
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

// Probing returns the run in which the server was probed to the end, or nil.
func (e *Evidence) Probing() *Run { return cmp.Or(e.Again, e.Probe) }

// Initialized returns the clean run's initialize, or nil. It may be answered even though there is no session.
func (e *Evidence) Initialized() *Exchange { return e.Clean.Exchange("initialize", 0) }

// Modern reports whether the clean run is one of a revision without a handshake.
func (e *Evidence) Modern() bool { return e.Clean != nil && e.Clean.Protocol >= ModernRevision }

// Capability returns what the server declared under a name, or nil; known is false if the server declared
// no capabilities at all.
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

// MemberAt follows member names into nested objects; nil if one of them is missing.
func MemberAt(value json.RawMessage, names ...string) json.RawMessage {
	for _, name := range names {
		value = rawjson.Get(value, name)
	}
	return value
}

// Members returns the members of an object by name. Of several with one name the last counts.
func Members(object json.RawMessage) map[string]json.RawMessage {
	members := make(map[string]json.RawMessage)
	for member := range rawjson.Each(object) {
		members[member.Name] = member.Value
	}
	return members
}

// IsObject reports whether text is a JSON object.
func IsObject(text json.RawMessage) bool { return bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) }

// MethodNotFound is the code of an error about a method that the server does not have (JSON-RPC 2.0 §5.1).
const MethodNotFound = -32601

// ErrorCode returns the code of a JSON-RPC error; ok is false if it has no integer.
func ErrorCode(failure json.RawMessage) (code int64, ok bool) {
	raw := MemberAt(failure, "code")
	return code, raw != nil && json.Unmarshal(raw, &code) == nil
}

// SupportedVersions returns the revisions that a result of server/discover names; nil if it is not one.
func SupportedVersions(result json.RawMessage) []string {
	var versions []string
	if json.Unmarshal(MemberAt(result, "supportedVersions"), &versions) != nil {
		return nil
	}
	return versions
}

// Outcome says in a few words what became of a request.
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

// Waited says how long the doctor waited for a request that was not answered.
func Waited(x *Exchange) string {
	if x.Answered() || x.Late || x.Refused() {
		return ""
	}
	return " in " + Milliseconds(AnswerLimit)
}

// LastWords returns the last output of a server that ended, a note for each line.
func LastWords(died *diagnose.Failure) []string {
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

// LastWords is LastWords for a server of this run, which may have sent messages.
func (r *Run) LastWords(died *diagnose.Failure) []string {
	if len(died.Stdout)+len(died.Stderr) == 0 && len(EventsOf[wire.FrameReceived](r)) > 0 {
		return []string{"it wrote only protocol messages to stdout, and nothing to stderr"}
	}
	return LastWords(died)
}

// FellBeforeHandshake reports whether the server ended because of what the probing run asks before the
// handshake. The checks of the handshake judge that.
func (r *Run) FellBeforeHandshake() bool {
	_, ready := r.Marks["ready"]
	return r.Name == "probing" && !ready && r.Exchange("server/discover", 0) != nil
}

// livedUntilGarbage reports whether the server answered the whole burst of requests before the line that is not JSON.
func (r *Run) livedUntilGarbage() bool {
	began, ended, garbage := r.Marks["burst"], r.Marks["burst-end"], r.Marks["garbage"]
	answered := 0
	for _, x := range r.Exchanges {
		if !x.At.Before(began) && !x.At.After(ended) && x.Answered() {
			answered++
		}
	}
	return !garbage.IsZero() && answered == BurstSize
}

// SilentInHandshake reports whether the server did not answer initialize within the time limit.
func SilentInHandshake(e *Evidence) bool {
	failure := e.Clean.Failure
	return failure != nil && failure.Ending == diagnose.EndingSilent && failure.Waiting == "initialize"
}

// StartTime returns the time from the start of the clean run's process to its answer to initialize; ok is
// false if that was not answered in time.
func StartTime(e *Evidence) (took time.Duration, ok bool) {
	x := e.Initialized()
	if !x.Answered() {
		return 0, false
	}
	return x.At.Add(x.Took).Sub(e.Clean.Began), true
}

// SecondStartTime returns the time from the start of the probing run's process to its first answer; ok is false if it
// gave none.
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

// ByID returns the request with an id, whatever JSON type the id came back as, or nil.
func (r *Run) ByID(id string) *Exchange {
	return r.find(func(x *Exchange) bool { return x.ID == PlainID(id) })
}

// find returns the first request for which is holds, or nil.
func (r *Run) find(is func(*Exchange) bool) *Exchange {
	if at := slices.IndexFunc(r.Exchanges, is); at >= 0 {
		return r.Exchanges[at]
	}
	return nil
}

// AfterGivingUp says how long after its cancellation a request was answered.
func (r *Run) AfterGivingUp(x *Exchange) string {
	for _, sent := range EventsOf[wire.FrameSent](r) {
		if sent.Method == "notifications/cancelled" &&
			string(MemberAt(sent.Bytes, "params", "requestId")) == x.ID {
			return Milliseconds(max(0, x.At.Add(x.Took).Sub(sent.At))) + " after it was cancelled"
		}
	}
	return "after its time limit"
}

// Waits reports whether the request was sent, and not answered, at a time.
func (x *Exchange) Waits(at time.Time) bool {
	return !x.At.After(at) && (x.Frame == nil || x.At.Add(x.Took).After(at))
}
