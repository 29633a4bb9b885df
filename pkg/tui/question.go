package tui

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
	"toolx/pkg/tui/form"
	"toolx/pkg/tui/pane"
)

// Questions shows the requests of servers on the screen. Its methods implement servers.Answers: they wait for the
// user's answer, or until the server stops waiting.
type Questions struct {
	asked chan *question
}

// NewQuestions returns the Questions of one interface (Options.Questions).
func NewQuestions() *Questions { return &Questions{asked: make(chan *question)} }

// Elicit asks the user a server's question. The error is ctx's.
func (q *Questions) Elicit(ctx context.Context, asked *protocol.Elicitation) (*protocol.Elicited, error) {
	one := newQuestion(ctx, asked.Server)
	one.elicitation = asked
	given, err := q.ask(one)
	if err != nil {
		return nil, err
	}
	return &protocol.Elicited{Action: given.action, Content: given.content}, nil
}

// Sample lets the user answer instead of a model. params are those of sampling/createMessage, the result is a
// CreateMessageResult. The error is why there is no answer, for example that the user declined.
func (q *Questions) Sample(ctx context.Context, server string, params json.RawMessage) (json.RawMessage, error) {
	asked, err := protocol.ReadSampling(params)
	if err != nil {
		return nil, err
	}
	one := newQuestion(ctx, server)
	one.sampling = asked
	given, err := q.ask(one)
	switch {
	case err != nil:
		return nil, err
	case given.action != protocol.Accept:
		return nil, errors.New("the user declined the sampling request")
	}
	return protocol.Sampled("human", answerOf(given.content), "endTurn"), nil
}

// ask shows a question on the screen and waits for its answer.
func (q *Questions) ask(one *question) (given, error) {
	select {
	case q.asked <- one:
	case <-one.ctx.Done():
		return given{}, one.ctx.Err()
	}
	select {
	case answer := <-one.reply:
		return answer, nil
	case <-one.ctx.Done():
		return given{}, one.ctx.Err()
	}
}

// question is a server's request to the user, from its arrival until it is answered: an elicitation,
// or a sampling request that the user answers as the model.
type question struct {
	ctx         context.Context //nolint:containedctx // ends when the server no longer waits
	server      string
	elicitation *protocol.Elicitation // nil for sampling
	sampling    *protocol.Sampling
	reply       chan given    // takes one answer without waiting
	answered    chan struct{} // closed when reply has the answer

	inline bool // shown without the rest of the interface

	// The model owns the fields below.
	calls   []*call            // that it may be for
	form    *form.Form         // nil if there is nothing to fill in
	fields  int                // of the form
	opening bool               // the browser is being started
	shown   bool               // the user was shown the page, or given its address
	button  int                // the focused answer; noButton or inTheForm without one
	whole   bool               // the server's text replaces the form
	list    pane.List          // the visible lines of that text
	note    string             // why the last key did nothing
	said    pane.Cache[string] // its text as drawn, by its purpose
	drawn   questionPlace
}

// maxQuestions limits waiting questions. Further ones are cancelled: neither accepted nor declined.
const maxQuestions = 32

// The values of the focus in a dialog that are not buttons.
const (
	noButton  = -1 // on the buttons, but on none yet
	inTheForm = -2
)

// given is an answer. The content is the form as an object, if the user accepted.
type given struct {
	action  protocol.Action
	content json.RawMessage
}

func newQuestion(ctx context.Context, server string) *question {
	reply, answered := make(chan given, 1), make(chan struct{})
	return &question{ctx: ctx, server: server, reply: reply, answered: answered, button: noButton}
}

// open creates the form of a question with the defaults of its schema. A question with a page, or with a schema without
// fields, has no form.
func (q *question) open(theme *pane.Theme, now func() time.Time) {
	schema, start := json.RawMessage(answerSchema), json.RawMessage("{}")
	if asked := q.elicitation; asked != nil {
		if asked.URL != "" {
			return
		}
		schema, start = asked.Schema, asked.Fill(nil)
	}
	tool := &exec.Tool{InputSchema: schema}
	q.fields = len(tool.Input().Root().Facets().Properties())
	if q.fields == 0 && q.elicitation.Check(start) == nil {
		return
	}
	q.form = form.New(tool, theme, now)
	q.form.HoldFormats()
	_ = q.form.SetArguments(start) // which is an object
	q.focus(inTheForm)
}

// answerField is the only field of the form in which the user answers as a model.
const answerField = "answer"

