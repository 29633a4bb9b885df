package servers

import (
	"context"
	"encoding/json"
	"io"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers/daemon"
	mcphttp "toolx/pkg/servers/http"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
)

// backendSettings are what the process that keeps a server has to know besides a daemon's Spec.
type backendSettings struct {
	Options   Options
	Transport string // of the entry
	CACert    string
	Insecure  bool
}

// backend is a Pool of the one server that a daemon keeps.
type backend struct {
	*Pool
	server string
}

// Serve runs the daemon of the session whose specification is read from spec, until it ends (see Server.Serve). http
// says how servers with an address are reached; the specification is laid over it.
func Serve(ctx context.Context, from io.Reader, ready io.WriteCloser, http mcphttp.ClientOptions) error {
	spec, err := daemon.ReadSpec(from)
	if err != nil {
		return err
	}
	var settings backendSettings
	if err := json.Unmarshal(spec.Backend, &settings); err != nil {
		return err
	}
	server := daemon.NewServer(spec)
	http.CACert, http.Insecure = settings.CACert, settings.Insecure
	options := settings.Options
	options.Bus, options.Registry, options.HTTP = server.Bus, exec.NewRegistry(nil), http
	options.Relay, options.Launch, options.OneAttempt = server, &spec.Launch, true
	pool := NewPool([]*config.Server{spec.Launch.Entry(spec.Name, settings.Transport)}, options)
	return server.Serve(ctx, backend{pool, spec.Name}, ready)
}

// Open returns the session with the server.
func (b backend) Open(ctx context.Context) (*protocol.Session, error) {
	return b.Pool.Open(ctx, b.server)
}

// Wait waits until the last start has ended.
func (b backend) Wait() {
	if opening := b.known().entries[b.server].last(); opening != nil {
		<-opening.done
	}
}

// Failed reports whether the last start has failed.
func (b backend) Failed() bool {
	last := b.known().entries[b.server].last()
	return last != nil && wire.Closed(last.done) && last.err != nil
}

// Status returns the state of the server, and how it ended.
func (b backend) Status() (state, reason string) {
	state, _, reason = b.Pool.Status(b.server)
	return state, reason
}
