// Package wire reads a server's messages and validates them against JSON-RPC and MCP's schemas.
package wire

import (
	"fmt"
	"slices"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/servers/wire"
)

// beforeAgreement reports whether an HTTP message came before a revision was negotiated, such as a legacy server's
// response to server/discover. No schema applies to it.
func beforeAgreement(e *evidence.Evidence, m Received) bool {
	if !e.OverHTTP() {
		return false
	}
	first := m.Run.Exchange("initialize", 0)
	return first != nil && m.Event.At.Before(first.At)
}

// Received is one message of a server.
type Received struct {
	Run   *evidence.Run
	Event wire.FrameReceived
	Head  evidence.Head
	// Answers is the request that the message responds to, or nil.
	Answers *evidence.Exchange
	// Depth is the nesting depth of the message.
	Depth    int
	Oddities []Oddity
}

// Messages returns the server's messages in all runs, in order.
func Messages(e *evidence.Evidence) []Received {
	return evidence.Once(&e.Kept, func() []Received { return readMessages(e) })
}

func readMessages(e *evidence.Evidence) []Received {
	var list []Received
	for _, run := range e.Runs() {
		asked := make(map[string]*evidence.Exchange)
		for _, x := range run.Exchanges {
			asked[x.ID] = x
		}
		for _, event := range evidence.EventsOf[wire.FrameReceived](run) {
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

// Where returns the place of the message.
func (m Received) Where() *evidence.Where {
	where := &evidence.Where{Run: m.Run.Name, Line: m.Event.Line, MS: m.Run.Since(m.Event.At), Method: m.Head.Method}
	if m.Answers != nil {
		where.Method = m.Answers.Method
	}
	return where
}

// PlaceOf returns the place of an odd message.
func PlaceOf(r *evidence.Run, odd wire.OddFrame) *evidence.Where {
	where := &evidence.Where{Run: r.Name, Line: odd.Line, Phase: string(odd.Phase), MS: r.Since(odd.At)}
	if x := r.ByID(evidence.ReadHead(odd.Bytes).ID); x != nil {
		where.Method = x.Method
		if odd.Used { // it ended the request's phase
			where.Phase = string(wire.PhaseRequest)
		}
	}
	return where
}

// OddFrames returns one finding about the odd messages of a class in all runs, because a server writes all messages the
// same way. seen describes a message, or returns nothing to ignore it.
func OddFrames(
	e *evidence.Evidence, class wire.Class, seen func(r *evidence.Run, odd wire.OddFrame) string,
) []check.Finding {
	var found []check.Finding
	for _, run := range e.Runs() {
		for _, odd := range evidence.EventsOf[wire.OddFrame](run) {
			if odd.Class != class {
				continue
			}
			if text := seen(run, odd); text != "" {
				found = append(found, check.At(PlaceOf(run, odd), "%s", text))
			}
		}
	}
	return oneFault(found)
}

// oneFault keeps the first finding, and notes how many others there are and their methods.
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

// AnswersGarbage reports whether a message without an id is the response to the probing run's invalid line, as JSON-RPC
// 2.0 §5 requires. Servers without an SDK often use -32603 for any exception.
func AnswersGarbage(r *evidence.Run, frame []byte) bool {
	const parseError, invalidRequest, internalError = -32700, -32600, -32603
	if _, sent := r.Marks["garbage"]; !sent {
		return false
	}
	code, ok := evidence.ErrorCode(evidence.ReadHead(frame).Err)
	return ok && (code == parseError || code == invalidRequest || code == internalError)
}

// IsEcho reports whether the message is one of toolx's own requests, which stdout-echo reports.
func (m Received) IsEcho() bool {
	return m.Head.Method != "" && slices.ContainsFunc(m.Run.Exchanges, func(x *evidence.Exchange) bool {
		return x.ID == m.Head.ID && x.Method == m.Head.Method
	})
}
