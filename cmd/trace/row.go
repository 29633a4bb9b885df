package trace

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/recording"
	"toolx/pkg/render"
	"toolx/pkg/servers/wire"
	"toolx/pkg/words"
)

// row is one line of the output.
type row struct {
	Time     time.Time       `json:"time"`
	Server   string          `json:"server"`
	Writer   string          `json:"writer,omitempty"`
	Kind     string          `json:"kind"`
	From     string          `json:"from,omitempty"` // who sent a request: "client" or "server"
	Method   string          `json:"method,omitempty"`
	Subject  string          `json:"subject,omitempty"` // the tool, prompt, resource or client
	ID       json.RawMessage `json:"id,omitempty"`
	Outcome  string          `json:"outcome,omitempty"`
	Error    string          `json:"error,omitempty"`
	TookMS   float64         `json:"took_ms,omitempty"`
	Sent     int             `json:"bytes,omitempty"`
	Received int             `json:"response_bytes,omitempty"`
	Text     string          `json:"text,omitempty"` // a line, a command, or how a process ended
	Cause    string          `json:"cause,omitempty"`
	Fixes    []string        `json:"fixes,omitempty"`

	request *recording.Request // with the messages; nil for other rows
}

// The kinds of rows.
const (
	kindRequest      = "request"
	kindNotification = "notification"
	kindStdout       = "stdout"
	kindStderr       = "stderr"
	kindStarted      = "started"
	kindEnded        = "ended"
	kindHTTP         = "http"
	kindDropped      = "dropped"
)

// The outcomes of requests.
const (
	outcomeOK         = "ok"
	outcomeError      = "error"
	outcomeTool       = "tool error"
	outcomeNoResponse = "no response"
)

// reader makes rows of the events of a recording.
type reader struct {
	add  func(*row) // takes each row at the time of its event
	done func(*row) // takes a request when its response has come, and every other row
	keep bool       // whether rows keep their messages

	pairs    recording.Pairs
	waiting  map[*recording.Request]*row // requests without a response
	causes   recording.Causes
	requests int
	failed   int
	stdout   int
}

// take adds the row of an event, or completes the row of the request whose response it is.
func (r *reader) take(event wire.Event) {
	made := &row{Time: event.When(), Server: event.From(), Writer: event.Source().Writer}
	why := r.causes.Take(event)
	switch e := event.(type) {
	case wire.FrameSent, wire.FrameReceived:
		r.message(event)
		return
	case wire.PollutedLine:
		r.stdout++
		made.Kind, made.Text = kindStdout, string(e.Text)
	case wire.StderrLine:
		made.Kind, made.Text = kindStderr, e.Text
	case wire.ProcessStarted:
		r.pairs.Take(e)
		made.Kind, made.Text = kindStarted, exec.PasteLine(e.Command...)
	case wire.ProcessExited:
		made.Kind, made.Text = kindEnded, e.How
		if why != nil {
			made.Cause, made.Fixes = why.What, why.Fixes
		}
	case wire.HTTPExchange:
		if e.Err == nil && e.Status < 400 {
			return // its messages say more
		}
		made.Kind, made.Text = kindHTTP, e.Verb+" "+e.URL
		if made.Error = strconv.Itoa(e.Status) + " in response"; e.Err != nil {
			made.Error = e.Err.Error()
		}
	case recording.Dropped:
		made.Kind, made.Text = kindDropped, words.Count(e.Lines, "line")+" not recorded in time"
	}
	r.add(made)
	r.done(made)
}

// message takes a message: a request or notification makes a row, a response completes one.
func (r *reader) message(event wire.Event) {
	request, answers := r.pairs.Take(event)
	if request == nil {
		return
	}
	if answers {
		r.answered(request)
		return
	}
	made := &row{
		Time: request.At, Server: request.Server, Writer: request.Writer, Kind: kindNotification, From: "client",
		Method: request.Method, Subject: subject(request), ID: slices.Clone(request.ID),
		Sent: len(request.Message), request: request,
	}
	if request.FromServer {
		made.From = "server"
	}
	r.add(made)
	if request.ID == nil {
		r.done(made)
		return
	}
	made.Kind = kindRequest
	r.requests++
	if r.waiting == nil {
		r.waiting = make(map[*recording.Request]*row)
	}
	r.waiting[request] = made
}

// answered completes the row of a request.
func (r *reader) answered(request *recording.Request) {
	made := r.waiting[request]
	delete(r.waiting, request)
	if !r.keep {
		made.request = nil
	}
	made.Outcome, made.Error = outcome(request)
	made.TookMS, made.Received = exec.Milliseconds(request.Took), len(request.Response)
	if made.Outcome != outcomeOK {
		r.failed++
	}
	r.done(made)
}

// end completes the rows of requests without a response.
func (r *reader) end() {
	byTime := func(a, b *row) int { return a.Time.Compare(b.Time) }
	for _, made := range slices.SortedStableFunc(maps.Values(r.waiting), byTime) {
		made.Outcome = outcomeNoResponse
		r.done(made)
	}
}

// subject returns what a request is about.
func subject(request *recording.Request) string {
	params := rawjson.Get(request.Message, "params")
	switch request.Method {
	case "tools/call", "prompts/get":
		return rawjson.GetText(params, "name")
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		return rawjson.GetText(params, "uri")
	case "initialize":
		client := rawjson.Get(params, "clientInfo")
		return strings.TrimSpace(rawjson.GetText(client, "name") + " " + rawjson.GetText(client, "version"))
	}
	return ""
}

// outcome returns how a request ended, and the text of its error.
func outcome(request *recording.Request) (outcome, text string) {
	m := wire.Read(request.Response)
	switch {
	case m.Err != nil:
		text = string(rawjson.Get(m.Err, "code")) + " " + rawjson.GetText(m.Err, "message")
		return outcomeError, strings.TrimSpace(text)
	case string(rawjson.Get(m.Result, "isError")) == "true":
		content, _ := rawjson.FirstElements(rawjson.Get(m.Result, "content"), 1)
		if len(content) > 0 {
			text = rawjson.GetText(content[0], "text")
		}
		return outcomeTool, text
	}
	return outcomeOK, ""
}

// fields returns the columns of a row: time, server, what, how long it took, and the outcome.
func (r *row) fields(timeOf func(time.Time) string) []string {
	const maxText = 200
	what := r.Kind
	switch r.Kind {
	case kindRequest, kindNotification:
		what = "→ "
		if r.From == "server" {
			what = "← "
		}
		what += strings.TrimSpace(r.Method + " " + r.Subject)
		if r.ID != nil {
			what += " #" + strings.Trim(string(r.ID), `"`)
		}
	default:
		if r.Text != "" {
			what += ": " + r.Text
		}
	}
	outcome := r.Outcome
	for _, more := range []string{r.Error, r.Cause} {
		if more != "" {
			outcome = strings.TrimPrefix(outcome+": "+words.FirstLine(more), ": ")
		}
	}
	took := ""
	if r.TookMS > 0 {
		took = render.Latency(time.Duration(r.TookMS * float64(time.Millisecond)))
	}
	return []string{
		timeOf(r.Time), r.Server, words.Clip(what, maxText), took, words.Clip(outcome, maxText),
	}
}
