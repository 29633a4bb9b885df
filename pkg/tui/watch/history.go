package watch

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/history"
	"toolx/pkg/mask"
	"toolx/pkg/rawjson"
	"toolx/pkg/tui/pane"
)

// record is a call of this run or an earlier one.
type record struct {
	at        time.Time
	server    string
	tool      string
	method    string // if it was not a tool call
	arguments string // JSON, at most maxText bytes
	success   bool
	kind      fault.Kind // of the error
	failure   string
	took      time.Duration
	// cut reports whether the arguments are incomplete, hidden whether the log masked secrets in them. In both
	// cases they cannot be sent again.
	cut, hidden bool
}

func (r *record) request() Request { return Request{r.tool, r.method, json.RawMessage(r.arguments)} }

// problem returns why the call failed.
func (r *record) problem() string { return cmp.Or(r.failure, string(r.kind)) }

func (r *record) when() time.Time { return r.at }

func (r *record) subject() string { return r.server }

func (r *record) weight() int {
	return rowWeight + len(r.tool) + len(r.server) + len(r.arguments) + len(r.failure)
}

func (r *record) contains(lower string) bool {
	return holds(r.tool, lower) || holds(r.arguments, lower) || holds(r.failure, lower) || holds(string(r.kind), lower)
}

// runsHere reports whether a call of an earlier run can be made again in this one: its server is here, and runs the
// same program, since all servers on command lines have the same name.
func (o Options) runsHere(entry history.Entry) bool {
	program := ""
	if entry.Server != "" && entry.Server == o.AdHoc {
		program = o.Program
	}
	return entry.Program == program && (o.Here == nil || o.Here(entry.Server, entry.Tool))
}

// HistoryMsg carries the calls of earlier runs to the Watch whose Init asked for it.
type HistoryMsg struct {
	records []*record
	err     error
}

// Request is an earlier tool call or other request. Method is the request's method, empty for a tool.
type Request struct {
	Tool, Method string
	Arguments    json.RawMessage
}

// RerunMsg asks to make a request again.
type RerunMsg struct{ Request }

// EditMsg asks to fill in the form of a request, or only to go there if it has no Arguments. Note is a message to the
// user about the arguments, or empty.
type EditMsg struct {
	Request
	Note string
}

// CommandMsg asks to copy the command line of a request.
type CommandMsg struct{ Request }

// readHistory returns the command that reads the execution log. It skips calls that cannot run here, and calls that
// this process has logged since begun, because those arrive as events, without masks.
func readHistory(options Options, begun time.Time) tea.Cmd {
	if options.History == "" {
		return nil
	}
	return func() tea.Msg {
		calls, err := history.Calls(options.History, maxRows)
		msg := HistoryMsg{err: err}
		for _, call := range calls {
			if (call.PID != os.Getpid() || call.Time.Before(begun)) && options.runsHere(call.Entry) {
				msg.records = append(msg.records, recordOfEntry(call.Entry))
			}
		}
		return msg
	}
}

func recordOfEntry(entry history.Entry) *record {
	return &record{
		at: entry.Time, server: entry.Server, tool: entry.Tool, method: entry.Method,
		arguments: string(entry.Arguments), success: entry.Success, kind: entry.Kind, failure: entry.Error,
		took: entry.Duration(), cut: entry.IsCut(), hidden: entry.IsMasked(),
	}
}

func recordOfCall(e exec.CallFinished) *record {
	const maxFailure = 4 << 10
	r := &record{
		at: e.At, server: e.Result.Server, tool: e.Result.ToolName, method: e.Method,
		success: e.Result.Success, took: e.Result.Duration,
		arguments: cutText(string(e.Arguments), maxText),
		cut:       len(e.Arguments) > maxText || len(e.Arguments) > 0 && !isObject(e.Arguments),
	}
	if r.arguments == "" {
		r.arguments = "{}"
	}
	if err := e.Result.Err; err != nil {
		r.kind, r.failure = fault.KindOf(err), cutText(err.Error(), maxFailure)
	}
	return r
}

func isObject(text []byte) bool {
	return json.Valid(text) && bytes.HasPrefix(bytes.TrimSpace(text), []byte("{"))
}

// historyTab shows past calls. It begins with those of all servers.
type historyTab struct {
	list[*record]
	changed int    // counts changes, for code that computes from the records
	told    string // about the last request, or empty
	err     error
}

func newHistoryTab(l *look) *historyTab {
	t := &historyTab{list: newList[*record](l, "history")}
	t.draw, t.open, t.note, t.allServers = t.drawLine, t.opened, t.problem, true
	return t
}

func (t *historyTab) take(event exec.Event) {
	if e, ok := event.(exec.CallFinished); ok && e.Result != nil {
		t.journal.add(recordOfCall(e))
		t.told = ""
		t.changed++
	}
}

