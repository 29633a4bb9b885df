// Package evidence is what is known of a server that the doctor examines: what it was asked,
// what it did, and how that is shown. Checks read it; package doctor gathers it.
package evidence

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/procs"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
)

// Fleet is the evidence about all servers together, and the config.
type Fleet struct {
	Config *config.Config // nil for a server given on the command line
	// Survey is what other clients' files show; nil where they were not asked for.
	Survey *config.Survey
	// ConfigErr is why the config could not be loaded, nil where it was.
	ConfigErr error
	Servers   []*Evidence
	// Pinned is as in Options.
	Pinned Pins
}

// Evidence is everything that is known of one server.
type Evidence struct {
	Server *config.Server
	// Launch is the entry with its variables expanded; nil where that failed with LaunchErr.
	Launch    *config.Resolved
	LaunchErr error
	// Config is the file that names the server; nil where none does.
	Config *config.Config
	// Node is the version that the node which runs the server gives itself
	// ("v22.1.0"), empty for other servers and where it did not say.
	Node string

	Clean *Run // nil where no process was started
	Probe *Run // nil where it was not made
	// Again is a further probing run, without the questions that ended or silenced
	// the first; nil where that was not needed.
	Again *Run
	// Buffers reports whether the server answers only because this environment has PYTHONUNBUFFERED.
	Buffers bool
	// HTTP is what raw exchanges have shown of a server that is reached by HTTP; nil for other servers.
	HTTP *HTTPEvidence
	// Calls are the calls that were made, in order, and Calling the runs in which they
	// were: more than one where a call ended the server.
	Calls   []*CallRun
	Calling []*Run
	// CallsAsked reports whether calls were asked for, whether or not there are any.
	CallsAsked bool
	// Safe is Options.Safe.
	Safe bool

	// Duration is how long gathering took.
	Duration time.Duration
	// Cut reports whether the time was up, or the user gave up, before all was gathered:
	// what is missing then says nothing about the server.
	Cut bool

	// Finds reports whether another check finds something in the same evidence; Judge sets it.
	Finds func(id string) bool
	// Offered are the tools of the clean run's session, where Options.Safe asks for them.
	Offered []*exec.Tool

	Kept
}

// Kept is what checks have read out of evidence, once for all of them, by its type.
// Evidence belongs to one goroutine once it is gathered, so nothing needs to be guarded.
type Kept struct{ values map[reflect.Type]any }

// Once returns what read made when it was first asked for.
func Once[T any](k *Kept, read func() T) T {
	of := reflect.TypeFor[T]()
	if _, known := k.values[of]; !known {
		made := read()
		if k.values == nil {
			k.values = make(map[reflect.Type]any)
		}
		k.values[of] = made
	}
	return k.values[of].(T)
}

// Run is one start of the server, until its process ends.
type Run struct {
	Name  string // "clean", "calls" or "probing"
	Began time.Time
	// Events are all that happened, in order.
	Events []exec.Event
	// Exchanges are the requests with their answers, in the order of sending.
	Exchanges []*Exchange
	// Failure is why there is no session, nil where there is one.
	Failure *diagnose.Failure
	// Ended is how the server ended before it was asked to, nil where it did not.
	Ended *diagnose.Failure
	// Protocol is the agreed revision, empty where there is none.
	Protocol string
	// Queued is how long the server's processes had waited for a processor by the time that there was a session: the
	// machine was busy. Zero where the system does not say.
	Queued time.Duration
	// Listening are the sockets on which the server's processes accept connections: "0.0.0.0:3000 (pid 12)".
	Listening []string
	// Tree are the processes that the server consists of, the one that was started
	// first; nil where the system does not say.
	Tree []procs.Process
	// Orphans are processes that outlived the server, in the order of their numbers.
	Orphans []Orphan
	// StderrLines and StderrBytes count all of stderr; Events keep its beginning.
	StderrLines int
	StderrBytes int64
	// Marks are the times of what the doctor did besides requests: "garbage", "notification", "burst", "burst-end",
	// "terminate", and what came of that: "terminated" or "survived".
	Marks map[string]time.Time
	// Pending are bytes of stdout that still waited for a newline when the time was up.
	Pending []byte
	// Foreign is how many lines of stdout held no message, those that Events do not
	// keep included; Flood is the longest stretch of them.
	Foreign int
	Flood   Flood

	Kept
}

