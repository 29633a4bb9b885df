package tui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"toolx/pkg/config"
	"toolx/pkg/render"
	"toolx/pkg/tui/pane"
	"toolx/pkg/tui/result"
)

// Entries are the entries of the config, which the interface can change.
type Entries interface {
	// Entry returns the file that has a server's entry, and its line, 0 if that is not known.
	Entry(server string) (path string, line int, err error)
	// Add keeps a server, a command line or an address as it was typed, and returns its name.
	Add(ctx context.Context, typed string) (name string, err error)
	// Reload reads the config again, and returns the servers to show. The sessions of servers whose entries have
	// changed end, and so does that of the named one.
	Reload(ctx context.Context, server string) ([]*config.Server, error)
	// Found returns the servers of other clients on this machine.
	Found() []FoundServers
	// Import makes the config use the servers of a client.
	Import(ctx context.Context, client string) error
}

// FoundServers are the servers of another client.
type FoundServers struct {
	ID, Client string
	Names      []string
}

// configurer changes the config, and then shows its servers.
type configurer struct {
	*shared
	servers *supervisor
	tree    *tree
	// reveal moves the cursor to a server.
	reveal  func(*server)
	palette *palette // asks for a server to add
}

// noConfig is why the config cannot be changed.
const noConfig = "toolx was started with a server's command"

// addKey returns the key that adds a server.
func (c *configurer) addKey() pane.Binding {
	return pane.Binding{
		Keys: []string{"a"}, Help: "add a server", Off: pane.Off(c.options.Entries == nil, noConfig),
		Do: c.palette.beginAdding,
	}
}

// editKey returns the key that edits a server's entry.
func (c *configurer) editKey(s *server) pane.Binding {
	edit := func() tea.Cmd { return c.edit(s) }
	return pane.Binding{
		Keys: []string{"e"}, Help: "edit its entry in $EDITOR", Off: pane.Off(c.options.Entries == nil, noConfig),
		Do: edit,
	}
}

// empty reports whether there is a config, but no server in it.
func (c *configurer) empty() bool { return c.options.Entries != nil && len(c.servers.list) == 0 }

// add keeps a server, as it was typed, and closes the palette if that succeeds.
func (c *configurer) add(typed string) tea.Cmd {
	type added struct {
		name string
		err  error
	}
	add := func() added {
		name, err := c.options.Entries.Add(c.ctx, typed)
		return added{name, err}
	}
	return after(add, func(a added) tea.Cmd {
		if a.err != nil {
			return c.failWithHint(a.err)
		}
		c.palette.added()
		return c.reload(a.name)
	})
}

// adopt uses the servers of another client.
func (c *configurer) adopt(found FoundServers) tea.Cmd {
	return after(func() error { return c.options.Entries.Import(c.ctx, found.ID) }, func(err error) tea.Cmd {
		if err != nil {
			return c.failWithHint(err)
		}
		return c.reload(found.Names[0])
	})
}

// failWithHint shows an error on the status line, with what to do about it.
func (s *shared) failWithHint(err error) tea.Cmd {
	text := err.Error()
	if hint := result.Hint(err); hint != "" {
		text += ": " + hint
	}
	s.notify(text, true)
	return nil
}

// edit opens the entry of a server in the user's editor, and restarts the server with the edited entry.
func (c *configurer) edit(s *server) tea.Cmd {
	path, line, err := c.options.Entries.Entry(s.name)
	if err != nil {
		return c.failWithHint(err)
	}
	return c.openEditor(path, line, func() tea.Msg { return later(func() tea.Cmd { return c.reload(s.name) }) })
}

// reload reads the config again, and shows one of its servers, which it restarts.
func (c *configurer) reload(name string) tea.Cmd {
	if s := c.servers.server(name); s != nil {
		s.asked = true // its process ends
	}
	type loaded struct {
		servers []*config.Server
		err     error
	}
	load := func() loaded {
		list, err := c.options.Entries.Reload(c.ctx, name)
		return loaded{list, err}
	}
	return after(load, func(l loaded) tea.Cmd {
		if s := c.servers.server(name); s != nil {
			s.asked = false
		}
		if l.err != nil {
			return c.failWithHint(l.err)
		}
		return c.take(l.servers, name)
	})
}

// take shows the servers of a config, and starts those that are new or different, and the named one.
func (c *configurer) take(list []*config.Server, name string) tea.Cmd {
	var commands []tea.Cmd
	var shown []*server
	var groups []*group
	for _, entry := range list {
		s := c.servers.server(entry.Name)
		same := s != nil && s.name != name && s.config.Identity() == entry.Identity()
		g := c.tree.groupOf(entry.Name)
		if s == nil {
			s = &server{name: entry.Name}
			g = &group{server: s, serverLists: newServerLists()}
		}
		if s.config = entry; !same {
			s.life = life{}
			s.become(statusStarting, c.now())
			commands = append(commands, c.servers.open(s))
		}
		shown, groups = append(shown, s), append(groups, g)
	}
	own := slices.DeleteFunc(slices.Clone(c.tree.groups), func(g *group) bool { return g.server != nil })
	c.servers.list, c.tree.groups = shown, append(groups, own...)
	c.servers.changedTools()
	if s := c.servers.server(name); s != nil {
		c.reveal(s)
	} else {
		c.notify("server "+render.Safe(name)+" is no longer in the config", true)
	}
	return tea.Batch(commands...)
}

// welcome returns the lines of the page for a config without servers, and nil if it has some.
func (c *configurer) welcome(width int) []string {
	if !c.empty() {
		return nil
	}
	lines := []string{c.theme.Paint(pane.Strong, "No server is configured yet."), "", c.theme.Hint(c.addKey()), ""}
	for _, more := range []string{
		"toolx init: write a config with what is found in this folder and in other clients",
		"toolx tui -- COMMAND: show a server without a config",
	} {
		lines = append(lines, c.theme.Paragraph(pane.Dim, more, width)...)
	}
	return lines
}
