package render

import (
	"encoding/json"
	"fmt"
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

// TraceLines writes events as the JSON lines of --trace-file: one per frame, exchange over HTTP, unexpected line or
// line of stderr, with secrets masked.
type TraceLines struct {
	Out  io.Writer
	Text func(string) string // masks secrets in text
	JSON func([]byte) []byte // masks secrets in JSON
}

// Write writes the line of an event, in one write; nothing for an event that traces do not have.
func (t TraceLines) Write(event exec.Event) error {
	switch e := event.(type) {
	case wire.FrameSent:
		return t.frame(e.Head, "sent", 0, e.Bytes)
	case wire.FrameReceived:
		return t.frame(e.Head, "received", e.Took, e.Bytes)
	case wire.HTTPExchange:
		return t.exchange(e)
	case wire.PollutedLine:
		if e.Class.Harmless() {
			return nil
		}
		return t.unexpected(e)
	case wire.StderrLine:
		return t.line(struct {
			Time   time.Time `json:"time"`
			Server string    `json:"server"`
			Stderr string    `json:"stderr"`
		}{e.At, e.Server, t.Text(visible([]byte(e.Text)))})
	}
	return nil
}

// TraceDropped returns the line that reports that lines are missing.
func TraceDropped(at time.Time, lines int) string {
	return fmt.Sprintf(`{"time":%q,"dropped":%d}`+"\n", at.Format(time.RFC3339Nano), lines)
}

func (t TraceLines) frame(head wire.Head, direction string, took time.Duration, frame []byte) error {
	return t.line(struct {
		Time      time.Time `json:"time"`
		Server    string    `json:"server"`
		Direction string    `json:"direction"`
		LatencyMS float64   `json:"latency_ms,omitempty"`
		Frame     any       `json:"frame"`
	}{head.At, head.Server, direction, exec.Milliseconds(took), t.masked(frame)})
}

// masked returns a frame with its secrets masked: JSON, or text if it is not JSON, such as an invalid line from the
// doctor.
func (t TraceLines) masked(frame []byte) any {
	if hidden := t.JSON(frame); json.Valid(hidden) {
		return json.RawMessage(hidden)
	}
	return t.Text(visible(frame))
}

// unexpected writes a line of stdout that is not only messages.
func (t TraceLines) unexpected(e wire.PollutedLine) error {
	return t.line(struct {
		Time   time.Time  `json:"time"`
		Server string     `json:"server"`
		Stray  string     `json:"stray"`
		Class  wire.Class `json:"class"`
		Line   int        `json:"line"`
		Column int        `json:"column"`
		Size   int64      `json:"size"`
	}{e.At, e.Server, t.Text(visible([]byte(KeptText(e)))), e.Class, e.Line, e.Column, e.Size})
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

// exchange writes the head of an exchange over HTTP; its messages have lines of their own.
func (t TraceLines) exchange(e wire.HTTPExchange) error {
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
		failed = t.Text(e.Err.Error())
	}
	return t.line(struct {
		Time      time.Time `json:"time"`
		Server    string    `json:"server"`
		LatencyMS float64   `json:"latency_ms,omitempty"`
		HTTP      head      `json:"http"`
	}{e.At, e.Server, exec.Milliseconds(e.Took), head{
		e.Verb, t.Text(e.URL), e.Proto, e.Status, e.Reused, t.headers(e.Sent), t.headers(e.Received), failed,
	}})
}

// headers returns headers without their secrets.
func (t TraceLines) headers(all http.Header) map[string]string {
	shown := make(map[string]string, len(all))
	for name, contents := range all {
		shown[name] = t.Text(strings.Join(contents, ", "))
		if mask.Name(name) {
			shown[name] = mask.Mask
		}
	}
	return shown
}

// line writes a value as a line.
func (t TraceLines) line(value any) error {
	line, err := json.Marshal(value)
	if err == nil {
		_, err = t.Out.Write(append(line, '\n'))
	}
	return err
}