const answerSchema = `{"type":"object","required":["` + answerField + `"],"properties":{"` + answerField +
	`":{"type":"string","description":"The model's answer; ctrl+j begins a new line."}}}`

// answerOf returns the text that the user typed as the model.
func answerOf(content json.RawMessage) string {
	var fields map[string]string
	_ = json.Unmarshal(content, &fields) // the form has one field, of text
	return fields[answerField]
}

// callKey is the context key of a call's id. It links a question that a server returns instead of the call's result
// (MCP 2026-07-28) to the call.
type callKey struct{}

// questions are servers' open requests to the user.
type questions struct {
	*shared
	list   []*question // the first one is on the screen
	calls  *calls
	typist *typist
}

// first returns the question on the screen, or nil.
func (qs *questions) first() *question {
	if len(qs.list) == 0 {
		return nil
	}
	return qs.list[0]
}

// wait returns the command that waits for the next question.
func (qs *questions) wait() tea.Cmd {
	if qs.options.Questions == nil {
		return nil
	}
	asked := qs.options.Questions.asked
	return func() tea.Msg {
		select {
		case q := <-asked:
			return later(func() tea.Cmd { return tea.Batch(qs.wait(), qs.add(q)) })
		case <-qs.ctx.Done():
			return nil
		}
	}
}

// add appends a question to the queue.
func (qs *questions) add(q *question) tea.Cmd {
	qs.list = append(qs.list, q)
	if len(qs.list) > maxQuestions {
		return qs.answer(q, protocol.Cancel, nil)
	}
	q.calls = qs.callsOf(q)
	q.open(qs.theme, qs.now)
	if qs.first() == q {
		qs.typist.cover()
	}
	return func() tea.Msg {
		select {
		case <-q.ctx.Done():
			return later(func() tea.Cmd { return qs.withdrawn(q) })
		case <-q.answered:
			return nil
		}
	}
}

// callsOf returns the calls that a question may be for. A legacy server does not name the call, so it may be any
// running call to that server.
func (qs *questions) callsOf(q *question) []*call {
	if id, ok := q.ctx.Value(callKey{}).(string); ok {
		if calls := qs.calls.byID(id); len(calls) > 0 {
			return calls
		}
	}
	return qs.calls.filter(func(c *call) bool { return c.running() && c.item.Server == q.server })
}

// withdrawn removes a question whose server stopped waiting for the answer.
func (qs *questions) withdrawn(q *question) tea.Cmd {
	if !slices.Contains(qs.list, q) {
		return nil
	}
	qs.typist.uncover(qs.first() == q && !qs.typist.beneath && q.editing())
	qs.drop(q)
	if qs.dialog != nil && qs.dialog.about == q {
		qs.dialog = nil
	}
	qs.notify(titleOf(q.server)+" no longer waits for an answer", true)
	return nil
}

func (qs *questions) drop(q *question) {
	qs.list = slices.DeleteFunc(qs.list, func(one *question) bool { return one == q })
}

// answer answers a question and shows the next one.
func (qs *questions) answer(q *question, action protocol.Action, content json.RawMessage) tea.Cmd {
	qs.answered(q, action, content)()
	return nil
}

// answered removes a question from the screen, and returns a function that sends its answer.
func (qs *questions) answered(q *question, action protocol.Action, content json.RawMessage) (send func()) {
	if !slices.Contains(qs.list, q) {
		return func() {} // it was withdrawn
	}
	close(q.answered)
	qs.drop(q)
	qs.notify(titleOf(q.server)+": "+map[protocol.Action]string{
		protocol.Accept: "answered", protocol.Decline: "declined", protocol.Cancel: "cancelled",
	}[action], false)
	return func() { q.reply <- given{action, content} }
}

// send sends the form's values to the server, if they are valid.
func (qs *questions) send(q *question) tea.Cmd {
	if q.form == nil {
		return qs.answer(q, protocol.Accept, nil)
	}
	content, err := q.form.Arguments()
	if err == nil && q.elicitation != nil {
		err = q.elicitation.Check(content)
	}
	if err != nil {
		q.note = render.Safe(err.Error())
		return nil
	}
	return qs.answer(q, protocol.Accept, content)
}

// cancel cancels a question. It asks for confirmation if that loses input.
func (qs *questions) cancel(q *question) tea.Cmd {
	action := protocol.Cancel
	if q.sampling != nil {
		action = protocol.Decline // sampling has no cancel
	}
	do := func() tea.Cmd { return qs.answer(q, action, nil) }
	if q.form == nil || !q.form.Changed() {
		return do()
	}
	// The same key confirms, because its user wants to leave.
	qs.ask("cancel?", "Your input will be lost.", []string{"y", "enter", "esc"}, "cancel the question", do)
	qs.dialog.about, qs.dialog.bindings = q, qs.dialog.bindings[:2] // esc does not go back
	return nil
}

