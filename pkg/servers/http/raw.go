package http

import (
	"context"
	"net/http"

	"toolx/pkg/servers/diagnose"
)

// Raw sends requests to a server over HTTP unchanged, except that it adds what the entry configures: headers and access
// tokens. It follows no redirect and keeps no session. The doctor uses it for requests that no client sends. It is an
// http.RoundTripper and reports every exchange on the bus. It is safe for concurrent use.
type Raw struct {
	http.RoundTripper
	base *Base
}

// OpenRaw returns a Raw for a server. It sends nothing yet, but runs the headersCommand of the entry. The error is a
// *Failure, or ctx's.
func OpenRaw(ctx context.Context, d Options) (*Raw, error) {
	headers, err := d.GatherHeaders(ctx)
	if err != nil {
		return nil, err
	}
	base, err := NewBase(d.Launch, d.ClientOptions)
	if err != nil {
		return nil, &diagnose.Failure{Server: d.Server.Name, Ending: diagnose.EndingMisconfigured, Reason: err}
	}
	return &Raw{RoundTripper: d.configure(base, headers), base: base}, nil
}

// Close closes the connections.
func (r *Raw) Close() { r.base.CloseIdleConnections() }
