package daemon

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/cause"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
)

// protocolVersion is the version of the protocol between a daemon and its clients. It stands in the record of a
// session.
const protocolVersion = 5

// A daemon and its clients exchange JSON-RPC, a message a line. A client answers the requests of the server as it gets
// them, and sends notifications/cancelled for a request of its own whose response is not needed any more.
const (
	// The requests of a client. The result is a response.
	methodAttach  = "toolx/attach"  // use the server, and start it if it does not run; watch: also between requests
	methodRequest = "toolx/request" // send a request of MCP (see conn.request)
	methodFailure = "toolx/failure" // report what is known of the server now; ending: the Ending
	methodWatch   = "toolx/watch"   // do not end without methodLast
	methodInfo    = "toolx/info"    // describe the session
	methodTrace   = "toolx/trace"   // watch, and send methodRecorded from now on
	methodStop    = "toolx/stop"    // end the server and the daemon

	// methodSend is a notification of a client's: send frame, the bytes of a message, as they are.
	methodSend = "toolx/send"

	// The notifications of a daemon.
	methodEvent        = "toolx/event"        // something happened: an eventData
	methodNotification = "toolx/notification" // of the server: its method and params
	methodRecorded     = "toolx/recorded"     // a line of a recording
	methodEnded        = "toolx/ended"        // the server has ended, and why: a response
	methodLast         = "toolx/last"         // the session has ended; nothing follows: a response
)

// response is what a daemon sends to a client.
type response struct {
	// Received is when and where the message came, an answer of the server.
	Received *wire.FrameReceived `json:",omitempty"`
	Err      *errorData          `json:",omitempty"`
	Failure  *failureData        `json:",omitempty"`
	Hello    *hello              `json:",omitempty"`
	Info     *Info               `json:",omitempty"`
	message  []byte
}

// reply returns the response to the request of a client.
func (r response) reply(id json.RawMessage) []byte {
	return lineOf(`"id":`+string(id)+`,"result"`, r, r.message)
}

// readResponse reads a reply, or the params of a notification with a response.
func readResponse(text json.RawMessage) (r response, err error) {
	r.message, err = readLine(text, &r)
	return r, err
}

// notification returns a line that reports r without a request.
func (r response) notification(method string) []byte { return lineOf(methodHead(method), r, nil) }

func methodHead(method string) string { return `"method":"` + method + `","params"` }

// lineOf returns a line: a message of JSON-RPC with data and a message of MCP, byte for byte; head is what stands
// before the member that has them.
func lineOf(head string, data any, message []byte) []byte {
	var out bytes.Buffer
	out.Grow(len(head) + len(message) + 512)
	out.WriteString(`{"jsonrpc":"2.0",` + head + `:{"data":`)
	out.Write(asJSON(data))
	switch {
	case bytes.IndexByte(message, '\n') >= 0:
		out.WriteString(`,"packed":`)
		out.Write(asJSON(message))
	case message != nil:
		out.WriteString(`,"message":`)
		out.Write(message)
	}
	out.WriteString("}}\n")
	return out.Bytes()
}

// asLine returns JSON as one line, with its newline.
func asLine(text json.RawMessage) []byte {
	if bytes.IndexByte(text, '\n') >= 0 {
		text = rawjson.Compact(text)
	}
	return slices.Concat(text, []byte("\n"))
}

// readLine reads the result or the params of a lineOf.
func readLine(text json.RawMessage, data any) (message []byte, err error) {
	for member := range rawjson.Each(text) {
		switch member.Name {
		case "data":
			err = cmp.Or(err, json.Unmarshal(member.Value, data))
		case "message":
			message = member.Value
		case "packed":
			err = cmp.Or(err, json.Unmarshal(member.Value, &message))
		}
	}
	return message, err
}

// hello is what a client has to know of a server that runs.
type hello struct {
	wire.Attached
	Command    []string
	Cwd, URL   string
	StderrPath string
	// Offered are the capabilities that were offered to the server when it was started.
	Offered  mcp.ClientCapabilities
	Identity string
	Toolx    string        // the version of toolx that keeps it
	Files    []programFile // that the server was started from
}

// eventData is an event in the form in which it is passed on.
type eventData struct {
	Kind  string // the name of its type
	Event json.RawMessage
	Err   *errorData `json:",omitempty"` // of an HTTPExchange
}

// passedKinds are the types of the events that are passed on. A client makes LogMessage and Notification itself.
var passedKinds = []reflect.Type{
	reflect.TypeFor[wire.ProcessStarted](), reflect.TypeFor[wire.ProcessExited](),
	reflect.TypeFor[wire.PipeInherited](), reflect.TypeFor[wire.StdinClosed](),
	reflect.TypeFor[wire.FrameSent](), reflect.TypeFor[wire.FrameReceived](),
	reflect.TypeFor[wire.PollutedLine](), reflect.TypeFor[wire.OddFrame](), reflect.TypeFor[wire.StderrLine](),
	reflect.TypeFor[wire.ServerRequest](), reflect.TypeFor[wire.HTTPExchange](), reflect.TypeFor[exec.Notice](),
}

