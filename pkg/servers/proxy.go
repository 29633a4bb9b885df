package servers

import (
	"errors"

	"toolx/pkg/config"
	"toolx/pkg/servers/diagnose"
	"toolx/pkg/servers/proxy"
)

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
