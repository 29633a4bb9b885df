package timeline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"toolx/pkg/doctor/culprit"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/wire"
)

// message is what is needed to show a message and to pair it. Texts are cut.
type message struct {
	sent    bool // by toolx
	method  string
	id      string // as its sender wrote it: "3" and 3 are different
	short   int    // counts requests of the session; of a response that of its request; 0 for none
	summary string // what it is, in a few words
	level   string // of a log message
	failed  bool   // an error, or a tool that has failed; responses that are too long to keep are not checked
	answer  bool
	cancels string // the id of the request that a notification cancels

	state   state         // of a request
	latency time.Duration // of a request and its response
	of      string        // of a response: what the request was
}

// state is the state of a request.
type state int

const (
	stateNone      state = iota // it is not a request
	stateWaiting                // for its response
	stateAnswered               //
	stateCancelled              // by the side that sent it
	stateLost                   // the process ended first
	stateUnsure                 // events were dropped since: a response may have been among them
)

// The bounds of what is kept of a message besides its text, in bytes.
const (
	maxID   = 80
	maxName = 120
	maxSaid = 400 // of a log message
)

// request reports whether a message asks for a response.
func (m *message) request() bool { return m.method != "" && m.id != "" }

// announces reports whether a message is a notification of the server that belongs in the log.
func (m *message) announces() bool {
	return !m.sent && m.id == "" && strings.HasPrefix(m.method, "notifications/") &&
		m.method != "notifications/progress" && m.method != "notifications/cancelled"
}

// frame adds a message, and pairs it.
func (s *store) frame(head wire.Head, sent bool, took time.Duration, id, method string, raw []byte) {
	m := &message{sent: sent, id: cutText(id, maxID), method: cutText(method, maxName), latency: took}
	if method == "" || method == "notifications/cancelled" || len(raw) > maxFrame {
		m.read(raw) // others are read when they are drawn: most never are
	}
	source := head.Source()
	if p := s.peers[source]; p != nil && p.command == nil && sent && m.method == "initialize" {
		s.endPeer(source) // without a process, a session begins with its first request
		delete(s.peers, source)
	}
	r := &row{kind: kindMessage, message: m, size: len(raw), at: head.At}
	s.peer(source).pair(r)
	if s.recorded && m.state == stateWaiting {
		m.state = stateLost // unless the response follows
	}
	s.record(r, head, string(raw[:min(len(raw), maxFrame+1)]), maxFrame)
}

// said returns a row's message with what it says.
func (r *row) said() *message {
	if r.message.summary == "" {
		r.message.read([]byte(r.text))
	}
	return r.message
}

// read reads the members of a message that matter besides its id and method. A message that is not
// an object has none.
func (m *message) read(raw []byte) {
	read := wire.Read(raw)
	m.answer = read.Result != nil || read.Err != nil
	param := func(name string) string { return word(rawjson.Get(read.Params, name), maxName) }
	named := func(name string) string { return strings.TrimSpace(m.method + " " + name) }
	switch m.method {
	case "":
		m.summary, m.failed = response(read)
	case "tools/call", "prompts/get":
		m.summary = named(param("name"))
	case "resources/read":
		m.summary = named(param("uri"))
	case "tasks/get", "tasks/result", "tasks/update", "tasks/cancel":
		m.summary = named(param("taskId"))
	case "notifications/progress":
		m.summary = "progress " + param("progress")
		if total := param("total"); total != "" {
			m.summary += "/" + total
		}
		m.summary = strings.TrimSpace(m.summary + " " + param("message"))
	case "notifications/message":
		m.level = cmp.Or(param("level"), "info")
		m.summary = strings.TrimSpace(param("logger") + " " + word(rawjson.Get(read.Params, "data"), maxSaid))
	case "notifications/cancelled":
		m.summary, m.cancels = "cancelled", string(rawjson.Get(read.Params, "requestId"))
	default:
		m.summary = m.method
	}
}

