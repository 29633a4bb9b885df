package watch

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"toolx/pkg/doctor/culprit"
	"toolx/pkg/exec"
	"toolx/pkg/servers"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/pane"
	"toolx/pkg/words"
)

// wireTab shows every message between toolx and its servers, in order with the other lines on a server's stdout.
type wireTab struct {
	list[*frame]
	peers map[string]*peer
}

func newWireTab(l *look) *wireTab {
	t := &wireTab{list: newList[*frame](l, "wire"), peers: make(map[string]*peer)}
	t.draw, t.open, t.note = t.drawLine, t.opened, t.waitingNote
	return t
}

// peer returns the state of a server; if no event reported the start of its session, it began at at.
func (t *wireTab) peer(server string, at time.Time) *peer {
	p := t.peers[server]
	if p == nil {
		p = newPeer(at, nil, "")
		t.peers[server] = p
	}
	return p
}

func (t *wireTab) take(event exec.Event) {
	mark := func(at time.Time, server, text string) {
		t.add(&frame{line: newLine(at, server, text), kind: kindMark})
	}
	switch e := event.(type) {
	case wire.ProcessStarted:
		t.end(e.Server)
		t.peers[e.Server] = newPeer(e.At, e.Command, e.Cwd)
		mark(e.At, e.Server, started(e))
	case wire.ProcessExited:
		t.end(e.Server)
		mark(e.At, e.Server, exited(e))
	case protocol.SessionLost:
		t.end(e.Server)
		mark(e.At, e.Server, lost(e))
	case servers.Retry:
		t.end(e.Server)
	case servers.ConnectFailed:
		t.end(e.Server)
	case wire.FrameSent:
		t.message(&frame{line: keep(e.At, e.Server, e.Bytes), sent: true}, e.ID, e.Method, e.Bytes)
	case wire.FrameReceived:
		t.message(&frame{line: keep(e.At, e.Server, e.Bytes), place: e.Line}, e.ID, e.Method, e.Bytes)
	case wire.PollutedLine:
		f := &frame{line: keep(e.At, e.Server, e.Text), kind: kindForeign, class: e.Class, place: e.Line}
		f.salvaged = e.Salvaged
		f.size = max(int(e.Size), len(e.Text))
		t.add(f)
	case wire.OddFrame:
		t.add(&frame{line: keep(e.At, e.Server, e.Bytes), kind: kindOdd, class: e.Class, place: e.Line, used: e.Used})
	case wire.HTTPExchange:
		t.add(exchangeFrame(e))
	}
}

// keep makes a row from the beginning of a text, without copying the rest.
func keep(at time.Time, server string, text []byte) line {
	kept := newLine(at, server, string(text[:min(len(text), maxText+1)]))
	kept.size = len(text)
	return kept
}

// message adds a message, and pairs it.
func (t *wireTab) message(f *frame, id, method string, message []byte) {
	f.head = readHead(id, method, message)
	if p := t.peers[f.server]; p != nil && p.command == nil && f.sent && f.head.method == "initialize" {
		t.end(f.server) // without a process, a session begins with its first request
		delete(t.peers, f.server)
	}
	t.peer(f.server, f.at).pair(f)
	t.add(f)
}

func (t *wireTab) add(f *frame) {
	f.since = max(0, f.at.Sub(t.peer(f.server, f.at).began))
	f.number = t.journal.of(f.server).end()
	t.journal.add(f)
}

// end records that a server's session will send no more answers.
func (t *wireTab) end(server string) {
	if p := t.peers[server]; p != nil {
		p.end()
	}
}

// doubt marks the waiting requests as uncertain because events were dropped. A late answer is still paired.
func (t *wireTab) doubt() {
	for _, p := range t.peers {
		p.mark(stateUnsure)
	}
}

// waitingNote counts the waiting requests, for the last line.
func (t *wireTab) waitingNote() string {
	n := 0
	for server, p := range t.peers {
		if t.showsAllServers() || server == t.server {
			n += p.waiting()
		}
	}
	if n == 0 {
		return ""
	}
	return words.Count(n, "request") + " waiting"
}

// drawLine draws a row. As it gets narrower, the least important columns are dropped first.
func (t *wireTab) drawLine(f *frame, width int) string {
	left := t.clockColumn(f.at, width, 80)
	if width >= 44 {
		left = append(left, t.theme.Paint(pane.Dim, fmt.Sprintf("%9s", offset(f.since))))
	}
	what, right := t.cells(f, width)
	return t.row(append(left, append(t.serverColumn(f.server, width, 60), what)...), right, width)
}

func (t *wireTab) cells(f *frame, width int) (what, right string) {
	switch f.kind {
	case kindMark:
		return t.theme.Paint(pane.Accent, t.dash()+" "+t.safe(f.text, width)), ""
	case kindForeign:
		return t.foreignCells(f, width)
	case kindExchange:
		return t.exchangeCells(f, width)
	case kindOdd:
		return t.theme.Paint(pane.Warn, t.theme.Glyphs.Warn+" odd: "+t.safe(oddWords(f), width)), ""
	}
	return t.messageCells(f, width)
}

