package servers

import (
	"encoding/gob"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"toolx/pkg/cause"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
)

// heldVersion is the version of what a holder and its clients say to each other. A holder answers a client of another
// version with nothing but its own.
const heldVersion = 1

// demandKind is what a client wants of a holder.
type demandKind string

const (
	demandAttach  demandKind = "attach"  // use the server, and start it if it does not run
	demandRequest demandKind = "request" // send a request of MCP
	demandCancel  demandKind = "cancel"  // nobody waits for the request Seq any more
	demandSend    demandKind = "send"    // send a message as it is
	demandAnswer  demandKind = "answer"  // the answer to a request of the server
	demandFailure demandKind = "failure" // tell what is known of the server now
	demandWatch   demandKind = "watch"   // do not end without a last report
	demandInfo    demandKind = "info"    // tell about the session
	demandStop    demandKind = "stop"    // end the server and the holder
)

// demand is what a client says to a holder.
type demand struct {
	Kind    demandKind
	Version int   // of the first one: heldVersion
	Seq     int64 // of a demand that wants a report
	Method  string
	Message []byte // params of a request, or a whole message
	Header  http.Header
	Safe    bool   // the request may be sent twice
	Watch   bool   // with attach: what happens while no request runs is wanted too
	Ending  Ending // of demandFailure
	Reason  string // of demandCancel
}

// reportKind is what a holder tells.
type reportKind string

const (
	reportDone         reportKind = "done"         // the outcome of the demand Seq
	reportEvent        reportKind = "event"        // something happened
	reportNotification reportKind = "notification" // of the server
	reportRequest      reportKind = "request"      // of the server, which this client has to answer
	reportEnded        reportKind = "ended"        // the server has ended, and why
	reportLast         reportKind = "last"         // the session has ended; nothing follows
)

// report is what a holder says to a client.
type report struct {
	Kind    reportKind
	Version int // of a refusal: heldVersion of the holder
	Seq     int64
	// Message is an answer, a notification or a request of the server, byte for byte.
	Message []byte
	// Received is when and where the answer came; its Bytes are Message.
	Received *FrameReceived
	Event    exec.Event
	Err      *heldError
	Failure  *failureData
	Welcome  *welcome
	Info     *SessionInfo
}

// welcome is what a client has to know of a server that runs.
type welcome struct {
	Protocol           string
	Info, Capabilities []byte // JSON, as the server said them
	Instructions       string
	PID                int
	Command            []string
	Cwd, URL           string
	StderrPath         string
	// Reused reports that the server ran already, Age for how long.
	Reused bool
	Age    time.Duration
	// Offered are the capabilities that were offered to the server when it was started, as JSON.
	Offered  []byte
	Identity string
	Toolx    string        // the version of toolx that holds it
	Files    []programFile // that the server was started from
}

// registerEvents lets gob carry the events of servers.
var registerEvents = sync.OnceFunc(func() {
	for _, event := range []exec.Event{
		ProcessStarted{},
		ProcessExited{},
		PipeHeld{},
		StdinClosed{},
		FrameSent{},
		FrameReceived{},
		PollutedLine{},
		OddFrame{},
		StderrLine{},
		ServerRequest{},
		heldExchange{},
		heldNotice{},
		heldLoss{},
	} {
		gob.Register(event)
	}
})

// heldNotice, heldExchange and heldLoss are events in a form that can be carried.
type heldNotice struct {
	exec.Time
	Level        slog.Level
	Text, Server string
}

type heldExchange struct {
	HTTPExchange
	Failed *heldError
}

type heldLoss struct {
	exec.Time
	Server string
	Why    *failureData
}

// portable returns an event in the form in which it is carried; nil for an event that only concerns the holder.
func portable(event exec.Event) exec.Event {
	switch e := event.(type) {
	case exec.Notice:
		return heldNotice{e.Time, e.Level, e.Text, e.Server}
	case StartOverdue:
		return heldNotice{e.Time, slog.LevelWarn, e.Text(), e.Server}
	case HTTPExchange:
		failed := newHeldError(e.Err)
		e.Err = nil
		return heldExchange{e, failed}
	case SessionLost:
		return heldLoss{e.Time, e.Server, newFailureData(e.Why)}
	case LogMessage, Notification: // the client makes them of the notification itself
		return nil
	case ProcessStarted, ProcessExited, PipeHeld, StdinClosed, FrameSent, FrameReceived, PollutedLine, OddFrame,
		StderrLine, ServerRequest:
		return event
	}
	return nil
}

