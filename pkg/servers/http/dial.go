package http

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"toolx/pkg/config"
	"toolx/pkg/rawjson"
	"toolx/pkg/state"
)

// ClientOptions are the options for servers over HTTP. The zero value means the system's certificates and the proxies
// of the environment.
type ClientOptions struct {
	// CACert is a PEM file of authorities that are trusted besides the system's
	// (--cacert), Insecure trusts every certificate (--insecure).
	CACert   string
	Insecure bool
	// Authorize may wrap what sends a server's requests, to add access tokens and to deal with 401 and 403; it may be
	// nil. The requests that it gets have the configured headers already, an Authorization of the user's own among
	// them. Every exchange that it makes through base is told on the bus. Where it asks a person, it stops the clocks
	// by exec.Pause with the request's context.
	Authorize func(server *config.Server, base http.RoundTripper) http.RoundTripper
	// Address is the host and port to connect to, whatever the url names and without a proxy; empty for the url's own.
	// The doctor uses it to find other addresses of a server.
	Address string
	// Secret is called with every value that must not be shown; it may be nil. A Pool sets it.
	Secret func(values ...string)
	// Warn is called with problems that do not stop toolx; it may be nil.
	Warn func(text string)
}

// The limits of HTTP. None bounds a call: that is for the caller's context, and a stream may live for hours.
const (
	handshakeLimit   = 15 * time.Second // for TLS
	idleConnections  = 90 * time.Second
	connectionsAHost = 8
)

// Base sends requests to servers. It handles proxies and certificates, and reuses connections. It is safe for
// concurrent use.
type Base struct {
	// Certificates take milliseconds to read: what speaks TLS is made when the first address wants it.
	plain  *http.Transport
	secure func() (*http.Transport, error)
	made   atomic.Pointer[http.Transport] // by secure
}

// NewBase returns a Base for a server. The error concerns a file that cannot be used, and names it.
func NewBase(launch *config.Resolved, options ClientOptions) (*Base, error) {
	base := &Base{plain: newTransport(options)}
	base.secure = sync.OnceValues(func() (*http.Transport, error) {
		settings, err := tlsSettings(launch, options)
		if err != nil {
			return nil, err
		}
		secure := newTransport(options)
		secure.TLSClientConfig = settings
		base.made.Store(secure)
		return secure, nil
	})
	if strings.HasPrefix(launch.URL, "https:") {
		if _, err := base.secure(); err != nil {
			return nil, err
		}
	}
	return base, nil
}

// RoundTrip implements http.RoundTripper. The body of every answer ends with the context of its request.
func (b *Base) RoundTrip(request *http.Request) (*http.Response, error) {
	return unpacked(request, func(request *http.Request) (*http.Response, error) {
		response, err := b.send(request)
		if err == nil && response.StatusCode < http.StatusOK {
			// A 101 hands the connection over: its body is the connection itself, whose
			// reads no context ends. toolx asks for no other protocol.
			_ = response.Body.Close()
			response.Body = http.NoBody
		}
		return response, err
	})
}

func (b *Base) send(request *http.Request) (*http.Response, error) {
	if request.URL.Scheme != "https" {
		return b.plain.RoundTrip(request)
	}
	secure, err := b.secure()
	if err != nil {
		return nil, err
	}
	return throughProxy(secure, request)
}

// CloseIdleConnections closes the connections that nothing is under way on.
func (b *Base) CloseIdleConnections() {
	b.plain.CloseIdleConnections()
	if secure := b.made.Load(); secure != nil {
		secure.CloseIdleConnections()
	}
}

func newTransport(options ClientOptions) *http.Transport {
	transport := &http.Transport{
		Proxy:               environmentProxy,
		DisableCompression:  true, // unpacked does it
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: connectionsAHost,
		IdleConnTimeout:     idleConnections,
		TLSHandshakeTimeout: handshakeLimit,
		OnProxyConnectResponse: func(
			_ context.Context, proxy *url.URL, _ *http.Request, response *http.Response,
		) error {
			if response.StatusCode == http.StatusOK {
				return nil
			}
			return &proxyError{proxy: proxy, status: response.StatusCode}
		},
	}
	if options.Address != "" {
		transport.Proxy = nil
		transport.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, options.Address)
		}
	}
	return transport
}

