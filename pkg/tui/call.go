package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/servers"
	"toolx/pkg/tui/pane"
	"toolx/pkg/tui/result"
)

// call is one run of an item, from the key press to its result.
type call struct {
	id        string
	item      item
	name      string // of what is run; of a template, that of the resource it makes
	arguments json.RawMessage
	started   time.Time
	sent      time.Time // when the server was up and the tool was asked; zero before
	ended     time.Time
	cancel    context.CancelFunc
	cancelled bool
	progress  exec.Progress
	result    *exec.Result // nil while it runs
}

// running reports whether a call has not ended.
func (c *call) running() bool { return c.result == nil }

// giveUp cancels a running call.
func (c *call) giveUp() {
	c.cancelled = true
	c.cancel()
}

// took returns how long a call has been running at now, or how long it ran.
func (c *call) took(now time.Time) time.Duration {
	if !c.running() {
		now = c.ended
	}
	return now.Sub(c.started)
}

// maxCalls is how many ended calls are kept with their results.
const maxCalls = 32

// askedMsg reports that a call's server is up and that the tool is being called now.
type askedMsg struct {
	id string
	at time.Time
}

// calledMsg reports how a call ended, and when its tool was called: zero if it never was.
type calledMsg struct {
	id     string
	asked  time.Time
	result *exec.Result
}

// startCall runs an item in the background. arguments are those of the tool or prompt, or hold the URI
// of a resource.
func (m *model) startCall(one item, arguments json.RawMessage) tea.Cmd {
	ctx, cancel := context.WithCancel(m.ctx)
	m.lastCall++
	c := &call{
		id: "tui-" + strconv.Itoa(m.lastCall), item: one, name: one.Name, arguments: arguments,
		started: m.now(), cancel: cancel,
	}
	if one.kind == kindTemplate {
		c.name = one.Server + exec.Separator + uriOf(arguments)
	}
	m.calls = append(m.calls, c)
	m.forgetCalls()
	m.shown = c
	m.setFocus(areaResult) // where one key cancels it
	asked := make(chan tea.Msg, 1)
	return tea.Batch(m.runCall(withCall(ctx, c.id), c, asked), func() tea.Msg { return <-asked }, m.tick())
}

// runCall returns the command that makes a call. It starts the server if it is not running, and sends
// on asked once the server is up.
func (m *model) runCall(ctx context.Context, c *call, asked chan<- tea.Msg) tea.Cmd {
	pool, executor, now := m.options.Pool, m.options.Executor, m.now
	return func() tea.Msg {
		var session *servers.Session
		if c.item.Server != "" {
			var err error
			if session, err = reach(ctx, pool, c.item.Server); err != nil {
				asked <- nil
				if ctx.Err() != nil {
					err = &exec.InterruptedError{Tool: c.name}
				}
				return calledMsg{id: c.id, result: c.reject(executor, err)}
			}
		}
		at := now()
		asked <- askedMsg{c.id, at}
		return calledMsg{c.id, at, c.run(ctx, executor, session)}
	}
}

// run calls the tool, or asks its server's session for the resource or the prompt.
func (c *call) run(ctx context.Context, executor *exec.Executor, session *servers.Session) *exec.Result {
	if c.item.kind != kindTool {
		return executor.Do(ctx, c.operation(session))
	}
	return executor.Call(ctx, exec.Call{
		ID: c.id, Tool: c.name, Target: current(executor.Registry, c.item.Tool), Arguments: c.arguments,
	})
}

// reject is the result of a call whose server could not be reached.
func (c *call) reject(executor *exec.Executor, err error) *exec.Result {
	if c.item.kind != kindTool {
		return executor.RejectOperation(c.operation(nil), c.started, err)
	}
	return executor.Reject(c.name, c.arguments, c.started, err)
}

// operation returns the request for a resource or a prompt, as the command line makes it. Only running
// it needs a session.
func (c *call) operation(session *servers.Session) exec.Operation {
	operation := exec.Operation{
		ID: c.id, Name: c.name, Server: c.item.Server, Method: c.item.kind.request(), Arguments: c.arguments,
		Read: exec.ReadContents,
		Run: func(ctx context.Context, progress func(exec.Progress)) (json.RawMessage, error) {
			return session.ReadResource(ctx, uriOf(c.arguments), progress)
		},
	}
	if c.item.kind == kindPrompt {
		operation.Read = exec.ReadPrompt
		operation.Run = func(ctx context.Context, progress func(exec.Progress)) (json.RawMessage, error) {
			return session.GetPrompt(ctx, c.item.Plain, c.arguments, progress)
		}
	}
	return operation
}

// uriOf returns the URI in the arguments of a resource.
func uriOf(arguments json.RawMessage) string {
	for member := range rawjson.Each(arguments) {
		if member.Name == "uri" && rawjson.IsString(member.Value) {
			return rawjson.Unquote(member.Value)
		}
	}
	return ""
}

// reach returns a server's session, and opens one if there is none. A server whose session is lost
// while its process lives is left alone: only a restart by the user ends the process.
func reach(ctx context.Context, pool Pool, name string) (*servers.Session, error) {
	if session := pool.Session(name); session != nil {
		if failure := session.Err(); failure != nil && failure.Lives() {
			return nil, &lostError{failure}
		}
	}
	return pool.Open(ctx, name)
}

// lostError is the failure of a server whose process lives but whose session is lost. It adds a hint
// for the interface.
type lostError struct{ *servers.Failure }

func (e *lostError) Unwrap() error { return e.Failure }

// Hint implements the interface that fault.HintOf looks for.
func (e *lostError) Hint() string { return "r restarts the server" }

