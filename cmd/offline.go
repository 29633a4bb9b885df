package cmd

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
	"toolx/pkg/servers"
	"toolx/pkg/words"
)

// offline knows servers and tools from the config and from catalogues. It starts nothing and sends nothing, whether the
// user trusts the config or not.
type offline struct {
	opener *opener
	config *config.Config
	store  catalog.Store
	// chosen reports whether the command line says which servers there are.
	chosen bool
}

// offline reads the config; command is that of a server after "--". The error is that of a config file that cannot be
// parsed; the others are read all the same.
func (a *opener) offline(command []string) (*offline, error) {
	server, err := a.flags.AdHoc(command)
	if err != nil {
		return nil, err
	}
	loaded, err := a.consent.LoadConfig()
	c := &offline{opener: a, config: loaded, store: stores.Catalog()}
	switch {
	case server != nil:
		loaded.Servers, c.chosen = []*config.Server{server}, true
	case len(a.flags.Servers) > 0:
		var unknown error
		loaded.Servers, unknown = cli.ServersNamed(loaded.Servers, a.flags.Servers)
		c.chosen, err = true, cmp.Or(err, unknown)
	}
	for _, server := range loaded.Servers {
		server.Flags = a.flags.ConnectionFlags()
	}
	return c, err
}

// quietly is offline for completions, which report nothing: wrong flags and files are the verb's to report.
func (a *opener) quietly() *offline {
	_ = a.beginQuietly()
	slices.Sort(a.flags.Config)
	a.flags.Config = slices.Compact(a.flags.Config) // cobra has parsed the flags twice
	if c, _ := a.offline(nil); c != nil {
		return c
	}
	return &offline{opener: a, config: &config.Config{}}
}

// servers returns the servers whose names can be completed.
func (c *offline) servers() []*config.Server {
	disabled := func(server *config.Server) bool { return server.Disabled }
	return slices.DeleteFunc(slices.Clone(c.config.Servers), disabled)
}

// names returns the names of servers.
func (c *offline) names() []string {
	return words.Texts(c.servers(), func(server *config.Server) string { return server.Name })
}

// local returns toolx's own tools and those of the config.
func (c *offline) local() *exec.Registry {
	registry := exec.NewRegistry(nil)
	registry.KnowServers(c.names()...)
	services := builtin.Services{Registry: registry}
	registry.Register(builtin.Tools(services)...)
	for _, entry := range c.config.Tools {
		registry.Register(builtin.FromConfig(entry, services))
	}
	return registry
}

// tool returns the tool that a name means, as far as catalogues know; nil where they do not, or several have it.
func (c *offline) tool(name string) *exec.Tool {
	local := c.local()
	if tool := local.Settled(name); tool != nil && !c.chosen {
		return tool
	}
	var found []*exec.Tool
	named := exec.ServersOf(name, c.names())
	for _, server := range c.servers() {
		plain := name
		if slices.Contains(named, server.Name) {
			plain = strings.TrimPrefix(name, server.Name+exec.Separator)
		} else if len(named) > 0 {
			continue
		}
		kept, _ := c.store.ReadNaming(server.Identity(), plain)
		if entry := kept.List(catalog.Tools).Find(plain); entry != nil {
			if tool, err := servers.DescribeTool(server, entry.Definition()); err == nil {
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
	case c.chosen:
		return nil
	}
	if tool, err := local.Find(name); err == nil {
		return tool
	}
	return nil
}

// listed returns when a server's tools were listed, and reports whether they were.
func (c *offline) listed(server *config.Server) (time.Time, bool) {
	list := c.store.Read(server.Identity()).List(catalog.Tools)
	if list == nil {
		return time.Time{}, false
	}
	return list.Time, true
}