// response describes a response.
func response(m wire.Message) (summary string, failed bool) {
	switch {
	case m.Err != nil:
		code, text := rawjson.Get(m.Err, "code"), rawjson.Get(m.Err, "message")
		return strings.TrimSpace("error " + word(code, maxName) + " " + word(text, maxName)), true
	case m.Result == nil:
		return "not JSON-RPC", true
	case len(m.Result) > maxFrame:
	case string(rawjson.Get(m.Result, "isError")) == "true":
		return "result with isError", true
	default:
		if task := taskState(m.Result); task != "" {
			return "task " + task, false
		}
	}
	return "result", false
}

// taskState returns the state of the task in a result (MCP 2025-11-25, and the extension of 2026-07-28), in the
// server's words; empty if the result has no task.
func taskState(result json.RawMessage) string {
	if task := rawjson.Get(result, "task"); task != nil {
		result = task
	}
	status := rawjson.Get(result, "status")
	if rawjson.Get(result, "taskId") == nil || status == nil {
		return ""
	}
	if message := rawjson.Get(result, "statusMessage"); message != nil {
		return word(status, maxName) + ": " + word(message, maxName)
	}
	return word(status, maxName)
}

// word returns a string's text, or another value as it is written, short enough for a row.
func word(value json.RawMessage, most int) string {
	const escaped = 6 // bytes for one character, as \u0041
	if len(value) > escaped*most {
		value = bytes.Clone(value[:escaped*most])
		if value[0] == '"' {
			return cutText(strings.TrimPrefix(string(value), `"`), most)
		}
	}
	return cutText(rawjson.Unquote(value), most)
}

// maxWaiting bounds the waiting requests of one side, because a server that never stops sending requests would fill the
// memory.
const maxWaiting = 256

// peer holds what is known about a server's process, and which requests have no response yet. A new process or session
// gets a new peer.
type peer struct {
	command []string
	folder  string
	// writers are the known facts about the programs that write to its stdout; nil until they are needed.
	writers *culprit.Context
	// requests are those of each side by their id: toolx's under true. Each side chooses its own
	// JSON-RPC ids, so both may use the same.
	requests map[bool]map[string]*row
	last     int // short id
}

func newPeer(command []string, folder string) *peer {
	return &peer{command: command, folder: folder, requests: map[bool]map[string]*row{true: {}, false: {}}}
}

// peer returns the state of a server.
func (s *store) peer(source wire.Head) *peer {
	if s.peers[source] == nil {
		s.peers[source] = newPeer(nil, "")
	}
	return s.peers[source]
}

// endPeer records that a server's session will send no more responses.
func (s *store) endPeer(source wire.Head) {
	if p := s.peers[source]; p != nil {
		p.mark(stateLost)
		clear(p.requests[true])
		clear(p.requests[false])
	}
}

// pair records a request, or finds the request that a message answers or cancels.
func (p *peer) pair(r *row) {
	m := r.message
	switch {
	case m.request():
		p.ask(r)
	case m.answer:
		if request := p.take(!m.sent, m.id); request != nil {
			asked := request.message
			asked.state = stateAnswered
			asked.latency = cmp.Or(m.latency, max(0, r.at.Sub(request.at)))
			m.latency, m.of, m.short = asked.latency, request.said().summary, asked.short
		}
	case m.cancels != "":
		if request := p.take(m.sent, m.cancels); request != nil {
			request.message.state = stateCancelled
			m.summary = fmt.Sprintf("cancelled #%d", request.message.short)
		}
	}
}

// ask records a request. If an id is reused, its first request counts as abandoned.
func (p *peer) ask(r *row) {
	m := r.message
	p.last++
	m.short = p.last
	requests := p.requests[m.sent]
	if earlier := requests[m.id]; earlier != nil {
		earlier.message.state = stateLost
	} else if len(requests) >= maxWaiting {
		m.state = stateUnsure
		return
	}
	m.state = stateWaiting
	requests[m.id] = r
}

// take removes the request with an id and returns it.
func (p *peer) take(sent bool, id string) *row {
	request := p.requests[sent][id]
	delete(p.requests[sent], id)
	return request
}

// mark changes the state of all waiting requests.
func (p *peer) mark(as state) {
	for _, requests := range p.requests {
		for _, request := range requests {
			request.message.state = as
		}
	}
}
