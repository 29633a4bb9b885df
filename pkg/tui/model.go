package tui

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
	"toolx/pkg/tui/result"
	"toolx/pkg/tui/watch"
)

// model is everything that the screen shows. Only Update changes it.
type model struct {
	ctx     context.Context
	options Options
	feed    *feed
	now     func() time.Time

	theme         *pane.Theme
	width, height int
	focus         area
	zoomed        bool
	watching      bool // the watching pane is wanted

	servers  []*server
	tree     *tree
	page     *page
	result   *result.View
	watch    *watch.Watch
	dialog   *dialog
	calls    []*call
	shown    *call // whose result is on the screen
	lastCall int
	// suggested holds what a server offers for the argument under the cursor; completing says that a
	// request for it is running.
	suggested  suggestions
	completing bool
	// subscriptions are the resources whose updates are watched, by their full names.
	subscriptions map[string]*subscription
	note          note
	ticking       bool
	// wanted is the tool to go to, with its arguments, as soon as it is listed.
	wanted *Start
	typist typist
	parts  [areas]part
	// questions are the requests of servers to the user; the first one is on the screen.
	questions []*question
}

// part is what the model needs from a pane.
type part struct {
	bindings func() []pane.Binding
	update   func(tea.Msg) tea.Cmd
	editing  func() bool
	setFocus func(bool)
}

// note is a short message on the status line, shown until it is replaced or old.
type note struct {
	text string
	bad  bool
	at   time.Time
}

// noteTime is how long a note is shown. It is shown for at least readTime, whatever keys are pressed.
const (
	noteTime = 5 * time.Second
	readTime = time.Second
)

func newModel(ctx context.Context, options Options) *model {
	if options.Now == nil {
		options.Now = time.Now
	}
	theme := pane.NewTheme(options.Color, true, options.ASCII)
	m := &model{
		ctx: ctx, options: options, feed: newFeed(), now: options.Now, theme: theme,
		width: mediumWidth, height: 24, watching: true, wanted: options.Start,
		tree: newTree(theme), page: newPage(theme, options.Now),
		subscriptions: make(map[string]*subscription),
		result:        result.New(theme), watch: watch.New(theme, watch.Options{History: options.History, Hide: options.Hide, Now: options.Now}),
	}
	for _, entry := range options.Servers {
		s := &server{name: entry.Name, config: entry, status: statusStarting, since: m.now()}
		m.servers = append(m.servers, s)
		m.tree.groups = append(m.tree.groups, &group{server: s, serverLists: newServerLists()})
	}
	if options.Local {
		m.tree.groups = append(m.tree.groups, &group{closed: len(m.servers) > 0})
	}
	m.tree.calling, m.tree.subscribed = m.calling, m.subscribed
	m.parts = [areas]part{
		areaTree:   {m.treeKeys, m.updateTree, func() bool { return m.tree.typing }, func(on bool) { m.tree.focus = on }},
		areaPage:   {m.pageKeys, m.page.update, m.page.editing, m.page.setFocus},
		areaResult: {m.result.Bindings, m.result.Update, m.result.Editing, m.result.Focus},
		areaWatch:  {m.watch.Bindings, m.watch.Update, m.watch.Editing, m.watch.Focus},
	}
	m.parts[m.focus].setFocus(true)
	m.setTools()
	return m
}

func (m *model) focused() part { return m.parts[m.focus] }

// Init starts all servers at once; the first frame does not wait for them.
func (m *model) Init() tea.Cmd {
	opening := make([]tea.Cmd, 0, len(m.servers))
	for _, s := range m.servers {
		opening = append(opening, m.open(s))
	}
	open := tea.Batch(opening...)
	if len(m.servers) > fewServers {
		open = tea.Sequence(tea.Tick(firstFrame, func(time.Time) tea.Msg { return nil }), open)
	}
	return tea.Batch(m.feed.wait(m.ctx), tea.RequestBackgroundColor, m.watch.Init(), m.tick(), m.options.Questions.wait(m.ctx), open)
}

// Starting many processes uses the whole machine for a while. So more than fewServers servers wait
// until the first frame is drawn, which Bubble Tea does within firstFrame.
const (
	fewServers = 3
	firstFrame = 40 * time.Millisecond
)

// openedMsg reports how opening a server ended.
type openedMsg struct {
	server string
	err    error
}

// open returns the command that starts a server.
func (m *model) open(s *server) tea.Cmd {
	pool, name := m.options.Pool, s.name
	return func() tea.Msg {
		_, err := pool.Open(m.ctx, name)
		return openedMsg{name, err}
	}
}

// tickMsg arrives while the screen shows a running time.
type tickMsg struct{}

const tickTime = 100 * time.Millisecond

// tick schedules the next tickMsg, unless one is scheduled already.
func (m *model) tick() tea.Cmd {
	if m.ticking {
		return nil
	}
	m.ticking = true
	wait := tickTime
	if !m.busy() {
		wait = time.Second
	}
	return tea.Tick(wait, func(time.Time) tea.Msg { return tickMsg{} })
}

