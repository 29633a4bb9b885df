package doctor

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"toolx/pkg/auth"
	"toolx/pkg/exec"
	"toolx/pkg/servers"
)

// The limits of looks at what stands around a server: its certificate and its socket, and
// the documents about its login, of which each has a shorter one.
const (
	lookLimit  = 10 * time.Second
	loginLimit = 30 * time.Second
)

// lookAround learns what no request of MCP shows.
func (o Options) lookAround(ctx context.Context, e *Evidence, address *url.URL) {
	bounded, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	e.HTTP.TLS = lookTLS(bounded, address)
	if e.unreached() {
		return
	}
	e.HTTP.Exposed = o.lookExposed(bounded, e, address)
	login, end := context.WithTimeout(ctx, loginLimit)
	defer end()
	e.HTTP.Login = o.lookLogin(login, e)
}

// TLSLook is what a server offers that speaks TLS, trusted or not.
type TLSLook struct {
	// State is the handshake with the newest version that the server has.
	State tls.ConnectionState
	// Older is a version below 1.2 that the server takes as well, zero for none.
	Older uint16
}

// lookTLS shakes hands and sends nothing. It is nil where the server does not speak TLS,
// or is behind a proxy.
func lookTLS(ctx context.Context, address *url.URL) *TLSLook {
	if address.Scheme != "https" {
		return nil
	}
	if proxy, err := http.ProxyFromEnvironment(&http.Request{URL: address}); proxy != nil || err != nil {
		return nil
	}
	state, err := handshake(ctx, address, 0)
	if err != nil {
		return nil
	}
	look := &TLSLook{State: state}
	if state.Version >= tls.VersionTLS12 {
		if old, err := handshake(ctx, address, tls.VersionTLS11); err == nil {
			look.Older = old.Version
		}
	}
	return look
}

// handshake shakes hands, with a version up to most (zero: any).
func handshake(ctx context.Context, address *url.URL, most uint16) (tls.ConnectionState, error) {
	settings := &tls.Config{
		ServerName: address.Hostname(), MinVersion: tls.VersionTLS10, MaxVersion: most,
		InsecureSkipVerify: true, // a certificate that nobody trusts is looked at too, and nothing is sent
	}
	for _, suite := range slices.Concat(tls.CipherSuites(), tls.InsecureCipherSuites()) {
		settings.CipherSuites = append(settings.CipherSuites, suite.ID) // those of old servers
	}
	conn, err := (&tls.Dialer{Config: settings}).DialContext(ctx, "tcp", hostPort(address))
	if err != nil {
		return tls.ConnectionState{}, err
	}
	_ = conn.Close()                               // nothing was sent
	return conn.(*tls.Conn).ConnectionState(), nil // what a tls.Dialer dials is one
}

// hostPort is where connections to an address go.
func hostPort(address *url.URL) string {
	port := "80"
	if address.Scheme == "https" {
		port = "443"
	}
	return net.JoinHostPort(address.Hostname(), cmp.Or(address.Port(), port))
}

