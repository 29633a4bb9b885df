package servers

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/wire"
)

// takeFinding reports a line that is not one message, and fails a request whose answer is lost with it.
func (t *stdio) takeFinding(f wire.Finding) {
	t.mu.Lock()
	phase := t.phase()
	if !f.Class.Harmless() && f.Salvaged == 0 {
		t.noteStray(string(f.Text[:min(len(f.Text), strayBytes)]))
		t.noteSaid(f.Text)
	}
	t.mu.Unlock()
	t.bus.Emit(f.Event(t.server, phase, t.process.started))
	switch {
	case f.Class == wire.ClassTooLong && wire.BeginsMessage(f.Text):
		t.failLost(f, fmt.Errorf("line %d is over the limit of %s for one message; maxMessage in the config raises it",
			f.Number, exec.Bytes(t.max)))
	case f.Class == wire.ClassBroken && f.End != wire.EndEOF:
		// At the end of stdout, the server's exit says more than half a message does.
		t.failLost(f, fmt.Errorf("line %d is not JSON: %w", f.Number, f.Syntax))
	}
}

// The bounds on what a Failure keeps of stdout: bytes of a line, and how many of the first lines, for a person and for
// finding the cause.
const (
	strayBytes = 200
	strayLines = 5
	saidBytes  = 4096
	saidLines  = 200
)

// takeOwnMessage takes a message and keeps what is no answer: some servers log by notifications of their own.
func (t *stdio) takeOwnMessage(m wire.Message, number int) {
	if m.Kind() != wire.KindReply {
		t.mu.Lock()
		t.noteSaid(m.Raw)
		t.mu.Unlock()
	}
	t.takeMessage(m, number)
}

// noteSaid keeps a line of stdout for finding the cause of a failure; t.mu is held.
func (t *stdio) noteSaid(text []byte) {
	if len(t.said) < saidLines {
		t.said = append(t.said, string(text[:min(len(text), saidBytes)]))
	}
}

// noteStray keeps a foreign line; t.mu is held.
func (t *stdio) noteStray(text string) {
	t.strays++
	if len(t.stray) < strayLines {
		t.stray = append(t.stray, text)
	}
	t.recent = append(t.recent, text)
	if len(t.recent) > failureLines {
		t.recent = slices.Delete(t.recent, 0, 1)
	}
}

