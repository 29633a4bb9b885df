package toolset

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"toolx/cmd/cli"
	"toolx/cmd/stores"
	"toolx/pkg/builtin"
	"toolx/pkg/catalog"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/words"
)

// Offline knows servers and tools from the config and from catalogues. It starts nothing and sends nothing, whether the
// user trusts the config or not.
type Offline struct {
	Opener *Opener
	Config *config.Config
	Store  catalog.Store
	// Chosen reports whether the command line selects the servers.
	Chosen bool
}

// Offline reads the config; command is a server's command after "--". If a config file cannot be parsed, it returns an
// error, and still reads the others.
func (a *Opener) Offline(command []string) (*Offline, error) {
	server, err := a.Flags.AdHoc(command)
	if err != nil {
		return nil, err
	}
	loaded, err := a.Consent.LoadConfig()
	c := &Offline{Opener: a, Config: loaded, Store: stores.Catalog()}
	switch {
	case server != nil:
		loaded.Servers, c.Chosen = []*config.Server{server}, true
	case len(a.Flags.Servers) > 0:
		var unknown error
		loaded.Servers, unknown = cli.ServersNamed(loaded.Servers, a.Flags.Servers)
		c.Chosen, err = true, cmp.Or(err, unknown)
	}
	for _, server := range loaded.Servers {
		server.Flags = a.Flags.ConnectionFlags()
	}
	return c, err
}

// Quietly is Offline for completions, which report nothing: the verb reports wrong flags and files.
func (a *Opener) Quietly() *Offline {
	_ = a.BeginQuietly()
	slices.Sort(a.Flags.Config)
	a.Flags.Config = slices.Compact(a.Flags.Config) // cobra has parsed the flags twice
	if c, _ := a.Offline(nil); c != nil {
		return c
	}
	return &Offline{Opener: a, Config: &config.Config{}}
}

// Servers returns the servers whose names can be completed.
func (c *Offline) Servers() []*config.Server {
	disabled := func(server *config.Server) bool { return server.Disabled }
	return slices.DeleteFunc(slices.Clone(c.Config.Servers), disabled)
}

// Names returns the names of servers.
func (c *Offline) Names() []string {
	return words.Texts(c.Servers(), func(server *config.Server) string { return server.Name })
}

// Local returns toolx's own tools and those of the config.
func (c *Offline) Local() *exec.Registry {
	registry := exec.NewRegistry(nil)
	registry.KnowServers(c.Names()...)
	services := builtin.Services{Registry: registry}
	registry.Register(builtin.Tools(services)...)
	for _, entry := range c.Config.Tools {
		registry.Register(builtin.FromConfig(entry, services))
	}
	return registry
}

// Tool returns the tool with a name according to the catalogues; nil if none or several have it.
func (c *Offline) Tool(name string) *exec.Tool {
	local := c.Local()
	if tool := local.Settled(name); tool != nil && !c.Chosen {
		return tool
	}
	var found []*exec.Tool
	named := exec.ServersOf(name, c.Names())
	for _, server := range c.Servers() {
		plain := name
		if slices.Contains(named, server.Name) {
			plain = strings.TrimPrefix(name, server.Name+exec.Separator)
		} else if len(named) > 0 {
			continue
		}
		kept, _ := c.Store.ReadNaming(server.Identity(), plain)
		if entry := kept.List(catalog.Tools).Find(plain); entry != nil {
			if tool, err := protocol.DescribeTool(server, entry.Definition()); err == nil {
				found = append(found, tool)
			}
		}
		if len(found) > 1 && len(named) == 0 {
			return nil // it is ambiguous
		}
	}
	switch {
	case len(found) == 1:
		return found[0]
	case len(found) > 1 && len(named) > 0: // the longest name of a server wins
		return slices.MaxFunc(found, func(a, b *exec.Tool) int { return len(a.Server) - len(b.Server) })
	case c.Chosen:
		return nil
	}
	if tool, err := local.Find(name); err == nil {
		return tool
	}
	return nil
}

// Listed returns when a server's tools were listed, and reports whether they were.
func (c *Offline) Listed(server *config.Server) (time.Time, bool) {
	list := c.Store.Read(server.Identity()).List(catalog.Tools)
	if list == nil {
		return time.Time{}, false
	}
	return list.Time, true
}
