package toolset

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"toolx/cmd/streams"
	"toolx/pkg/asyncwriter"
	"toolx/pkg/exec"
	"toolx/pkg/mask"
	"toolx/pkg/render"
	"toolx/pkg/servers/wire"
)

// frames returns a subscriber that shows the frames among the events.
func frames(show func(render.Frame)) func(exec.Event) {
	return func(event exec.Event) {
		switch e := event.(type) {
		case wire.FrameSent:
			show(render.Frame{At: e.At, Server: e.Server, Sent: true, Bytes: e.Bytes})
		case wire.FrameReceived:
			show(render.Frame{At: e.At, Server: e.Server, Bytes: e.Bytes, Latency: e.Took})
		}
	}
}

// traceView writes the output of --trace to stderr.
type traceView struct {
	out  *streams.Streams
	full bool // with the contents of messages
}

// frame shows a message.
func (v traceView) frame(frame render.Frame) {
	frame.Hide = v.out.Mask.Text
	if v.full {
		frame.Content = v.out.Mask.JSON(frame.Bytes)
	}
	_ = render.Trace(v.out.Live.Log(), frame, v.out.Screen())
}

// unexpected writes a server's other output between the frames.
func (v traceView) unexpected(event exec.Event) {
	var line render.UnexpectedLine
	switch e := event.(type) {
	case wire.PollutedLine:
		if e.Class.Harmless() {
			return
		}
		line = render.UnexpectedLine{At: e.At, Server: e.Server, On: "stdout", Text: strconv.Quote(kept(e))}
	case wire.StderrLine:
		line = render.UnexpectedLine{At: e.At, Server: e.Server, On: "stderr", Text: e.Text}
	default:
		return
	}
	line.Text = v.out.Mask.Text(line.Text)
	_ = render.TraceUnexpected(v.out.Live.Log(), line, v.out.Screen())
}

// traceFile is a file of JSON lines, one per frame, exchange over HTTP, unexpected line or line
// of stderr, with secrets masked.
type traceFile struct {
	mask  *mask.Masker
	out   io.Writer
	file  *os.File            // nil: out is stderr
	queue *asyncwriter.Writer // to file

	mu  sync.Mutex
	err error // the first one
}

// maxTraceBehind is how many bytes of a trace may wait for its file. Servers rarely send that much at once.
const maxTraceBehind = 256 << 20

// newTraceFile makes the file; "-" is stderr.
func newTraceFile(o *streams.Streams, path string) (*traceFile, error) {
	if path == "-" {
		out := o.Live.Log()
		if o.Console.ErrTTY {
			out = streams.SafeJSON{Out: out}
		}
		return &traceFile{mask: o.Mask, out: out}, nil
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	queue := asyncwriter.New(file, maxTraceBehind, func(lines int) string {
		return fmt.Sprintf(`{"time":%q,"dropped":%d}`+"\n", time.Now().Format(time.RFC3339Nano), lines)
	})
	return &traceFile{mask: o.Mask, out: queue.Offering(), file: file, queue: queue}, nil
}

// write appends one frame.
func (f *traceFile) write(frame render.Frame) {
	direction := "received"
	if frame.Sent {
		direction = "sent"
	}
	f.append(struct {
		Time      time.Time `json:"time"`
		Server    string    `json:"server"`
		Direction string    `json:"direction"`
		LatencyMS float64   `json:"latency_ms,omitempty"`
		Frame     any       `json:"frame"`
	}{frame.At, frame.Server, direction, exec.Milliseconds(frame.Latency), f.masked(frame.Bytes)})
}

// masked returns a frame with its secrets masked: JSON, or text if it is not JSON, such as an invalid line from the
// doctor.
func (f *traceFile) masked(frame []byte) any {
	if hidden := f.mask.JSON(frame); json.Valid(hidden) {
		return json.RawMessage(hidden)
	}
	return f.mask.Text(visible(frame))
}

// takeOther writes events that are not frames.
func (f *traceFile) takeOther(event exec.Event) {
	switch e := event.(type) {
	case wire.HTTPExchange:
		f.exchange(e)
	case wire.PollutedLine:
		if !e.Class.Harmless() {
			f.unexpected(e)
		}
	case wire.StderrLine:
		f.append(struct {
			Time   time.Time `json:"time"`
			Server string    `json:"server"`
			Stderr string    `json:"stderr"`
		}{e.At, e.Server, f.mask.Text(visible([]byte(e.Text)))})
	}
}

// unexpected writes a line of stdout that is not only messages.
func (f *traceFile) unexpected(e wire.PollutedLine) {
	f.append(struct {
		Time   time.Time  `json:"time"`
		Server string     `json:"server"`
		Stray  string     `json:"stray"`
		Class  wire.Class `json:"class"`
		Line   int        `json:"line"`
		Column int        `json:"column"`
		Size   int64      `json:"size"`
	}{e.At, e.Server, f.mask.Text(visible([]byte(kept(e)))), e.Class, e.Line, e.Column, e.Size})
}

// kept returns the known part of a line, with a mark if its end is missing.
func kept(e wire.PollutedLine) string {
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

// exchange writes the head of an exchange over HTTP; its messages have lines of their own.
func (f *traceFile) exchange(e wire.HTTPExchange) {
	type head struct {
		Verb     string            `json:"verb"`
		URL      string            `json:"url"`
		Protocol string            `json:"protocol,omitempty"`
		Status   int               `json:"status,omitempty"`
		Reused   bool              `json:"reused"`
		Sent     map[string]string `json:"sent"`
		Received map[string]string `json:"received,omitempty"`
		Error    string            `json:"error,omitempty"`
	}
	failed := ""
	if e.Err != nil {
		failed = f.mask.Text(e.Err.Error())
	}
	f.append(struct {
		Time      time.Time `json:"time"`
		Server    string    `json:"server"`
		LatencyMS float64   `json:"latency_ms,omitempty"`
		HTTP      head      `json:"http"`
	}{e.At, e.Server, exec.Milliseconds(e.Took), head{
		e.Verb, f.mask.Text(e.URL), e.Proto, e.Status, e.Reused, f.headers(e.Sent), f.headers(e.Received), failed,
	}})
}

// headers returns headers without their secrets.
func (f *traceFile) headers(all http.Header) map[string]string {
	shown := make(map[string]string, len(all))
	for name, contents := range all {
		shown[name] = f.mask.Text(strings.Join(contents, ", "))
		if mask.Name(name) {
			shown[name] = mask.Mask
		}
	}
	return shown
}

// append writes a value as a line.
func (f *traceFile) append(value any) {
	line, err := json.Marshal(value)
	if err == nil {
		_, err = f.out.Write(append(line, '\n'))
	}
	f.failed(err)
}

// failed keeps the first error.
func (f *traceFile) failed(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
}

// close waits until everything is written, or ctx ends, and returns the first error.
func (f *traceFile) close(ctx context.Context) error {
	if f.file != nil {
		f.failed(f.queue.Flush(ctx))
		f.failed(f.file.Close())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}
