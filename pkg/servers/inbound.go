package servers

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
)

// takeFinding tells of a line that is not one message, and fails a request whose
// answer is lost by it.
func (t *stdio) takeFinding(f finding) {
	t.mu.Lock()
	phase := t.phase()
	if !f.class.Harmless() && f.salvaged == 0 && len(t.stray) < 5 {
		t.stray = append(t.stray, string(f.text[:min(len(f.text), 200)]))
	}
	t.mu.Unlock()
	t.bus.Emit(PollutedLine{
		Time: exec.Now(), Server: t.server, Class: f.class,
		Line: f.number, Offset: f.offset, Column: f.column, Phase: phase,
		Since: time.Since(t.process.started), Text: f.text, Size: f.size, Salvaged: f.salvaged,
		Unended: f.end == endIdle || f.end == endEOF,
	})
	switch {
	case f.class == ClassTooLong && beginsMessage(f.text):
		t.failLost(f, fmt.Errorf("line %d is over the limit of %s for one message; maxMessage in the config raises it",
			f.number, exec.Bytes(t.max)))
	case f.class == ClassBroken && f.end != endEOF:
		// At the end of stdout the server's exit says more than its half message.
		t.failLost(f, fmt.Errorf("line %d is not JSON: %w", f.number, f.syntax))
	}
}

// failLost fails the request whose answer was cut off or over the limit: no other
// answer will come. Which one it is stands near the line's beginning or end; where
// it does not, and only one is waiting, it is that one.
func (t *stdio) failLost(f finding, reason error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	head := strings.ReplaceAll(string(f.text), " ", "")
	for id, p := range t.pending {
		mark := fmt.Sprintf(`"id":%d`, id)
		if strings.Contains(head, mark+",") || strings.Contains(string(f.tail), mark+"}") || len(t.pending) == 1 {
			t.settleLocked(id, ClassIDLate)
			answer(p, malformed(p.method, reason))
			return
		}
	}
}

func malformed(method string, reason error) reply {
	return reply{err: &exec.MalformedError{What: "the reply to " + method, Reason: reason}}
}

// answer gives a request its end; a second one is dropped.
func answer(p *pending, r reply) {
	select {
	case p.reply <- r:
	default:
	}
}

// takeMessage takes a message from the classifier.
func (t *stdio) takeMessage(m message, number int) {
	t.bus.Emit(FrameReceived{Time: exec.Now(), Server: t.server, Line: number, Bytes: m.raw})
	if !m.versioned() {
		t.odd(ClassNoVersion, m, number, true)
	}
	switch m.kind() {
	case kindReply:
		t.takeReply(m, number)
	case kindRequest:
		t.answerRequest(m)
	case kindNotification:
		t.onNotification(m.method, m.params)
	}
}

// takeReply finds the request that a reply answers. Ids that came back in another
// type, or as null where only one request waits, are understood and reported.
func (t *stdio) takeReply(m message, number int) {
	id, exact, ok := requestID(m.id)
	t.mu.Lock()
	p := t.pending[id]
	class := Class("")
	switch {
	case m.result == nil && m.err == nil:
		class = ClassBadShape
	case m.id == nil || string(m.id) == "null":
		class = ClassIDNull
		id, p = t.onlyPending()
	case p != nil && !exact:
		class = ClassIDType
	case p == nil && ok:
		if class = t.answered[id]; class == "" {
			class = ClassIDUnknown
		}
	case !ok:
		class = ClassIDUnknown
	}
	if p != nil {
		t.settleLocked(id, ClassIDDuplicate)
	} else if class == ClassIDUnknown {
		t.noteStrayReply(m)
	}
	t.mu.Unlock()
	if class != "" {
		t.odd(class, m, number, p != nil)
	}
	switch {
	case p == nil:
	case class == ClassBadShape:
		answer(p, malformed(p.method, errors.New("it has neither result nor error")))
	default:
		answer(p, reply{message: m})
	}
}

// noteStrayReply tells the requests that wait of a reply that none of them has
// asked for: when one of them times out, that is most likely why.
func (t *stdio) noteStrayReply(m message) {
	detail := fmt.Sprintf("the server answered a request that was never sent, id %s", evidence(m.id))
	for _, p := range t.pending {
		p.detail = detail
	}
}

// onlyPending returns the one request that waits, if it is the only one.
func (t *stdio) onlyPending() (int64, *pending) {
	if len(t.pending) == 1 {
		for id, p := range t.pending {
			return id, p
		}
	}
	return 0, nil
}

func (t *stdio) odd(class Class, m message, number int, used bool) {
	t.mu.Lock()
	phase := t.phase()
	t.mu.Unlock()
	t.bus.Emit(OddFrame{
		Time: exec.Now(), Server: t.server, Class: class, Line: number,
		Phase: phase, Bytes: evidence(m.raw), Used: used,
	})
}

// answerRequest answers a request of the server at once: a ping with an empty
// result, anything else with -32601, for toolx advertises no capability. A server
// that is left without an answer waits for ever.
func (t *stdio) answerRequest(m message) {
	answer := map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "id": m.id}
	known := m.method == string(mcp.MethodPing)
	if known {
		answer["result"] = struct{}{}
	} else {
		answer["error"] = map[string]any{"code": mcp.METHOD_NOT_FOUND, "message": "Method not found: " + m.method}
	}
	t.bus.Emit(ServerRequest{Time: exec.Now(), Server: t.server, Method: m.method, Answered: known})
	encoded, err := rawjson.Marshal(answer)
	if err != nil {
		return
	}
	select {
	case t.writes <- &outgoing{bytes: encoded}:
	default:
		// The queue is full because the server does not read; waiting here would
		// stop reading from it as well.
		t.bus.Emit(exec.Notice{Time: exec.Now(), Text: fmt.Sprintf(
			"server %q asked %s and does not read its stdin: not answered", t.server, m.method)})
	}
}
