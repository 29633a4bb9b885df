package tui

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/servers"
	"toolx/pkg/tui/form"
	"toolx/pkg/tui/pane"
)

// Questions brings the requests of servers to the screen. Its methods implement servers.Answers: they
// wait until the user has answered, or until the server stops waiting.
type Questions struct {
	asked chan *question
}

// NewQuestions returns the Questions of one interface (Options.Questions).
func NewQuestions() *Questions { return &Questions{asked: make(chan *question)} }

// Elicit asks the user for what a server wants to know. The error is ctx's.
func (q *Questions) Elicit(ctx context.Context, asked *servers.Elicitation) (*servers.Elicited, error) {
	one := newQuestion(ctx, asked.Server)
	one.elicitation = asked
	given, err := q.put(one)
	if err != nil {
		return nil, err
	}
	return &servers.Elicited{Action: given.action, Content: given.content}, nil
}

// Sample lets the user answer in place of a model. params are those of sampling/createMessage, the
// result is a CreateMessageResult. The error says why there is no answer, such as that the user
// declined.
func (q *Questions) Sample(ctx context.Context, server string, params json.RawMessage) (json.RawMessage, error) {
	asked, err := servers.ReadSampling(params)
	if err != nil {
		return nil, err
	}
	one := newQuestion(ctx, server)
	one.sampling = asked
	given, err := q.put(one)
	switch {
	case err != nil:
		return nil, err
	case given.action != servers.Accept:
		return nil, errors.New("the user declined the sampling request")
	}
	return servers.Sampled("human", answerOf(given.content), "endTurn"), nil
}

// put shows a question on the screen and waits for its answer.
func (q *Questions) put(one *question) (given, error) {
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

// questionMsg reports that a server asks something.
type questionMsg struct{ question *question }

// wait returns the command that waits for the next question.
func (q *Questions) wait(ctx context.Context) tea.Cmd {
	if q == nil {
		return nil
	}
	return func() tea.Msg {
		select {
		case one := <-q.asked:
			return questionMsg{one}
		case <-ctx.Done():
			return nil
		}
	}
}

// question is a server's request to the user, from its arrival until it is answered: an elicitation,
// or a sampling request that the user answers as the model.
type question struct {
	ctx         context.Context //nolint:containedctx // ends when the server no longer waits
	server      string
	elicitation *servers.Elicitation // nil for sampling
	sampling    *servers.Sampling
	reply       chan given    // takes one answer without waiting
	answered    chan struct{} // closed when that is there

	// The model owns the fields below.
	calls   []*call            // that it may belong to
	form    *form.Form         // nil where there is nothing to fill in
	fields  int                // of the form
	opening bool               // the browser is being started
	shown   bool               // the user was shown the page, or given its address
	button  int                // the answer that has the focus; noButton or inForm where none has
	whole   bool               // what the server says takes the place of the form
	top     int                // the first line of that which is seen
	note    string             // why the last key did nothing
	said    pane.Cache[string] // what is drawn of its text, for what it belongs to
	drawn   questionPlace
}

// maxQuestions is how many questions may wait for the user. Further ones are cancelled: neither
// accepted nor declined.
const maxQuestions = 32

// The values of the focus in a dialog that are not buttons.
const (
	noButton = -1 // on the buttons, but on none yet
	inForm   = -2
)

// given is an answer. The content is the form as an object, if the user accepted.
type given struct {
	action  servers.Action
	content json.RawMessage
}

func newQuestion(ctx context.Context, server string) *question {
	return &question{ctx: ctx, server: server, reply: make(chan given, 1), answered: make(chan struct{}), button: noButton}
}

// open makes the form of a question, filled in with the defaults of its schema. A question with a
// page, or with a schema without fields, has no form.
func (q *question) open(theme *pane.Theme, now func() time.Time) {
	schema, start := json.RawMessage(answerSchema), json.RawMessage("{}")
	if asked := q.elicitation; asked != nil {
		if asked.URL != "" {
			return
		}
		schema, start = asked.Schema, asked.Fill(nil)
	}
	var document struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(schema, &document) // what cannot be read has no fields
	q.fields = len(document.Properties)
	if q.fields == 0 && q.elicitation.Check(start) == nil {
		return
	}
	tool, err := exec.NewTool(rawjson.Object([]rawjson.Member{
		rawjson.NewMember("name", rawjson.Quote("answer")), rawjson.NewMember("inputSchema", schema),
	}))
	if err != nil {
		return // it is no object, which sessions refuse
	}
	q.form = form.New(tool, theme, now)
	q.form.HoldFormats()
	_ = q.form.SetArguments(start) // which is an object
	q.focus(inForm)
}

// answerField is the only field of the form in which the user answers as a model.
const answerField = "answer"

const answerSchema = `{"type":"object","required":["` + answerField + `"],"properties":{"` + answerField +
	`":{"type":"string","description":"What the model would say; ctrl+j begins a new line."}}}`

// answerOf returns the text that the user typed as the model.
func answerOf(content json.RawMessage) string {
	var fields map[string]string
	_ = json.Unmarshal(content, &fields) // the form has one field, of text
	return fields[answerField]
}

// callKey is the context key of a call's id. It links a question that a server returns in place of
// that call's result (MCP 2026-07-28) to the call.
type callKey struct{}

func withCall(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, callKey{}, id)
}