// load inserts the calls of earlier runs before those of this run.
func (t *historyTab) load(msg HistoryMsg) {
	t.err = msg.err
	old := &t.journal.all
	records := msg.records
	for number := old.first; number < old.end(); number++ {
		records = append(records, old.at(number))
	}
	t.journal = journal[*record]{}
	for _, r := range records {
		t.journal.add(r)
	}
	t.view = view[*record]{}
	t.changed++
}

// problem returns why calls of earlier runs are missing, or why one is not repeated.
func (t *historyTab) problem() string {
	if t.err == nil || t.told != "" {
		return t.told
	}
	return t.safe("earlier calls cannot be read: "+t.err.Error(), 100)
}

// Bindings makes enter run a call again instead of opening it.
func (t *historyTab) Bindings() []pane.Binding {
	bindings := t.list.Bindings()
	if t.detail != nil || t.Editing() {
		return bindings
	}
	r, ok := t.view.current()
	none := pane.Off(!ok, "there are no calls")
	incomplete := none
	if ok && r.cut && none == "" {
		incomplete = "some arguments of this call were not kept"
	}
	for i := range bindings {
		if bindings[i].Keys[0] == "enter" {
			bindings[i].Keys = []string{"space"}
			bindings[i].Help = "show the arguments"
		}
	}
	return append([]pane.Binding{
		{Keys: []string{"enter", "r"}, Help: "call again", Off: none, Do: t.again},
		{Keys: []string{"E"}, Help: "edit and call", Off: none, Do: t.edit},
		{Keys: []string{"y"}, Help: "copy as toolx command", Off: incomplete, Do: t.command},
	}, bindings...)
}

// again asks to repeat the call. If some of its arguments are missing, the form is filled in instead:
// a mask is never sent.
func (t *historyTab) again() tea.Cmd {
	r, ok := t.view.current()
	switch {
	case !ok:
		return nil
	case r.cut || r.hidden:
		return t.edit()
	}
	t.told = ""
	return func() tea.Msg { return RerunMsg{r.request()} }
}

// command asks for the call's command line, with the same values masked as in the log.
func (t *historyTab) command() tea.Cmd {
	r, _ := t.view.current()
	return func() tea.Msg { return CommandMsg{r.request()} }
}

func (t *historyTab) edit() tea.Cmd {
	r, ok := t.view.current()
	if !ok {
		return nil
	}
	msg := EditMsg{Request: r.request()}
	switch {
	case r.cut:
		msg.Arguments, msg.Note = nil, "some arguments of this call were not kept: the form is unchanged"
	case r.hidden:
		msg.Arguments = withoutMasked(msg.Arguments)
		msg.Note = "the log hides secrets of this call: fill them in"
	}
	t.told = msg.Note
	return func() tea.Msg { return msg }
}

// withoutMasked removes every member and element with a mask in it from a JSON value. An empty result
// means that nothing is left.
func withoutMasked(value json.RawMessage) json.RawMessage {
	if !bytes.Contains(value, []byte(mask.Mask)) {
		return value
	}
	if members, ok := rawjson.Members(value); ok {
		kept := members[:0]
		for _, member := range members {
			member.Value = withoutMasked(member.Value)
			if len(member.Value) > 0 && !strings.Contains(member.Name, mask.Mask) {
				kept = append(kept, member)
			}
		}
		return rawjson.Object(kept)
	}
	elements, ok := rawjson.Elements(value)
	if !ok {
		return nil
	}
	var kept [][]byte
	for _, element := range elements {
		if element = withoutMasked(element); len(element) > 0 {
			kept = append(kept, element)
		}
	}
	return json.RawMessage("[" + string(bytes.Join(kept, []byte(","))) + "]")
}

func (t *historyTab) drawLine(r *record, width int) string {
	role, sign := pane.Good, t.theme.Glyphs.Good
	switch {
	case r.success:
	case r.kind == fault.KindInterrupted: // by the user, which is not a failure
		role, sign = pane.Warn, t.theme.Glyphs.Warn
	default:
		role, sign = pane.Bad, t.theme.Glyphs.Bad
	}
	left := append(t.clockColumn(r.at, width, 48), t.theme.Paint(role, t.theme.Fit(sign, 2)))
	left = append(left, t.theme.Paint(pane.Name, t.safe(r.tool, width)))
	if !r.success {
		left = append(left, t.theme.Paint(role, t.safe(r.problem(), width)))
	}
	left = append(left, t.theme.Paint(pane.Dim, t.safe(r.arguments, width)))
	return t.row(left, pane.Duration(r.took), width)
}

func (t *historyTab) opened(r *record) opened {
	row := opened{title: t.clock(r.at) + " " + t.safe(r.tool, 60) + ", " + pane.Duration(r.took), text: r.arguments}
	if !r.success {
		row.notes = []string{t.safe(r.problem(), 200)}
	}
	return row
}
