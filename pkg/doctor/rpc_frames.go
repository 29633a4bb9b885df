package doctor

import (
	"encoding/json"
	"fmt"
	"strings"

	"toolx/pkg/servers"
)

// received is one message of a server, with the request that it answers.
type received struct {
	run   *Run
	event servers.FrameReceived
	head  head
	// answers is the request that the message answers, nil where it answers none.
	answers *Exchange
	// depth is how deep it is nested, oddities what its readers disagree about.
	depth    int
	oddities []oddity
}

// messages are all messages that the server sent in all runs, in order.
func (e *Evidence) messages() []received {
	return once(&e.kept, func() []received { return readMessages(e) })
}

func readMessages(e *Evidence) []received {
	list := []received{}
	for _, run := range e.Runs() {
		asked := make(map[string]*Exchange)
		for _, x := range run.Exchanges {
			asked[x.ID] = x
		}
		for _, event := range EventsOf[servers.FrameReceived](run) {
			m := received{run: run, event: event, head: readHead(event.Bytes)}
			if event.Method == "" {
				m.answers = asked[event.ID]
			}
			m.depth, m.oddities = scanJSON(event.Bytes)
			list = append(list, m)
		}
	}
	return list
}

// where is the place of the message.
func (m received) where() *Where {
	where := &Where{Run: m.run.Name, Line: m.event.Line, MS: m.run.Since(m.event.At), Method: m.head.method}
	if m.answers != nil {
		where.Method = m.answers.Method
	}
	return where
}

// placeOf is the place of an odd message.
func (r *Run) placeOf(odd servers.OddFrame) *Where {
	where := &Where{Run: r.Name, Line: odd.Line, Phase: string(odd.Phase), MS: r.Since(odd.At)}
	if x := r.byID(readHead(odd.Bytes).id); x != nil {
		where.Method = x.Method
		if odd.Used { // which is when the phase that it ended is over
			where.Phase = string(servers.PhaseRequest)
		}
	}
	return where
}

// byID finds a request by its id, whatever the JSON type in which that came back;
// nil where there is none.
func (r *Run) byID(id string) *Exchange {
	for _, x := range r.Exchanges {
		if x.ID == plainID(id) {
			return x
		}
	}
	return nil
}

// oddFrames are the odd messages of a class in all runs; evidence says what each shows,
// and one for which it says nothing is passed over. A server that frames one message so
// frames them all so: it is one fault, and one finding.
func (e *Evidence) oddFrames(class servers.Class, evidence func(r *Run, odd servers.OddFrame) string) []Finding {
	var found []Finding
	for _, run := range e.Runs() {
		for _, odd := range EventsOf[servers.OddFrame](run) {
			if odd.Class != class {
				continue
			}
			if text := evidence(run, odd); text != "" {
				found = append(found, Finding{Where: run.placeOf(odd), Evidence: text})
			}
		}
	}
	return oneFault(found)
}

// oneFault keeps the first of findings that are one fault in many messages, and notes how
// many there were, and of which methods.
func oneFault(findings []Finding) []Finding {
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
		note += ", also of " + words(others)
	}
	first.Notes = append(first.Notes, note)
	return []Finding{first}
}

// alike keeps the first of findings that say the same about the same method or tool, and
// notes how many there were.
func alike(findings []Finding) []Finding {
	type key struct {
		title, method, pointer, tool string
		severity                     Severity
	}
	var kept []Finding
	place, count := make(map[key]int), make(map[key]int)
	for _, f := range findings {
		k := key{title: f.Title, severity: f.Severity}
		if f.Where != nil {
			k.method, k.pointer, k.tool = f.Where.Method, f.Where.Pointer, f.Where.Tool
		}
		if count[k]++; count[k] == 1 {
			place[k] = len(kept)
			kept = append(kept, f)
		}
	}
	for k, n := range count {
		if n > 1 {
			f := &kept[place[k]]
			f.Notes = append(f.Notes, fmt.Sprintf("and %d more like it", n-1))
		}
	}
	return kept
}

// answersGarbage says whether a message without an id is the answer to the line
// that is no JSON, which the probing run writes: JSON-RPC 2.0 §5 asks for just that.
func answersGarbage(r *Run, frame []byte) bool {
	const parseError, invalidRequest = -32700, -32600
	if _, sent := r.Marks["garbage"]; !sent {
		return false
	}
	code, ok := errorCode(readHead(frame).err)
	return ok && (code == parseError || code == invalidRequest)
}

// cutJSON is a value on one line, as findings show it.
func cutJSON(value json.RawMessage) string {
	return cut(strings.Join(strings.Fields(string(value)), " "))
}
