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

	// lastID is the id of the last event, empty where none had one; retry is how long
	// the server asks to wait before resuming, zero where it says nothing.
	lastID string
	retry  time.Duration
}

func newSSEReader(r io.Reader, limit int64) *sseReader {
	return &sseReader{in: bufio.NewReaderSize(r, 32<<10), limit: limit}
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
				return event, nil
			}
			event.name, hasID = "message", false
			continue
		}
		field, content, _ := bytes.Cut(line, []byte(":"))
		content = bytes.TrimPrefix(content, []byte(" "))
		switch string(field) {
		case "event":
			event.name = string(content)
		case "data":
			event.data = joinData(event.data, content)
		case "id":
			if !bytes.ContainsRune(content, 0) {
				id, hasID = string(content), true
			}
		case "retry":
			if ms, err := strconv.ParseUint(string(content), 10, 31); err == nil {
				s.retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
}

// joinData adds a line of data to an event's.
func joinData(data, line []byte) []byte {
	if data == nil {
		return append([]byte{}, line...)
	}
	return append(append(data, '\n'), line...)
}

// line reads a line, which may end in LF or CR LF, without its end; with io.EOF it
// may be one that has none.
func (s *sseReader) line(limit int64) ([]byte, error) {
	var whole []byte
	var err error
	for {
		var part []byte
		part, err = s.in.ReadSlice('\n')
		if int64(len(whole)+len(part)) > limit+int64(len("data: \r\n")) {
			return nil, errTooLarge
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
	return bytes.TrimSuffix(bytes.TrimSuffix(whole, []byte("\n")), []byte("\r")), err
}