func (t *wireTab) messageCells(f *frame, width int) (what, right string) {
	what = t.theme.Paint(pane.Accent, t.arrow(f.sent)) + " "
	switch h := f.head; {
	case h.method != "":
		what += t.safe(h.what(), width)
	case h.failure != "":
		what += t.theme.Paint(pane.Bad, t.safe("error "+h.failure, width))
	case h.toolError:
		what += t.theme.Paint(pane.Bad, "result with isError")
	case h.task != "":
		what += t.safe("task "+h.task, width)
	case h.answer:
		what += "result"
	default:
		what += t.theme.Paint(pane.Bad, "not JSON-RPC")
	}
	if f.of != "" {
		what += t.theme.Paint(pane.Dim, " of "+t.safe(f.of, width))
	}
	if f.head.id != "" {
		what += t.theme.Paint(pane.Number, " #"+t.safe(strings.Trim(f.head.id, `"`), 20))
	}
	var columns []string
	if width >= 52 {
		columns = append(columns, t.theme.Paint(pane.Dim, fmt.Sprintf("%9s", exec.Bytes(int64(f.size)))))
	}
	if wait := t.wait(f); wait != "" || width >= 52 {
		role := pane.Dim
		if f.state == stateWaiting || f.state == stateLost {
			role = pane.Warn
		}
		columns = append(columns, t.theme.Paint(role, fmt.Sprintf("%11s", wait)))
	}
	return what, strings.Join(columns, " ")
}

// wait returns how long a request took, or how long it has been waiting.
func (t *wireTab) wait(f *frame) string {
	switch f.state {
	case stateWaiting:
		return "waits " + pane.Duration(max(0, t.now().Sub(f.at)))
	case stateCancelled:
		return "cancelled"
	case stateLost:
		return "no response"
	case stateUnsure:
		return "no response?"
	}
	if f.of != "" {
		return pane.Duration(f.latency)
	}
	return ""
}

func (t *wireTab) arrow(sent bool) string {
	if sent {
		return t.theme.Glyphs.Right
	}
	return t.theme.Glyphs.Left
}

// foreignCells draws a line that is not a message, with the program that most likely wrote it. That is
// looked up when the row is drawn, because a server may print many more such lines than are ever shown.
func (t *wireTab) foreignCells(f *frame, width int) (what, right string) {
	role, sign := pane.Bad, t.theme.Glyphs.Bad
	if f.class.Harmless() {
		role, sign = pane.Dim, t.theme.Glyphs.Bullet
	}
	what = t.theme.Paint(role, sign+" "+t.safe(string(f.class), 20)) + " " + t.safe(f.text, width)
	if f.class.Harmless() || width < 44 {
		return what, ""
	}
	culprit := t.recognise(f).Culprit
	grade := " (" + culprit.Confidence + ")"
	name := t.theme.Cut(t.safe(culprit.Name, width), width*2/5-len(grade)) // the text needs the rest
	return what, t.theme.Paint(pane.Warn, name) + t.theme.Paint(pane.Dim, grade)
}

// reach is how many rows before and after a foreign line help to find out what wrote it.
const reach = 15

// recognise returns what most likely wrote a foreign line. It caches the answer once all the rows that may help have
// arrived.
func (t *wireTab) recognise(f *frame) culprit.Recognition {
	if f.found != nil {
		return *f.found
	}
	hint := t.peer(f.server, f.at).writersContext()
	hint.Nearby = t.nearby(f)
	found := culprit.Recognise([]byte(f.text), hint)
	if t.journal.of(f.server).end() > f.number+reach {
		f.found = &found
	}
	return found
}

// nearby returns the foreign lines around one.
func (t *wireTab) nearby(f *frame) []string {
	const longest = 1024
	var lines []string
	rows := t.journal.of(f.server)
	for number := max(rows.first, f.number-reach); number < min(rows.end(), f.number+reach+1); number++ {
		if other := rows.at(number); other.kind == kindForeign && other != f {
			lines = append(lines, other.text[:min(len(other.text), longest)])
		}
	}
	return lines
}

// oddWords describes what is odd about a message.
func oddWords(f *frame) string {
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
	text := cmp.Or(known[f.class], string(f.class))
	if f.used {
		text += "; accepted anyway"
	}
	return text
}

func (t *wireTab) opened(f *frame) opened {
	row := opened{title: t.clock(f.at) + " " + t.safe(f.server, 40), text: f.text}
	switch f.kind {
	case kindForeign:
		row.title += fmt.Sprintf(", line %d: %s", f.place, t.safe(string(f.class), 20))
		row.notes = t.foreignNotes(f)
	case kindOdd:
		row.title += ", " + t.safe(oddWords(f), 60)
	case kindMessage:
		row.title += " " + t.arrow(f.sent) + " " + exec.Bytes(int64(f.size))
		if f.of != "" {
			row.title += ", " + t.safe(f.of, 60) + " took " + pane.Duration(f.latency)
		}
	}
	row.title += f.cutNote()
	return row
}

// foreignNotes returns what wrote a foreign line, how to prevent it, and how toolx read it.
func (t *wireTab) foreignNotes(f *frame) []string {
	if f.class.Harmless() {
		return nil
	}
	const longest = 400
	found := t.recognise(f)
	notes := []string{"by " + t.safe(found.Culprit.Name, longest) + " (" + found.Culprit.Confidence + ")"}
	if found.InServer != "" {
		notes = append(notes, "in the server: "+t.safe(found.InServer, longest))
	}
	if found.Outside != "" {
		notes = append(notes, "outside it: "+t.safe(found.Outside, longest))
	}
	if f.salvaged > 0 {
		notes = append(notes, fmt.Sprintf("messages that toolx still found on the line: %d", f.salvaged))
	}
	return notes
}

// offset formats the time since a session began: "+93ms", "+1m59.7s".
func offset(since time.Duration) string {
	if since < 10*time.Second {
		return fmt.Sprintf("+%dms", since.Milliseconds())
	}
	return "+" + since.Round(100*time.Millisecond).String()
}