// Exchange is one request and its answer.
type Exchange struct {
	Method string
	ID     string          // as JSON
	Sent   json.RawMessage // the whole request
	At     time.Time
	// Frame is the whole answer, nil where none came; Result and Error are cut from it.
	Frame  json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
	Line   int // of stdout, of the answer
	Took   time.Duration
	// Late reports whether the answer came when it was no longer waited for.
	Late bool
	// status is that of HTTP, of a server that is reached by it and answered.
	status int
}

// Recorder keeps the events of one run.
type Recorder struct {
	Mu     sync.Mutex
	Events []exec.Event
	stdout int // polluted lines, kept or not
	// stderrLines and stderrBytes count all of stderr, kept or not.
	stderrLines int
	stderrBytes int64
	flood       floodMeter
}

// The bounds on what a run keeps. A flood is proved by its count, not its bytes.
const (
	maxEvents   = 50_000
	maxPolluted = 2_000
	maxStderr   = 5_000
)

// Record keeps an event, unless there are too many of its kind.
func (r *Recorder) Record(event exec.Event) {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	r.flood.count(event)
	keep := true
	switch event := event.(type) {
	case wire.FrameSent, wire.ProcessExited, wire.StdinClosed:
	case wire.PollutedLine:
		r.stdout++
		keep = r.stdout <= maxPolluted && len(r.Events) < maxEvents
	case wire.StderrLine:
		r.stderrBytes += int64(len(event.Text)) + 1
		r.stderrLines++
		keep = r.stderrLines <= maxStderr && len(r.Events) < maxEvents
	default:
		keep = len(r.Events) < maxEvents
	}
	if keep {
		r.Events = append(r.Events, event)
	}
}

// Run makes the run of what was recorded. It begins when the server's process starts: what a process says of its own
// age is then on the same scale as all other times. Of a server that toolx does not start, it begins at began.
func (r *Recorder) Run(name string, began time.Time) *Run {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	for _, event := range r.Events {
		if started, ok := event.(wire.ProcessStarted); ok {
			began = started.At
			break
		}
	}
	return &Run{
		Name: name, Began: began, Events: append([]exec.Event(nil), r.Events...),
		Exchanges: ExchangesOf(r.Events), Marks: make(map[string]time.Time),
		StderrLines: r.stderrLines, StderrBytes: r.stderrBytes,
		Flood: r.flood.longest, Foreign: r.flood.all,
	}
}

// ExchangesOf pairs requests with their answers.
func ExchangesOf(events []exec.Event) []*Exchange {
	var list []*Exchange
	open := make(map[string]*Exchange)
	for _, event := range events {
		switch e := event.(type) {
		case wire.FrameSent:
			if e.ID == "" || e.Method == "" {
				continue
			}
			// HTTP sends a request again after a 401 or a 429: it is still one.
			if before := open[e.ID]; before != nil && before.Frame == nil && bytes.Equal(before.Sent, e.Bytes) {
				continue
			}
			exchange := &Exchange{Method: e.Method, ID: e.ID, Sent: e.Bytes, At: e.At}
			list = append(list, exchange)
			open[e.ID] = exchange
		case wire.FrameReceived:
			exchange := open[e.ID]
			if exchange == nil || e.Method != "" || exchange.Frame != nil {
				continue
			}
			head := ReadHead(e.Bytes)
			if !head.NamesRequest() {
				continue
			}
			exchange.Frame, exchange.Result, exchange.Error = e.Bytes, head.Result, head.Err
			exchange.Line, exchange.Took = e.Line, e.At.Sub(exchange.At)
		case wire.HTTPExchange:
			if exchange := open[strconv.FormatInt(e.Request, 10)]; exchange != nil {
				exchange.status = e.Status
			}
		case wire.OddFrame:
			if exchange := open[PlainID(ReadHead(e.Bytes).ID)]; exchange != nil && e.Class == wire.ClassIDLate {
				exchange.Late = true
			}
		}
	}
	return list
}

