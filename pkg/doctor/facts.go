package doctor

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

// endedByItself says whether a failure tells of a server that was of no more use
// before anyone asked it to end.
func endedByItself(f *servers.Failure) bool {
	if f == nil {
		return false
	}
	switch f.Ending {
	case servers.EndingExited, servers.EndingKilled, servers.EndingClosedStdout, servers.EndingClosedStdin:
		return true
	}
	return false
}

// died is how the run's process ended without being asked to, nil where it did not.
func (r *Run) died() *servers.Failure {
	if r == nil || r.Ended == nil {
		return nil
	}
	if r.Ended.Ending == servers.EndingExited || r.Ended.Ending == servers.EndingKilled {
		return r.Ended
	}
	return nil
}

// pid is the number of the run's process, zero where none was started.
func (r *Run) pid() int {
	for _, started := range EventsOf[servers.ProcessStarted](r) {
		return started.PID
	}
	return 0
}

// stdinClosed is when toolx closed the server's stdin, the zero time where it did
// not.
func (r *Run) stdinClosed() time.Time {
	for _, closed := range EventsOf[servers.StdinClosed](r) {
		return closed.At
	}
	return time.Time{}
}

// shutdown is how long the process lived on after its stdin was closed, and how it
// ended; ok is false where it had ended before, or was never seen to end.
func (r *Run) shutdown() (took time.Duration, exit *servers.ProcessExited, ok bool) {
	exit, closed := r.Exit(), r.stdinClosed()
	started := EventsOf[servers.ProcessStarted](r)
	if exit == nil || !exit.Asked || closed.IsZero() || len(started) == 0 {
		return 0, nil, false
	}
	return max(0, started[0].At.Add(exit.Lived).Sub(closed)), exit, true
}

// answered says whether a request got its answer while it was waited for.
func (x *Exchange) answered() bool { return x != nil && x.Frame != nil && !x.late }

// refused says whether HTTP refused a request, so that no answer of JSON-RPC came.
func (x *Exchange) refused() bool { return !x.answered() && x.status >= http.StatusBadRequest }

// open returns the first request that had no answer at a time, nil where none was
// under way.
func (r *Run) open(at time.Time) *Exchange {
	for _, x := range r.Exchanges {
		if !x.At.After(at) && (x.Frame == nil || x.At.Add(x.Took).After(at)) {
			return x
		}
	}
	return nil
}

// after returns the first request of a method that was sent no earlier than a mark,
// nil where there is none.
func (r *Run) after(mark, method string) *Exchange {
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

// asked returns the requests of a method, in order.
func (r *Run) asked(method string) []*Exchange {
	var list []*Exchange
	for _, x := range r.Exchanges {
		if x.Method == method {
			list = append(list, x)
		}
	}
	return list
}

// probing is the run in which the server was probed to the end; nil where none was
// made.
func (e *Evidence) probing() *Run {
	if e.Again != nil {
		return e.Again
	}
	return e.Probe
}

// initialized is the clean run's handshake, nil where it was never sent. It is
// answered in many cases in which there is no session after all.
func (e *Evidence) initialized() *Exchange { return e.Clean.Exchange("initialize", 0) }

// modern says whether the clean run is one of a server without a handshake.
func (e *Evidence) modern() bool { return e.Clean != nil && e.Clean.Protocol >= modernRevision }

// capability returns what the server declared under a name, nil where it did not;
// known is false where there is nothing to judge by.
func (e *Evidence) capability(name string) (declared json.RawMessage, known bool) {
	var source json.RawMessage
	if x := e.initialized(); x.answered() {
		source = x.Result
	}
	if x := e.Clean.Exchange("server/discover", 0); x.answered() && x.Result != nil {
		source = x.Result
	}
	if source == nil {
		return nil, false
	}
	return memberAt(source, "capabilities", name), true
}

// memberAt follows member names into an object; nil where the way ends.
func memberAt(value json.RawMessage, names ...string) json.RawMessage {
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

// isObject says whether text is a JSON object.
func isObject(text json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimSpace(text), []byte("{"))
}

// errorCode is the code of a JSON-RPC error; ok is false where it has none that is
// a whole number.
func errorCode(failure json.RawMessage) (code int64, ok bool) {
	raw := memberAt(failure, "code")
	return code, raw != nil && json.Unmarshal(raw, &code) == nil
}

// supportedVersions are the revisions that a result of server/discover names; nil
// where it is no such result.
func supportedVersions(result json.RawMessage) []string {
	var versions []string
	if json.Unmarshal(memberAt(result, "supportedVersions"), &versions) != nil {
		return nil
	}
	return versions
}

// outcome says in a few words what became of a request.
func (x *Exchange) outcome() string {
	switch {
	case x == nil:
		return "was not asked"
	case x.late:
		return fmt.Sprintf("was answered after %s, too late", milliseconds(x.Took))
	case x.refused():
		return fmt.Sprintf("was refused with HTTP %d, and with no error of JSON-RPC", x.status)
	case !x.answered():
		return "was not answered"
	case x.Error != nil:
		if code, ok := errorCode(x.Error); ok {
			return fmt.Sprintf("was answered with error %d", code)
		}
		return "was answered with an error that has no code"
	case x.Result == nil:
		return "was answered with neither result nor error"
	}
	return "was answered with a result"
}

// where is the place of a request's answer.
func (x *Exchange) where(r *Run) *Where {
	return &Where{Run: r.Name, Line: x.Line, Method: x.Method, MS: r.Since(x.At.Add(x.Took))}
}

// cut shortens text to what a report shows of it, at a boundary of characters.
func cut(text string) string {
	const limit = 80
	if len(text) <= limit {
		return text
	}
	end := limit
	for end > 0 && text[end]&0xC0 == 0x80 {
		end--
	}
	return text[:end] + "…"
}

// milliseconds is a duration as reports write it.
func milliseconds(d time.Duration) string {
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

// sole makes the findings of a check that has one.
func sole(f Finding) []Finding { return []Finding{f} }

// words joins what a sentence lists: "a, b and c".
func words(list []string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}
