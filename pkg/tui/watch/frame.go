package watch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"toolx/pkg/doctor/culprit"
	"toolx/pkg/mask"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/pane"
)

// frame is a row of the wire: a message, a line of stdout that is not a message, an odd message, or an
// event in the life of the process.
type frame struct {
	line
	kind   frameKind
	sent   bool // by toolx
	head   head
	since  time.Duration // since the start of the session
	number int           // in the rows of its server

	// Of a request.
	state   state
	latency time.Duration // also of its answer, and of an exchange over HTTP
	of      string        // of an answer: what the request was

	// For a line that is not a message, and for an odd message.
	class    wire.Class
	place    int // of the line on stdout, from 1
	salvaged int
	used     bool
	failed   bool                 // of an exchange over HTTP
	found    *culprit.Recognition // what wrote foreign text, once it is certain
}

type frameKind int

const (
	kindMessage  frameKind = iota
	kindForeign            // a polluted line
	kindOdd                // a remark about the previous message
	kindMark               // the process started or ended
	kindExchange           // an exchange over HTTP
)

// state is the state of a request.
type state int

const (
	stateNone      state = iota // it is not a request
	stateWaiting                // for its answer
	stateAnswered               //
	stateCancelled              // by the side that sent it
	stateLost                   // the process ended first
	stateUnsure                 // events were dropped since: an answer may have been among them
)

func (f *frame) weight() int {
	h := f.head
	texts := len(h.method) + len(h.id) + len(h.failure) + len(h.name) + len(h.task) + len(f.of)
	return f.line.weight() + rowWeight + texts
}

func (f *frame) contains(lower string) bool {
	return f.line.contains(lower) || holds(f.of, lower) || holds(f.head.task, lower) || holds(string(f.class), lower)
}

// head holds what is needed to show a message and to pair it. Texts are cut.
type head struct {
	method  string
	id      string // as its sender wrote it: "3" and 3 are different
	name    string // of the tool that is called
	failure string // code and message of an error
	cancels string // the id of the request that a notification cancels
	answer  bool
	task    string // of an answer: the state of its task, and the server's message about it
	// toolError reports whether the answer means that a tool has failed. Answers that are too long to keep are not
	// checked.
	toolError bool
}

// The bounds of what a head keeps, in bytes.
const (
	maxID   = 80
	maxName = 120
)

// readHead reads the members of a message that matter besides its id and method. A message that is not
// an object has none.
func readHead(id, method string, message []byte) head {
	h := head{id: cutText(id, maxID), method: cutText(method, maxName)}
	m := wire.Read(message)
	if h.answer = m.Result != nil || m.Err != nil; len(m.Result) <= maxText {
		h.toolError, h.task = string(rawjson.Get(m.Result, "isError")) == "true", taskState(m.Result)
	}
	if m.Err != nil {
		h.failure = failure(m.Err)
	}
	switch h.method {
	case "tools/call", "prompts/get":
		h.name = word(rawjson.Get(m.Params, "name"))
	case "resources/read":
		h.name = word(rawjson.Get(m.Params, "uri"))
	case "tasks/get", "tasks/result", "tasks/update", "tasks/cancel":
		h.name = word(rawjson.Get(m.Params, "taskId"))
	case "notifications/cancelled":
		h.cancels = string(rawjson.Get(m.Params, "requestId"))
	}
	return h
}

// taskState returns the state of the task in a result (MCP 2025-11-25, and the extension of 2026-07-28), in the
// server's words; empty if the result has no task.
func taskState(result json.RawMessage) string {
	if task := rawjson.Get(result, "task"); task != nil {
		result = task
	}
	status := rawjson.Get(result, "status")
	if rawjson.Get(result, "taskId") == nil || status == nil {
		return ""
	}
	if message := rawjson.Get(result, "statusMessage"); message != nil {
		return word(status) + ": " + word(message)
	}
	return word(status)
}

// request reports whether a message asks for an answer.
func (h head) request() bool { return h.method != "" && h.id != "" }

// what describes a request or notification: its method, and the tool that it calls.
func (h head) what() string {
	if h.name == "" {
		return h.method
	}
	return h.method + " " + h.name
}

// failure returns an error in a few words: -32601 "Method not found".
func failure(text json.RawMessage) string {
	code, message := rawjson.Get(text, "code"), rawjson.Get(text, "message")
	return strings.TrimSpace(word(code) + " " + word(message))
}

// word returns a string's text, or another value as it is written, short enough for a row.
func word(value json.RawMessage) string {
	const escaped = 6 // bytes for one character, as \u0041
	if len(value) > escaped*maxName {
		value = bytes.Clone(value[:escaped*maxName])
		if value[0] == '"' {
			return cutText(strings.TrimPrefix(string(value), `"`), maxName)
		}
	}
	return cutText(rawjson.Unquote(value), maxName)
}

// exchangeFrame returns the row of an HTTP exchange. The messages in it have rows of their own; this
// one holds the headers.
func exchangeFrame(e wire.HTTPExchange) *frame {
	head := exchangeWords(e)
	text := head + "\n" + headerLines("> ", e.Sent) + headerLines("< ", e.Received)
	return &frame{
		line: newLine(e.At, e.Server, text), kind: kindExchange, latency: e.Took,
		failed: e.Err != nil || e.Status >= http.StatusBadRequest,
	}
}

// exchangeWords describes an exchange on one line: POST https://example.com/mcp 200 HTTP/2.0.
func exchangeWords(e wire.HTTPExchange) string {
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

// headerLines writes headers in the order of their names, with secrets masked by name.
func headerLines(prefix string, headers http.Header) string {
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		for _, value := range headers[name] {
			if mask.Name(name) {
				value = mask.Mask
			}
			fmt.Fprintf(&lines, "%s%s: %s\n", prefix, name, value)
		}
	}
	return lines.String()
}

func (t *wireTab) exchangeCells(f *frame, width int) (what, right string) {
	role := pane.Dim
	if f.failed {
		role = pane.Bad
	}
	head, _, _ := strings.Cut(f.text, "\n")
	what = t.theme.Paint(role, t.theme.Glyphs.Bullet+" "+t.safe(head, width))
	return what, t.theme.Paint(pane.Dim, pane.Duration(f.latency))
}
