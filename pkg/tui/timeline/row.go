package timeline

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"sort"
	"strings"
	"time"

	"toolx/pkg/doctor/culprit"
	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/recording"
	"toolx/pkg/servers/wire"
	"toolx/pkg/words"
)

// row is a row of the timeline.
type row struct {
	at     time.Time
	server string
	writer string // of a recording
	kind   kind
	text   string // at most maxText bytes of size, maxFrame of a message
	size   int
	level  string // of a note: a syslog severity, or empty
	number int    // in the order of all rows; of calls of earlier runs below zero
	weight int    // in memory, in bytes; it never changes
	gone   bool   // it was dropped

	message *message // nil if it is none
	call    *record  // nil if it is none
	// A line of stdout that is not a message, a message that breaks the rules, and an exchange over HTTP.
	unexpected *unexpected
	odd        *wire.OddFrame
	exchange   *wire.HTTPExchange
	noted      exec.Event // that a note of a recording is about
}

type kind int

const (
	kindMessage    kind = iota
	kindUnexpected      // a line of stdout that is not a message
	kindOdd             // a remark about the previous message
	kindExchange        // over HTTP
	kindStderr
	kindNote // in toolx's words
	kindCall // that has ended
)

// stream returns the bounds that apply to the row.
func (r *row) stream() stream {
	switch r.kind {
	case kindMessage:
		if r.message.method == "notifications/message" || r.message.announces() {
			return streamLog
		}
	case kindStderr:
		return streamStderr
	case kindNote:
		return streamNotes
	case kindCall:
		return streamCalls
	}
	return streamWire
}

// contains reports whether the row's text contains a text, which is in lower case.
func (r *row) contains(lower string) bool {
	switch {
	case r.message != nil && (holds(r.said().summary, lower) || holds(r.message.of, lower)),
		r.unexpected != nil && holds(string(r.unexpected.Class), lower),
		r.odd != nil && holds(string(r.odd.Class), lower), holds(r.level, lower):
		return true
	case r.call != nil:
		return holds(r.call.Tool, lower) || holds(r.call.problem(), lower) || holds(r.text, lower)
	}
	return holds(r.text, lower)
}

func holds(text, lower string) bool { return strings.Contains(strings.ToLower(text), lower) }

// head returns the head of the event that the row shows.
func (r *row) head() wire.Head { return wire.Head{At: r.at, Server: r.server, Writer: r.writer} }

// cutNote returns how much of the text was kept; empty if nothing was cut.
func (r *row) cutNote() string {
	if r.size <= len(r.text) {
		return ""
	}
	return fmt.Sprintf("the first %s of %s", exec.Bytes(int64(len(r.text))), exec.Bytes(int64(r.size)))
}

// cutText copies at most limit bytes of text, to a character's border, so that the rest can be freed.
func cutText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.Clone(words.Head(text, limit))
}

// record adds a row with a text.
func (s *store) record(r *row, head wire.Head, text string, limit int) {
	r.at, r.server, r.writer = head.At, head.Server, head.Writer
	r.size, r.text = max(r.size, len(text)), cutText(text, limit)
	r.weight = rowWeight + len(r.text)
	if m := r.message; m != nil {
		r.weight += rowWeight + len(m.method) + len(m.id) + len(m.summary) + len(m.of)
	}
	if r.call != nil {
		r.weight += len(r.call.Tool) + len(r.call.Error)
	}
	s.add(r)
}

// take records an event. It is cheap, and keeps no more of the event than the bounds allow. Log messages, notifications
// and requests of servers are recorded as the frames that they are.
func (s *store) take(event exec.Event) {
	switch e := event.(type) {
	case wire.FrameSent:
		s.frame(e.Head, true, 0, e.ID, e.Method, e.Bytes)
	case wire.FrameReceived:
		s.frame(e.Head, false, e.Took, e.ID, e.Method, e.Bytes)
	case wire.StderrLine:
		s.record(&row{kind: kindStderr}, e.Head, e.Text, maxText)
	case wire.PollutedLine:
		s.unexpectedLine(e)
	case wire.OddFrame:
		s.record(&row{kind: kindOdd, odd: &e}, e.Head, string(e.Bytes), maxText)
	case wire.HTTPExchange:
		var line bytes.Buffer
		_ = recording.Writer{Out: &line, Text: strings.Clone, JSON: bytes.Clone}.Write(e)
		s.record(&row{kind: kindExchange, exchange: &e}, e.Head, string(rawjson.Get(line.Bytes(), "http")), maxText)
	case exec.CallFinished:
		if e.Result != nil {
			s.called(recordOfCall(e))
		}
	default:
		s.note(event)
	}
}