// busy reports whether the screen changes by itself every tenth of a second.
func (m *model) busy() bool {
	return m.opening() || m.examining() || m.listing() || m.runningCalls() > 0 || m.note.text != ""
}

// ages reports whether the screen changes by itself every second: it shows a server's page.
func (m *model) ages() bool {
	return m.page.server != nil && m.page.server.status == statusReady
}

// opening reports whether any server may still come up.
func (m *model) opening() bool {
	return slices.ContainsFunc(m.servers, func(s *server) bool {
		return s.status == statusStarting || s.status == statusRetrying
	})
}

// examining reports whether the doctor is running.
func (m *model) examining() bool {
	return slices.ContainsFunc(m.servers, func(s *server) bool { return s.diagnosis.running() })
}

// setTools takes the tools of the registry into the tree and the forms.
func (m *model) setTools() {
	m.renew(func() {
		m.tree.setTools(m.options.Executor.Registry.All())
		for _, g := range m.tree.groups {
			m.renewItems(g.tools)
		}
		m.goToWanted()
	})
}

// renew runs list, which replaces lists, updates the screen, and says so if the item on it is gone.
func (m *model) renew(list func()) {
	shown, typing := m.page.item, m.focused().editing()
	list()
	m.showSelected()
	if _, ok := m.tree.listed(shown.key()); !ok && !shown.none() && m.page.item.none() {
		if m.tree.selected().group == nil { // nothing else fits the filter
			m.tree.unfilter()
			m.tree.find(row{group: m.tree.groupOf(shown.Server)})
			m.showSelected()
		}
		m.tell(render.Safe(shown.Name)+" is gone: its server no longer lists it", true)
		m.uncover(typing)
	}
}

// renewItems takes relisted items into the forms.
func (m *model) renewItems(items []item) {
	if m.page.renew(items) {
		m.tell("the server has changed what "+render.Safe(m.page.item.Name)+" takes; what was filled in is kept", true)
	}
}

// Start is the item that the interface begins with.
type Start struct {
	Tool string // a name as Registry.Find takes it
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
	if err == nil && tool.BuiltIn && registry.Settled(m.wanted.Tool) == nil && m.opening() {
		return // a server that is yet to come up may have a tool of that name
	}
	if err != nil {
		if !m.opening() {
			m.wanted = nil
			m.tell(err.Error(), true)
		}
		return
	}
	arguments, err := m.wanted.Fill(tool)
	m.wanted = nil
	m.goTo(toolItem(tool), arguments)
	if err != nil {
		m.tell(err.Error(), true)
	}
}

// goTo shows an item with arguments in its form, and moves the focus there.
func (m *model) goTo(wanted item, arguments json.RawMessage) {
	if !m.tree.reveal(wanted.key()) {
		return
	}
	m.showSelected()
	m.page.tab = tabForm
	if len(arguments) > 0 && wanted.fillable() {
		if err := m.page.form.SetArguments(arguments); err != nil {
			m.tell(err.Error(), true)
		}
	}
	m.setFocus(areaPage)
}

// showSelected shows the row under the tree's cursor.
func (m *model) showSelected() {
	at := m.tree.selected()
	switch {
	case !at.item.none():
		m.page.showItem(at.item)
		if latest := m.latestCall(at.item); latest != nil && latest != m.shown {
			m.show(latest)
		}
		m.watch.Select(at.item.Server, at.item.Name)
	case at.serverList != nil:
		m.page.showServerList(at.group.server, at.serverList)
		m.watch.Select(at.group.server.name, "")
	case at.group != nil && at.group.server != nil:
		m.page.showServer(at.group.server)
		m.watch.Select(at.group.server.name, "")
	default:
		m.page.showNothing()
	}
}

// follow shows the row that the tree's cursor moved to.
func (m *model) follow() tea.Cmd {
	m.showSelected()
	return nil
}

// show puts a call's result on the screen.
func (m *model) show(c *call) {
	m.shown = c
	if !c.running() {
		m.result.Show(c.result, c.item.Tool)
	}
}

// calling reports whether a call of an item is running.
func (m *model) calling(one item) bool {
	return slices.ContainsFunc(m.calls, func(c *call) bool { return c.running() && c.item.key() == one.key() })
}

// serverOf returns a server by its name, or nil for toolx's own tools.
func (m *model) serverOf(name string) *server {
	for _, s := range m.servers {
		if s.name == name {
			return s
		}
	}
	return nil
}

// currentServer returns the server of the selected row.
func (m *model) currentServer() *server {
	at := m.tree.selected()
	if at.group == nil {
		return nil
	}
	return at.group.server
}

// tell shows a message on the status line.
func (m *model) tell(text string, bad bool) { m.note = note{text, bad, m.now()} }

// fade removes a note that was shown long enough to be read, because it covers the key hints.
func (m *model) fade() {
	if m.now().Sub(m.note.at) >= readTime {
		m.note = note{}
	}
}

// hide masks secrets for the screen.
func (m *model) hide(text string) string {
	if m.options.Hide == nil {
		return text
	}
	return m.options.Hide(text)
}