// current returns a tool as it is registered now: a server that was restarted has registered its tools
// again.
func current(registry *exec.Registry, tool *exec.Tool) *exec.Tool {
	for _, one := range registry.All() {
		if one.Server == tool.Server && one.Plain == tool.Plain {
			return one
		}
	}
	return tool
}

// turnCalls shows the call before or after the one on the screen.
func (m *model) turnCalls(by int) tea.Cmd {
	at := slices.Index(m.calls, m.shown) + by
	if at >= 0 && at < len(m.calls) {
		m.show(m.calls[at])
	}
	return m.tickIfBusy()
}

// noOtherCall returns why there is no call before or after this one.
func (m *model) noOtherCall(by int) string {
	at := slices.Index(m.calls, m.shown) + by
	return off(m.shown == nil || at < 0 || at >= len(m.calls), "there is none")
}

// forgetCalls drops the oldest ended calls and their results.
func (m *model) forgetCalls() {
	for i := 0; len(m.calls) > maxCalls && i < len(m.calls); {
		if m.calls[i].running() || m.calls[i] == m.shown {
			i++
			continue
		}
		m.calls = append(m.calls[:i], m.calls[i+1:]...)
	}
}

// callOf finds a call by its id. It returns nil if the call was dropped.
func (m *model) callOf(id string) *call {
	for _, c := range m.calls {
		if c.id == id {
			return c
		}
	}
	return nil
}

// latestCall returns the newest call of an item, or nil.
func (m *model) latestCall(one item) *call {
	for i := len(m.calls) - 1; i >= 0; i-- {
		if m.calls[i].item.key() == one.key() {
			return m.calls[i]
		}
	}
	return nil
}

// runningCalls counts the calls that have not ended.
func (m *model) runningCalls() int {
	n := 0
	for _, c := range m.calls {
		if c.running() {
			n++
		}
	}
	return n
}

// called handles the end of a call.
func (m *model) called(msg calledMsg) tea.Cmd {
	c := m.callOf(msg.id)
	if c == nil {
		return nil
	}
	c.result, c.sent, c.ended = msg.result, msg.asked, m.now()
	c.cancel()
	if c == m.shown {
		m.result.Show(c.result, c.item.Tool)
	}
	return nil
}

// cancelCall cancels the call on the screen; its server keeps running.
func (m *model) cancelCall() tea.Cmd {
	if m.shown != nil && m.shown.running() {
		m.shown.giveUp()
	}
	return nil
}

// headline returns the first line of the result pane: what is running, or how it ended.
func (m *model) headline(c *call, width int) string {
	name := m.theme.Paint(pane.Strong, render.Safe(c.name))
	took := pane.Duration(c.took(m.now()))
	glyphs := m.theme.Glyphs
	var state string
	switch {
	case c.running() && c.cancelled:
		state = m.theme.Paint(pane.Warn, "cancelling "+took)
	case c.running():
		state = m.theme.Paint(pane.Accent, m.spinner()+" "+took)
	case c.result.Success:
		state = m.theme.Paint(pane.Good, glyphs.Good+" "+took)
	default:
		state = m.theme.Paint(pane.Bad, glyphs.Bad+" "+result.Failure(c.result.Err)+" "+took)
	}
	place := ""
	if len(m.calls) > 1 {
		place = fmt.Sprintf("%d of %d  ", slices.Index(m.calls, c)+1, len(m.calls))
	}
	return m.theme.Cut(state+"  "+name+"  "+m.theme.Paint(pane.Dim, place+m.phases(c)), width)
}

// phases splits a call's time into starting the server and the call itself.
func (m *model) phases(c *call) string {
	if c.sent.IsZero() {
		if c.running() && c.item.Server != "" {
			return "starting " + render.Safe(c.item.Server)
		}
		return ""
	}
	start := c.sent.Sub(c.started)
	if start < 10*time.Millisecond { // it was running already
		return ""
	}
	s := m.serverOf(c.item.Server)
	if s == nil || s.status != statusReady {
		return "start " + pane.Duration(start)
	}
	return fmt.Sprintf("start %.0f · initialize %.0f · list %.0f ms", s.timing.StartMS, s.timing.InitializeMS, s.timing.ListMS)
}

// runningLines returns what the result pane shows of a running call.
func (m *model) runningLines(c *call, width int) []string {
	var lines []string
	if p := c.progress; p.Progress > 0 || p.Message != "" {
		lines = append(lines, m.progressBar(p, width))
		lines = append(lines, pane.Wrap(render.Safe(p.Message), width)...)
	}
	if c.item.Server != "" {
		if s := m.serverOf(c.item.Server); s != nil && s.status != statusReady {
			lines = append(lines, m.theme.Paint(pane.Dim, render.Safe(s.name)+": "+render.Safe(s.summary(m.now()))))
		}
	}
	return append(lines, "", m.theme.Paint(pane.Dim, "x cancels"))
}

// progressBar draws the progress of a call. A total of zero means that the server does not know it.
func (m *model) progressBar(p exec.Progress, width int) string {
	if p.Total <= 0 {
		return m.theme.Paint(pane.Accent, fmt.Sprintf("%g done", p.Progress))
	}
	share := min(1, max(0, p.Progress/p.Total))
	label := fmt.Sprintf(" %3.0f %%  %g of %g", 100*share, p.Progress, p.Total)
	room := max(4, min(40, width-len(label)))
	filled := int(share * float64(room))
	glyphs := m.theme.Glyphs
	return m.theme.Paint(pane.Accent, strings.Repeat(glyphs.Filled, filled)) + strings.Repeat(glyphs.Hollow, room-filled) + label
}
