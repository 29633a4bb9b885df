package serve

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"toolx/pkg/fault"
)

// endpointPath is the path of toolx serve --http.
const endpointPath = "/mcp"

const (
	// sessionTime is how long a session of the legacy revisions may be idle before it ends. The client then gets 404
	// and starts another.
	sessionTime = 30 * time.Minute
	// maxStreams limits the open streams of sessions.
	maxStreams = 1000
	// maxConnections limits open connections, including those without a token, and maxHeader the bytes of headers of a
	// request.
	maxConnections = 1500
	maxHeader      = 32 << 10
	// headerTime limits how long a client may take to send headers.
	headerTime = 10 * time.Second
	// bodyTime limits how long receiving a message may take.
	bodyTime = 2 * time.Minute
	// keepTime is how long an idle connection stays open.
	keepTime = 2 * time.Minute
)

// TokenVariable is the environment variable with the token that clients must have.
const TokenVariable = "TOOLX_SERVE_TOKEN"

// HTTPOptions are the address and the allowed clients of tools over HTTP.
type HTTPOptions struct {
	Address string   // HOST:PORT or PORT; empty: standard streams instead
	Remote  bool     // allow addresses that other machines can reach
	Token   string   // "@FILE"; empty: that of TokenVariable, else a new one
	Open    bool     // require no token
	Hosts   []string // names in the Host header, besides addresses and localhost
	Origins []string // of other web pages that may send requests
}

// Check rejects a token that everyone on the machine could read, and invalid hosts and origins. The error is a
// *fault.UsageError.
func (o *HTTPOptions) Check() error {
	if o.Token != "" && (!strings.HasPrefix(o.Token, "@") || o.Token == "@") {
		return fault.Usage("--token must not be a literal token, because other users can read command lines",
			"use @FILE with a file that contains it, or set "+TokenVariable)
	}
	return o.checkNames()
}

// checkNames rejects hosts and origins that no request can have, since allowing them would have no effect.
func (o *HTTPOptions) checkNames() error {
	for _, host := range o.Hosts {
		if hostName(host) == "" || strings.ContainsAny(host, "/@ ") {
			return fault.Usage("--allow-host "+strconv.Quote(host)+" is not a host", "--allow-host tools.example")
		}
	}
	for _, origin := range o.Origins {
		page, err := url.Parse(strings.TrimSuffix(origin, "/"))
		if origin != "null" && (err != nil || page.Host == "" || page.Scheme+"://"+page.Host != page.String()) {
			return fault.Usage("--allow-origin "+strconv.Quote(origin)+" is not an origin",
				"--allow-origin https://app.example")
		}
	}
	return nil
}

// Endpoint is an open listener and the handler that answers on it.
type Endpoint struct {
	Address  *net.TCPAddr // where it listens
	Token    string       // that clients must send; empty: none
	NewToken bool         // whether Listen created the token, so that the user must be warned

	listener net.Listener
	server   *http.Server
	sdk      *server.StreamableHTTPServer
	sessions *httpSessions
}

// URL returns the address at which a client on this machine reaches the endpoint.
func (e *Endpoint) URL() string {
	host := e.Address.IP.String()
	if e.Address.IP.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, strconv.Itoa(e.Address.Port)) + endpointPath
}

// Listen opens the address. Clients that connect before Serve runs have to wait. A message has at most limit bytes. The
// error is a *fault.UsageError.
func (s *Server) Listen(o HTTPOptions, limit int64, log *slog.Logger) (*Endpoint, error) {
	token, made, err := o.clientToken()
	if err != nil {
		return nil, err
	}
	address, err := resolveAddress(o)
	if err != nil {
		return nil, err
	}
	listener, err := net.ListenTCP("tcp", address)
	if err != nil {
		return nil, fault.Usage("cannot listen on "+address.String()+": "+fault.Reason(err),
			"--http 0 uses any free port")
	}
	warn := func(text string) { log.Warn(text) }
	sessions := newHTTPSessions(sessionTime)
	web := &http.Server{
		ReadHeaderTimeout: headerTime,
		MaxHeaderBytes:    maxHeader,
		IdleTimeout:       keepTime,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelInfo),
	}
	e := &Endpoint{
		Address: listener.Addr().(*net.TCPAddr), Token: token, NewToken: made,
		listener: listener, server: web, sessions: sessions,
	}
	e.sdk = server.NewStreamableHTTPServer(s.sdk,
		server.WithSessionIdManagerResolver(sessions),
		server.WithStreamableHTTPServer(web),
		server.WithStreamableHTTPLogger(slog.New(slog.DiscardHandler)),
		server.WithDisableLocalhostProtection(true), // the guard's is stricter
	)
	sessions.end = endIn(e.sdk)
	own, _, _ := net.SplitHostPort(o.Address)
	hosts := []string{own}
	for _, host := range o.Hosts {
		hosts = append(hosts, hostName(host))
	}
	web.Handler = &guard{
		hosts: hosts, origins: o.Origins, token: token, warn: warn,
		next: &exchange{
			sdk: e.sdk, tools: s.tools, sessions: sessions, limit: limit, bodies: newBodies(limit),
			warn: warn, room: make(chan struct{}, maxOpenCalls), streams: make(chan struct{}, maxStreams),
		},
	}
	return e, nil
}

