package servers

import (
	"strconv"
	"sync"
	"time"

	"toolx/pkg/servers/wire"
)

type message = wire.Message

// frame is a message for a server, with what its sender knows of it.
type frame struct {
	bytes  []byte
	id     string // of a request, or of the request that is answered, as JSON; empty for a notification
	method string // empty for an answer
}

// readFrame reads a message of which nothing is known; bytes may be anything.
func readFrame(bytes []byte) frame {
	m, _ := wire.Parse(bytes)
	return frame{bytes, string(m.ID), m.Method}
}

// NewFrameSent returns the event of a message of which only the bytes are known.
func NewFrameSent(at time.Time, server string, bytes []byte) FrameSent {
	f := readFrame(bytes)
	return FrameSent{Head: Head{At: at, Server: server}, ID: f.id, Method: f.method, Bytes: bytes}
}

// NewFrameReceived returns the event of a message of which only the bytes are known.
func NewFrameReceived(at time.Time, server string, line int, bytes []byte) FrameReceived {
	m, _ := wire.Parse(bytes)
	id := string(m.ID)
	if m.Method == "" {
		id = numericID(m.ID)
	}
	return FrameReceived{Head: Head{At: at, Server: server}, Line: line, ID: id, Method: m.Method, Bytes: bytes}
}

// numericID returns the id of an answer as toolx writes ids, in whatever JSON type it came back.
func numericID(raw []byte) string {
	if id, _, ok := wire.RequestID(raw); ok {
		return strconv.FormatInt(id, 10)
	}
	return string(raw)
}

// requestTimes knows when each request was sent that has no answer yet. The zero value is
// ready; it is safe for concurrent use.
type requestTimes struct {
	mu   sync.Mutex
	sent map[string]time.Time // by id
}

// maxTimed bounds the requests whose times are kept: some are never answered.
const maxTimed = 4096

// eventSent returns the event of a message that is sent now.
func (r *requestTimes) eventSent(server string, f frame) FrameSent {
	event := FrameSent{Head: Now(server), ID: f.id, Method: f.method, Bytes: f.bytes}
	if f.id != "" && f.method != "" {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.sent == nil || len(r.sent) >= maxTimed {
			r.sent = make(map[string]time.Time)
		}
		r.sent[f.id] = event.At
	}
	return event
}

// eventReceived returns the event of a message that came now; id is that of the request
// that it answers, where it is an answer.
func (r *requestTimes) eventReceived(server string, line int, m message, id string) FrameReceived {
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
