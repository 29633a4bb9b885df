package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/mark3labs/mcp-go/mcp"

	"toolx/pkg/exec"
	"toolx/pkg/rawjson"
	"toolx/pkg/servers"
	"toolx/pkg/tui/watch"
)

// metMsg carries the session of a server that has come up, nil if it is gone again.
type metMsg struct {
	server  string
	session *servers.Session
}

// meet returns the command that gets the session of a server that has come up.
func (m *model) meet(name string) tea.Cmd {
	pool := m.options.Pool
	return func() tea.Msg {
		session := pool.Session(name)
		if session == nil { // it is about to be handed over: nothing is started here
			session, _ = pool.Open(m.ctx, name)
		}
		return metMsg{name, session}
	}
}

// updateMet starts to read the server's lists besides its tools, independently of each other and
// without blocking, and listens for changes.
func (m *model) updateMet(msg metMsg) tea.Cmd {
	g := m.tree.groupOf(msg.server)
	if g == nil || msg.session == nil {
		return nil
	}
	has := msg.session.Capabilities
	g.server.completes = has.Completions != nil
	g.server.subscribes = has.Resources != nil && has.Resources.Subscribe
	var commands []tea.Cmd
	for _, s := range g.serverLists {
		s.offered = has.Resources != nil
		if s.kind == kindPrompt {
			s.offered = has.Prompts != nil
		}
		if !s.offered {
			s.clear()
			continue
		}
		commands = append(commands, m.list(g.server, s, msg.session))
	}
	m.setItems()
	return tea.Batch(append(commands, m.listen(msg.session), m.tick())...)
}

// listen returns the command that subscribes to changes of a server's lists with revision 2026-07-28.
// Earlier revisions send them unasked.
func (m *model) listen(session *servers.Session) tea.Cmd {
	has := session.Capabilities
	interest := servers.Interest{
		Tools:     has.Tools != nil && has.Tools.ListChanged,
		Resources: has.Resources != nil && has.Resources.ListChanged,
		Prompts:   has.Prompts != nil && has.Prompts.ListChanged,
	}
	if !mcp.IsModernProtocol(session.Protocol) || !interest.Tools && !interest.Resources && !interest.Prompts {
		return nil
	}
	return func() tea.Msg {
		// A failure is visible on the wire; the lists are usable all the same.
		_ = session.Listen(m.ctx, interest, func() {})
		return nil
	}
}

// listedMsg carries a server's list of a kind.
type listedMsg struct {
	server  string
	kind    kind
	session *servers.Session
	items   []item
	err     error
}

// list returns the command that reads a list. If it is being read already, it is read once more
// afterwards.
func (m *model) list(s *server, of *serverList, session *servers.Session) tea.Cmd {
	if of.reading == session {
		of.again = true
		return nil
	}
	of.reading, of.again = session, false
	k, entry, executor := of.kind, s.config, m.options.Executor
	return func() tea.Msg {
		definitions, err := exec.Within(m.ctx, executor, k.method(), func(ctx context.Context) ([]json.RawMessage, error) {
			return k.list(ctx, session)
		})
		return listedMsg{entry.Name, k, session, itemsOf(k, entry, definitions), err}
	}
}

// updateListed takes a list. If reading it failed, the old list stays.
func (m *model) updateListed(msg listedMsg) tea.Cmd {
	g := m.tree.groupOf(msg.server)
	if g == nil {
		return nil
	}
	of := g.serverList(msg.kind)
	if of.reading != msg.session {
		return nil // another session is asked by now
	}
	of.reading = nil
	if of.failure = ""; msg.err != nil {
		of.failure = msg.err.Error()
	} else {
		of.items, of.listed = msg.items, true
	}
	m.setItems()
	if of.again {
		return m.list(g.server, of, msg.session)
	}
	return nil
}

// setItems shows lists that have changed.
func (m *model) setItems() {
	m.renew(func() {
		selected := m.tree.selected()
		m.tree.arrange()
		m.tree.find(selected)
		for _, g := range m.tree.groups {
			for _, s := range g.serverLists {
				m.renewItems(s.items)
			}
		}
	})
}

// takeNotification handles notifications of changed lists and of updated resources.
func (m *model) takeNotification(event servers.Notification) tea.Cmd {
	switch event.Method {
	case mcp.MethodNotificationResourcesListChanged:
		return m.listAnew(event.Server, kindResource, kindTemplate)
	case mcp.MethodNotificationPromptsListChanged:
		return m.listAnew(event.Server, kindPrompt)
	case mcp.MethodNotificationResourceUpdated:
		m.noteUpdate(event)
	}
	return nil
}

// changesList reports whether a notification says that a list has changed.
func changesList(method string) bool {
	return method == mcp.MethodNotificationResourcesListChanged || method == mcp.MethodNotificationPromptsListChanged
}

// listAnew reads lists of a server again.
func (m *model) listAnew(server string, of ...kind) tea.Cmd {
	g, session := m.tree.groupOf(server), m.options.Pool.Session(server)
	if g == nil || session == nil {
		return nil
	}
	var commands []tea.Cmd
	for _, s := range g.serverLists {
		if s.offered && slices.Contains(of, s.kind) {
			commands = append(commands, m.list(g.server, s, session))
		}
	}
	return tea.Batch(append(commands, m.tick())...)
}

// listing reports whether any list is being read.
func (m *model) listing() bool {
	return slices.ContainsFunc(m.tree.groups, func(g *group) bool {
		return slices.ContainsFunc(g.serverLists, func(s *serverList) bool { return s.reading != nil })
	})
}

// itemOf finds the item of an earlier call. fill holds the values for its form, nil if it has none. A
// resource need not be in a list: servers also make them from templates.
func (m *model) itemOf(call watch.Request) (one item, fill json.RawMessage, err error) {
	name := call.Tool
	switch call.Method {
	case "":
		tool, err := m.options.Executor.Registry.Find(name)
		return toolItem(tool), call.Arguments, err
	case kindPrompt.request():
		if at, ok := m.tree.listed(itemKey{kindPrompt, name}); ok {
			return at.item, call.Arguments, nil
		}
	case kindResource.request():
		if at, ok := m.tree.listed(itemKey{kindResource, name}); ok {
			return at.item, nil, nil
		}
		if one, ok := m.resource(name, uriOf(call.Arguments)); ok {
			return one, nil, nil
		}
	default:
		return item{}, nil, fmt.Errorf("%s is not asked for here; toolx on the command line does", call.Method)
	}
	return item{}, nil, fmt.Errorf("no server that is shown has %s", name)
}

// sourceOf returns the tree's item for a resource: the resource itself, or the template that it was
// made from. If the tree has neither, it returns the resource.
func (m *model) sourceOf(resource item) item {
	g := m.tree.groupOf(resource.Server)
	if _, ok := m.tree.listed(resource.key()); ok || g == nil {
		return resource
	}
	for _, one := range g.serverList(kindTemplate).items {
		if servers.TemplateMatches(one.Plain, resource.Plain) {
			return one
		}
	}
	return resource
}

// resource describes a resource that is in no list, by its full name and its URI.
func (m *model) resource(name, uri string) (item, bool) {
	for _, s := range m.servers {
		if name != s.name+exec.Separator+uri || uri == "" {
			continue
		}
		definition := rawjson.Object([]rawjson.Member{rawjson.NewMember("uri", rawjson.Quote(uri))})
		described, ok := servers.DescribeResource(s.config, definition)
		return item{Tool: described, kind: kindResource}, ok
	}
	return item{}, false
}
