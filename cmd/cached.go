package cmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolx/pkg/catalog"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/servers"
	"toolx/pkg/words"
)

// keptTools returns the tools that a server's catalogue has, and when the server listed them; ok is false where it has
// no such list. Definitions that cannot be read are left out: listing the server tells of them.
func keptTools(store catalog.Store, server *config.Server) (tools []*exec.Tool, at time.Time, ok bool) {
	list := store.Read(server.Identity()).List(catalog.Tools)
	if list == nil {
		return nil, time.Time{}, false
	}
	return servers.DescribeTools(server, list.Definitions()), list.Time, true
}

// errNoCatalogue is why a server has nothing to list without being asked.
var errNoCatalogue = errors.New("no catalogue: the server has not been listed yet")

// openCatalogues does what openServers does, but starts and sends nothing: it registers the tools of the servers'
// catalogues, and says how old they are. listed holds their times.
func (b *toolbox) openCatalogues(filter toolFilter) (opened []servers.Opened, listed map[string]time.Time) {
	listed = make(map[string]time.Time)
	names, _ := b.serversFor(filter)
	var ages, missing []string
	for _, name := range names {
		one := servers.Opened{Server: name}
		tools, at, ok := keptTools(catalogStore(), b.server(name))
		if ok {
			b.registry.ReplaceServer(name, tools...)
			listed[name] = at
			ages = append(ages, fmt.Sprintf("%s (%s)", name, words.Ago(time.Since(at))))
		} else {
			one.Err = &failure{errNoCatalogue, fault.KindConnect, ""}
			missing = append(missing, name)
		}
		opened = append(opened, one)
	}
	if len(ages) > 0 && !b.flags.quiet {
		b.say("from catalogues: %s", strings.Join(ages, ", "))
	}
	if len(missing) > 0 {
		b.log.Warn("no catalogue of " + strings.Join(missing, ", ") + "; " + b.listCommand(missing) + " makes one")
	}
	return opened, listed
}

// listCommand returns the command that lists servers.
func (b *toolbox) listCommand(names []string) string {
	command := []string{"toolx", "list"}
	if len(names) < len(b.pool.Names()) {
		for _, name := range names {
			command = append(command, name+exec.Separator+"*")
		}
	}
	return exec.PasteLine(append(command, exec.LaunchWords(b.flags.connectionFlags(), b.flags.url, b.launch)...)...)
}

// server returns the entry of a server that the pool knows.
func (b *toolbox) server(name string) *config.Server {
	at := slices.IndexFunc(b.config.Servers, func(server *config.Server) bool { return server.Name == name })
	return b.config.Servers[at]
}

// addStale registers the tools of the catalogues of servers that are down, and says so. listed holds their times.
func (b *toolbox) addStale(opened []servers.Opened) (listed map[string]time.Time) {
	listed = make(map[string]time.Time)
	for _, one := range opened {
		switch fault.KindOf(one.Err) {
		case fault.KindConnect, fault.KindTimeout, fault.KindProtocol:
		default:
			continue
		}
		var untrusted *config.UntrustedError
		if errors.As(one.Err, &untrusted) {
			continue
		}
		if tools, at, ok := keptTools(catalogStore(), b.server(one.Server)); ok {
			b.registry.ReplaceServer(one.Server, tools...)
			listed[one.Server] = at
			b.log.Warn(fmt.Sprintf("server '%s' is down: its tools are those of its catalogue, listed %s", one.Server,
				words.Ago(time.Since(at))))
		}
	}
	return listed
}