// running returns the question's calls that are still running.
func (q *question) running() []*call {
	return slices.DeleteFunc(slices.Clone(q.calls), func(c *call) bool { return !c.running() })
}

// noCall returns why a question's call cannot be cancelled.
func (q *question) noCall() string {
	switch running := q.running(); {
	case len(running) == 0:
		return "no call is running"
	case len(running) > 1:
		return "its call is unknown"
	}
	return ""
}

// visit opens a question's page in the browser. If opening the page is all that the server waits for,
// that accepts the question; if the page has to be visited first, the user accepts after the visit.
func (qs *questions) visit(q *question) tea.Cmd {
	q.opening = true
	open := func() error { return qs.options.OpenPage(qs.ctx, q.elicitation.URL) }
	return after(open, func(err error) tea.Cmd {
		q.opening, q.shown, q.note = false, true, ""
		switch {
		case err != nil:
			q.note = render.Safe("no browser could be started: " + err.Error())
		case !q.elicitation.First:
			return qs.answer(q, protocol.Accept, nil)
		}
		return nil
	})
}

// visited handles a server's notification that a page was visited, so that the user does not have to confirm it.
func (qs *questions) visited(notification wire.Notification) {
	if notification.Method != "notifications/elicitation/complete" {
		return
	}
	var page struct {
		ID string `json:"elicitationId"`
	}
	_ = json.Unmarshal(notification.Params, &page) // invalid params match no page
	for _, q := range qs.list {
		asked := q.elicitation
		same := asked != nil && asked.First && q.server == notification.Server && asked.ID == page.ID
		if page.ID != "" && q.shown && same {
			qs.answer(q, protocol.Accept, nil)
			return
		}
	}
}

// answers returns the possible answers, which are also the buttons.
func (qs *questions) answers(q *question) []pane.Binding {
	no := func() tea.Cmd { return qs.answer(q, protocol.Decline, nil) }
	decline := pane.Binding{Keys: []string{"ctrl+x"}, Help: "decline", Do: no}
	cancel := pane.Binding{Keys: []string{"esc"}, Help: "cancel", Do: func() tea.Cmd { return qs.cancel(q) }}
	send := pane.Binding{
		Keys: []string{"ctrl+s"}, Help: "send", Off: q.cannotSend(), Fix: q.toProblem,
		Do: func() tea.Cmd { return qs.send(q) },
	}
	switch {
	case q.sampling != nil:
		decline.Keys = []string{"ctrl+x", "esc"}
		decline.Do = cancel.Do
		return []pane.Binding{send, decline}
	case q.elicitation.URL != "":
		return append(qs.pageAnswers(q), decline, cancel)
	}
	return []pane.Binding{send, decline, cancel}
}

// pageAnswers returns the ways to accept a page. The key that starts the browser has no other meaning, because the
// dialog may appear while the user is typing.
func (qs *questions) pageAnswers(q *question) []pane.Binding {
	open := pane.Binding{
		Keys: []string{"ctrl+s"}, Help: "open it", Off: pane.Off(q.opening, "the browser is starting"),
		Do: func() tea.Cmd { return qs.visit(q) },
	}
	agree := pane.Binding{Keys: []string{"ctrl+s"}, Help: "agree", Do: func() tea.Cmd { return qs.send(q) }}
	if q.elicitation.First {
		agree.Help = "I have visited it"
	}
	list := []pane.Binding{agree}
	switch {
	case qs.options.OpenPage == nil:
	case q.shown:
		open.Keys = []string{"o"}
		list = append(list, open)
	default:
		list = []pane.Binding{open}
	}
	return append(list, pane.Binding{Keys: []string{"y"}, Help: "copy", Do: func() tea.Cmd {
		q.shown = true
		return qs.copied(q.elicitation.URL, "the address")
	}})
}

// toProblem goes to the first field that prevents sending the answer.
func (q *question) toProblem() {
	if q.form != nil {
		q.whole = false
		q.focus(inTheForm)
		q.form.ToProblem()
	}
}

// cannotSend returns why the form cannot be sent.
func (q *question) cannotSend() string {
	if q.form == nil {
		return ""
	}
	if problems := q.form.Problems(); len(problems) > 0 {
		return problems[0]
	}
	return ""
}
