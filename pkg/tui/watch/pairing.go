package watch

import "time"

// maxWaiting bounds the requests of one side whose answers are waited for: a server
// that asks without end and is not answered would be remembered for ever.
const maxWaiting = 256

// peer is what is known of a server's process: when its session began, and which
// requests have no answer yet. A new process or session begins anew.
type peer struct {
	began   time.Time
	command []string
	sent    map[string]*frame // toolx's requests by their id
	asked   map[string]*frame // the server's
}

func newPeer(began time.Time, command []string) *peer {
	return &peer{began, command, make(map[string]*frame), make(map[string]*frame)}
}

// waiting counts the requests that wait for sure.
func (p *peer) waiting() int {
	n := 0
	for _, requests := range []map[string]*frame{p.sent, p.asked} {
		for _, request := range requests {
			if request.state == stateWaiting {
				n++
			}
		}
	}
	return n
}

// requests are those of one side. JSON-RPC ids are the business of who asks: both
// sides may use the same.
func (p *peer) requests(sent bool) map[string]*frame {
	if sent {
		return p.sent
	}
	return p.asked
}

// pair notes a request, or finds the request that a message answers or cancels.
func (p *peer) pair(f *frame) {
	switch {
	case f.head.request():
		p.ask(f)
	case f.head.answer:
		if request := p.take(!f.sent, f.head.id); request != nil {
			request.settle(f)
		}
	case f.head.cancels != "":
		if request := p.take(f.sent, f.head.cancels); request != nil {
			request.state = stateCancelled
		}
	}
}

// ask notes a request. An id that is used again means that its first request is given
// up.
func (p *peer) ask(f *frame) {
	requests := p.requests(f.sent)
	if earlier := requests[f.head.id]; earlier != nil {
		earlier.state = stateLost
	} else if len(requests) >= maxWaiting {
		f.state = stateUnsure
		return
	}
	f.state = stateWaiting
	requests[f.head.id] = f
}

// take finds the request with an id and forgets it.
func (p *peer) take(sent bool, id string) *frame {
	requests := p.requests(sent)
	request := requests[id]
	delete(requests, id)
	return request
}

// settle ends a request by its answer.
func (f *frame) settle(answer *frame) {
	f.state = stateAnswered
	f.latency = max(0, answer.at.Sub(f.at))
	answer.latency, answer.of = f.latency, f.head.what()
}

// end ends all requests that wait.
func (p *peer) end(as state) {
	for _, requests := range []map[string]*frame{p.sent, p.asked} {
		for _, request := range requests {
			request.state = as
		}
		clear(requests)
	}
}

// doubt marks the requests that wait: events were dropped. An answer that comes all
// the same is still found.
func (p *peer) doubt() {
	for _, requests := range []map[string]*frame{p.sent, p.asked} {
		for _, request := range requests {
			request.state = stateUnsure
		}
	}
}
