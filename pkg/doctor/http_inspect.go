package doctor

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"toolx/pkg/auth"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/exec"
	mcphttp "toolx/pkg/servers/http"
	"toolx/pkg/servers/wire"
)

// Time limits for inspecting TLS, sockets and login metadata. Each login document has a shorter limit.
const (
	inspectLimit = 10 * time.Second
	loginLimit   = 30 * time.Second
)

// inspectSurroundings records TLS versions, network exposure and login metadata.
func (o Options) inspectSurroundings(ctx context.Context, e *evidence.Evidence, address *url.URL) {
	bounded, cancel := context.WithTimeout(ctx, inspectLimit)
	defer cancel()
	e.HTTP.TLS = inspectTLS(bounded, address)
	if e.Unreached() {
		return
	}
	e.HTTP.Exposed = o.exposedAddress(bounded, e, address)
	login, end := context.WithTimeout(ctx, loginLimit)
	defer end()
	e.HTTP.Login = o.inspectLogin(login, e)
}

// inspectTLS performs TLS handshakes and sends nothing else. It returns nil if the server does not support TLS or is
// behind a proxy.
func inspectTLS(ctx context.Context, address *url.URL) *evidence.TLSInfo {
	if address.Scheme != "https" {
		return nil
	}
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: address}); proxy != nil || err != nil {
		return nil
	}
	state, err := tlsHandshake(ctx, address, 0)
	if err != nil {
		return nil
	}
	look := &evidence.TLSInfo{State: state}
	if state.Version >= tls.VersionTLS12 {
		if old, err := tlsHandshake(ctx, address, tls.VersionTLS11); err == nil {
			look.Older = old.Version
		}
	}
	return look
}

// tlsHandshake performs a handshake with at most a version; zero means any.
func tlsHandshake(ctx context.Context, address *url.URL, most uint16) (tls.ConnectionState, error) {
	settings := &tls.Config{
		ServerName: address.Hostname(), MinVersion: tls.VersionTLS10, MaxVersion: most,
		InsecureSkipVerify: true, // untrusted certificates are examined too, and nothing is sent
	}
	for _, suite := range slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()) {
		settings.CipherSuites = append(settings.CipherSuites, suite.ID) // for old servers
	}
	conn, err := (&tls.Dialer{Config: settings}).DialContext(ctx, "tcp", evidence.HostPort(address))
	if err != nil {
		return tls.ConnectionState{}, err
	}
	_ = conn.Close()                               // nothing was sent
	return conn.(*tls.Conn).ConnectionState(), nil // tls.Dialer always returns a *tls.Conn
}

// exposedAddress describes how other machines can reach a server whose URL is a loopback address: its listening socket,
// or another address of this machine at which it responds. It returns nothing if they cannot or if unknown.
func (o Options) exposedAddress(ctx context.Context, e *evidence.Evidence, address *url.URL) string {
	if !evidence.IsLoopback(address.Hostname()) {
		return ""
	}
	here := connectedAddr(ctx, address)
	if !here.Addr().IsLoopback() {
		return ""
	}
	if socket, known := listenerFor(here); known {
		if socket.Addr().IsUnspecified() {
			return "it listens on " + socket.String()
		}
		return ""
	}
	return o.answersElsewhere(ctx, e, here, ownAddresses(here))
}

// connectedAddr returns the remote address of a connection to the URL; zero if it cannot connect. A name such as
// localhost may have several addresses.
func connectedAddr(ctx context.Context, address *url.URL) netip.AddrPort {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", evidence.HostPort(address))
	if err != nil {
		return netip.AddrPort{}
	}
	_ = conn.Close() // nothing was sent
	to, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(to.Addr().Unmap(), to.Port())
}

// listenerOn returns the listening socket that accepts connections to here: an exact match before a wildcard. An IPv6
// wildcard accepts IPv4 too.
func listenerOn(sockets []netip.AddrPort, here netip.AddrPort) (netip.AddrPort, bool) {
	any4, any6 := netip.IPv4Unspecified(), netip.IPv6Unspecified()
	fitting := []netip.Addr{here.Addr(), any6}
	if here.Addr().Is4() {
		fitting = []netip.Addr{here.Addr(), any4, any6}
	}
	for _, address := range fitting {
		if wanted := netip.AddrPortFrom(address, here.Port()); slices.Contains(sockets, wanted) {
			return wanted, true
		}
	}
	return netip.AddrPort{}, false
}

