package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/doctor"
	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/render"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/tui/pane"
	"toolx/pkg/tui/timeline"
)

// supervisor starts, stops and examines the servers, and reads their lists.
type supervisor struct {
	*shared
	list []*server
	tree *tree
	// looked is when look last checked the servers that are starting.
	looked time.Time
	// changedTools and changedLists show tools and other items that have changed.
	changedTools, changedLists func()
}

// server returns a server by its name, or nil for toolx's own tools.
func (su *supervisor) server(name string) *server {
	if at := slices.IndexFunc(su.list, func(s *server) bool { return s.name == name }); at >= 0 {
		return su.list[at]
	}
	return nil
}

// any reports whether something holds of any server.
func (su *supervisor) any(holds func(*server) bool) bool { return slices.ContainsFunc(su.list, holds) }

// nextFailed returns the failed server that follows one, which may be nil; nil if none has failed.
func (su *supervisor) nextFailed(after *server) *server {
	at := slices.Index(su.list, after) + 1
	for _, s := range slices.Concat(su.list[at:], su.list[:at]) {
		if s.failed() {
			return s
		}
	}
	return nil
}

// opening reports whether any server may still come up.
func (su *supervisor) opening() bool {
	return su.any(func(s *server) bool { return s.status == statusStarting || s.status == statusRetrying })
}

// listing reports whether any list is being read.
func (su *supervisor) listing() bool {
	return slices.ContainsFunc(su.tree.groups, func(g *group) bool {
		return slices.ContainsFunc(g.serverLists, func(s *serverList) bool { return s.reading != nil })
	})
}

// Starting many processes uses the whole machine for a while. So more than fewServers servers wait
// until the first frame is drawn, which Bubble Tea does within firstFrame.
const (
	fewServers = 3
	firstFrame = 40 * time.Millisecond
)

// openAll returns the command that starts all servers at once; the first frame does not wait for them.
func (su *supervisor) openAll() tea.Cmd {
	opening := make([]tea.Cmd, 0, len(su.list))
	for _, s := range su.list {
		opening = append(opening, su.open(s))
	}
	if len(su.list) <= fewServers {
		return tea.Batch(opening...)
	}
	return tea.Sequence(tea.Tick(firstFrame, func(time.Time) tea.Msg { return nil }), tea.Batch(opening...))
}

// open returns the command that starts a server.
func (su *supervisor) open(s *server) tea.Cmd {
	open := func() error {
		_, err := su.options.Pool.Open(su.ctx, s.name)
		return err
	}
	return after(open, func(err error) tea.Cmd { return su.opened(s, err) })
}

// opened handles the outcome of opening a server.
func (su *supervisor) opened(s *server, err error) tea.Cmd {
	if s.asked && errors.Is(err, context.Canceled) { // the code that stopped it reports its state
		return nil
	}
	if err != nil && su.ctx.Err() == nil {
		s.reason = err.Error()
		s.become(statusFailed, su.now())
	}
	s.asked = false
	su.changedTools()
	return nil
}

// fetchLook is how often the interface checks whether starting servers are being downloaded.
const fetchLook = time.Second

// look returns the command that finds out which servers are being downloaded, if it is time for that.
func (su *supervisor) look() tea.Cmd {
	if su.options.Fetching == nil || su.now().Sub(su.looked) < fetchLook {
		return nil
	}
	su.looked = su.now()
	var commands []tea.Cmd
	for _, s := range su.list {
		if pid := s.pid; pid != 0 && s.status == statusStarting {
			fetching := func() string { return su.options.Fetching(pid) }
			commands = append(commands, after(fetching, func(launcher string) tea.Cmd {
				if s.pid == pid {
					s.launcher = launcher
				}
				return nil
			}))
		}
	}
	return tea.Batch(commands...)
}

// restartKey returns the key that restarts a server, which may be nil.
func (su *supervisor) restartKey(s *server) pane.Binding {
	return pane.Binding{
		Keys: []string{"R"}, Help: "restart the server", Off: pane.Off(s == nil, "no server is selected"),
		Do: func() tea.Cmd { return su.restart(s) },
	}
}

// restart stops a server and starts it again. It asks first if the server is shared with other commands, because it
// restarts for them too.
func (su *supervisor) restart(s *server) tea.Cmd {
	done := func(error) tea.Cmd { return nil }
	if s.held == nil {
		return su.restartThen(s, done)
	}
	renew := func() error { return su.options.Pool.Renew(su.ctx, s.name) }
	restart := func() tea.Cmd {
		s.asked = true
		return after(renew, func(err error) tea.Cmd {
			if err != nil {
				s.asked = false
				return su.failWithHint(err)
			}
			return su.restartThen(s, done)
		})
	}
	text := "Other commands share it. It loses its state, and their running calls fail."
	su.ask("restart "+render.Safe(titleOf(s.name))+" for all?", text, []string{"y", "enter"}, "restart it", restart)
	return nil
}