// updateAsked queues a question behind those that are not answered yet.
func (m *model) updateAsked(q *question) tea.Cmd {
	next := m.options.Questions.wait(m.ctx)
	m.questions = append(m.questions, q)
	if len(m.questions) > maxQuestions {
		return tea.Batch(next, m.answer(q, servers.Cancel, nil))
	}
	q.calls = m.callsOf(q)
	q.open(m.theme, m.now)
	if m.asking() == q {
		m.cover()
	}
	withdrawn := func() tea.Msg {
		select {
		case <-q.ctx.Done():
			return withdrawnMsg{q}
		case <-q.answered:
			return nil
		}
	}
	return tea.Batch(next, withdrawn)
}

// callsOf returns the calls that a question may belong to. A legacy server does not say: it may be any
// call that is running there.
func (m *model) callsOf(q *question) []*call {
	if id, ok := q.ctx.Value(callKey{}).(string); ok {
		if c := m.callOf(id); c != nil {
			return []*call{c}
		}
	}
	var calls []*call
	for _, c := range m.calls {
		if c.running() && c.item.Server == q.server {
			calls = append(calls, c)
		}
	}
	return calls
}

// withdrawnMsg reports that the server stopped waiting for a question's answer.
type withdrawnMsg struct{ question *question }

func (m *model) updateWithdrawn(q *question) tea.Cmd {
	if !slices.Contains(m.questions, q) {
		return nil
	}
	m.uncover(m.asking() == q && !m.typist.beneath && q.editing())
	m.dropQuestion(q)
	if m.dialog != nil && m.dialog.about == q {
		m.dialog = nil
	}
	m.tell("server "+q.server+" no longer waits for an answer", true)
	return m.tick()
}

// asking returns the question on the screen, or nil.
func (m *model) asking() *question {
	if len(m.questions) == 0 {
		return nil
	}
	return m.questions[0]
}

func (m *model) dropQuestion(q *question) {
	m.questions = slices.DeleteFunc(m.questions, func(one *question) bool { return one == q })
}

// answer answers a question; then the next one is shown.
func (m *model) answer(q *question, action servers.Action, content json.RawMessage) tea.Cmd {
	if !slices.Contains(m.questions, q) {
		return nil // it was withdrawn meanwhile
	}
	q.reply <- given{action, content}
	close(q.answered)
	m.dropQuestion(q)
	said := map[servers.Action]string{servers.Accept: "answered", servers.Decline: "declined", servers.Cancel: "cancelled"}[action]
	m.tell("server "+q.server+": "+said, false)
	return m.tick()
}

// send sends the form's values to the server, if they match what it asked for.
func (m *model) send(q *question) tea.Cmd {
	if q.form == nil {
		return m.answer(q, servers.Accept, nil)
	}
	content, err := q.form.Arguments()
	if err == nil && q.elicitation != nil {
		err = q.elicitation.Check(content)
	}
	if err != nil {
		q.note = render.Safe(err.Error())
		return nil
	}
	return m.answer(q, servers.Accept, content)
}

// leave cancels a question. It asks for confirmation if that loses what was typed.
func (m *model) leave(q *question) tea.Cmd {
	action := servers.Cancel
	if q.sampling != nil {
		action = servers.Decline // there is nothing in between
	}
	if q.form == nil || !q.form.Changed() {
		return m.answer(q, action, nil)
	}
	m.ask("cancel?", []string{"What was filled in is lost."}, []string{"y", "enter"}, "cancel the question",
		func() tea.Cmd { return m.answer(q, action, nil) })
	m.dialog.about = q
	return nil
}

