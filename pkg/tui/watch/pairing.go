package watch

import (
	"os"
	"time"

	"toolx/pkg/doctor/culprit"
)

// maxWaiting bounds the waiting requests of one side, because a server that never stops sending requests would fill the
// memory.
const maxWaiting = 256

// peer holds what is known about a server's process: when its session began, and which requests have
// no answer yet. A new process or session gets a new peer.
type peer struct {
	began   time.Time
	command []string
	folder  string
	// writers are the known facts about the programs that write to its stdout; nil until they are needed.
	writers *culprit.Context
	// requests are those of each side by their id: toolx's under true. Each side chooses its own
	// JSON-RPC ids, so both may use the same.
	requests map[bool]map[string]*frame
}

func newPeer(began time.Time, command []string, folder string) *peer {
	return &peer{
		began: began, command: command, folder: folder,
		requests: map[bool]map[string]*frame{true: {}, false: {}},
	}
}

// writersContext returns what is known about the programs that write to the server's stdout. It reads their files,
// once.
func (p *peer) writersContext() culprit.Context {
	if p.writers == nil {
		found := culprit.StartedAs(p.command, p.folder, os.Getenv("PATH"))
		p.writers = &found
	}
	return *p.writers
}

// waiting counts the requests that certainly have no answer yet.
func (p *peer) waiting() int {
	n := 0
	for _, requests := range p.requests {
		for _, request := range requests {
			if request.state == stateWaiting {
				n++
			}
		}
	}
	return n
}

// pair records a request, or finds the request that a message answers or cancels.
func (p *peer) pair(f *frame) {
	switch {
	case f.head.request():
		p.ask(f)
	case f.head.answer:
		if request := p.take(!f.sent, f.head.id); request != nil {
			request.state = stateAnswered
			request.latency = max(0, f.at.Sub(request.at))
			f.latency, f.of = request.latency, request.head.what()
		}
	case f.head.cancels != "":
		if request := p.take(f.sent, f.head.cancels); request != nil {
			request.state = stateCancelled
		}
	}
}

// ask records a request. If an id is reused, its first request counts as abandoned.
func (p *peer) ask(f *frame) {
	requests := p.requests[f.sent]
	if earlier := requests[f.head.id]; earlier != nil {
		earlier.state = stateLost
	} else if len(requests) >= maxWaiting {
		f.state = stateUnsure
		return
	}
	f.state = stateWaiting
	requests[f.head.id] = f
}

// take removes the request with an id and returns it.
func (p *peer) take(sent bool, id string) *frame {
	requests := p.requests[sent]
	request := requests[id]
	delete(requests, id)
	return request
}

// mark changes the state of all waiting requests.
func (p *peer) mark(as state) {
	for _, requests := range p.requests {
		for _, request := range requests {
			request.state = as
		}
	}
}

// end ends all waiting requests, because no more answers will arrive.
func (p *peer) end() {
	p.mark(stateLost)
	clear(p.requests[true])
	clear(p.requests[false])
}
