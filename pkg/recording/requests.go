package recording

import (
	"encoding/json"
	"time"

	"toolx/pkg/rawjson"
	"toolx/pkg/servers/wire"
)

// Request is a request or notification of a recording, with its response.
type Request struct {
	wire.Head
	// FromServer reports that the server sent it.
	FromServer bool
	ID         json.RawMessage // nil: a notification
	Method     string
	Message    []byte
	// Response is the whole response, nil if there is none; Took is the time until it came.
	Response []byte
	Took     time.Duration
}

// Pairs matches responses with requests as the events of a recording pass. The zero value is ready.
type Pairs struct {
	open map[pairKey]*Request
}

// pairKey is what identifies a waiting request.
type pairKey struct {
	source     wire.Head
	fromServer bool
	id         string
}

// Take takes an event and returns the request that it is, or the request that it answers; nil for other events, for
// responses to nothing, and for a request that is repeated while it waits, as HTTP repeats one after a login.
func (p *Pairs) Take(event wire.Event) (request *Request, answers bool) {
	var head wire.Head
	var message []byte
	var fromServer bool
	var took time.Duration
	switch e := event.(type) {
	case wire.FrameSent:
		head, message = e.Head, e.Bytes
	case wire.FrameReceived:
		head, message, fromServer, took = e.Head, e.Bytes, true, e.Took
	case wire.ProcessStarted:
		p.forget(e.Source()) // a new process starts its request ids again
		return nil, false
	default:
		return nil, false
	}
	m, ok := wire.Parse(message)
	if !ok {
		return nil, false
	}
	if m.Method != "" {
		return p.add(&Request{
			Head: head, FromServer: fromServer, ID: m.ID, Method: m.Method, Message: message,
		}), false
	}
	key := pairKey{head.Source(), !fromServer, m.AnswerID()}
	request = p.open[key]
	if request == nil {
		return nil, false
	}
	delete(p.open, key)
	if request.Response, request.Took = message, took; took == 0 {
		request.Took = head.At.Sub(request.At)
	}
	return request, true
}

func (p *Pairs) add(r *Request) *Request {
	if r.ID == nil {
		return r
	}
	if p.open == nil {
		p.open = make(map[pairKey]*Request)
	}
	key := pairKey{r.Source(), r.FromServer, wire.Message{ID: r.ID}.AnswerID()}
	if before := p.open[key]; before != nil && rawjson.Same(before.Message, r.Message) {
		return nil
	}
	p.open[key] = r
	return r
}

// forget drops the waiting requests of a server.
func (p *Pairs) forget(source wire.Head) {
	for key := range p.open {
		if key.source == source {
			delete(p.open, key)
		}
	}
}
