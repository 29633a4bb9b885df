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
)

// metMsg brings the session of a server that has come up, nil where it is gone again.
type metMsg struct {
	server  string
	session *servers.Session
}

// meet is the command that gets the session of a server that has come up.
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

// updateMet lists what the server has beside its tools, each list by itself and none
// holding anything up, and keeps an ear on changes.
func (m *model) updateMet(msg metMsg) tea.Cmd {
	g := m.tree.groupOf(msg.server)
	if g == nil || msg.session == nil {
		return nil
	}
	has := msg.session.Capabilities
	g.server.completes = has.Completions != nil
	g.server.subscribes = has.Resources != nil && has.Resources.Subscribe
	var commands []tea.Cmd
	for _, s := range g.shelves {
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

// listen is the command that asks a server of revision 2026-07-28 to tell of changed
// lists; those of earlier revisions tell without being asked.
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
		// How it ends is on the wire: the lists are there all the same.
		_ = session.Listen(m.ctx, interest, func() {})
		return nil
	}
}

// listedMsg brings what a server lists of a kind.
type listedMsg struct {
	server  string
	kind    kind
	session *servers.Session
	items   []item
	err     error
}

// list is the command that reads a list; one that is under way is read once more when
// it has come.
func (m *model) list(s *server, of *shelf, session *servers.Session) tea.Cmd {
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

// updateListed takes a list. Where it failed, what was listed before stays.
func (m *model) updateListed(msg listedMsg) tea.Cmd {
	g := m.tree.groupOf(msg.server)
	if g == nil {
		return nil
	}
	of := g.shelf(msg.kind)
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
			for _, s := range g.shelves {
				m.renewItems(s.items)
			}
		}
	})
}

// takeNotification learns from what a server tells: lists that have changed, resources
// that have.
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

// changesList reports whether a notification is that a list has changed.
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
	for _, s := range g.shelves {
		if s.offered && slices.Contains(of, s.kind) {
			commands = append(commands, m.list(g.server, s, session))
		}
	}
	return tea.Batch(append(commands, m.tick())...)
}

// listing reports whether any list is being read.
func (m *model) listing() bool {
	return slices.ContainsFunc(m.tree.groups, func(g *group) bool {
		return slices.ContainsFunc(g.shelves, func(s *shelf) bool { return s.reading != nil })
	})
}

// itemOf finds what was run before. fill are the arguments for its form, nil where it
// has none. A resource need not be listed: servers make them of templates.
func (m *model) itemOf(method, name string, arguments json.RawMessage) (one item, fill json.RawMessage, err error) {
	switch method {
	case "":
		tool, err := m.options.Executor.Registry.Find(name)
		return toolItem(tool), arguments, err
	case kindPrompt.request():
		if at, ok := m.tree.listed(itemKey{kindPrompt, name}); ok {
			return at.item, arguments, nil
		}
	case kindResource.request():
		if at, ok := m.tree.listed(itemKey{kindResource, name}); ok {
			return at.item, nil, nil
		}
		if one, ok := m.resource(name, uriOf(arguments)); ok {
			return one, nil, nil
		}
	default:
		return item{}, nil, fmt.Errorf("%s is not asked for here; toolx on the command line does", method)
	}
	return item{}, nil, fmt.Errorf("no server that is shown has %s", name)
}

// sourceOf is what the tree has of a resource: itself, or the template that it was made
// of; where it has neither, the resource all the same.
func (m *model) sourceOf(resource item) item {
	g := m.tree.groupOf(resource.Server)
	if _, ok := m.tree.listed(resource.key()); ok || g == nil {
		return resource
	}
	for _, one := range g.shelf(kindTemplate).items {
		if servers.TemplateMatches(one.Plain, resource.Plain) {
			return one
		}
	}
	return resource
}

// resource describes a resource that no list has, by its full name and its URI.
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