// restored returns an event as it was before portable.
func restored(event exec.Event) exec.Event {
	switch e := event.(type) {
	case heldNotice:
		return exec.Notice{Time: e.Time, Level: e.Level, Text: e.Text, Server: e.Server}
	case heldExchange:
		if e.Failed != nil {
			e.Err = e.Failed
		}
		return e.HTTPExchange
	case heldLoss:
		return SessionLost{Time: e.Time, Server: e.Server, Why: e.Why.failure()}
	}
	return event
}

// heldError is an error of the holder's, with all that a user sees of it.
type heldError struct {
	Text  string
	Class fault.Kind
	Fix   string
	Facts []string
	// Malformed names the answer that could not be read, empty for any other error; Text is what is wrong with it.
	Malformed string
	// Abandoned reports that the request was given up; Text is then its detail, and Facts the evidence.
	Abandoned bool
}

func newHeldError(err error) *heldError {
	if err == nil {
		return nil
	}
	var malformed *exec.MalformedError
	var abandoned *abandonedError
	switch {
	case errors.As(err, &abandoned):
		return &heldError{Text: abandoned.detail, Facts: abandoned.evidence, Abandoned: true}
	case errors.As(err, &malformed):
		return &heldError{Text: exec.PlainJSONError(malformed.Reason).Error(), Malformed: malformed.What}
	}
	return &heldError{Text: err.Error(), Class: fault.KindOf(err), Fix: fault.HintOf(err), Facts: fault.DetailsOf(err)}
}

func (e *heldError) Error() string { return e.Text }

// Kind implements the interface that fault.KindOf looks for.
func (e *heldError) Kind() fault.Kind { return e.Class }

// Hint says what to do about the error.
func (e *heldError) Hint() string { return e.Fix }

// Details returns what else is known.
func (e *heldError) Details() []string { return e.Facts }

// err returns the error as the link of the server would have returned it.
func (e *heldError) err() error {
	if e.Malformed != "" {
		return &exec.MalformedError{What: e.Malformed, Reason: errors.New(e.Text)}
	}
	return e
}

// failureData is a Failure in a form that can be carried.
type failureData struct {
	Failure
	Said, Environ []string
	Entry         cause.Entry
	Question      string
	Why           *heldError
	Policy        cause.Policy
	StartCause    *cause.Cause // as the holder found it, which knows how the server was started
}

func newFailureData(f *Failure) *failureData {
	if f == nil {
		return nil
	}
	d := &failureData{
		Failure: *f, Said: f.said, Environ: f.environ, Entry: f.entry, Question: f.question,
		Why:    newHeldError(f.Reason),
		Policy: f.Policy(),
	}
	d.Reason = nil
	if f.starting() && f.startCause != nil {
		d.StartCause = f.startCause()
	}
	if d.Why != nil && d.Why.Fix == "" {
		d.Why.Fix = f.Hint()
	}
	return d
}

// failure returns the Failure as it was before newFailureData.
func (d *failureData) failure() *Failure {
	f := d.Failure
	f.said, f.environ, f.question, f.judged = d.Said, d.Environ, d.Question, d.Policy
	if d.Why != nil {
		f.Reason = d.Why
	}
	f.cause = sync.OnceValue(func() *cause.Cause { return cause.Of(f.Output()) })
	if d.StartCause != nil {
		f.startCause = func() *cause.Cause { return d.StartCause }
	}
	return &f
}

// SessionInfo describes a session that a holder keeps, as toolx session list shows it.
type SessionInfo struct {
	Record
	// State is ready, starting, ended (the server has, and the next call starts it anew), not answering, or dead (the
	// holder has ended without being asked to).
	State string
	// PID is the process of the server, zero if there is none.
	PID int
	// Age is the time since the server was started; Idle the time since the last answer, zero while a call runs.
	Age, Idle time.Duration
	Calls     int
	Clients   int
	// Memory is that of the server and the processes below it, in bytes; zero where the system does not tell.
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