// restartThen restarts a server, and passes the outcome to then.
func (su *supervisor) restartThen(s *server, then func(error) tea.Cmd) tea.Cmd {
	s.asked = true
	s.become(statusStarting, su.now())
	restart := func() error {
		su.options.Pool.Stop(su.ctx, s.name)
		_, err := su.options.Pool.Open(su.ctx, s.name)
		return err
	}
	return after(restart, func(err error) tea.Cmd { return tea.Batch(su.opened(s, err), then(err)) })
}

// askToStop stops a server, once the user agrees.
func (su *supervisor) askToStop(s *server) tea.Cmd {
	text := "It is running. R starts it again."
	switch {
	case s.launcher != "":
		text = s.launcher + " is still downloading it. Stopping it may leave a broken cache."
	case s.status != statusReady:
		text = "It is starting. R starts it again."
	}
	stop := func() tea.Cmd { return su.stop(s) }
	su.ask("stop "+render.Safe(titleOf(s.name))+"?", text, []string{"y", "enter"}, "stop it", stop)
	return nil
}

// stop stops a server. One without a process has no event for that.
func (su *supervisor) stop(s *server) tea.Cmd {
	s.asked = true
	stop := func() bool { su.options.Pool.Stop(su.ctx, s.name); return true }
	return after(stop, func(bool) tea.Cmd {
		if s.asked {
			s.stop(su.now())
		}
		return nil
	})
}

// lost records from its session why a server that was ready has ended.
func (su *supervisor) lost(s *server) {
	if session := su.options.Pool.Session(s.name); session != nil && s.failure == nil {
		s.failure = session.Err()
	}
}

// examine runs the doctor on a server. The last report stays until the new one arrives.
func (su *supervisor) examine(s *server) tea.Cmd {
	s.diagnosis.since = su.now()
	ask := func() diagnosis {
		report, err := su.options.Examine(su.ctx, s.name)
		if err == nil {
			report.Mask(su.hide)
		}
		return diagnosis{report: report, err: err}
	}
	return after(ask, func(d diagnosis) tea.Cmd {
		s.diagnosis = d
		return nil
	})
}

// diagnose lets the doctor examine a server that has failed, once for each failure. s may be nil.
func (su *supervisor) diagnose(s *server) tea.Cmd {
	if s == nil || s.status != statusFailed || s.diagnosed.Equal(s.since) || s.diagnosis.running() ||
		su.options.Examine == nil {
		return nil
	}
	s.diagnosed = s.since
	return su.examine(s)
}

// diagnosis is the doctor's report on a server.
type diagnosis struct {
	since  time.Time // when it started; zero once it has finished
	report *doctor.Report
	err    error // why there is no report
}

// running reports whether the doctor is running.
func (d *diagnosis) running() bool { return !d.since.IsZero() }

// meet returns the command that waits for the session of a server that has started.
func (su *supervisor) meet(name string) tea.Cmd {
	session := func() *protocol.Session {
		session := su.options.Pool.Session(name)
		if session == nil { // it is about to be handed over: nothing is started here
			session, _ = su.options.Pool.Open(su.ctx, name)
		}
		return session
	}
	return after(session, func(session *protocol.Session) tea.Cmd { return su.met(name, session) })
}

// met starts to read a server's lists besides its tools, independently of each other and without
// blocking, and listens for changes. session is nil if the server is gone again.
func (su *supervisor) met(name string, session *protocol.Session) tea.Cmd {
	g := su.tree.groupOf(name)
	if g == nil || session == nil {
		return nil
	}
	has := session.Capabilities
	g.server.completes = has.Completions != nil
	g.server.subscribes = has.Resources != nil && has.Resources.Subscribe
	var commands []tea.Cmd
	for _, of := range g.serverLists {
		of.offered = has.Resources != nil
		if of.kind == kindPrompt {
			of.offered = has.Prompts != nil
		}
		if !of.offered {
			of.clear()
			continue
		}
		commands = append(commands, su.read(g.server, of, session))
	}
	su.changedLists()
	return tea.Batch(append(commands, su.listen(session))...)
}

