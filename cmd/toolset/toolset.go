// Package toolset opens servers and finds tools.
package toolset

import (
	"context"
	"log/slog"
	"sync/atomic"

	"toolx/cmd/cli"
	"toolx/cmd/person"
	"toolx/cmd/streams"
	"toolx/pkg/builtin"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers"
	"toolx/pkg/servers/daemon"
)

// Set has the servers and tools that a verb works with.
type Set struct {
	Opener   *Opener
	Out      *streams.Streams
	Flags    *cli.Flags
	Loaded   atomic.Pointer[config.Config]
	Registry *exec.Registry
	Pool     *servers.Pool
	Executor *exec.Executor
	// AdHoc reports whether a server was given on the command line; launch is its command.
	AdHoc  bool
	launch []string
	// lacks names the capabilities that servers do not get, with the flags that add them; see person.Lacking.
	lacks string
	// Chosen reports whether the command line selects the servers (AdHoc, or --server): then toolx's own tools are left
	// out.
	Chosen bool
}

// Config returns the config that was read last.
func (b *Set) Config() *config.Config { return b.Loaded.Load() }

// Options configure a Set.
type Options struct {
	// Server is a command line that replaces the configured servers, and Servers are entries that do.
	Server  []string
	Servers []*config.Server
	// Strict makes parameters outside the schema an error.
	Strict bool
	// KeepNames turns off the normalization of parameter names.
	KeepNames bool
	// Once connects with one attempt, unless --retries says otherwise.
	Once bool
	// Lenient continues without config files that cannot be parsed.
	Lenient bool
	// ConfigOnly leaves out toolx's own tools; Stage is where mocks simulate faults.
	ConfigOnly bool
	Stage      builtin.Stage
	// Confined reports whether the calls do not come from a user at the keyboard (see exec.Defaults).
	Confined bool
	// ReportFailures reports whether the verb itself reports failed calls.
	ReportFailures bool
	// SuggestUnknown reports whether the command reports an unknown tool itself: stderr needs no log line about it.
	SuggestUnknown bool
	// ReusesLists lets an earlier list of tools replace the server's answer if the server allows that.
	ReusesLists bool
	// Answers say how to answer servers' requests; nil: they get only roots.
	Answers *person.AnswerFlags
	// User answers what no option does; nil: the user at the terminal.
	User *person.User
	// Guards restrict the config's tools.
	Guards Guards
	// KeepAlive reports whether the command may start sessions for entries with keepAlive; Watch, whether it
	// needs what such servers send between its requests.
	KeepAlive, Watch bool
	// NoStartLimit reports whether only the user, and no time limit, stops a server that does not start.
	NoStartLimit bool
	// NewSessions are the sessions to start, by the names of servers, and Sessions where they are.
	NewSessions map[string]daemon.Record
	Sessions    *daemon.Sessions
}

// addLocal registers the built-in tools and, over them, those of the config. roots are the folders of callers that are
// confined; flags are those with which a command finds the tools again.
func (b *Set) addLocal(options Options, roots, flags []string) {
	services := b.services(options.Stage, roots)
	var tools []*exec.Tool
	if !options.ConfigOnly {
		tools = builtin.Tools(services)
	}
	for _, entry := range b.Config().Tools {
		tools = append(tools, builtin.FromConfig(entry, services))
	}
	if !options.ConfigOnly { // else these are the tools that toolx serves
		options.Guards.Pin = nil
	}
	for _, tool := range tools {
		tool.Flags, tool.Guards = flags, options.Guards.Build()
	}
	b.Registry.Register(tools...)
}

// services returns the services for toolx's own tools. Answers of tools are passed on unchanged, so the services mask
// secrets of servers.
func (b *Set) services(stage builtin.Stage, roots []string) builtin.Services {
	return builtin.Services{
		Registry: b.Registry,
		Find: func(ctx context.Context, name string) (*exec.Tool, error) {
			tool, err := b.Pool.Find(ctx, name)
			return tool, b.Out.Masked(err)
		},
		Open: func(ctx context.Context, server string) error {
			if server != "" {
				_, err := b.Pool.Open(ctx, server)
				return b.Out.Masked(err)
			}
			return b.Out.Masked(FirstFailure(b.Pool.OpenAll(ctx)))
		},
		Servers: b.describeServers,
		Stage:   stage,
		Roots:   roots,
		Notice:  func(level slog.Level, text string) { b.Out.Log.Log(context.Background(), level, text) },
	}
}

// FirstFailure returns the error of the first server that did not open; nil if all did.
func FirstFailure(opened []servers.Opened) error {
	for _, one := range opened {
		if one.Err != nil {
			return one.Err
		}
	}
	return nil
}

// describeServers returns the servers for the tool list_servers.
func (b *Set) describeServers() []builtin.Server {
	described := make([]builtin.Server, 0, len(b.Config().Servers))
	for _, server := range b.Config().Servers {
		one := builtin.Server{Name: server.Name, Transport: "stdio", Hint: b.Out.Mask.Text(server.Hint)}
		if server.URL != "" {
			one.Transport = "http"
		}
		one.Status, one.Protocol, one.Error = b.Pool.Status(server.Name)
		one.Error = b.Out.Mask.Text(one.Error)
		described = append(described, one)
	}
	return described
}
