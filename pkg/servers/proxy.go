package servers

import (
	"context"
	"errors"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers/bridge"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/proxy"
	"toolx/pkg/servers/rpc"
	"toolx/pkg/servers/wire"
)

// Bridge connects a client on stdio with a server over HTTP (see bridge.Run). The error is a *ConnectError for an entry
// that cannot be used.
func Bridge(ctx context.Context, server *config.Server, pool Options, o bridge.Options) error {
	launch, err := resolve(server)
	if err != nil {
		return &ConnectError{Server: server.Name, Last: err, Advice: server.Hint}
	}
	known := pool.dial(server, launch)
	o.MaxMessage = known.MaxMessage
	o.Server, o.Bus, o.Version = server, pool.Bus, pool.Version
	o.Retry = rpc.RetryPolicy{Attempts: known.Attempts, Delay: known.BaseDelay}
	o.Start = func(relay protocol.Relay, client *wire.Client) bridge.Backend {
		options := pool
		options.Registry, options.Relay, options.Client = exec.NewRegistry(nil), relay, client
		return backend{NewPool([]*config.Server{server}, options), server.Name}
	}
	return bridge.Run(ctx, o)
}

// Proxy runs a server between a client and its stdout (see proxy.Run). The error is a *ConnectError where the server
// could not be started.
func Proxy(server *config.Server, options proxy.Options) (code int, err error) {
	launch, err := resolve(server)
	if err == nil {
		code, err = proxy.Run(server, launch, options)
	}
	if errors.As(err, new(*diagnose.Failure)) {
		err = &ConnectError{Server: server.Name, Last: err, Advice: server.Hint}
	}
	return code, err
}
