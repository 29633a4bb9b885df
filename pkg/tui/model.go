// Package tui is the terminal interface: servers with their tools, resources and prompts (items:
// item.go), forms made from schemas, calls and results, and the messages and logs of the servers.
//
// The model (model.go) is the wiring of its parts: the panes (panes.go) with the tree, the page and the calls, the
// servers (supervisor.go), the questions of servers (question.go), suggestions, subscriptions and what is copied.
// All of them share the theme, the clock, the status line and the dialog (shared.go).
//
// Whatever takes time runs in a command. Its answer comes back as a function to run in Update (later); an answer for
// something that no longer exists is dropped. Panes are plain structs that draw themselves into a rectangle (see
// package pane). The interface uses the same config, pool, executor and events as the command line.
//
// Requests from servers to the user arrive through Questions and are drawn over the panes until they
// are answered or withdrawn.
package tui

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/tui/feed"
	"toolx/pkg/tui/pane"
	"toolx/pkg/tui/result"
	"toolx/pkg/tui/timeline"
)

// model is everything that the screen shows. Only Update changes it.
type model struct {
	*shared
	*panes
	feed    *feed.Feed
	ticking bool

	servers       *supervisor
	developers    *developers
	config        *configurer
	questions     *questions
	suggested     *suggester
	subscriptions *subscriptions
	copy          *copier
	typist        *typist
	palette       *palette
	// wanted is the tool to go to, with its arguments, as soon as it is listed.
	wanted *Start
}

func newModel(ctx context.Context, options Options) *model {
	s := newShared(ctx, options, true)
	t := &tree{shared: s}
	lines := timeline.New(s.theme, timeline.Options{
		History: options.History, Program: options.Program, AdHoc: options.AdHoc,
		Here: hereIn(options), Hide: options.Hide, Now: s.now, Recorded: s.showsRecording(),
	})
	servers := &supervisor{shared: s, tree: t}
	page := &page{shared: s, forms: &forms{shared: s, typed: make(map[itemKey]filled)}, servers: servers}
	calls := &calls{
		shared: s, view: result.New(s.theme), page: page, server: servers.server, limits: make(map[itemKey]timeLimit),
	}
	calls.view.Ask = s.askPath
	m := &model{
		shared: s, feed: feed.New(), wanted: options.Start, servers: servers,
		panes: &panes{
			shared: s, tree: t, page: page, calls: calls, timeline: lines,
			width: mediumWidth, height: 24, watching: true, dragged: areas,
		},
		developers:    &developers{shared: s, servers: servers, calls: calls},
		suggested:     &suggester{shared: s, page: page, server: servers.server},
		subscriptions: &subscriptions{shared: s, page: page, servers: servers, byName: make(map[string]*subscription)},
	}
	s.quit = m.quit
	servers.changedTools, servers.changedLists = m.setTools, m.relist
	m.palette = &palette{shared: s, m: m}
	m.config = &configurer{shared: s, servers: servers, tree: t, reveal: m.goToServer, palette: m.palette}
	m.copy = &copier{shared: s, calls: calls, page: page, ofResult: m.ofResult}
	m.typist = &typist{shared: s, editing: func() bool { return m.palette.open || m.focused().Editing() }}
	m.questions = &questions{shared: s, calls: calls, typist: m.typist}
	page.developers, page.config, page.foot, page.calls = m.developers, m.config, m.foot, calls.chips
	page.limit = func() string { return calls.limits[page.item.key()].typed }
	t.keys, t.moved, t.recent = m.treeKeys, m.showSelected, lines.Recent
	t.toFailed = func() { m.do(pane.Find(m.actions(), "!")) }
	t.calling, t.subscribed = calls.isRunning, m.subscriptions.has
	t.silent = func(one item) bool { return page.item.key() == one.key() && page.takesNothing() }
	m.addGroups()
	if s.showsRecording() {
		m.focus = areaTimeline
	}
	m.focused().Focus(true)
	m.setTools()
	return m
}

// hereIn returns a function that reports whether a tool can be called in an interface with these options, as far as
// that is known before any server runs.
func hereIn(options Options) func(server, tool string) bool {
	names := make(map[string]bool, len(options.Servers))
	for _, server := range options.Servers {
		names[server.Name] = true
	}
	return func(server, tool string) bool {
		own := func(one *exec.Tool) bool { return one.Server == "" && one.Name == tool }
		if server != "" || !options.Local {
			return names[server]
		}
		return slices.ContainsFunc(options.Executor.Registry.All(), own)
	}
}

