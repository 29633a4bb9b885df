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
	"github.com/charmbracelet/x/ansi"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/tui/pane"
	"toolx/pkg/tui/result"
)

// call is one run of an item, from the key press to its result.
type call struct {
	id        string
	item      item
	name      string // of what is run; of a template, that of the resource it makes
	arguments json.RawMessage
	limit     time.Duration // without progress; zero: the config decides
	started   time.Time
	sent      time.Time // when the call was sent, after the server had started; zero before
	ended     time.Time
	cancel    context.CancelFunc
	done      chan struct{} // closed when it has ended
	cancelled bool
	progress  exec.Progress
	result    *exec.Result // nil while it runs
}

// running reports whether a call has not ended.
func (c *call) running() bool { return c.result == nil }

// cancelRunning cancels the call if it runs; its server keeps running.
func (c *call) cancelRunning() {
	if c.running() {
		c.cancelled = true
		c.cancel()
	}
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

// calls are the calls of this run, and which of them is on the screen.
type calls struct {
	*shared
	list  []*call
	shown *call
	last  int
	view  *result.View
	// limits are the time limits that the user has set.
	limits map[itemKey]timeLimit
	// server returns a server by its name, or nil.
	server func(name string) *server
}

// start runs an item in the background. arguments are those of the tool or prompt, or hold the URI of a resource.
func (cs *calls) start(one item, arguments json.RawMessage) tea.Cmd {
	ctx, cancel := context.WithCancel(cs.ctx)
	cs.last++
	c := &call{
		id: "tui-" + strconv.Itoa(cs.last), item: one, name: one.Name, arguments: arguments,
		limit: cs.limits[one.key()].limit, started: cs.now(), cancel: cancel, done: make(chan struct{}),
	}
	if one.kind == kindTemplate {
		c.name = one.Server + exec.Separator + uriOf(arguments)
	}
	cs.list = append(cs.list, c)
	cs.forget()
	cs.shown = c
	up := make(chan time.Time, 1)
	run := func() *exec.Result {
		defer close(up)
		defer close(c.done)
		return c.connectAndRun(context.WithValue(ctx, callKey{}, c.id), cs.options, func() { up <- cs.now() })
	}
	ended := func(result *exec.Result) tea.Cmd {
		c.result, c.ended = result, cs.now()
		cancel()
		if c == cs.shown {
			cs.view.Show(result, c.item.Tool)
		}
		return nil
	}
	asked := func(at time.Time) tea.Cmd {
		c.sent = at
		return nil
	}
	return tea.Batch(after(run, ended), after(func() time.Time { return <-up }, asked))
}

// connectAndRun starts the call's server if necessary, calls up once it is running, and makes the call.
func (c *call) connectAndRun(ctx context.Context, options Options, up func()) *exec.Result {
	var session *protocol.Session
	if c.item.Server != "" {
		var err error
		if session, err = reach(ctx, options.Pool, c.item.Server); err != nil {
			if ctx.Err() != nil {
				err = &exec.InterruptedError{Tool: c.name}
			}
			return c.reject(options.Executor, err)
		}
	}
	up()
	return c.run(ctx, options.Executor, session)
}

// run calls the tool, or asks its server's session for the resource or the prompt.
func (c *call) run(ctx context.Context, executor *exec.Executor, session *protocol.Session) *exec.Result {
	if c.item.kind != kindTool {
		return executor.Do(ctx, c.operation(session))
	}
	return executor.Call(ctx, exec.Call{
		ID: c.id, Tool: c.name, Target: current(executor.Registry, c.item.Tool), Arguments: c.arguments,
		Confirmed: true, // the dialog has asked
		Timeout:   c.limit,
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
func (c *call) operation(session *protocol.Session) exec.Operation {
	operation := exec.Operation{
		ID: c.id, Name: c.name, Server: c.item.Server, Method: c.item.kind.request(), Arguments: c.arguments,
		Timeout: c.limit, Read: exec.ReadContents,
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

// reach returns a server's session, and opens one if there is none. If the session is lost but the server's process is
// still running, it does nothing: only the user may restart that process.
func reach(ctx context.Context, pool Pool, name string) (*protocol.Session, error) {
	if session := pool.Session(name); session != nil {
		if failure := session.Err(); failure != nil && failure.Lives() {
			return nil, &lostError{failure}
		}
	}
	return pool.Open(ctx, name)
}

// lostError is the failure of a server that is running but has lost its session. It adds a hint for the interface.
type lostError struct{ *diagnose.Failure }

func (e *lostError) Unwrap() error { return e.Failure }

// Hint implements the interface that fault.HintOf looks for.
func (e *lostError) Hint() string { return "R restarts the server" }

// current returns a tool as it is registered now: a server that was restarted has registered its tools again.
func current(registry *exec.Registry, tool *exec.Tool) *exec.Tool {
	for _, one := range registry.All() {
		if one.Server == tool.Server && one.Plain == tool.Plain {
			return one
		}
	}
	return tool
}

// show puts a call's result on the screen.
func (cs *calls) show(c *call) {
	cs.shown = c
	if !c.running() {
		cs.view.Show(c.result, c.item.Tool)
	}
}

// neighbour returns the call before or after the one on the screen, or nil.
func (cs *calls) neighbour(by int) *call {
	if at := slices.Index(cs.list, cs.shown) + by; cs.shown != nil && at >= 0 && at < len(cs.list) {
		return cs.list[at]
	}
	return nil
}

// forget drops the oldest ended calls and their results.
func (cs *calls) forget() {
	for i := 0; len(cs.list) > maxCalls && i < len(cs.list); {
		if cs.list[i].running() || cs.list[i] == cs.shown {
			i++
			continue
		}
		cs.list = slices.Delete(cs.list, i, i+1)
	}
}

// byID returns the calls with an id: one, or none if it was dropped.
func (cs *calls) byID(id string) []*call { return cs.filter(func(c *call) bool { return c.id == id }) }

// running returns the calls that have not ended.
func (cs *calls) running() []*call { return cs.filter((*call).running) }

func (cs *calls) filter(fits func(*call) bool) []*call {
	return slices.DeleteFunc(slices.Clone(cs.list), func(c *call) bool { return !fits(c) })
}

// isRunning reports whether a call of an item is running.
func (cs *calls) isRunning(one item) bool {
	return slices.ContainsFunc(cs.list, func(c *call) bool { return c.running() && c.item.key() == one.key() })
}

// latest returns the newest call of an item, or nil.
func (cs *calls) latest(one item) *call {
	for _, c := range slices.Backward(cs.list) {
		if c.item.key() == one.key() {
			return c
		}
	}
	return nil
}

// render draws the call on the screen: its headline, and its result below.
func (cs *calls) render(width, height int) string {
	c := cs.shown
	if c == nil {
		return cs.theme.Block([]string{cs.theme.Paint(pane.Dim, "no calls yet")}, width, height)
	}
	head := cs.theme.Fit(cs.headline(c, width), width)
	if c.running() {
		return head + "\n" + cs.theme.Block(cs.runningLines(c, width), width, height-1)
	}
	return head + "\n" + cs.view.Render(width, height-1)
}

// extent returns how much of the result is visible.
func (cs *calls) extent() pane.Extent {
	if cs.shown == nil || cs.shown.running() {
		return pane.Extent{}
	}
	return cs.view.Extent()
}

// isOnCancelHint reports whether a place is on the words that say how to cancel the call.
func (cs *calls) isOnCancelHint(at tea.Mouse, width int) bool {
	if cs.shown == nil || !cs.shown.running() {
		return false
	}
	lines := cs.runningLines(cs.shown, width)
	return at.Y == len(lines) && at.X < ansi.StringWidth(lines[len(lines)-1]) // below the headline
}

// headline returns the first line of the result pane: what is running, or how it ended.
func (cs *calls) headline(c *call, width int) string {
	name := cs.theme.Paint(pane.Strong, render.Safe(c.name))
	took := pane.Duration(c.took(cs.now()))
	glyphs := cs.theme.Glyphs
	var state string
	switch {
	case c.running() && c.cancelled:
		state = cs.theme.Paint(pane.Warn, "cancelling "+took)
	case c.running():
		state = cs.theme.Paint(pane.Accent, cs.spinner()+" "+took)
	case c.result.Success:
		state = cs.theme.Paint(pane.Good, glyphs.Good+" "+took)
	default:
		role, sign := result.Outcome(cs.theme, fault.KindOf(c.result.Err))
		state = cs.theme.Paint(role, sign+" "+result.Failure(c.result.Err)+" "+took)
	}
	place := ""
	if len(cs.list) > 1 {
		place = fmt.Sprintf("%d of %d  ", slices.Index(cs.list, c)+1, len(cs.list))
	}
	return cs.theme.Cut(state+"  "+name+"  "+cs.theme.Paint(pane.Dim, place+cs.phases(c)), width)
}

// phases splits a call's time into starting the server and the call itself.
func (cs *calls) phases(c *call) string {
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
	s := cs.server(c.item.Server)
	if s == nil || s.status != statusReady {
		return "start " + pane.Duration(start)
	}
	t := s.timing
	return fmt.Sprintf("start %.0f · initialize %.0f · list %.0f ms", t.StartMS, t.InitializeMS, t.ListMS)
}

// runningLines returns what the result pane shows of a running call.
func (cs *calls) runningLines(c *call, width int) []string {
	var lines []string
	p := c.progress
	if p.Progress > 0 || p.Total > 0 || p.Status == "" && p.Message != "" {
		lines = append(lines, cs.progressBar(p, width))
	}
	if text := p.Text(); text != "" {
		lines = append(lines, pane.Wrap(render.Safe(text), width)...)
	}
	if c.item.Server != "" {
		if s := cs.server(c.item.Server); s != nil && s.status != statusReady {
			lines = append(lines, cs.theme.Paint(pane.Dim, render.Safe(s.name)+": "+cs.safe(s.detail(cs.now()))))
		}
	}
	return append(lines, "", cs.theme.Paint(pane.Dim, "x cancels"))
}

// progressBar draws the progress of a call. A total of zero means that the server does not know it.
func (cs *calls) progressBar(p exec.Progress, width int) string {
	if p.Total <= 0 {
		return cs.theme.Paint(pane.Accent, fmt.Sprintf("%g done", p.Progress))
	}
	share := min(1, max(0, p.Progress/p.Total))
	label := fmt.Sprintf(" %3.0f %%  %g of %g", 100*share, p.Progress, p.Total)
	room := max(4, min(40, width-len(label)))
	filled := int(share * float64(room))
	glyphs := cs.theme.Glyphs
	done := cs.theme.Paint(pane.Accent, strings.Repeat(glyphs.Filled, filled))
	return done + strings.Repeat(glyphs.Hollow, room-filled) + label
}
