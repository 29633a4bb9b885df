package servers

import (
	"cmp"
	"context"

	"toolx/pkg/config"
	mcphttp "toolx/pkg/servers/http"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/rpc"
	"toolx/pkg/servers/stdio"
	"toolx/pkg/servers/wire"
)

// dial says how to reach one server: the options, with what its entry says and the defaults.
type dial struct {
	Options
	// attach connects with the process that keeps the server; nil where this process starts it, or connects with it.
	attach func(ctx context.Context) (protocol.Transport, error)
}

// dial merges the options over the entry, and both over the defaults.
func (o Options) dial(server *config.Server, launch *config.Resolved) dial {
	o.Server, o.Launch = server, launch
	o.Attempts = cmp.Or(o.Attempts, server.Retry.Attempts, defaultAttempts)
	o.BaseDelay = cmp.Or(o.BaseDelay, server.Retry.BaseDelay, defaultBaseDelay)
	o.StartTimeout = cmp.Or(o.StartTimeout, server.StartTimeout, defaultStartTimeout)
	o.MaxMessage = cmp.Or(server.MaxMessage, o.MaxMessage, wire.DefaultMaxMessage)
	o.Protocol = cmp.Or(o.Protocol, server.Protocol)
	o.HTTP.Secret = o.Secret
	return dial{Options: o}
}

// open makes one attempt to open a session. The error is a *Failure, or ctx's where that ended first.
func (d dial) open(ctx context.Context) (*protocol.Session, error) {
	transport, err := d.transport(ctx)
	if err != nil {
		return nil, err
	}
	return protocol.Open(ctx, transport, d.Options.Options)
}

// transport makes the transport; it sends nothing yet, but runs the headersCommand of the entry.
func (d dial) transport(ctx context.Context) (protocol.Transport, error) {
	if d.attach != nil {
		return d.attach(ctx)
	}
	if d.Launch.URL == "" {
		return stdio.New(d.stdio()), nil
	}
	options := d.remote()
	headers, err := options.GatherHeaders(ctx)
	if err != nil {
		return nil, err
	}
	remote, err := mcphttp.New(options, headers)
	if err != nil {
		return nil, err // not remote, which would be no nil Transport
	}
	return remote, nil
}

// stdio returns how the server's process is started and talked to.
func (d dial) stdio() stdio.Options {
	return stdio.Options{
		Server: d.Server.Name, Bus: d.Bus, Launch: d.Launch, MaxMessage: d.MaxMessage, StdinGrace: d.StdinGrace,
		StderrDir: d.StderrDir,
	}
}

// remote returns how the server is reached over HTTP.
func (d dial) remote() mcphttp.Options {
	return mcphttp.Options{
		ClientOptions: d.HTTP, Server: d.Server, Bus: d.Bus, Launch: d.Launch, MaxMessage: d.MaxMessage,
		Retry:   rpc.RetryPolicy{Attempts: d.Attempts, Delay: d.BaseDelay, Longest: d.StartTimeout},
		Version: d.Version, Asks: d.Answers.Any() || d.Relay != nil,
	}
}

// Connect makes one attempt to open a session, outside any Pool: without retry or Registry. The error is a *Failure, or
// ctx's where that ended first.
func Connect(
	ctx context.Context, server *config.Server, launch *config.Resolved, options Options,
) (*protocol.Session, error) {
	return options.dial(server, launch).open(ctx)
}

// NewRaw returns a Raw for a server. It sends nothing yet, but runs the headersCommand of the entry. The error is a
// *diagnose.Failure, or ctx's.
func NewRaw(
	ctx context.Context, server *config.Server, launch *config.Resolved, options Options,
) (*mcphttp.Raw, error) {
	return mcphttp.OpenRaw(ctx, options.dial(server, launch).remote())
}

// Process is the Wire of a server's process that toolx has started for it.
type Process struct {
	protocol.Wire
	program *stdio.Transport
}

// Dial starts a server's process and sends nothing to it. The error is a *Failure.
func Dial(server *config.Server, launch *config.Resolved, options Options) (*Process, error) {
	program := stdio.New(options.dial(server, launch).stdio())
	program.FirstRequest(1) // a report is the same each time
	program.OnNotification = func(m wire.Message) {
		options.Bus.Emit(wire.Notification{Head: wire.Now(server.Name), Method: m.Method, Params: m.Params})
	}
	if err := program.Begin(); err != nil {
		return nil, err
	}
	return &Process{Wire: protocol.NewWire(program), program: program}, nil
}

// Exited waits until the process has ended, or ctx has; it reports whether the process has ended.
func (w *Process) Exited(ctx context.Context) bool {
	return w.program.Exited(ctx)
}

// Terminate asks the server's processes to end by a signal (SIGTERM; Ctrl-Break on Windows), its stdin being open.
func (w *Process) Terminate() { w.program.Terminate() }

// Pending returns the bytes of stdout that wait for their newline.
func (w *Process) Pending() []byte { return w.program.Unfinished() }
