package recording

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"toolx/pkg/rawjson"
	"toolx/pkg/servers/wire"
	"toolx/pkg/state"
)

// maxLine is how many bytes a line may have. A message of the largest size that toolx accepts by default fits with all
// of its secrets masked.
const maxLine = 256 << 20

// Read reads a recording and passes its events to take, in order. It also reads the recordings of mcporter: messages
// with direction, server and time in "_meta". Lines that cannot be read are passed to skipped with their number,
// counted from 1, and the reason: a process that was killed leaves half a line, for example. The error says that the
// first line is not of a recording, or is that of in.
func Read(in io.Reader, take func(wire.Event), skipped func(line int, why error)) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	known := false
	for number := 1; ; number++ {
		text, tooLong, err := readLine(lines)
		if len(bytes.TrimSpace(text)) > 0 || tooLong {
			event, bad := parse(text)
			if tooLong {
				bad = fmt.Errorf("longer than %d MiB", maxLine>>20)
			}
			switch {
			case bad == nil:
				known = true
				if event != nil {
					take(event)
				}
			case !known && err == nil:
				return fmt.Errorf("not a recording: line %d: %w", number, bad)
			default:
				skipped(number, bad)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// ReadFile is Read for a file, which it names in its reasons for lines that are left out.
func ReadFile(path string, take func(wire.Event), skipped func(why string)) error {
	file, err := state.Open(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer file.Close()
	return Read(file, take, Skipped(path, skipped))
}

// Skipped returns a function for Read that says which line of a file is left out, and why.
func Skipped(path string, say func(why string)) func(line int, why error) {
	return func(line int, why error) { say(fmt.Sprintf("%s, line %d is left out: %v", path, line, why)) }
}

// readLine returns the next line, at most maxLine bytes of it.
func readLine(in *bufio.Reader) (text []byte, tooLong bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(text)+len(part) > maxLine {
			tooLong, text = true, nil
		}
		if !tooLong {
			text = append(text, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, tooLong, err
		}
	}
}

// parse returns the event of a line; nil for one that mcporter writes about its connection.
func parse(text []byte) (wire.Event, error) {
	if rawjson.Get(text, "jsonrpc") != nil && rawjson.Get(text, "_meta") != nil {
		return parseMcporter(text)
	}
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, notJSON(err)
	}
	head := wire.Head{At: l.Time, Server: l.Server, Writer: l.Writer}
	switch {
	case l.Frame != nil:
		return frame(head, l.Direction, sentBytes(l.Frame), milliseconds(l.LatencyMS))
	case l.Unexpected != nil:
		u := l.Unexpected
		return wire.PollutedLine{
			Head: head, Class: u.Class, Line: u.Line, Column: u.Column, Text: []byte(u.Stray), Size: u.Size,
		}, nil
	case l.Stderr != nil:
		return wire.StderrLine{Head: head, Text: *l.Stderr}, nil
	case l.HTTP != nil:
		return l.HTTP.event(head, milliseconds(l.LatencyMS)), nil
	case l.Process != nil && l.Process.Ended == "":
		return wire.ProcessStarted{Head: head, PID: l.Process.PID, Command: l.Process.Command, Cwd: l.Process.Cwd}, nil
	case l.Process != nil:
		p := l.Process
		return wire.ProcessExited{
			Head: head, How: p.Ended, Lived: milliseconds(p.LivedMS), Asked: p.Asked, Forced: p.Forced,
		}, nil
	case l.Dropped > 0:
		return Dropped{head, l.Dropped}, nil
	}
	return nil, errors.New("it has no frame, stray, stderr, http, process or dropped")
}

func notJSON(err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("not JSON at byte %d", syntax.Offset)
	}
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) && kind.Field != "" {
		return fmt.Errorf("%s is a %s", kind.Field, kind.Value)
	}
	return errors.New("not a JSON object")
}

// sentBytes returns the bytes that were sent: the message, or the text of what was no JSON.
func sentBytes(frame json.RawMessage) []byte {
	if rawjson.IsString(frame) {
		return []byte(rawjson.Unquote(frame))
	}
	return frame
}

func frame(head wire.Head, direction string, message []byte, took time.Duration) (wire.Event, error) {
	switch direction {
	case sent:
		event := wire.NewFrameSent(head.At, head.Server, message)
		event.Head = head
		return event, nil
	case received:
		event := wire.NewFrameReceived(head.At, head.Server, 0, message)
		event.Head, event.Took = head, took
		return event, nil
	}
	return nil, fmt.Errorf("direction %q is neither %s nor %s", direction, sent, received)
}

// parseMcporter returns the event of a line of mcporter: the message, with a member "_meta" that is not of it.
func parseMcporter(text []byte) (wire.Event, error) {
	if err := rawjson.Check(text); err != nil {
		return nil, err
	}
	var about struct {
		Dir, Server string
		TS          time.Time
	}
	var message []rawjson.Member
	for member := range rawjson.Each(text) {
		if member.Name != "_meta" {
			message = append(message, member)
		} else if err := json.Unmarshal(member.Value, &about); err != nil {
			return nil, notJSON(err)
		}
	}
	if about.Dir == "lifecycle" {
		return nil, nil
	}
	direction := map[string]string{"send": sent, "recv": received}[about.Dir]
	return frame(wire.Head{At: about.TS, Server: about.Server}, direction, rawjson.Object(message), 0)
}

func (e exchange) event(head wire.Head, took time.Duration) wire.HTTPExchange {
	var failed error
	if e.Error != "" {
		failed = errors.New(e.Error)
	}
	return wire.HTTPExchange{
		Head: head, Verb: e.Verb, URL: e.URL, Request: e.Request, Proto: e.Protocol, Status: e.Status,
		Sent: headers(e.Sent), Received: headers(e.Received), Reused: e.Reused, Took: took, Err: failed,
	}
}

func headers(shown map[string]string) http.Header {
	all := make(http.Header, len(shown))
	for name, content := range shown {
		all[name] = []string{content}
	}
	return all
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