// unexpected is a line of stdout that is not a message, without its text.
type unexpected struct {
	wire.PollutedLine
	found *culprit.Recognition // what wrote it, once that is certain
}

func (s *store) unexpectedLine(e wire.PollutedLine) {
	text := string(e.Text)
	e.Text, e.Near = nil, nil
	r := &row{kind: kindUnexpected, unexpected: &unexpected{PollutedLine: e}, size: int(e.Size)}
	s.record(r, e.Head, text, maxText)
}

// reach is how many rows before and after an unexpected line help to find out what wrote it.
const reach = 15

// recognise returns what most likely wrote an unexpected line. It is called when the row is drawn, because a server may
// print many more such lines than are ever shown. It keeps the answer once all the rows that may help have arrived.
func (s *store) recognise(r *row) culprit.Recognition {
	if r.unexpected.found != nil {
		return *r.unexpected.found
	}
	const longest = 1024
	hint := s.peer(r.head().Source()).writersContext()
	rows := s.ring(shelf{r.server, streamWire})
	at := sort.Search(rows.count, func(i int) bool { return rows.at(i).number >= r.number })
	for i := max(0, at-reach); i < min(rows.count, at+reach+1); i++ {
		if other := rows.at(i); other.kind == kindUnexpected && other != r {
			hint.Nearby = append(hint.Nearby, other.text[:min(len(other.text), longest)])
		}
	}
	found := culprit.Recognise([]byte(r.text), hint)
	if rows.count > at+reach {
		r.unexpected.found = &found
	}
	return found
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

// unexpectedNotes returns what wrote an unexpected line, and how toolx read it.
func (l *look) unexpectedNotes(r *row) []string {
	if r.unexpected.Class.Harmless() {
		return nil
	}
	const longest = 400
	found := l.rows.recognise(r)
	notes := []string{
		fmt.Sprintf("line %d: %s, by %s (%s)", r.unexpected.Line, l.safe(string(r.unexpected.Class), 20),
			l.safe(found.Culprit.Name, longest), found.Culprit.Confidence),
	}
	if found.InServer != "" {
		notes = append(notes, "in the server: "+l.safe(found.InServer, longest))
	}
	if found.Outside != "" {
		notes = append(notes, "outside it: "+l.safe(found.Outside, longest))
	}
	if n := r.unexpected.Salvaged; n > 0 {
		notes = append(notes, fmt.Sprintf("messages that toolx still found on the line: %d", n))
	}
	return notes
}

// oddText describes what is odd about a message.
func oddText(e *wire.OddFrame) string {
	known := map[wire.Class]string{
		wire.ClassNoVersion:         `"jsonrpc" is missing or not "2.0"`,
		wire.ClassBadShape:          "neither request, notification nor reply",
		wire.ClassIDType:            "the id returned with another type",
		wire.ClassIDNull:            "a reply with a null id",
		wire.ClassNotificationReply: "a reply to a notification",
		wire.ClassIDUnknown:         "a reply to a request that was never sent",
		wire.ClassIDDuplicate:       "a second reply to one request",
		wire.ClassIDLate:            "a reply to a request that was cancelled",
	}
	text := cmp.Or(known[e.Class], string(e.Class))
	if e.Used {
		text += "; accepted anyway"
	}
	return text
}

// exchangeText describes an exchange on one line: POST https://example.com/mcp 200 HTTP/2.0.
func exchangeText(e *wire.HTTPExchange) string {
	words := []string{e.Verb, e.URL}
	if e.Status > 0 {
		words = append(words, fmt.Sprint(e.Status), e.Proto)
	}
	if e.Reused {
		words = append(words, "(connection reused)")
	}
	if e.Err != nil {
		words = append(words, e.Err.Error())
	}
	return strings.Join(words, " ")
}
