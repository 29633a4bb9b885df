package servers

import (
	"context"
	"net/http"

	"toolx/pkg/config"
)

// Raw sends requests to a server over HTTP just as it gets them: only what the entry
// configures is added to them, headers and access tokens. It follows no redirect, and
// knows no session. The doctor asks by it what no client asks. It is an
// http.RoundTripper, and tells of every exchange on the bus. It is safe for concurrent
// use.
type Raw struct {
	http.RoundTripper
	base *HTTPBase
}

// NewRaw makes what sends raw requests to a server; nothing is sent yet, but the
// headersCommand of the entry is run. The error is a *Failure, or ctx's.
func NewRaw(ctx context.Context, server *config.Server, launch *config.Resolved, options Options) (*Raw, error) {
	d := options.dial(server, launch)
	headers, err := d.gatherHeaders(ctx)
	if err != nil {
		return nil, err
	}
	base, err := NewHTTPBase(launch, d.http)
	if err != nil {
		return nil, &Failure{Server: server.Name, Ending: EndingMisconfigured, Reason: err}
	}
	return &Raw{RoundTripper: d.configure(base, headers), base: base}, nil
}

// Close closes the connections.
func (r *Raw) Close() { r.base.CloseIdleConnections() }
