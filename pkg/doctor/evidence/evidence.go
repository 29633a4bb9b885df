// Package evidence records what a server was sent and what it did. Package doctor gathers it, and checks read it.
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
	"toolx/pkg/contract"
	"toolx/pkg/exec"
	"toolx/pkg/procs"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/wire"
)

// Fleet is the evidence about all servers and the config.
type Fleet struct {
	Config *config.Config // nil for a server given on the command line
	// Survey is what other clients' files contain; nil if they were not requested.
	Survey *config.Survey
	// ConfigErr is why the config could not be loaded, or nil.
	ConfigErr error
	Servers   []*Evidence
	// Pinned are the tools in the baseline; nil without one.
	Pinned Pins
	Budget contract.Budget
}

// Evidence is everything known about one server.
type Evidence struct {
	Server *config.Server
	// Launch is the entry with its variables expanded; nil if that failed with LaunchErr.
	Launch    *config.Resolved
	LaunchErr error
	// Config is the config of the server; nil for a command line.
	Config *config.Config
	// Node is the version of the Node that runs the server ("v22.1.0"); empty for other servers and if unknown.
	Node string

	Clean *Run // nil if no process was started
	Probe *Run // nil if it did not take place
	// Again is a second probing run without the requests that ended or silenced the first; nil if it was not needed.
	Again *Run
	// Buffers reports whether the server responds only because this environment has PYTHONUNBUFFERED.
	Buffers bool
	// HTTP is the evidence from raw requests to an HTTP server; nil for other servers.
	HTTP *HTTPEvidence
	// Calls are the calls in order, and Calling their runs. There are several runs if a call ended the server.
	Calls   []*CallRun
	Calling []*Run
	// CallsAsked reports whether calls were requested, even if none was possible.
	CallsAsked bool
	// Recorded reports whether the evidence is from a recording. Nothing is known of the files and processes of the
	// machine where it was made.
	Recorded bool
	// Safe is Options.Safe.
	Safe bool

	// Duration is how long the examination took.
	Duration time.Duration
	// Cut reports whether a time limit or the user ended the examination. Missing evidence then proves nothing.
	Cut bool

	// Finds reports whether another check has findings about the same evidence; Judge sets it.
	Finds func(id string) bool
	// Offered are the tools of the clean run's session if Options.Safe is set.
	Offered []*exec.Tool

	Kept
}

// Kept caches values that several checks derive from evidence, by type. Only one goroutine uses it, after the evidence
// is complete.
type Kept struct{ values map[reflect.Type]any }

// Once returns the cached value of a type, which read makes on the first call.
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

// Run is one process of the server, from its start to its end, or one series of HTTP requests.
type Run struct {
	Name  string // "clean", "calls" or "probing"
	Began time.Time
	// Events are all events in order, within the limits of Recorder.
	Events []exec.Event
	// Exchanges are the requests with their responses, in the order of sending.
	Exchanges []*Exchange
	// Failure is why no session was opened; nil if one was.
	Failure *diagnose.Failure
	// Ended is how the server ended before it was asked to; nil if it did not.
	Ended *diagnose.Failure
	// Protocol is the negotiated revision; empty without a session.
	Protocol string
	// Queued is how long the server's processes waited for a CPU before the session was open, which shows that the
	// machine was busy. Zero if the system does not report it.
	Queued time.Duration
	// Listening are the sockets on which the server's processes accept connections: "0.0.0.0:3000 (pid 12)".
	Listening []string
	// Tree are the server's processes, with the one that toolx started first; nil if the system does not report them.
	Tree []procs.Process
	// Orphans are processes that outlived the server, ordered by pid.
	Orphans []Orphan
	// StderrLines and StderrBytes count all of stderr; Events contains only its beginning.
	StderrLines int
	StderrBytes int64
	// Marks are the times of the doctor's steps: "garbage", "notification", "burst", "burst-end" and "terminate", and
	// of their outcomes, "ready", "terminated" and "survived".
	Marks map[string]time.Time
	// Pending are bytes of stdout without a newline at the end of the run.
	Pending []byte
	// Foreign counts the lines of stdout without a message, including those that Events lacks; Flood is the longest
	// sequence of them.
	Foreign int
	Flood   Flood

	Kept
}

