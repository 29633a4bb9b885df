package cmd

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
)

// toolbox is what a verb that deals with tools works with.
type toolbox struct {
	opener   *opener
	out      *streams.Streams
	flags    *cli.Flags
	loaded   atomic.Pointer[config.Config]
	registry *exec.Registry
	pool     *servers.Pool
	executor *exec.Executor
	// adHoc reports whether a server was given on the command line; launch is its command there.
	adHoc  bool
	launch []string
	// lacks names what servers are not offered, with the flags that offer it; see lacking.
	lacks string
	// chosen reports whether the command line says which servers there are (adHoc, or --server): then toolx's own tools
	// are left out.
	chosen bool
}

// config returns the config that was read last.
func (b *toolbox) config() *config.Config { return b.loaded.Load() }

// toolboxOptions say what is in a toolbox.
type toolboxOptions struct {
	// server is a command line that replaces the configured servers, and servers are entries that do.
	server  []string
	servers []*config.Server
	// strict makes parameters outside the schema an error.
	strict bool
	// keepNames switches the normalization of parameter names off.
	keepNames bool
	// once connects with one attempt, unless --retries says otherwise.
	once bool
	// lenient goes on without the config files that cannot be parsed.
	lenient bool
	// configOnly leaves toolx's own tools out; stage is where mocks play faults.
	configOnly bool
	stage      builtin.Stage
	// confined reports whether no person at the keyboard makes the calls (see exec.Defaults).
	confined bool
	// tellsFailures reports whether the verb itself reports failed calls.
	tellsFailures bool
	// namesUnknown reports whether the verb reports an unknown tool itself, so that stderr needs no log line about it.
	namesUnknown bool
	// reusesLists lets a list of tools that a server gave earlier stand in for its answer if the server allows that.
	reusesLists bool
	// answers say how servers that ask something back are answered; nil: they get roots alone.
	answers *person.AnswerFlags
	// user is who is asked what no option answers; nil: the person at the terminal.
	user *person.User
	// guards narrow what the config lets through.
	guards guardOptions
	// stays reports whether the verb may start servers that stay, because their entries have keepAlive; watches that it
	// wants to know what such servers do between its requests.
	stays, watches bool
	// patient reports whether the user stops a server that does not start, and no limit does.
	patient bool
	// holds are the sessions to start, by the names of servers, and sessions where they are.
	holds    map[string]servers.Record
	sessions *servers.Sessions
}

// addLocal registers the built-in tools and, over them, those of the config. roots are the folders of callers that are
// confined; flags are those with which a command finds the tools again.
func (b *toolbox) addLocal(options toolboxOptions, roots, flags []string) {
	services := b.services(options.stage, roots)
	var tools []*exec.Tool
	if !options.configOnly {
		tools = builtin.Tools(services)
	}
	for _, entry := range b.config().Tools {
		tools = append(tools, builtin.FromConfig(entry, services))
	}
	for _, tool := range tools {
		tool.Flags, tool.Guards = flags, options.guards.guards()
	}
	b.registry.Register(tools...)
}

// services returns what toolx's own tools need. A tool's answer is passed on as it is, so what the services say of
// servers is masked here.
func (b *toolbox) services(stage builtin.Stage, roots []string) builtin.Services {
	return builtin.Services{
		Registry: b.registry,
		Find: func(ctx context.Context, name string) (*exec.Tool, error) {
			tool, err := b.pool.Find(ctx, name)
			return tool, b.out.Masked(err)
		},
		Open: func(ctx context.Context, server string) error {
			if server != "" {
				_, err := b.pool.Open(ctx, server)
				return b.out.Masked(err)
			}
			return b.out.Masked(firstFailure(b.pool.OpenAll(ctx)))
		},
		Servers: b.describeServers,
		Stage:   stage,
		Roots:   roots,
		Notice:  func(level slog.Level, text string) { b.out.Log.Log(context.Background(), level, text) },
	}
}

// firstFailure returns the error of the first server that did not open; nil where all did.
func firstFailure(opened []servers.Opened) error {
	for _, one := range opened {
		if one.Err != nil {
			return one.Err
		}
	}
	return nil
}

// describeServers returns what the tool list_servers shows.
func (b *toolbox) describeServers() []builtin.Server {
	described := make([]builtin.Server, 0, len(b.config().Servers))
	for _, server := range b.config().Servers {
		one := builtin.Server{Name: server.Name, Transport: "stdio", Hint: b.out.Mask.Text(server.Hint)}
		if server.URL != "" {
			one.Transport = "http"
		}
		one.Status, one.Protocol, one.Error = b.pool.Status(server.Name)
		one.Error = b.out.Mask.Text(one.Error)
		described = append(described, one)
	}
	return described
}