// requestHead matches the beginning of a request, without blanks.
var requestHead = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\{"jsonrpc":"2\.0",(?:"id":[^,]*,)?"method":`)
})

// failLost fails the request whose answer was cut off or over the limit, since no other answer will come. The id is
// looked for near the line's beginning and end; where it is not there and only one request waits, that request is
// failed.
func (t *stdio) failLost(f wire.Finding, reason error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	head := strings.ReplaceAll(string(f.Text), " ", "")
	if f.Class == wire.ClassBroken && requestHead().MatchString(head) {
		return // it is no answer: a prompt on the terminal draws again what it reads
	}
	for id, p := range t.pending {
		mark := fmt.Sprintf(`"id":%d`, id)
		if strings.Contains(head, mark+",") || strings.Contains(string(f.Tail), mark+"}") || len(t.pending) == 1 {
			t.settleLocked(id, wire.ClassIDLate)
			answer(p, malformed(p.method, reason))
			return
		}
	}
}

func malformed(method string, reason error) reply {
	return reply{err: &exec.MalformedError{What: "the reply to " + method, Reason: reason}}
}

// answer ends a pending request with a reply; a second reply is dropped.
func answer(p *pending, r reply) {
	select {
	case p.reply <- r:
	default:
	}
}

// takeMessage takes a message from the classifier.
func (p *peer) takeMessage(m wire.Message, number int) {
	p.bus.Emit(p.times.Received(p.server, number, m, p.idOf(m)))
	if !m.Versioned() {
		p.odd(wire.ClassNoVersion, m, number, true)
	}
	switch m.Kind() {
	case wire.KindReply:
		p.takeReply(m, number)
	case wire.KindRequest:
		p.answerRequest(m)
	case wire.KindNotification:
		p.onNotification(m.Method, m.Params)
	}
}

// idOf returns the id of a request, or, for an answer, the id of the request that it answers.
func (p *peer) idOf(m wire.Message) string {
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
	return wire.NumericID(m.ID)
}

// takeReply finds the request that a reply answers. Ids that come back in another type, or as null where only one
// request waits, are accepted and reported.
func (p *peer) takeReply(m wire.Message, number int) {
	id, exact, ok := wire.RequestID(m.ID)
	p.mu.Lock()
	waiting, phase := p.pending[id], p.phase() // that of the request that is answered
	if m.Quoted && (waiting == nil || !exact) {
		p.mu.Unlock()
		return // a log that quotes somebody else's answer; the line was told of
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
		answer(waiting, malformed(waiting.method, errors.New("it has neither result nor error")))
	default:
		answer(waiting, reply{message: m})
	}
}

// noteStrayReply notes a reply that no waiting request has asked for: if one of them times out, that reply is the
// likely cause.
func (p *peer) noteStrayReply(m wire.Message) {
	detail := fmt.Sprintf("the server answered a request that was never sent, id %s", wire.Evidence(m.ID))
	for _, waiting := range p.pending {
		waiting.detail = detail
	}
}

// namelessAnswers returns the request that a reply without an id answers: the one that waits, if there is exactly one.
// What a server says of itself before it is asked, as {"id": null, "result": {"status": "ready"}}, does not answer
// initialize, whose result names a protocol version.
func (p *peer) namelessAnswers(m wire.Message) (int64, *pending) {
	if len(p.pending) != 1 {
		return 0, nil
	}
	for id, waiting := range p.pending {
		opening := waiting.method == string(mcp.MethodInitialize)
		if !opening || m.Result == nil || rawjson.Get(m.Result, "protocolVersion") != nil {
			return id, waiting
		}
	}
	return 0, nil
}

// answersNotification reports whether a reply without an id more likely answers a notification than the request that
// waits: one was sent since the last answer, the server has named its requests until now, and the reply has nothing to
// tell. The error of a request that could not be read is none: JSON-RPC 2.0 §5 wants a null id in it.
func (p *peer) answersNotification(m wire.Message) bool {
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

func (p *peer) odd(class wire.Class, m wire.Message, number int, used bool) {
	p.mu.Lock()
	phase := p.phase()
	p.mu.Unlock()
	p.oddIn(phase, class, "", m, number, used)
}

func (p *peer) oddIn(phase wire.Phase, class wire.Class, why string, m wire.Message, number int, used bool) {
	p.bus.Emit(wire.OddFrame{
		Head: wire.Now(p.server), Class: class, Line: number,
		Phase: phase, Why: why, Bytes: wire.Evidence(m.Raw), Used: used,
	})
}

// answerRequest answers a request of the server at once: a ping with an empty result, and a method that toolx has not
// advertised with -32601. It passes the rest to onRequest. A server that gets no answer waits for ever.
func (p *peer) answerRequest(m wire.Message) {
	if p.onRequest(p, m) {
		return
	}
	known := m.Method == string(mcp.MethodPing)
	p.bus.Emit(wire.ServerRequest{Head: wire.Now(p.server), Method: m.Method, Answered: known})
	if known {
		p.respond(m, json.RawMessage("{}"), nil)
		return
	}
	p.respond(m, nil, &requestError{mcp.METHOD_NOT_FOUND, "Method not found: " + m.Method})
}

// refuse answers a request that is not acted on because of the text on its line.
func (p *peer) refuse(m wire.Message) {
	const reason = "Invalid request: other text stood on its line, so it was not acted on"
	p.respond(m, nil, &requestError{mcp.INVALID_REQUEST, reason})
}