// PlainID is an id as toolx sent it, whatever the JSON type in which it came back.
func PlainID(id string) string { return strings.TrimSuffix(strings.Trim(id, `"`), ".0") }

// Head is what distinguishes one message from another.
type Head struct {
	ID, Method  string
	Result, Err json.RawMessage
	NullError   bool // there was an "error": null beside the result, which counts as no error
}

// NamesRequest reports whether an answer has an id. A session matches an answer with a null id to the only
// request that waits; for the doctor it may be the answer to a line of garbage.
func (h Head) NamesRequest() bool { return h.ID != "" && h.ID != "null" }

// ReadHead reads the members of a message that say what it is.
func ReadHead(frame []byte) Head {
	m := wire.Read(frame)
	return Head{string(m.ID), m.Method, m.Result, m.Err, m.NullError}
}

// Exchange returns the nth request of a method, from 0, or nil.
func (r *Run) Exchange(method string, n int) *Exchange {
	if list := r.Asked(method); n < len(list) {
		return list[n]
	}
	return nil
}

// EventsOf returns the events of one type, in order; none of a nil run.
func EventsOf[T exec.Event](r *Run) []T {
	if r == nil {
		return nil
	}
	var found []T
	for _, event := range r.Events {
		if one, ok := event.(T); ok {
			found = append(found, one)
		}
	}
	return found
}

// Runs returns the runs that were made, in order.
func (e *Evidence) Runs() []*Run {
	return slices.DeleteFunc(append(e.Sessions(), e.Probe, e.Again), func(r *Run) bool { return r == nil })
}

// Stderr returns the text of a run's stderr.
func (r *Run) Stderr() string {
	var text strings.Builder
	for _, line := range EventsOf[wire.StderrLine](r) {
		text.WriteString(line.Text + "\n")
	}
	return text.String()
}

// Exit returns how the run's process ended, or nil if it was not seen to end.
func (r *Run) Exit() *wire.ProcessExited {
	exits := EventsOf[wire.ProcessExited](r)
	if len(exits) == 0 {
		return nil
	}
	return &exits[len(exits)-1]
}

// Since returns the milliseconds from the run's beginning to at.
func (r *Run) Since(at time.Time) float64 { return exec.Milliseconds(at.Sub(r.Began)) }

// Handshaken reports whether the clean run has a session.
func (e *Evidence) Handshaken() bool { return e.Clean != nil && e.Clean.Protocol != "" }

// listing is what the clean run's first tools/list was answered with.
type listing struct {
	pages []*Exchange
	tools []json.RawMessage
}

// listing reads the answers to the clean run's first tools/list, once; the second one is for comparison.
func (e *Evidence) listing() listing {
	return Once(&e.Kept, func() (all listing) {
		for _, x := range e.Clean.Asked("tools/list") {
			if x.Result == nil {
				continue
			}
			if len(all.pages) > 0 && !ContinuesPage(x) {
				break
			}
			all.pages = append(all.pages, x)
			for member := range rawjson.Each(x.Result) {
				if member.Name == "tools" {
					tools, _ := rawjson.Elements(member.Value)
					all.tools = append(all.tools, tools...)
				}
			}
		}
		return all
	})
}

// Tools returns the tool definitions of the clean run as the server sent them, all pages; listed is false
// if tools/list was not answered.
func (e *Evidence) Tools() (tools []json.RawMessage, listed bool) {
	all := e.listing()
	return all.tools, len(all.pages) > 0
}

// Listing returns the answered pages of the clean run's first tools/list.
func (e *Evidence) Listing() []*Exchange { return e.listing().pages }

// ContinuesPage reports whether a tools/list asked for a further page.
func ContinuesPage(x *Exchange) bool { return MemberAt(x.Sent, "params", "cursor") != nil }
