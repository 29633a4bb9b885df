package toolset

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/exit"
	"toolx/cmd/stores"
	"toolx/pkg/catalog"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/servers"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/words"
)

// keptTools returns the tools in a server's catalogue, and when the server listed them; ok is false if there is no such
// list. It leaves out unreadable definitions, which are reported when the server is listed.
func keptTools(store catalog.Store, server *config.Server) (tools []*exec.Tool, at time.Time, ok bool) {
	list := store.Read(server.Identity()).List(catalog.Tools)
	if list == nil {
		return nil, time.Time{}, false
	}
	return protocol.DescribeTools(server, list.Definitions()), list.Time, true
}

// errNoCatalogue is why a server cannot be listed without contacting it.
var errNoCatalogue = errors.New("no catalogue: the server has not been listed yet")

// CacheFlags choose between the servers' current and earlier lists.
type CacheFlags struct{ Cached, Refresh bool }

// Declare adds the flags to cmd.
func (f *CacheFlags) Declare(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.Cached, "cached", false, "list from the catalogues, without starting or contacting servers")
	flags.BoolVar(&f.Refresh, "refresh", false, "ignore the catalogues and ask the servers")
	cli.MarkFlagExcludes(cmd, "--cached asks no server, and --refresh asks all: give one of them", "cached", "refresh")
}

// OpenCatalogues is OpenServers without starting or contacting servers: take reads the list of a server from its
// catalogue, and returns when the server sent it; ok is false if there is none. It reports how old the lists are; verb
// is the command that renews them. listed has their times.
func (b *Set) OpenCatalogues(
	filter Filter, verb []string, take func(server *config.Server) (at time.Time, ok bool),
) (opened []servers.Opened, listed map[string]time.Time) {
	listed = make(map[string]time.Time)
	names, _ := b.serversFor(filter)
	var ages, missing []string
	var untrusted []servers.Opened
	for _, name := range names {
		one := servers.Opened{Server: name}
		if at, ok := take(b.Server(name)); ok {
			listed[name] = at
			ages = append(ages, fmt.Sprintf("%s (%s)", name, words.Ago(time.Since(at))))
		} else {
			one.Err = exit.Fail(errNoCatalogue, fault.KindConnect, "")
			if err := b.Server(name).CheckConsent(); err != nil {
				one.Err = exit.Usage(err)
				untrusted = append(untrusted, one)
			} else {
				missing = append(missing, name)
			}
		}
		opened = append(opened, one)
	}
	if len(ages) > 0 && !b.Flags.Quiet {
		b.Out.Say("from catalogues: %s", strings.Join(ages, ", "))
	}
	ReportFailed(b.Out, untrusted, false)
	if len(missing) > 0 {
		command := b.listCommand(verb, missing)
		b.Out.Log.Warn("no catalogue of " + strings.Join(missing, ", ") + "; " + command + " creates one")
	}
	return opened, listed
}

// TakeTools registers the tools in a server's catalogue.
func (b *Set) TakeTools(server *config.Server) (at time.Time, ok bool) {
	tools, at, ok := keptTools(stores.Catalog(), server)
	if ok {
		b.Registry.ReplaceServer(server.Name, tools...)
	}
	return at, ok
}

// listCommand returns the command that lists servers.
func (b *Set) listCommand(verb, names []string) string {
	command := append([]string{"toolx"}, verb...)
	if len(names) < len(b.Pool.Names()) {
		command = append(command, names...)
	}
	return exec.PasteLine(append(command, exec.LaunchWords(b.Flags.ConnectionFlags(), b.Flags.URL, b.launch)...)...)
}

// Server returns the entry of a server that the pool knows.
func (b *Set) Server(name string) *config.Server {
	at := slices.IndexFunc(b.Config().Servers, func(server *config.Server) bool { return server.Name == name })
	return b.Config().Servers[at]
}

// AddStale reads the lists of servers that are down from their catalogues, with a warning; what is the kind of list.
// listed has their times.
func (b *Set) AddStale(
	opened []servers.Opened, what string, take func(server *config.Server) (at time.Time, ok bool),
) (listed map[string]time.Time) {
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
		if at, ok := take(b.Server(one.Server)); ok {
			listed[one.Server] = at
			const text = "server '%s' is down: its %s come from its catalogue, listed %s"
			b.Out.Log.Warn(fmt.Sprintf(text, one.Server, what, words.Ago(time.Since(at))))
		}
	}
	return listed
}
