// Package recording writes and reads recordings of what servers and their clients sent: JSON lines with the messages,
// unexpected output, stderr, and the start and end of processes.
package recording

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"toolx/pkg/exec"
	"toolx/pkg/mask"
	"toolx/pkg/servers/wire"
)

// line is one line of a recording. Besides the head, it has the members of one event.
type line struct {
	Time      time.Time `json:"time"`
	Server    string    `json:"server,omitempty"`
	Writer    string    `json:"writer,omitempty"`
	Direction string    `json:"direction,omitempty"`
	LatencyMS float64   `json:"latency_ms,omitempty"`
	// Frame is a message, or a string if what was sent is not JSON.
	Frame json.RawMessage `json:"frame,omitempty"`
	*Unexpected
	Stderr  *string   `json:"stderr,omitempty"`
	HTTP    *exchange `json:"http,omitempty"`
	Process *process  `json:"process,omitempty"`
	Dropped int       `json:"dropped,omitempty"`
}

// The directions of frames, as seen from toolx.
const (
	sent     = "sent"
	received = "received"
)

// Unexpected is a line of stdout that is not only messages.
type Unexpected struct {
	Stray  string     `json:"stray"`
	Class  wire.Class `json:"class"`
	Line   int        `json:"line"`
	Column int        `json:"column"`
	Size   int64      `json:"size"`
}

// exchange is the head of an exchange over HTTP; its messages have lines of their own.
type exchange struct {
	Verb     string            `json:"verb"`
	URL      string            `json:"url"`
	Request  int64             `json:"request,omitempty"`
	Protocol string            `json:"protocol,omitempty"`
	Status   int               `json:"status,omitempty"`
	Reused   bool              `json:"reused"`
	Sent     map[string]string `json:"sent"`
	Received map[string]string `json:"received,omitempty"`
	Error    string            `json:"error,omitempty"`
}

// process is the start of a server's process if it has a command, else its end.
type process struct {
	Command []string `json:"command,omitempty"`
	PID     int      `json:"pid,omitempty"`
	Cwd     string   `json:"cwd,omitempty"`
	Ended   string   `json:"ended,omitempty"`
	LivedMS float64  `json:"lived_ms,omitempty"`
	Asked   bool     `json:"asked,omitempty"`
	Forced  string   `json:"forced,omitempty"`
}

// Writer writes events as lines of a recording, with secrets masked.
type Writer struct {
	Out  io.Writer
	Text func(string) string // masks secrets in text
	JSON func([]byte) []byte // masks secrets in JSON
	// Name tells this process from others that write the same recording; empty if there are none. Then events keep the
	// names that they have from another recording.
	Name string
}

// Write writes the line of an event, in one write; nothing for an event that recordings do not have.
func (w Writer) Write(event exec.Event) error {
	var l line
	switch e := event.(type) {
	case wire.FrameSent:
		l = line{Time: e.At, Server: e.Server, Direction: sent, Frame: w.masked(e.Bytes)}
	case wire.FrameReceived:
		l = line{Time: e.At, Server: e.Server, Direction: received, Frame: w.masked(e.Bytes)}
		l.LatencyMS = exec.Milliseconds(e.Took)
	case wire.HTTPExchange:
		l = line{Time: e.At, Server: e.Server, LatencyMS: exec.Milliseconds(e.Took), HTTP: w.exchange(e)}
	case wire.PollutedLine:
		if e.Class.Harmless() {
			return nil
		}
		l = line{Time: e.At, Server: e.Server, Unexpected: &Unexpected{
			w.Text(visible([]byte(KeptText(e)))), e.Class, e.Line, e.Column, e.Size,
		}}
	case wire.StderrLine:
		text := w.Text(visible([]byte(e.Text)))
		l = line{Time: e.At, Server: e.Server, Stderr: &text}
	case wire.ProcessStarted:
		started := &process{PID: e.PID, Cwd: w.Text(e.Cwd)}
		for _, argument := range e.Command {
			started.Command = append(started.Command, w.Text(visible([]byte(argument))))
		}
		l = line{Time: e.At, Server: e.Server, Process: started}
	case wire.ProcessExited:
		l = line{Time: e.At, Server: e.Server, Process: &process{
			Ended: e.How, LivedMS: exec.Milliseconds(e.Lived), Asked: e.Asked, Forced: e.Forced,
		}}
	case Dropped:
		l = line{Time: e.At, Server: e.Server, Dropped: e.Lines}
	default:
		return nil
	}
	l.Writer = w.Name
	if e, of := event.(wire.Event); of && l.Writer == "" {
		l.Writer = e.Source().Writer
	}
	text, err := json.Marshal(l)
	if err == nil {
		_, err = w.Out.Write(append(text, '\n'))
	}
	return err
}

// Dropped says that lines are missing, because the file was not written in time.
type Dropped struct {
	wire.Head
	Lines int
}

// DroppedLine returns the line that says how many lines are missing.
func DroppedLine(lines int) string {
	var line strings.Builder
	_ = Writer{Out: &line}.Write(Dropped{Head: wire.Now(""), Lines: lines}) // memory takes all
	return line.String()
}

// masked returns a message without its secrets: JSON, or a string if it is not JSON, such as an invalid line from the
// doctor.
func (w Writer) masked(frame []byte) json.RawMessage {
	if hidden := w.JSON(frame); json.Valid(hidden) {
		return hidden
	}
	quoted, _ := json.Marshal(w.Text(visible(frame))) // text can always be marshalled
	return quoted
}

// KeptText returns the known part of a line, with a mark if its end is missing.
func KeptText(e wire.PollutedLine) string {
	if e.Size > int64(len(e.Text)) {
		return string(e.Text) + "…"
	}
	return string(e.Text)
}

// visible returns text that JSON can hold: bytes that are not UTF-8 are escaped.
func visible(text []byte) string {
	if utf8.Valid(text) {
		return string(text)
	}
	quoted := strconv.Quote(string(text))
	return quoted[1 : len(quoted)-1]
}

func (w Writer) exchange(e wire.HTTPExchange) *exchange {
	failed := ""
	if e.Err != nil {
		failed = w.Text(e.Err.Error())
	}
	return &exchange{
		e.Verb, w.Text(e.URL), e.Request, e.Proto, e.Status, e.Reused, w.headers(e.Sent), w.headers(e.Received), failed,
	}
}

// headers returns headers without their secrets.
func (w Writer) headers(all http.Header) map[string]string {
	shown := make(map[string]string, len(all))
	for name, contents := range all {
		shown[name] = w.Text(strings.Join(contents, ", "))
		if mask.Name(name) {
			shown[name] = mask.Mask
		}
	}
	return shown
}