// addGroups makes the groups of the tree: the servers, then the tools of the config, then toolx's own, folded away.
func (m *model) addGroups() {
	for _, entry := range m.options.Servers {
		m.addServer(entry).become(statusStarting, m.now())
	}
	if m.options.Local {
		m.tree.groups = append(m.tree.groups, &group{}, &group{builtIn: true, closed: true, chosen: true})
	}
}

func (m *model) addServer(entry *config.Server) *server {
	one := &server{name: entry.Name, config: entry}
	m.servers.list = append(m.servers.list, one)
	m.tree.groups = append(m.tree.groups, &group{server: one, serverLists: newServerLists()})
	return one
}

// wait returns the command that waits for the next events.
func (m *model) wait() tea.Cmd {
	if m.showsRecording() {
		return feed.Receive(m.ctx, m.options.Recorded)
	}
	return m.feed.Wait(m.ctx)
}

// Init starts all servers.
func (m *model) Init() tea.Cmd {
	commands := []tea.Cmd{
		m.wait(), tea.RequestBackgroundColor, m.timeline.Init(), m.tick(), m.questions.wait(),
		m.servers.openAll(),
	}
	if m.config.empty() {
		commands = append(commands, m.palette.beginAdding())
	}
	if m.options.Develop {
		for _, s := range m.servers.list {
			commands = append(commands, m.developers.begin(s))
		}
	}
	return tea.Batch(commands...)
}

// tickMsg arrives while the screen shows a running time.
type tickMsg struct{}

const tickTime = 100 * time.Millisecond

// tick schedules the next tickMsg, unless one is scheduled already or nothing on the screen changes with time: every
// tenth of a second while something runs, every second on a server's page, and less often once that page is old.
func (m *model) tick() tea.Cmd {
	busy := m.servers.opening() || m.servers.any(func(s *server) bool { return s.diagnosis.running() }) ||
		m.servers.listing() || len(m.calls.running()) > 0 || m.note.text != ""
	ages := m.page.server != nil && m.page.server.status == statusReady
	if m.ticking || !busy && !ages {
		return nil
	}
	m.ticking = true
	wait := time.Second
	switch {
	case busy:
		wait = tickTime
	case m.now().Sub(m.page.server.since) > 10*time.Second:
		wait = 5 * time.Second // each frame costs 2.5 ms of processor
	}
	return tea.Tick(wait, func(time.Time) tea.Msg { return tickMsg{} })
}

// setTools takes the tools of the registry into the tree.
func (m *model) setTools() {
	m.tree.setTools(m.options.Executor.Registry.All())
	m.relist()
}

// relist shows the items of the tree after some of them were replaced, updates the forms, and notifies the user if the
// item on the screen has changed.
func (m *model) relist() {
	shown, typing, selected := m.page.item, m.typist.editing(), m.tree.selected()
	m.tree.arrange()
	m.tree.find(selected)
	for _, g := range m.tree.groups {
		for _, s := range g.sections() {
			if m.page.renew(s.items) {
				name := render.Safe(m.page.item.Name)
				m.notify("the server has changed the parameters of "+name+"; your values are kept", true)
			}
		}
	}
	m.goToWanted()
	m.showSelected()
	m.palette.refresh()
	if _, ok := m.tree.listed(shown.key()); ok || shown.none() || !m.page.item.none() {
		return
	}
	m.notify(render.Safe(shown.Name)+" is gone: its server no longer lists it", true)
	m.typist.uncover(typing)
}

// Start is the item that the interface begins with.
type Start struct {
	Tool string // a name for Registry.Find
	// Fill returns the values for its form.
	Fill func(*exec.Tool) (json.RawMessage, error)
}

// goToWanted goes to the tool that was asked for, once it is listed.
func (m *model) goToWanted() {
	if m.wanted == nil {
		return
	}
	registry := m.options.Executor.Registry
	tool, err := registry.Find(m.wanted.Tool)
	if err == nil && tool.BuiltIn && registry.Settled(m.wanted.Tool) == nil && m.servers.opening() {
		return // a server that is yet to come up may have a tool of that name
	}
	if err != nil {
		if !m.servers.opening() {
			m.wanted = nil
			m.notify(err.Error(), true)
		}
		return
	}
	arguments, err := m.wanted.Fill(tool)
	m.wanted = nil
	m.goTo(toolItem(tool), arguments)
	if err != nil {
		m.notify(err.Error(), true)
	}
}
