// Package wire reads the messages of a server, and holds them against JSON-RPC and against
// the published schemas of MCP's revisions.
package wire

import (
	"fmt"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/servers"
)

// refusalBefore reports whether a message over HTTP came before any revision was agreed on,
// as the answer of a legacy server to server/discover does. What such a server says to
// what has no session is of no revision.
func refusalBefore(e *evidence.Evidence, m Received) bool {
	first := m.Run.Exchange("initialize", 0)
	return e.OverHTTP() && first != nil && m.Event.At.Before(first.At)
}

// Received is one message of a server, with the request that it answers.
type Received struct {
	Run   *evidence.Run
	Event servers.FrameReceived
	Head  evidence.Head
	// Answers is the request that the message answers, nil where it answers none.
	Answers *evidence.Exchange
	// Depth is how deep it is nested, oddities what its readers disagree about.
	Depth    int
	Oddities []Oddity
}

// Messages are all messages that the server sent in all runs, in order.
func Messages(e *evidence.Evidence) []Received {
	return evidence.Once(&e.Kept, func() []Received { return readMessages(e) })
}

func readMessages(e *evidence.Evidence) []Received {
	list := []Received{}
	for _, run := range e.Runs() {
		asked := make(map[string]*evidence.Exchange)
		for _, x := range run.Exchanges {
			asked[x.ID] = x
		}
		for _, event := range evidence.EventsOf[servers.FrameReceived](run) {
			m := Received{Run: run, Event: event, Head: evidence.ReadHead(event.Bytes)}
			if event.Method == "" && m.Head.NamesRequest() {
				m.Answers = asked[event.ID]
			}
			m.Depth, m.Oddities = ScanJSON(event.Bytes)
			list = append(list, m)
		}
	}
	return list
}

// Where is the place of the message.
func (m Received) Where() *evidence.Where {
	where := &evidence.Where{Run: m.Run.Name, Line: m.Event.Line, MS: m.Run.Since(m.Event.At), Method: m.Head.Method}
	if m.Answers != nil {
		where.Method = m.Answers.Method
	}
	return where
}

// PlaceOf is the place of an odd message.
func PlaceOf(r *evidence.Run, odd servers.OddFrame) *evidence.Where {
	where := &evidence.Where{Run: r.Name, Line: odd.Line, Phase: string(odd.Phase), MS: r.Since(odd.At)}
	if x := r.ByID(evidence.ReadHead(odd.Bytes).ID); x != nil {
		where.Method = x.Method
		if odd.Used { // which is when the phase that it ended is over
			where.Phase = string(servers.PhaseRequest)
		}
	}
	return where
}

// OddFrames are the odd messages of a class in all runs; evidence says what each shows,
// and one for which it says nothing is passed over. A server that frames one message so
// frames them all so: it is one fault, and one finding.
func OddFrames(e *evidence.Evidence, class servers.Class, seen func(r *evidence.Run, odd servers.OddFrame) string) []check.Finding {
	var found []check.Finding
	for _, run := range e.Runs() {
		for _, odd := range evidence.EventsOf[servers.OddFrame](run) {
			if odd.Class != class {
				continue
			}
			if text := seen(run, odd); text != "" {
				found = append(found, check.Finding{Where: PlaceOf(run, odd), Evidence: text})
			}
		}
	}
	return oneFault(found)
}

// oneFault keeps the first of findings that are one fault in many messages, and notes how
// many there were, and of which methods.
func oneFault(findings []check.Finding) []check.Finding {
	const named = 4
	if len(findings) < 2 {
		return findings
	}
	first := findings[0]
	seen := map[string]bool{"": true, first.Where.Method: true}
	var others []string
	for _, f := range findings[1:] {
		if method := f.Where.Method; !seen[method] {
			seen[method] = true
			others = append(others, method)
		}
	}
	note := fmt.Sprintf("and %d more like it", len(findings)-1)
	if more := len(others) - named; more > 0 {
		others = append(others[:named], fmt.Sprintf("%d more methods", more))
	}
	if len(others) > 0 {
		note += ", also of " + evidence.Words(others)
	}
	first.Notes = append(first.Notes, note)
	return []check.Finding{first}
}

// AnswersGarbage reports whether a message without an id is the answer to the line
// that is no JSON, which the probing run writes: JSON-RPC 2.0 §5 asks for just that.
func AnswersGarbage(r *evidence.Run, frame []byte) bool {
	const parseError, invalidRequest = -32700, -32600
	if _, sent := r.Marks["garbage"]; !sent {
		return false
	}
	code, ok := evidence.ErrorCode(evidence.ReadHead(frame).Err)
	return ok && (code == parseError || code == invalidRequest)
}

// IsEcho reports whether the message is one of toolx's own that came back: stdout-echo
// tells.
func (m Received) IsEcho() bool {
	for _, x := range m.Run.Exchanges {
		if x.ID == m.Head.ID && x.Method == m.Head.Method {
			return true
		}
	}
	return false
}