// cancelAsker cancels the call that a question belongs to, and with it the question.
func (m *model) cancelAsker(q *question) tea.Cmd {
	q.running()[0].giveUp()
	return m.answer(q, servers.Cancel, nil)
}

// running returns the calls of the question that have not ended.
func (q *question) running() []*call {
	return slices.DeleteFunc(slices.Clone(q.calls), func(c *call) bool { return !c.running() })
}

// noAsker returns why the call of a question cannot be cancelled.
func (q *question) noAsker() string {
	switch running := q.running(); {
	case len(running) == 0:
		return "no call runs"
	case len(running) > 1:
		return "nobody knows which call it belongs to"
	}
	return ""
}

// openedPageMsg reports whether a browser was started for a question's page.
type openedPageMsg struct {
	question *question
	err      error
}

// visit opens a question's page in the browser.
func (m *model) visit(q *question) tea.Cmd {
	q.opening = true
	open, ctx, address := m.options.OpenPage, m.ctx, q.elicitation.URL
	return func() tea.Msg { return openedPageMsg{q, open(ctx, address)} }
}

// updateOpenedPage accepts the question if opening the page is all that the server waits for. If the
// page has to be visited first, the user accepts after the visit.
func (m *model) updateOpenedPage(msg openedPageMsg) tea.Cmd {
	q := msg.question
	q.opening, q.shown, q.note = false, true, ""
	switch {
	case msg.err != nil:
		q.note = render.Safe("no browser could be started: " + msg.err.Error())
	case !q.elicitation.First:
		return m.answer(q, servers.Accept, nil)
	}
	return nil
}

// visited handles a server's notification that a page was visited, so that the user need not confirm
// it.
func (m *model) visited(notification servers.Notification) {
	if notification.Method != "notifications/elicitation/complete" {
		return
	}
	var page struct {
		ID string `json:"elicitationId"`
	}
	_ = json.Unmarshal(notification.Params, &page) // what cannot be read is about no page
	for _, q := range m.questions {
		asked := q.elicitation
		if page.ID != "" && asked != nil && asked.First && q.shown && q.server == notification.Server && asked.ID == page.ID {
			m.answer(q, servers.Accept, nil)
			return
		}
	}
}

// copyPage copies the address of a question's page, to be opened elsewhere.
func (m *model) copyPage(q *question) tea.Cmd {
	q.shown = true
	return m.copied(q.elicitation.URL, "the address")
}

// questionKeys returns the ways to answer, which are also the buttons.
func (m *model) questionKeys(q *question) []pane.Binding {
	decline := pane.Binding{Keys: []string{"ctrl+x"}, Help: "decline", Do: func() tea.Cmd { return m.answer(q, servers.Decline, nil) }}
	cancel := pane.Binding{Keys: []string{"esc"}, Help: "cancel", Do: func() tea.Cmd { return m.leave(q) }}
	send := pane.Binding{Keys: []string{"ctrl+s"}, Help: "send", Off: q.cannotSend(), Mend: q.toProblem, Do: func() tea.Cmd { return m.send(q) }}
	switch {
	case q.sampling != nil:
		decline.Keys = []string{"ctrl+x", "esc"}
		decline.Do = cancel.Do
		return []pane.Binding{send, decline}
	case q.elicitation.URL != "":
		return append(m.pageAnswers(q), decline, cancel)
	}
	return []pane.Binding{send, decline, cancel}
}

// pageAnswers returns the ways to accept a page. The key that starts the browser means nothing
// elsewhere, because the dialog may appear while the user is typing.
func (m *model) pageAnswers(q *question) []pane.Binding {
	open := pane.Binding{Keys: []string{"ctrl+s"}, Help: "open it", Off: off(q.opening, "the browser is being started"), Do: func() tea.Cmd { return m.visit(q) }}
	agree := pane.Binding{Keys: []string{"ctrl+s"}, Help: "agree", Do: func() tea.Cmd { return m.send(q) }}
	if q.elicitation.First {
		agree.Help = "I have been there"
	}
	list := []pane.Binding{agree}
	switch {
	case m.options.OpenPage == nil:
	case q.shown:
		open.Keys = []string{"o"}
		list = append(list, open)
	default:
		list = []pane.Binding{open}
	}
	return append(list, pane.Binding{Keys: []string{"y"}, Help: "copy", Do: func() tea.Cmd { return m.copyPage(q) }})
}

// toProblem goes to the first field that prevents sending the answer.
func (q *question) toProblem() {
	if q.form != nil {
		q.whole = false
		q.focus(inForm)
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