// eventLine returns a notification of an event; nil for one that only concerns the daemon.
func eventLine(event exec.Event) []byte {
	var failed *errorData
	switch e := event.(type) {
	case protocol.StartOverdue:
		event = exec.Notice{Time: exec.Time{At: e.At}, Level: slog.LevelWarn, Text: e.Text(), Server: e.Server}
	case wire.HTTPExchange:
		failed, e.Err = newErrorData(e.Err), nil
		event = e
	}
	kind := reflect.TypeOf(event)
	if !slices.Contains(passedKinds, kind) {
		return nil
	}
	return lineOf(methodHead(methodEvent), eventData{kind.Name(), asJSON(event), failed}, nil)
}

// readEvent reads the params of a notification of an event; nil for one that this toolx does not know.
func readEvent(params json.RawMessage) exec.Event {
	var c eventData
	_, err := readLine(params, &c)
	at := slices.IndexFunc(passedKinds, func(kind reflect.Type) bool { return kind.Name() == c.Kind })
	if err != nil || at < 0 {
		return nil
	}
	value := reflect.New(passedKinds[at])
	if json.Unmarshal(c.Event, value.Interface()) != nil {
		return nil
	}
	event, _ := value.Elem().Interface().(exec.Event)
	if exchange, ok := event.(wire.HTTPExchange); ok && c.Err != nil {
		exchange.Err = c.Err
		return exchange
	}
	return event
}

// errorData is an error of the daemon's, with all that a user sees of it.
type errorData struct {
	Text  string
	Class fault.Kind
	Fix   string
	Facts []string
	// Malformed names the answer that could not be read, empty for any other error; Text is what is wrong with it.
	Malformed string
	// Abandoned reports that the request was given up; Text is then its detail, and Facts the evidence.
	Abandoned bool
}

func newErrorData(err error) *errorData {
	if err == nil {
		return nil
	}
	var malformed *exec.MalformedError
	var abandoned *diagnose.Abandoned
	switch {
	case errors.As(err, &abandoned):
		return &errorData{Text: abandoned.Why, Facts: abandoned.Printed, Abandoned: true}
	case errors.As(err, &malformed):
		return &errorData{
			Text: exec.PlainJSONError(malformed.Reason).Error(), Malformed: malformed.What,
			Fix: fault.HintOf(err),
		}
	}
	return &errorData{Text: err.Error(), Class: fault.KindOf(err), Fix: fault.HintOf(err), Facts: fault.DetailsOf(err)}
}

func (e *errorData) Error() string { return e.Text }

// Kind implements the interface that fault.KindOf looks for.
func (e *errorData) Kind() fault.Kind { return e.Class }

// Hint says what to do about the error.
func (e *errorData) Hint() string { return e.Fix }

// Details returns what else is known.
func (e *errorData) Details() []string { return e.Facts }

// err returns the error as the transport of the server would have returned it.
func (e *errorData) err() error {
	if e.Malformed != "" {
		return &exec.MalformedError{What: e.Malformed, Reason: &diagnose.Hinted{Text: e.Text, Fix: e.Fix}}
	}
	return e
}

// failureData is a Failure in a form that can be sent.
type failureData struct {
	diagnose.Failure
	Why        *errorData
	StartCause *cause.Cause // as the daemon found it, which knows how the server was started
}

func newFailureData(f *diagnose.Failure) *failureData {
	if f == nil {
		return nil
	}
	d := &failureData{Failure: *f, Why: newErrorData(f.Reason)}
	d.Reason, d.Judged = nil, f.Policy()
	if f.Starting() && f.FromStart != nil {
		d.StartCause = f.FromStart()
	}
	if d.Why != nil && d.Why.Fix == "" {
		d.Why.Fix = f.Hint()
	}
	return d
}

// failure returns the Failure as it was before newFailureData.
func (d *failureData) failure() *diagnose.Failure {
	f := d.Failure
	if d.Why != nil {
		f.Reason = d.Why
	}
	f.FromOutput = sync.OnceValue(func() *cause.Cause { return cause.Diagnose(f.Output()) })
	if d.StartCause != nil {
		f.FromStart = func() *cause.Cause { return d.StartCause }
	}
	return &f
}

// Info describes a session that a daemon keeps, as toolx session list shows it.
type Info struct {
	Record
	// State is ready, starting, ended (the server has, and the next call restarts it), not answering, or dead (the
	// daemon has ended without being asked to).
	State string
	// PID is the process of the server, zero if there is none.
	PID int
	// Age is the time since the server was started; Idle the time since the last answer, zero while a call runs.
	Age, Idle time.Duration
	Calls     int
	Clients   int
	// Memory is that of the server and the processes below it, in bytes; zero where the system does not report it.
	Memory int64
	// StderrPath is the file with the server's stderr, empty if there is none.
	StderrPath string
	// Ended says how the server ended, empty while it runs.
	Ended string
}

// asJSON returns a plain struct of the protocol as JSON.
func asJSON(value any) []byte {
	text, _ := json.Marshal(value) // such structs always encode
	return text
}
