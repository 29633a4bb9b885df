package rpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/wire"
)

// Malformed returns the reply to a request whose response cannot be read.
func Malformed(method string, reason error) Reply {
	return Reply{Err: &exec.MalformedError{What: "the response to " + method, Reason: reason}}
}

// answer ends a pending request with a reply; a second reply is dropped.
func answer(p *Pending, r Reply) {
	select {
	case p.Reply <- r:
	default:
	}
}

// TakeMessage takes a message from the classifier.
func (p *Peer) TakeMessage(m wire.Message, number int) {
	p.Bus.Emit(p.times.Received(p.Server, number, m, p.idOf(m)))
	if !m.Versioned() {
		p.Odd(wire.ClassNoVersion, m, number, true)
	}
	switch m.Kind() {
	case wire.KindReply:
		p.takeReply(m, number)
	case wire.KindRequest:
		p.AnswerRequest(m)
	case wire.KindNotification:
		p.OnNotification(m)
	}
}

// idOf returns the id of a request, or, for an answer, the id of the request that it answers.
func (p *Peer) idOf(m wire.Message) string {
	if m.Kind() != wire.KindReply {
		return string(m.ID)
	}
	if m.ID == nil || string(m.ID) == "null" {
		p.mu.Lock()
		defer p.mu.Unlock()
		if id, waiting := p.namelessAnswers(m); waiting != nil && !m.Quoted && !p.answersNotification(m) {
			return strconv.FormatInt(id, 10)
		}
	}
	return m.AnswerID()
}

// takeReply finds the request that a reply answers. Ids that come back in another type, or as null where only one
// request waits, are accepted and reported.
func (p *Peer) takeReply(m wire.Message, number int) {
	id, exact, ok := wire.RequestID(m.ID)
	p.mu.Lock()
	waiting, phase := p.pending[id], p.phaseLocked() // that of the request that is answered
	if m.Quoted && (waiting == nil || !exact) {
		p.mu.Unlock()
		return // a log that quotes the answer to another client; the line was reported
	}
	class, why := wire.Class(""), ""
	switch {
	case m.Result == nil && m.Err == nil:
		class, why = wire.ClassBadShape, "it has neither result nor error"
	case m.ID == nil || string(m.ID) == "null":
		class = wire.ClassIDNull
		if p.answersNotification(m) {
			class = wire.ClassNotificationReply
			p.notifications--
			break
		}
		id, waiting = p.namelessAnswers(m)
		p.nameless = p.nameless || waiting != nil
	case waiting != nil && !exact:
		class = wire.ClassIDType
	case waiting != nil && m.NullError:
		class, why = wire.ClassBadShape, `it has "error": null beside its result`
	case waiting != nil && m.Result != nil && m.Err != nil:
		class, why = wire.ClassBadShape, "it has both a result and an error; the error counts"
	case waiting == nil && ok:
		if class = p.answered[id]; class == "" {
			class = wire.ClassIDUnknown
		}
		p.late = p.late || class == wire.ClassIDLate
	case !ok:
		class = wire.ClassIDUnknown
	}
	if waiting != nil {
		p.settleLocked(id, wire.ClassIDDuplicate)
		p.notifications = 0 // servers answer in order, or nearly so
	} else if class == wire.ClassIDUnknown {
		p.noteStrayReply(m)
	}
	p.mu.Unlock()
	if class != "" {
		p.oddIn(phase, class, why, m, number, waiting != nil)
	}
	switch {
	case waiting == nil:
	case m.Result == nil && m.Err == nil:
		answer(waiting, Malformed(waiting.Frame.Method, errors.New("it has neither result nor error")))
	default:
		answer(waiting, Reply{Message: m})
	}
}

// noteStrayReply notes a reply that no waiting request has asked for: if one of them times out, that reply is the
// likely cause.
func (p *Peer) noteStrayReply(m wire.Message) {
	p.suspectLocked(fmt.Sprintf("the server answered a request that was never sent, id %s", wire.Evidence(m.ID)))
}

// namelessAnswers returns the request that a reply without an id answers: the one that waits, if there is exactly one.
// What a server says of itself before it is asked, as {"id": null, "result": {"status": "ready"}}, does not answer
// initialize, whose result names a protocol version.
func (p *Peer) namelessAnswers(m wire.Message) (int64, *Pending) {
	if len(p.pending) != 1 {
		return 0, nil
	}
	for id, waiting := range p.pending {
		opening := waiting.Frame.Method == string(mcp.MethodInitialize)
		if !opening || m.Result == nil || rawjson.Get(m.Result, "protocolVersion") != nil {
			return id, waiting
		}
	}
	return 0, nil
}

// answersNotification reports whether a reply without an id more likely answers a notification than the request that
// waits: one was sent since the last answer, the server has named its requests until now, and the reply has nothing to
// tell. The error of a request that could not be read is none: JSON-RPC 2.0 §5 wants a null id in it.
func (p *Peer) answersNotification(m wire.Message) bool {
	if p.notifications == 0 || p.nameless {
		return false
	}
	if m.Err != nil {
		var failure struct{ Code int }
		unread := json.Unmarshal(m.Err, &failure) == nil &&
			(failure.Code == mcp.PARSE_ERROR || failure.Code == mcp.INVALID_REQUEST)
		return !unread
	}
	members, ok := rawjson.Members(m.Result)
	return !ok || len(members) == 0
}

// Odd reports a message that breaks the rules, and whether it was used all the same.
func (p *Peer) Odd(class wire.Class, m wire.Message, number int, used bool) {
	p.oddIn(p.Phase(), class, "", m, number, used)
}

func (p *Peer) oddIn(phase wire.Phase, class wire.Class, why string, m wire.Message, number int, used bool) {
	p.Bus.Emit(wire.OddFrame{
		Head: wire.Now(p.Server), Class: class, Line: number,
		Phase: phase, Why: why, Bytes: wire.Evidence(m.Raw), Used: used,
	})
}

// AnswerRequest answers a request of the server at once: a ping with an empty result, and a method that toolx has not
// advertised with -32601. It passes the rest to OnRequest. A server that gets no answer waits for ever.
func (p *Peer) AnswerRequest(m wire.Message) {
	if p.OnRequest(p, m) {
		return
	}
	known := m.Method == string(mcp.MethodPing)
	p.Bus.Emit(wire.ServerRequest{Head: wire.Now(p.Server), Method: m.Method, Answered: known})
	if known {
		p.Respond(m, json.RawMessage("{}"), nil)
		return
	}
	p.Respond(m, nil, &Error{mcp.METHOD_NOT_FOUND, "Method not found: " + m.Method})
}

// Refuse answers a request that is not acted on because of the text on its line.
func (p *Peer) Refuse(m wire.Message) {
	const reason = "Invalid request: other text stood on its line, so it was not acted on"
	p.Respond(m, nil, &Error{mcp.INVALID_REQUEST, reason})
}