// Exchange is one request and its response.
type Exchange struct {
	Method string
	ID     string          // as JSON
	Sent   json.RawMessage // the whole request
	At     time.Time
	// Frame is the whole response, or nil; Result and Error are parts of it.
	Frame  json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
	Line   int // of the response, on stdout
	Took   time.Duration
	// Late reports whether the response came after the request had timed out.
	Late bool
	// status is the HTTP status of the response, or 0.
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

// Limits on the events of a run. A flood is proved by its count, not by its contents.
const (
	maxEvents   = 50_000
	maxPolluted = 2_000
	maxStderr   = 5_000
)

// Record keeps an event unless there are too many of its kind.
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

// Run returns the recorded run. It begins when the process starts, so that times agree with the lifetime of the
// process. The run of a server that toolx does not start begins at began.
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

// ExchangesOf pairs requests with their responses.
func ExchangesOf(events []exec.Event) []*Exchange {
	var list []*Exchange
	open := make(map[string]*Exchange)
	for _, event := range events {
		switch e := event.(type) {
		case wire.FrameSent:
			if e.ID == "" || e.Method == "" {
				continue
			}
			// HTTP repeats a request after a 401 or 429. It is still one exchange.
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

// PlainID returns an id as toolx sent it, even if the response has another JSON type.
func PlainID(id string) string { return strings.TrimSuffix(strings.Trim(id, `"`), ".0") }

// Head has the members that identify a message.
type Head struct {
	ID, Method  string
	Result, Err json.RawMessage
	NullError   bool // it has "error": null, which counts as no error
}

// NamesRequest reports whether a response has an id. A session matches a null id to the only pending request, but for
// the doctor it may be the response to an invalid line.
func (h Head) NamesRequest() bool { return h.ID != "" && h.ID != "null" }

// ReadHead reads the head of a message.
func ReadHead(frame []byte) Head {
	m := wire.Read(frame)
	return Head{string(m.ID), m.Method, m.Result, m.Err, m.NullError}
}

// Exchange returns the nth request of a method, counted from 0, or nil.
func (r *Run) Exchange(method string, n int) *Exchange {
	if r == nil {
		return nil
	}
	return r.find(func(x *Exchange) bool {
		if x.Method == method {
			n--
		}
		return n < 0
	})
}

// EventsOf returns the events of one type in order. A nil run has none.
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

// Runs returns all runs in order.
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

// Exit returns how the run's process exited, or nil if unknown.
func (r *Run) Exit() *wire.ProcessExited {
	exits := EventsOf[wire.ProcessExited](r)
	if len(exits) == 0 {
		return nil
	}
	return &exits[len(exits)-1]
}

// Since returns the milliseconds from the run's beginning to at.
func (r *Run) Since(at time.Time) float64 { return exec.Milliseconds(at.Sub(r.Began)) }

// Handshaken reports whether the clean run opened a session.
func (e *Evidence) Handshaken() bool { return e.Clean != nil && e.Clean.Protocol != "" }

// listing is the response to the clean run's first tools/list.
type listing struct {
	pages []*Exchange
	tools []json.RawMessage
}

// listing reads and caches the pages of the clean run's first tools/list. The second list is for comparison.
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

// Tools returns the clean run's raw tool definitions from all pages; listed is false if tools/list got no result.
func (e *Evidence) Tools() (tools []json.RawMessage, listed bool) {
	all := e.listing()
	return all.tools, len(all.pages) > 0
}

// Listing returns the pages of the clean run's first tools/list.
func (e *Evidence) Listing() []*Exchange { return e.listing().pages }

// ContinuesPage reports whether a tools/list request has a cursor.
func ContinuesPage(x *Exchange) bool { return MemberAt(x.Sent, "params", "cursor") != nil }
