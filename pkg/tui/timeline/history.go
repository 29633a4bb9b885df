package timeline

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
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/pane"
)

// record is a call of this run or an earlier one, without its result. The row has its arguments.
type record struct {
	history.Entry
	// cut reports whether the arguments are incomplete, hidden whether the log masked secrets in them. In both
	// cases they cannot be sent again.
	cut, hidden bool
}

func recordOfEntry(e history.Entry) *record {
	e.Result = nil
	return &record{e, e.IsCut(), e.IsMasked()}
}

func recordOfCall(e exec.CallFinished) *record {
	const maxFailure = 4 << 10
	r := &record{cut: len(e.Arguments) > maxText || len(e.Arguments) > 0 && !isObject(e.Arguments)}
	r.Time, r.Server, r.Tool, r.Method, r.Success = e.At, e.Result.Server, e.Result.ToolName, e.Method, e.Result.Success
	r.ExecutionTimeMS = exec.Milliseconds(e.Result.Duration)
	r.Arguments = json.RawMessage(cmp.Or(cutText(string(e.Arguments), maxText), "{}"))
	if err := e.Result.Err; err != nil {
		r.Kind, r.Error = fault.KindOf(err), cutText(err.Error(), maxFailure)
	}
	return r
}

func isObject(text []byte) bool {
	return json.Valid(text) && bytes.HasPrefix(bytes.TrimSpace(text), []byte("{"))
}

func (r *row) request() Request { return Request{r.call.Tool, r.call.Method, json.RawMessage(r.text)} }

// problem returns why the call failed.
func (r *record) problem() string { return cmp.Or(r.Error, string(r.Kind)) }

// runsHere reports whether a call of an earlier run can be made again in this one: its server is here, and runs the
// same program, since all servers on command lines have the same name.
func (o Options) runsHere(entry history.Entry) bool {
	program := ""
	if entry.Server != "" && entry.Server == o.AdHoc {
		program = o.Program
	}
	return entry.Program == program && (o.Here == nil || o.Here(entry.Server, entry.Tool))
}

// HistoryMsg carries the calls of earlier runs to the Timeline whose Init asked for it.
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

// called adds a call.
func (s *store) called(r *record) {
	arguments := string(r.Arguments)
	r.Arguments = nil
	s.record(&row{kind: kindCall, call: r}, wire.Head{At: r.Time, Server: r.Server}, arguments, maxText)
	s.added++
}

// load adds the calls of earlier runs before those of this run.
func (t *Timeline) load(msg HistoryMsg) {
	t.unread, t.view.begun = msg.err, false
	this, earlier := t.rows.calls(), store{next: -len(msg.records)}
	for _, r := range msg.records {
		earlier.called(r)
	}
	for i := range this.count {
		earlier.put(this.at(i))
	}
	*this = *earlier.calls()
	t.rows.added += earlier.added
}

// callKeys returns the keys of past calls; none if others are shown.
func (t *Timeline) callKeys() []pane.Binding {
	if t.only != filterCalls {
		return nil
	}
	t.refresh()
	r := t.view.current()
	none := pane.Off(r == nil, "there are no calls")
	incomplete := none
	if r != nil && r.call.cut {
		incomplete = "some arguments of this call were not kept"
	}
	return []pane.Binding{
		{Keys: []string{"r"}, Help: "call again", Off: none, Do: func() tea.Cmd { return again(r) }},
		{Keys: []string{"enter"}, Help: "fill the form with its arguments", Off: none, Do: func() tea.Cmd { return edit(r) }},
		{Keys: []string{"space"}, Help: "show the arguments", Off: none, Do: pane.Do(t.openRow)},
		{Keys: []string{"y"}, Help: "copy as toolx command", Off: incomplete, Do: func() tea.Cmd {
			return func() tea.Msg { return CommandMsg{r.request()} } // with the same values masked as in the log
		}},
	}
}

// again asks to repeat a call. If some of its arguments are missing, the form is filled in instead: a mask is never
// sent.
func again(r *row) tea.Cmd {
	if r.call.cut || r.call.hidden {
		return edit(r)
	}
	return func() tea.Msg { return RerunMsg{r.request()} }
}

func edit(r *row) tea.Cmd {
	msg := EditMsg{Request: r.request()}
	switch {
	case r.call.cut:
		msg.Arguments, msg.Note = nil, "some arguments of this call were not kept: the form is unchanged"
	case r.call.hidden:
		msg.Arguments = withoutMasked(msg.Arguments)
		msg.Note = "the log hides secrets of this call: fill them in"
	}
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