// resolveAddress returns the address to listen on: a local one, unless the options allow others.
func resolveAddress(o HTTPOptions) (*net.TCPAddr, error) {
	text := o.Address
	if text != "" && strings.Trim(text, "0123456789") == "" {
		text = net.JoinHostPort("127.0.0.1", text)
	}
	address, err := net.ResolveTCPAddr("tcp", text)
	if err != nil {
		return nil, fault.Usage("--http "+strconv.Quote(o.Address)+": "+fault.Reason(err),
			"--http 127.0.0.1:8080")
	}
	if !address.IP.IsLoopback() && !o.Remote {
		port := strconv.Itoa(address.Port)
		return nil, fault.Usage("--http "+strconv.Quote(o.Address)+" is reachable from other machines",
			"use --http "+port+" to serve only this machine, or add --allow-remote")
	}
	return address, nil
}

// clientToken returns the token that clients must send, empty with --no-token. Without a given one, it creates a random
// token.
func (o *HTTPOptions) clientToken() (token string, made bool, err error) {
	token, err = readToken(o.Token)
	switch {
	case err != nil:
		return "", false, err
	case o.Open && token != "":
		return "", false, fault.Usage(TokenVariable+" contradicts \"--no-token\"",
			"unset "+TokenVariable+", or remove the flag")
	case o.Open || token != "":
		return token, false, nil
	}
	return strings.ToLower(rand.Text()), true, nil
}

// readToken reads the given token; empty if there is none.
func readToken(given string) (string, error) {
	token, set := os.LookupEnv(TokenVariable)
	source := TokenVariable
	file, named := strings.CutPrefix(given, "@")
	switch {
	case named:
		data, err := os.ReadFile(file)
		if err != nil {
			return "", fault.Usage("the token in "+file+" cannot be read: "+fault.Reason(err),
				"use @FILE with a file that contains it, or set "+TokenVariable)
		}
		token, source = strings.TrimSpace(string(data)), file
		if token == "" {
			return "", fault.Usage("no token in "+file, "write a long random text into it")
		}
	case set && token == "": // "$(cat FILE)" of a missing FILE must not allow everyone
		return "", fault.Usage(TokenVariable+" is empty", "set it to a long random text, or unset it")
	}
	for _, r := range token {
		if r <= ' ' || r > '~' { // invalid in an Authorization header (RFC 6750, 2.1)
			return "", fault.Usage("the token in "+source+" has characters that are not allowed in a header",
				"use letters, digits and punctuation, without spaces")
		}
	}
	return token, nil
}

// limitedListener accepts a connection only while there is a free slot. The others wait in the system's queue.
type limitedListener struct {
	net.Listener
	slots chan struct{}
}

func limitListener(listener net.Listener, connections int) *limitedListener {
	return &limitedListener{listener, make(chan struct{}, connections)}
}

// Accept implements net.Listener. After Close it returns as soon as a slot is free.
func (l *limitedListener) Accept() (net.Conn, error) {
	l.slots <- struct{}{}
	release := sync.OnceFunc(func() { <-l.slots }) // a connection may be closed twice
	conn, err := l.Listener.Accept()
	if err != nil {
		release()
		return nil, err
	}
	return &limitedConn{conn, release}, nil
}

type limitedConn struct {
	net.Conn
	release func()
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}

// Serve handles requests until ctx ends. It then interrupts open calls and ends streams.
func (e *Endpoint) Serve(ctx context.Context) error {
	failed := make(chan error, 1)
	go func() { failed <- e.server.Serve(limitListener(e.listener, maxConnections)) }()
	go e.sweep(ctx)
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if e.sdk.Shutdown(bounded) != nil { // a client keeps a connection open
		_ = e.server.Close()
	}
	return nil
}

// sweep ends idle sessions until ctx ends.
func (e *Endpoint) sweep(ctx context.Context) {
	ticker := time.NewTicker(sessionTime / 2)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			e.sessions.sweep()
		case <-ctx.Done():
			return
		}
	}
}
