// Package sse reads streams of server-sent events (WHATWG HTML, section 9.2).
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"time"

	"toolx/pkg/rawjson"
)

// Event is one event of a stream.
type Event struct {
	Name string // "message" unless the stream says otherwise
	Data []byte // its lines, joined by newlines
}

// Reader reads the events of a stream, and keeps what is needed to resume it.
type Reader struct {
	in    *bufio.Reader
	limit int64 // bytes of one event
	begun bool

	// Taken counts the events that Next has returned.
	Taken int
	// LastID is the id of the last event, empty if none had one.
	LastID string
	// Retry is how long the server asks to wait before resuming, zero if it does not.
	Retry time.Duration
}

// ErrTooLarge says that an event is over the limit of its reader.
var ErrTooLarge = errors.New("over the limit")

// NewReader returns a reader of the events of r, each of limit bytes at most.
func NewReader(r io.Reader, limit int64) *Reader {
	return &Reader{in: bufio.NewReaderSize(&lineEnds{in: r}, 32<<10), limit: limit}
}

// Continue continues with another body, which has the rest of the stream.
func (s *Reader) Continue(r io.Reader) {
	s.in.Reset(&lineEnds{in: r})
	s.begun = false
}

// Next returns the next event that has data. The error is io.EOF after the server has ended the stream, ErrTooLarge, or
// a read error. The last event counts even without the empty line that should end it, which some servers forget.
func (s *Reader) Next() (Event, error) {
	event := Event{Name: "message"}
	id, hasID := "", false
	for {
		line, err := s.line(s.limit - int64(len(event.Data)))
		switch {
		case errors.Is(err, io.EOF) && event.Data == nil && len(line) == 0:
			return Event{}, err
		case err != nil && !errors.Is(err, io.EOF):
			return Event{}, err
		case len(line) == 0:
			if hasID && err == nil {
				s.LastID = id
			}
			if event.Data != nil {
				s.Taken++
				return event, nil
			}
			event.Name, hasID = "message", false
			continue
		}
		field, content, _ := bytes.Cut(line, []byte(":"))
		content = bytes.TrimPrefix(content, []byte(" "))
		switch string(field) {
		case "event":
			event.Name = string(content[:min(len(content), maxField)])
		case "data":
			event.Data = joinData(event.Data, content)
		case "id":
			if !bytes.ContainsRune(content, 0) && len(content) <= maxField {
				id, hasID = string(content), true
			}
		case "retry":
			if ms, err := strconv.ParseUint(string(content), 10, 31); err == nil {
				s.Retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
}

// joinData appends a line of data, which the event then owns, to an event's data.
func joinData(data, line []byte) []byte {
	switch {
	case data == nil && line == nil:
		return []byte{} // an event without text is one
	case data == nil:
		return line[:len(line):len(line)]
	}
	return append(append(data, '\n'), line...)
}

// maxField bounds the id and the name of an event, in bytes; a longer one is ignored.
const maxField = 64 << 10

// line reads a line without its end; with io.EOF the line may be unfinished.
func (s *Reader) line(limit int64) ([]byte, error) {
	var whole []byte
	var err error
	for {
		var part []byte
		part, err = s.in.ReadSlice('\n')
		if int64(len(whole)+len(part)) > limit+int64(len("data: \r\n")) {
			return nil, ErrTooLarge
		}
		whole = append(rawjson.Room(whole, len(part), limit), part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	if !s.begun {
		whole = bytes.TrimPrefix(whole, []byte("\ufeff"))
		s.begun = true
	}
	return bytes.TrimSuffix(whole, []byte("\n")), err
}

// lineEnds turns the three line ends (LF, CR LF, and CR alone) into LF. It never waits to see whether an LF follows a
// CR: that is checked when more data comes.
type lineEnds struct {
	in      io.Reader
	afterCR bool // the last byte was one
}

// Read implements io.Reader.
func (l *lineEnds) Read(p []byte) (int, error) {
	for {
		n, err := l.in.Read(p)
		if n = l.rewrite(p[:n]); n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
	}
}

// rewrite rewrites text in place and returns its new length.
func (l *lineEnds) rewrite(text []byte) int {
	if len(text) == 0 || !l.afterCR && bytes.IndexByte(text, '\r') < 0 {
		return len(text)
	}
	kept := text[:0]
	for _, c := range text {
		second := c == '\n' && l.afterCR
		l.afterCR = c == '\r'
		switch {
		case second:
		case l.afterCR:
			kept = append(kept, '\n')
		default:
			kept = append(kept, c)
		}
	}
	return len(kept)
}
