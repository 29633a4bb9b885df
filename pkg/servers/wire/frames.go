package wire

import (
	"strconv"
	"sync"
	"time"
)

// Frame is a message for a server, with what its sender knows of it.
type Frame struct {
	Bytes  []byte
	ID     string // of a request, or of the request that is answered, as JSON; empty for a notification
	Method string // empty for an answer
}

// ReadFrame reads a message of which nothing is known; bytes may be anything.
func ReadFrame(bytes []byte) Frame {
	m, _ := Parse(bytes)
	return Frame{bytes, string(m.ID), m.Method}
}

// NewFrameSent returns the event of a message of which only the bytes are known.
func NewFrameSent(at time.Time, server string, bytes []byte) FrameSent {
	f := ReadFrame(bytes)
	return FrameSent{Head: Head{At: at, Server: server}, ID: f.ID, Method: f.Method, Bytes: bytes}
}

// NewFrameReceived returns the event of a message of which only the bytes are known.
func NewFrameReceived(at time.Time, server string, line int, bytes []byte) FrameReceived {
	m, _ := Parse(bytes)
	id := string(m.ID)
	if m.Method == "" {
		id = m.AnswerID()
	}
	return FrameReceived{Head: Head{At: at, Server: server}, Line: line, ID: id, Method: m.Method, Bytes: bytes}
}

// AnswerID returns the id of an answer as toolx writes ids, in whatever JSON type it came back.
func (m Message) AnswerID() string {
	if id, _, ok := RequestID(m.ID); ok {
		return strconv.FormatInt(id, 10)
	}
	return string(m.ID)
}

// RequestTimes knows when each request was sent that has no answer yet. The zero value is
// ready; it is safe for concurrent use.
type RequestTimes struct {
	mu   sync.Mutex
	sent map[string]time.Time // by id
}

// maxTimed bounds the requests whose times are kept: some are never answered.
const maxTimed = 4096

// Sent returns the event of a message that is sent now.
func (r *RequestTimes) Sent(server string, f Frame) FrameSent {
	event := FrameSent{Head: Now(server), ID: f.ID, Method: f.Method, Bytes: f.Bytes}
	if f.ID != "" && f.Method != "" {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.sent == nil || len(r.sent) >= maxTimed {
			r.sent = make(map[string]time.Time)
		}
		r.sent[f.ID] = event.At
	}
	return event
}

// Received returns the event of a message that came now; id is that of the request
// that it answers, where it is an answer.
func (r *RequestTimes) Received(server string, line int, m Message, id string) FrameReceived {
	event := FrameReceived{Head: Now(server), Line: line, ID: id, Method: m.Method, Bytes: m.Raw}
	if m.Method == "" {
		r.mu.Lock()
		defer r.mu.Unlock()
		if sent, ok := r.sent[id]; ok {
			event.Took = event.At.Sub(sent)
			delete(r.sent, id)
		}
	}
	return event
}