// tlsSettings say whom to trust, and what to show a server that asks.
func tlsSettings(launch *config.Resolved, options ClientOptions) (*tls.Config, error) {
	roots, err := authorities(options.CACert, launch.CACert, options.Warn)
	if err != nil {
		return nil, err
	}
	settings := &tls.Config{RootCAs: roots, InsecureSkipVerify: options.Insecure}
	if launch.ClientCert != "" {
		pair, err := readKeyPair(launch.ClientCert, cmp.Or(launch.ClientKey, launch.ClientCert))
		if err != nil {
			return nil, fmt.Errorf("clientCert %s: %w", launch.ClientCert, err)
		}
		settings.Certificates = []tls.Certificate{pair}
	}
	return settings, nil
}

// maxPEM is how many bytes of a file with certificates or keys are read: a system's whole
// store has a few hundred kilobytes.
const maxPEM = 4 << 20

// readNamed reads a file that the user names, which may be a pipe, of at most most bytes.
func readNamed(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := readCapped(file, 0, most)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return text, nil
}

// readKeyPair reads a certificate and its key.
func readKeyPair(certificate, key string) (tls.Certificate, error) {
	certificates, err := state.Read(certificate, maxPEM)
	if err != nil {
		return tls.Certificate{}, err
	}
	secret, err := state.Read(key, maxPEM)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(certificates, secret)
}

// authorities returns the trusted certificate authorities: the system's (which SSL_CERT_FILE replaces, as everywhere),
// those that Node.js also trusts (NODE_EXTRA_CA_CERTS), and those of the file that the user names, which may be a pipe,
// or else of the file that the config names. Nil means the system's alone. As Node.js does, toolx goes on without
// NODE_EXTRA_CA_CERTS where it cannot be used, and says so through warn, which may be nil: the variable is seldom meant
// for toolx.
func authorities(named, configured string, warn func(text string)) (*x509.CertPool, error) {
	replaced, extra := os.Getenv("SSL_CERT_FILE"), os.Getenv("NODE_EXTRA_CA_CERTS")
	if runtime.GOOS != "windows" && runtime.GOOS != "darwin" {
		// Go itself reads SSL_CERT_FILE there.
		if extra == replaced {
			extra = ""
		}
		replaced = ""
	}
	if named == "" && configured == "" && extra == "" && replaced == "" {
		return nil, nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // a system without certificates
	}
	if err := addAuthorities(pool, "NODE_EXTRA_CA_CERTS", extra, readNamed); err != nil && warn != nil {
		warn(fmt.Sprintf("%v; toolx continues without it", err))
	}
	if err := addAuthorities(pool, "SSL_CERT_FILE", replaced, readNamed); err != nil {
		return nil, err
	}
	if named != "" {
		return pool, addAuthorities(pool, "the CA certificate", named, readNamed)
	}
	return pool, addAuthorities(pool, "the CA certificate", configured, state.Read)
}

// addAuthorities adds the certificates of a PEM file; what names it in the error. No path is no file.
func addAuthorities(pool *x509.CertPool, what, path string, read func(string, int64) ([]byte, error)) error {
	if path == "" {
		return nil
	}
	text, err := read(path, maxPEM)
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", what, err)
	}
	if !pool.AppendCertsFromPEM(text) {
		return fmt.Errorf("%s: %s has no certificate in PEM form", what, path)
	}
	return nil
}

// maxRedirects is how many redirects are followed, all to the same origin.
const maxRedirects = 5

// checkRedirect follows redirects within an origin that keep the message. Anything
// else would hand headers to a stranger, or lose the message.
func checkRedirect(request *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case !sameOrigin(first.URL, request.URL):
		return &redirectError{from: first.URL, to: request.URL, reason: "another origin"}
	case request.Method != first.Method:
		return &redirectError{from: first.URL, to: request.URL, reason: "without the message"}
	case len(via) > maxRedirects:
		return &redirectError{from: first.URL, to: request.URL, reason: circle}
	}
	return nil
}

// circle is why a redirect is not followed that leads to no end.
const circle = "a loop"

// redirectError says that a redirect was not followed.
type redirectError struct {
	from, to *url.URL
	reason   string
}

func (e *redirectError) Error() string {
	return fmt.Sprintf("it redirects to %s (%s), which toolx does not follow", e.to.Redacted(), e.reason)
}

// Hint says what to do about it.
func (e *redirectError) Hint() string {
	if e.reason == circle || e.to.String() == e.from.String() {
		return "it is a redirect loop: check how the server, or a proxy before it, redirects " +
			cmp.Or(e.from.Path, "/")
	}
	return "if that is the right server, use its address as url: " + e.to.Redacted()
}

