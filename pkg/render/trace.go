package render

import (
	"fmt"
	"io"
	"strings"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/wire"
)

// Frame is one message between toolx and a server in a trace.
type Frame struct {
	At      time.Time
	Server  string
	Sent    bool          // by toolx; else received
	Bytes   []byte        // the whole JSON-RPC message
	Latency time.Duration // of a response since its request; zero if unknown
	// Hide masks secrets in quotes from the message; nil shows everything.
	Hide func(string) string
	// Content is the message to show, without secrets; nil leaves it out.
	Content []byte
}

// Trace writes one line about a frame, in one write: the time, the server, the direction, the kind of message and its
// size; a second line has the content, if given.
//
//	09:15:02.481 zwave → tools/call #3 214 B
//	  {"jsonrpc":"2.0","id":3,"method":"tools/call","params":…}
//	09:15:02.493 zwave ← result #3 1.2 KiB 12 ms
func Trace(out io.Writer, frame Frame, screen Screen) error {
	arrow := screen.Paint(roleName, "←")
	if frame.Sent {
		arrow = screen.Paint(RoleGood, "→")
	}
	what, failed := describe(frame.Bytes, frame.Hide)
	what = Safe(what)
	if failed {
		what = screen.Paint(RoleError, what)
	}
	parts := []string{
		screen.Paint(RoleMuted, frame.At.Format("15:04:05.000")), Safe(frame.Server), arrow, what,
		exec.Bytes(int64(len(frame.Bytes))),
	}
	if frame.Latency > 0 {
		parts = append(parts, Latency(frame.Latency))
	}
	text := strings.Join(parts, " ") + "\n"
	if frame.Content != nil {
		text += "  " + Safe(string(frame.Content)) + "\n"
	}
	_, err := io.WriteString(out, text)
	return err
}

// UnexpectedLine is a line of a server that is not a message.
type UnexpectedLine struct {
	At     time.Time
	Server string
	On     string // "stdout" or "stderr"
	Text   string
}

// TraceUnexpected writes an unexpected line, in one write.
//
//	09:15:02.481 zwave stderr connecting to mqtt://localhost
func TraceUnexpected(out io.Writer, line UnexpectedLine, screen Screen) error {
	at, on := screen.Paint(RoleMuted, line.At.Format("15:04:05.000")), screen.Paint(RoleMuted, line.On)
	_, err := fmt.Fprintf(out, "%s %s %s %s\n", at, Safe(line.Server), on, Safe(line.Text))
	return err
}

// Latency returns a time for people: "0.4 ms", "1204 ms".
func Latency(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%.1f ms", exec.Milliseconds(d))
	}
	return fmt.Sprintf("%d ms", d.Milliseconds())
}

// describe returns a message's method or kind of response, and its id; failed reports that it is an error. hide masks
// secrets in the sender's text.
func describe(frame []byte, hide func(string) string) (what string, failed bool) {
	m, _ := wire.Parse(frame)
	words := func(text string) string {
		if hide != nil {
			text = hide(text) // before cutting, since half a secret would not be found
		}
		return Fit(text, 80)
	}
	switch {
	case m.Method != "":
		what = words(m.Method)
	case m.Err != nil:
		code, message := rawjson.Get(m.Err, "code"), rawjson.GetText(m.Err, "message")
		what, failed = fmt.Sprintf("error %s %q", words(string(code)), words(message)), true
	case m.Result != nil:
		what = "result"
	default:
		what, failed = "not JSON-RPC", true
	}
	if len(m.ID) > 0 {
		what += " #" + words(strings.Trim(string(m.ID), `"`))
	}
	return what, failed
}
