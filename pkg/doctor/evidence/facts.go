package evidence

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"toolx/pkg/rawjson"
	"toolx/pkg/servers"
)

// EndedByItself reports whether a failure tells of a server that was of no more use
// before anyone asked it to end.
func EndedByItself(f *servers.Failure) bool {
	if f == nil {
		return false
	}
	switch f.Ending {
	case servers.EndingExited, servers.EndingKilled, servers.EndingClosedStdout, servers.EndingClosedStdin:
		return true
	}
	return false
}

// Died is how the run's process ended without being asked to, nil where it did not.
func (r *Run) Died() *servers.Failure {
	if r == nil || r.Ended == nil {
		return nil
	}
	if r.Ended.Ending == servers.EndingExited || r.Ended.Ending == servers.EndingKilled {
		return r.Ended
	}
	return nil
}

// PID is the number of the run's process, zero where none was started.
func (r *Run) PID() int {
	for _, started := range EventsOf[servers.ProcessStarted](r) {
		return started.PID
	}
	return 0
}

// StdinClosed is when toolx closed the server's stdin, the zero time where it did
// not.
func (r *Run) StdinClosed() time.Time {
	for _, closed := range EventsOf[servers.StdinClosed](r) {
		return closed.At
	}
	return time.Time{}
}

// Shutdown is how long the process lived on after its stdin was closed, and how it
// ended; ok is false where it had ended before, or was never seen to end.
func (r *Run) Shutdown() (took time.Duration, exit *servers.ProcessExited, ok bool) {
	exit, closed := r.Exit(), r.StdinClosed()
	started := EventsOf[servers.ProcessStarted](r)
	if exit == nil || !exit.Asked || closed.IsZero() || len(started) == 0 {
		return 0, nil, false
	}
	return max(0, started[0].At.Add(exit.Lived).Sub(closed)), exit, true
}

// Answered reports whether a request got its answer while it was waited for.
func (x *Exchange) Answered() bool { return x != nil && x.Frame != nil && !x.Late }

// Refused reports whether HTTP refused a request, so that no answer of JSON-RPC came.
func (x *Exchange) Refused() bool { return !x.Answered() && x.status >= http.StatusBadRequest }

// Open returns the first request that had no answer at a time, nil where none was
// under way.
func (r *Run) Open(at time.Time) *Exchange {
	for _, x := range r.Exchanges {
		if !x.At.After(at) && (x.Frame == nil || x.At.Add(x.Took).After(at)) {
			return x
		}
	}
	return nil
}

// After returns the first request of a method that was sent no earlier than a mark,
// nil where there is none.
func (r *Run) After(mark, method string) *Exchange {
	begun, marked := r.Marks[mark]
	if !marked {
		return nil
	}
	for _, x := range r.Exchanges {
		if x.Method == method && !x.At.Before(begun) {
			return x
		}
	}
	return nil
}

// Asked returns the requests of a method, in order.
func (r *Run) Asked(method string) []*Exchange {
	var list []*Exchange
	for _, x := range r.Exchanges {
		if x.Method == method {
			list = append(list, x)
		}
	}
	return list
}

// Probing is the run in which the server was probed to the end; nil where none was
// made.
func (e *Evidence) Probing() *Run {
	if e.Again != nil {
		return e.Again
	}
	return e.Probe
}

// Initialized is the clean run's handshake, nil where it was never sent. It is
// answered in many cases in which there is no session after all.
func (e *Evidence) Initialized() *Exchange { return e.Clean.Exchange("initialize", 0) }

// Modern reports whether the clean run is one of a server without a handshake.
func (e *Evidence) Modern() bool { return e.Clean != nil && e.Clean.Protocol >= ModernRevision }

// Capability returns what the server declared under a name, nil where it did not;
// known is false where there is nothing to judge by.
func (e *Evidence) Capability(name string) (declared json.RawMessage, known bool) {
	var source json.RawMessage
	if x := e.Initialized(); x.Answered() {
		source = x.Result
	}
	if x := e.Clean.Exchange("server/discover", 0); x.Answered() && x.Result != nil {
		source = x.Result
	}
	if source == nil {
		return nil, false
	}
	return MemberAt(source, "capabilities", name), true
}

// MemberAt follows member names into an object; nil where the way ends.
func MemberAt(value json.RawMessage, names ...string) json.RawMessage {
	for _, name := range names {
		var next json.RawMessage
		for member := range rawjson.Each(value) {
			if member.Name == name {
				next = member.Value
			}
		}
		if next == nil {
			return nil
		}
		value = next
	}
	return value
}

// IsObject reports whether text is a JSON object.
func IsObject(text json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimSpace(text), []byte("{"))
}

// ErrorCode is the code of a JSON-RPC error; ok is false where it has none that is
// a whole number.
func ErrorCode(failure json.RawMessage) (code int64, ok bool) {
	raw := MemberAt(failure, "code")
	return code, raw != nil && json.Unmarshal(raw, &code) == nil
}