// lookExposed says by which address other machines can reach a server whose url is of
// this one alone: the socket that listens for it, or another address of this machine at
// which it answers. It is empty where there is none, and where that cannot be known.
func (o Options) lookExposed(ctx context.Context, e *Evidence, address *url.URL) string {
	if !isLoopback(address.Hostname()) {
		return ""
	}
	here := leadsTo(ctx, address)
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

// leadsTo is the address that a connection is made to, the zero value where none is. A
// name such as localhost may have several.
func leadsTo(ctx context.Context, address *url.URL) netip.AddrPort {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", hostPort(address))
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

// serving finds among sockets that listen the one that takes connections to an address:
// its own before one for all addresses. A socket of IPv6 for all takes IPv4 too.
func serving(sockets []netip.AddrPort, here netip.AddrPort) (netip.AddrPort, bool) {
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

// maxElsewhere is how many addresses of this machine are tried.
const maxElsewhere = 4

// ownAddresses are those of this machine by which others reach it, of the same family.
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

// answersElsewhere says at which other address the same server answers, empty where none
// is known. That something listens there proves nothing: it may be another program.
func (o Options) answersElsewhere(ctx context.Context, e *Evidence, here netip.AddrPort, others []netip.AddrPort) string {
	is := o.describedAt(ctx, e, here)
	if is == "" {
		return ""
	}
	for _, other := range others {
		if o.describedAt(ctx, e, other) == is {
			return "it answers at " + other.String() + " as well"
		}
	}
	return ""
}

// describedAt is how what answers at an address describes itself to a client without a
// token: its serverInfo, or what it asks for; empty where it does not.
func (o Options) describedAt(ctx context.Context, e *Evidence, at netip.AddrPort) string {
	reach := o.HTTP
	reach.Address = at.String()
	base, err := servers.NewHTTPBase(e.Launch, reach)
	if err != nil {
		return ""
	}
	defer base.CloseIdleConnections()
	asker := o.stranger(e, base)
	reply := asker.post(ctx, "", asker.initialize(), nil)
	if reply == nil {
		return ""
	}
	asker.forget(ctx, reply)
	if reply.Status == http.StatusUnauthorized {
		return challenges(reply.Header)
	}
	return string(bytes.TrimSpace(memberAt(reply.result(), "serverInfo")))
}

// stranger asks without what the entry has to get in.
func (o Options) stranger(e *Evidence, base http.RoundTripper) *httpProber {
	life := o.newLife("raw")
	asker := &httpProber{Options: o, raw: base, address: &url.URL{}, evidence: e, bus: life.bus, record: life.record}
	if address, err := url.Parse(e.Launch.URL); err == nil {
		address.User = nil
		asker.address = address
	}
	return asker
}

// lookLogin reads the documents by which clients log in, where the server wants that. One
// that the entry has a way into is asked what it says to those who have none.
func (o Options) lookLogin(ctx context.Context, e *Evidence) []auth.Fault {
	base, err := servers.NewHTTPBase(e.Launch, o.HTTP)
	if err != nil {
		return nil // as the clean run has said
	}
	defer base.CloseIdleConnections()
	if e.refusal() == nil && e.hasCredentials() {
		asker := o.stranger(e, base)
		asker.forget(ctx, asker.post(ctx, askedBare, asker.initialize(), nil))
	}
	refusal := e.refusal()
	if refusal == nil {
		return nil
	}
	o.doing(e.Server, "reading how to log in")
	told := &watched{next: base, server: e.Server.Name, watch: o.Watch}
	return auth.Inspect(ctx, told, auth.Options{Server: e.Server.Name, URL: e.Launch.URL, Version: o.Version}, refusal)
}

// hasCredentials says whether requests were sent with something to get in by.
func (e *Evidence) hasCredentials() bool {
	return len(e.Launch.Headers) > 0 || len(e.Launch.HeadersCommand) > 0 ||
		slices.ContainsFunc(EventsOf[servers.HTTPExchange](e.Clean), func(x servers.HTTPExchange) bool { return x.Sent.Get("Authorization") != "" })
}

// refusal is the header with which the server asked for a login: of a 401, or of any
// answer that says where its metadata is; nil where there is none.
func (e *Evidence) refusal() http.Header {
	asks := func(status int, header http.Header) bool {
		return status == http.StatusUnauthorized || strings.Contains(challenges(header), "resource_metadata")
	}
	for _, x := range e.ownExchanges() {
		if asks(x.Status, x.Received) {
			return x.Received
		}
	}
	for _, name := range []string{askedInitialize, askedPing, askedList, askedTool, askedBare} {
		if reply := e.reply(name); reply != nil && asks(reply.Status, reply.Header) {
			return reply.Header
		}
	}
	return nil
}

// ownExchanges are those of the clean run with the server itself. What gets access tokens
// asks authorization servers too, which may refuse as well.
func (e *Evidence) ownExchanges() []servers.HTTPExchange {
	own := plainURL(e.Launch.URL)
	return slices.DeleteFunc(EventsOf[servers.HTTPExchange](e.Clean), func(x servers.HTTPExchange) bool {
		return x.URL != own && x.Request == 0 // a redirect leads requests elsewhere
	})
}

// challenges are the ways to get access that a refusal names, of which each may have a
// header of its own (RFC 9110, 11.6.1).
func challenges(header http.Header) string {
	return strings.Join(header.Values("WWW-Authenticate"), ", ")
}

// watched tells of requests that are none of the server's session.
type watched struct {
	next   http.RoundTripper
	server string
	watch  func(exec.Event)
}

func (w *watched) RoundTrip(request *http.Request) (*http.Response, error) {
	event := servers.HTTPExchange{
		Time: exec.Now(), Server: w.server, Verb: request.Method, URL: request.URL.Redacted(), Sent: request.Header.Clone(),
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
