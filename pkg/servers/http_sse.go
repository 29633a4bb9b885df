package servers

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"time"
)

// sseEvent is one event of a stream (WHATWG HTML, server-sent events).
type sseEvent struct {
	name string // "message" unless the stream says otherwise
	data []byte
}

// sseReader reads the events of a stream, and keeps what it takes to resume it.
type sseReader struct {
	in    *bufio.Reader
	limit int64 // bytes of one event
	begun bool
	taken int // events that were returned

	// lastID is the id of the last event, empty where none had one; retry is how long
	// the server asks to wait before resuming, zero where it says nothing.
	lastID string
	retry  time.Duration
}

func newSSEReader(r io.Reader, limit int64) *sseReader {
	return &sseReader{in: bufio.NewReaderSize(&lineEnds{in: r}, 32<<10), limit: limit}
}

// goOn reads on from another body, which holds the rest of the stream.
func (s *sseReader) goOn(r io.Reader) {
	s.in.Reset(&lineEnds{in: r})
	s.begun = false
}

// pause is how long to wait before asking for the rest of the stream.
func (s *sseReader) pause() time.Duration {
	if s.retry > 0 {
		return min(max(s.retry, resumeLeast), resumeMost)
	}
	return resumeDelay
}

// next returns the next event that has data. The error is io.EOF where the server has
// ended the stream, errTooLarge, or the connection's. What stands at the end of a
// stream without the empty line that ends an event is taken as one: some servers
// forget it.
func (s *sseReader) next() (sseEvent, error) {
	event := sseEvent{name: "message"}
	id, hasID := "", false
	for {
		line, err := s.line(s.limit - int64(len(event.data)))
		switch {
		case errors.Is(err, io.EOF) && event.data == nil && len(line) == 0:
			return sseEvent{}, err
		case err != nil && !errors.Is(err, io.EOF):
			return sseEvent{}, err
		case len(line) == 0:
			if hasID && err == nil {
				s.lastID = id
			}
			if event.data != nil {
				s.taken++
				return event, nil
			}
			event.name, hasID = "message", false
			continue
		}
		field, content, _ := bytes.Cut(line, []byte(":"))
		content = bytes.TrimPrefix(content, []byte(" "))
		switch string(field) {
		case "event":
			event.name = string(content[:min(len(content), maxField)])
		case "data":
			event.data = joinData(event.data, content)
		case "id":
			if !bytes.ContainsRune(content, 0) && len(content) <= maxField {
				id, hasID = string(content), true
			}
		case "retry":
			if ms, err := strconv.ParseUint(string(content), 10, 31); err == nil {
				s.retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
}

// joinData adds a line of data, which is the event's own from now on, to an event's.
func joinData(data, line []byte) []byte {
	switch {
	case data == nil && line == nil:
		return []byte{} // an event without text is one
	case data == nil:
		return line[:len(line):len(line)]
	}
	return append(append(data, '\n'), line...)
}

// maxField is how many bytes the id or the name of an event may have; a longer one is none.
const maxField = 64 << 10

// line reads a line without its end; with io.EOF it may be one that has none.
func (s *sseReader) line(limit int64) ([]byte, error) {
	var whole []byte
	var err error
	for {
		var part []byte
		part, err = s.in.ReadSlice('\n')
		if int64(len(whole)+len(part)) > limit+int64(len("data: \r\n")) {
			return nil, errTooLarge
		}
		if need := len(whole) + len(part); need > cap(whole) && need > largeLine {
			whole = append(make([]byte, 0, 2*need), whole...) // append would copy a large line often
		}
		whole = append(whole, part...)
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

// lineEnds makes LF of the three ends that a line may have: LF, CR LF, and CR alone. It
// waits for nothing: whether an LF follows a CR is seen when more comes.
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

// rewrite rewrites text in its place and returns how long it is now.
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