// listen returns the command that subscribes to changes of a server's lists with revision 2026-07-28.
// Earlier revisions send them unasked.
func (su *supervisor) listen(session *protocol.Session) tea.Cmd {
	has := session.Capabilities
	interest := protocol.Interest{
		Tools:     has.Tools != nil && has.Tools.ListChanged,
		Resources: has.Resources != nil && has.Resources.ListChanged,
		Prompts:   has.Prompts != nil && has.Prompts.ListChanged,
	}
	if !mcp.IsModernProtocol(session.Protocol) || !interest.Tools && !interest.Resources && !interest.Prompts {
		return nil
	}
	return func() tea.Msg {
		// A failure is visible on the wire; the lists are usable all the same.
		_ = session.Listen(su.ctx, interest, func() {})
		return nil
	}
}

// listing is a session's answer to a request for a list.
type listing struct {
	session *protocol.Session
	items   []item
	err     error
}

// read returns the command that reads a list. If it is being read already, it is read once more afterwards.
func (su *supervisor) read(s *server, of *serverList, session *protocol.Session) tea.Cmd {
	if of.reading == session {
		of.again = true
		return nil
	}
	of.reading, of.again = session, false
	ask := func() listing {
		kind := kinds[of.kind]
		ask := func(ctx context.Context) ([]json.RawMessage, error) { return kind.list(session, ctx) }
		definitions, err := exec.Within(su.ctx, su.options.Executor, kind.listing, ask)
		return listing{session, itemsOf(of.kind, s.config, definitions), err}
	}
	return after(ask, func(l listing) tea.Cmd { return su.listed(s, of, l) })
}

// listed takes a list. If reading it failed, the old list stays.
func (su *supervisor) listed(s *server, of *serverList, l listing) tea.Cmd {
	if of.reading != l.session {
		return nil // another session is asked by now
	}
	of.reading = nil
	if of.failure = ""; l.err != nil {
		of.failure = l.err.Error()
	} else {
		of.items, of.listed = l.items, true
	}
	su.changedLists()
	if of.again {
		return su.read(s, of, l.session)
	}
	return nil
}

// changedList returns the kinds of item that a notification reports a change of.
func changedList(method string) []kind {
	switch method {
	case mcp.MethodNotificationResourcesListChanged:
		return []kind{kindResource, kindTemplate}
	case mcp.MethodNotificationPromptsListChanged:
		return []kind{kindPrompt}
	}
	return nil
}

// readAgain reads lists of a server again.
func (su *supervisor) readAgain(server string, of ...kind) tea.Cmd {
	g, session := su.tree.groupOf(server), su.options.Pool.Session(server)
	if g == nil || session == nil {
		return nil
	}
	var commands []tea.Cmd
	for _, s := range g.serverLists {
		if s.offered && slices.Contains(of, s.kind) {
			commands = append(commands, su.read(g.server, s, session))
		}
	}
	return tea.Batch(commands...)
}

// itemOf finds the item of an earlier call. fill holds the values for its form, nil if it has none. A
// resource need not be in a list: servers also make them from templates.
func (su *supervisor) itemOf(call timeline.Request) (one item, fill json.RawMessage, err error) {
	switch call.Method {
	case "":
		tool, err := su.options.Executor.Registry.Find(call.Tool)
		return toolItem(tool), call.Arguments, err
	case kindPrompt.request():
		if at, ok := su.tree.listed(itemKey{kindPrompt, call.Tool}); ok {
			return at.item, call.Arguments, nil
		}
	case kindResource.request():
		if at, ok := su.tree.listed(itemKey{kindResource, call.Tool}); ok {
			return at.item, nil, nil
		}
		if one, ok := su.resource(call.Tool, uriOf(call.Arguments)); ok {
			return one, nil, nil
		}
	default:
		return item{}, nil, fmt.Errorf("%s works only on the command line", call.Method)
	}
	return item{}, nil, fmt.Errorf("no server here has %s", call.Tool)
}

// sourceOf returns the tree's item for a resource: the resource itself, or the template that it was
// made from. If the tree has neither, it returns the resource.
func (su *supervisor) sourceOf(resource item) item {
	g := su.tree.groupOf(resource.Server)
	if _, ok := su.tree.listed(resource.key()); ok || g == nil {
		return resource
	}
	for _, one := range g.serverList(kindTemplate).items {
		if protocol.TemplateMatches(one.Plain, resource.Plain) {
			return one
		}
	}
	return resource
}

// resource describes a resource that no list has, by its full name and its URI.
func (su *supervisor) resource(name, uri string) (item, bool) {
	for _, s := range su.list {
		if name == s.name+exec.Separator+uri && uri != "" {
			definition := rawjson.Object([]rawjson.Member{rawjson.NewMember("uri", rawjson.Quote(uri))})
			described, ok := describeResource(s.config, definition)
			return item{Tool: described, kind: kindResource}, ok
		}
	}
	return item{}, false
}