// sameOrigin compares scheme, host and port (RFC 6454).
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && portOf(a) == portOf(b)
}

func portOf(address *url.URL) string {
	if port := address.Port(); port != "" {
		return port
	}
	if address.Scheme == "https" {
		return "443"
	}
	return "80"
}

// parseAddress reads a server's url.
func parseAddress(text string) (*url.URL, error) {
	address, err := url.Parse(text)
	if err != nil {
		// The error quotes the address, and with it what may be secret.
		var wrong *url.Error
		if errors.As(err, &wrong) {
			err = wrong.Err
		}
		return nil, fmt.Errorf("the url is malformed: %w", err)
	}
	if address.Scheme != "http" && address.Scheme != "https" || address.Host == "" {
		return nil, errors.New("the url must begin with https:// or http://, and name a host")
	}
	address.Fragment = ""
	return address, checkPort(address)
}

// checkPort refuses an impossible port.
func checkPort(address *url.URL) error {
	port := address.Port()
	if _, err := strconv.ParseUint(port, 10, 16); port != "" && err != nil {
		return fmt.Errorf("the url has port %s; the maximum is 65535", port)
	}
	return nil
}

// configured adds the configured headers to every request. They override toolx's own, since the user wrote them.
type configured struct {
	next    http.RoundTripper
	headers atomic.Pointer[map[string]string]                    // replaced where a headersCommand prints others
	gather  func(ctx context.Context) (map[string]string, error) // runs that command; nil where there is none
	mu      sync.Mutex                                           // locked while it runs
	agent   string                                               // the User-Agent, where no header says another one
}

// configure gives the exchanges through base what the entry says, headers and access
// tokens, and has each of them told on the bus.
func (d Options) configure(base http.RoundTripper, headers map[string]string) *configured {
	var next http.RoundTripper = &tap{server: d.Server.Name, bus: d.Bus, next: base}
	if d.Authorize != nil {
		next = d.Authorize(d.Server, next)
	}
	c := &configured{next: next, agent: strings.TrimSuffix("toolx/"+d.Version, "/")}
	c.headers.Store(&headers)
	if len(d.Launch.HeadersCommand) > 0 {
		c.gather = d.GatherHeaders
	}
	return c
}

// RoundTrip implements http.RoundTripper.
func (c *configured) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("User-Agent", c.agent)
	if user := request.URL.User; user != nil && request.Header.Get("Authorization") == "" {
		// As http.Client does, through which not all requests go.
		password, _ := user.Password()
		request.SetBasicAuth(user.Username(), password)
	}
	for name, content := range *c.headers.Load() {
		if strings.EqualFold(name, "Host") {
			request.Host = content
			continue
		}
		request.Header.Set(name, content)
	}
	return c.next.RoundTrip(request)
}

// errTooLarge says that a body is over the limit for one message.
var errTooLarge = errors.New("over the limit")

// readCapped reads all of r, which may be limit bytes at most. size is how many it is said to be, if that is known.
func readCapped(r io.Reader, size, limit int64) ([]byte, error) {
	text := make([]byte, 0, max(0, min(size, limit))+bytes.MinRead)
	for {
		n, err := r.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		switch {
		case int64(len(text)) > limit:
			return text[:limit], errTooLarge
		case errors.Is(err, io.EOF):
			return text, nil
		case err != nil:
			return text, err
		}
		text = rawjson.Room(text, bytes.MinRead, limit)
	}
}

// withFreshHeaders repeats what the server refused because of its headers (401), where the program that prints them
// prints others now: a token that has ended. The server has not looked at it, so this is safe for any request.
func (c *configured) withFreshHeaders(ctx context.Context, run func() error) error {
	sent := c.headers.Load()
	err := run()
	var refused *Error
	if c.gather == nil || !errors.As(err, &refused) || refused.Status != http.StatusUnauthorized {
		return err
	}
	changed, failed := c.gatherAgain(ctx, sent)
	switch {
	case failed != nil:
		return failed
	case !changed:
		return err
	}
	return run()
}

// gatherAgain makes the headers again, unless another request has done so since sent, and reports whether they are
// others now.
func (c *configured) gatherAgain(ctx context.Context, sent *map[string]string) (changed bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.headers.Load() != sent {
		return true, nil
	}
	headers, err := c.gather(ctx)
	if err != nil || maps.Equal(headers, *sent) {
		return false, err
	}
	c.headers.Store(&headers)
	return true, nil
}