// maxElsewhere is how many addresses of this machine to try.
const maxElsewhere = 4

// ownAddresses returns this machine's external addresses of the same family.
func ownAddresses(here netip.AddrPort) []netip.AddrPort {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var own []netip.AddrPort
	for _, one := range all {
		prefix, err := netip.ParsePrefix(one.String())
		if err != nil || !prefix.Addr().IsGlobalUnicast() || prefix.Addr().Is4() != here.Addr().Is4() {
			continue
		}
		own = append(own, netip.AddrPortFrom(prefix.Addr(), here.Port()))
	}
	return own[:min(len(own), maxElsewhere)]
}

// answersElsewhere describes another address at which the same server responds, or returns nothing. An open port is not
// enough, because it may belong to another program.
func (o Options) answersElsewhere(
	ctx context.Context, e *evidence.Evidence, here netip.AddrPort, others []netip.AddrPort,
) string {
	is := o.identityAt(ctx, e, here)
	if is == "" {
		return ""
	}
	for _, other := range others {
		if o.identityAt(ctx, e, other) == is {
			return "it answers at " + other.String() + " as well"
		}
	}
	return ""
}

// identityAt returns the serverInfo or login challenge that the server at addr sends to a client without credentials,
// or nothing.
func (o Options) identityAt(ctx context.Context, e *evidence.Evidence, addr netip.AddrPort) string {
	reach := o.HTTP
	reach.Address = addr.String()
	base, err := mcphttp.NewBase(e.Launch, reach)
	if err != nil {
		return ""
	}
	defer base.CloseIdleConnections()
	asker := o.newUnauthenticatedProber(e, base)
	reply := asker.post(ctx, "", asker.initialize(), nil)
	if reply == nil {
		return ""
	}
	asker.endSession(ctx, reply)
	if reply.Status == http.StatusUnauthorized {
		return evidence.Challenges(reply.Header)
	}
	return string(bytes.TrimSpace(evidence.MemberAt(reply.Result(), "serverInfo")))
}

// newUnauthenticatedProber returns a prober without the entry's credentials.
func (o Options) newUnauthenticatedProber(e *evidence.Evidence, base http.RoundTripper) *httpProber {
	active := o.newRun("raw")
	asker := &httpProber{
		Options: o, raw: base, address: &url.URL{}, evidence: e, bus: active.bus,
		record: active.record,
	}
	if address, err := url.Parse(e.Launch.URL); err == nil {
		address.User = nil
		asker.address = address
	}
	return asker
}

// inspectLogin checks the documents that clients need to log in, if the server requires a login. If the entry's
// credentials were accepted, it first sends initialize without them to get a 401.
func (o Options) inspectLogin(ctx context.Context, e *evidence.Evidence) []auth.Fault {
	base, err := mcphttp.NewBase(e.Launch, o.HTTP)
	if err != nil {
		return nil // the clean run reports this error
	}
	defer base.CloseIdleConnections()
	if e.Refusal() == nil && e.HasCredentials() {
		asker := o.newUnauthenticatedProber(e, base)
		asker.endSession(ctx, asker.post(ctx, evidence.AskedBare, asker.initialize(), nil))
	}
	refusal := e.Refusal()
	if refusal == nil {
		return nil
	}
	o.doing(e.Server, "reading how to log in")
	traced := &tracingTransport{next: base, server: e.Server.Name, watch: o.Watch}
	options := auth.Options{Server: e.Server.Name, URL: e.Launch.URL, Version: o.Version}
	return auth.Inspect(ctx, traced, options, refusal)
}

// tracingTransport emits an HTTPExchange for each request outside the session.
type tracingTransport struct {
	next   http.RoundTripper
	server string
	watch  func(exec.Event)
}

func (w *tracingTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	event := wire.HTTPExchange{
		Head: wire.Now(w.server),
		Verb: request.Method, URL: request.URL.Redacted(), Sent: request.Header.Clone(),
	}
	response, err := w.next.RoundTrip(request)
	event.Took, event.Err = time.Since(event.At), err
	if response != nil {
		event.Status, event.Received, event.Proto = response.StatusCode, response.Header.Clone(), response.Proto
	}
	if w.watch != nil {
		w.watch(event)
	}
	return response, err
}