// SupportedVersions are the revisions that a result of server/discover names; nil
// where it is no such result.
func SupportedVersions(result json.RawMessage) []string {
	var versions []string
	if json.Unmarshal(MemberAt(result, "supportedVersions"), &versions) != nil {
		return nil
	}
	return versions
}

// Outcome says in a few words what became of a request.
func (x *Exchange) Outcome() string {
	switch {
	case x == nil:
		return "was not asked"
	case x.Late:
		return fmt.Sprintf("was answered after %s, too late", Milliseconds(x.Took))
	case x.Refused():
		return fmt.Sprintf("was refused with HTTP %d, and with no error of JSON-RPC", x.status)
	case !x.Answered():
		return "was not answered"
	case x.Error != nil:
		if code, ok := ErrorCode(x.Error); ok {
			return fmt.Sprintf("was answered with error %d", code)
		}
		return "was answered with an error that has no code"
	case x.Result == nil:
		return "was answered with neither result nor error"
	}
	return "was answered with a result"
}

// Milliseconds is a duration as reports write it.
func Milliseconds(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d >= time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d >= 10*time.Millisecond:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.2g ms", float64(d)/float64(time.Millisecond))
}

// Waited adds how long an unanswered request was waited for.
func Waited(x *Exchange) string {
	if x.Answered() || x.Late || x.Refused() {
		return ""
	}
	return " in " + Milliseconds(AnswerLimit)
}

// LastWords are what a server that ended has said last, a note for each line.
func LastWords(died *servers.Failure) []string {
	var notes []string
	for _, line := range died.Stdout {
		notes = append(notes, "stdout: "+line)
	}
	for _, line := range died.Stderr {
		notes = append(notes, "stderr: "+line)
	}
	if len(notes) == 0 {
		notes = []string{"it wrote nothing on stdout and nothing on stderr"}
	}
	return notes
}

// FellBeforeHandshake reports whether the server ended over what the probing run asks
// before the handshake: that is for the checks of the handshake to tell.
func (r *Run) FellBeforeHandshake() bool {
	_, ready := r.Marks["ready"]
	return r.Name == "probing" && !ready && r.Exchange("server/discover", 0) != nil
}

// LivedUntilGarbage reports whether the server answered all that was asked at once
// shortly before the line that is not JSON.
func (r *Run) LivedUntilGarbage() bool {
	began, ended, garbage := r.Marks["burst"], r.Marks["burst-end"], r.Marks["garbage"]
	answered := 0
	for _, x := range r.Exchanges {
		if !x.At.Before(began) && !x.At.After(ended) && x.Answered() {
			answered++
		}
	}
	return !garbage.IsZero() && answered == BurstSize
}

// PatientRounded is a time as it was waited, not as the clock saw it to the
// microsecond.
func PatientRounded(d time.Duration) time.Duration { return d.Round(100 * time.Millisecond) }

// SilentInHandshake reports whether the time limit ended while initialize waited.
func SilentInHandshake(e *Evidence) bool {
	failure := e.Clean.Failure
	return failure != nil && failure.Ending == servers.EndingSilent && failure.Waiting == "initialize"
}

// StartTime is the time from the start of the clean run's process to its answer to
// initialize; ok is false where there was none in time.
func StartTime(e *Evidence) (took time.Duration, ok bool) {
	x := e.Initialized()
	if !x.Answered() {
		return 0, false
	}
	return x.At.Add(x.Took).Sub(e.Clean.Began), true
}

// ByID finds a request by its id, whatever the JSON type in which that came back;
// nil where there is none.
func (r *Run) ByID(id string) *Exchange {
	for _, x := range r.Exchanges {
		if x.ID == PlainID(id) {
			return x
		}
	}
	return nil
}

// AfterGivingUp says how long after its cancellation a request was answered.
func (r *Run) AfterGivingUp(x *Exchange) string {
	for _, sent := range EventsOf[servers.FrameSent](r) {
		if sent.Method == "notifications/cancelled" &&
			string(MemberAt(sent.Bytes, "params", "requestId")) == x.ID {
			return Milliseconds(max(0, x.At.Add(x.Took).Sub(sent.At))) + " after it was cancelled"
		}
	}
	return "when nobody waited for it any more"
}

// Waits reports whether the request was sent and not answered at a time.
func (x *Exchange) Waits(at time.Time) bool {
	return !x.At.After(at) && (x.Frame == nil || x.At.Add(x.Took).After(at))
}

// MemberText is a member's text, or its JSON where it is none.
func MemberText(value json.RawMessage) string {
	if rawjson.IsString(value) {
		return rawjson.Unquote(value)
	}
	return CutJSON(value)
}

// KindOfJSON names the kind of a JSON value with its article.
func KindOfJSON(value json.RawMessage) string {
	text := strings.TrimSpace(string(value))
	switch {
	case text == "":
		return "missing"
	case text == "null":
		return "null"
	case text == "true" || text == "false":
		return "a boolean"
	case text[0] == '{':
		return "an object"
	case text[0] == '[':
		return "an array"
	case text[0] == '"':
		return "a string"
	}
	return "a number"
}
