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

// endpointPath is where toolx serve --http takes messages.
const endpointPath = "/mcp"

const (
	// sessionTime is how long a session of the legacy revisions may be silent before
	// it is forgotten. The client then gets 404 and starts another.
	sessionTime = 30 * time.Minute
	// maxStreams is how many streams of sessions may be open at once.
	maxStreams = 1000
	// maxConnections is how many connections may be open at once, those of strangers without a
	// token included, and maxHeader how many bytes of headers each may send.
	maxConnections = 1500
	maxHeader      = 32 << 10
	// headerTime bounds how long a client may take to send a request's headers.
	headerTime = 10 * time.Second
	// bodyTime bounds how long a message may take to come.
	bodyTime = 2 * time.Minute
	// keepTime is how long an idle connection is kept.
	keepTime = 2 * time.Minute
)

// TokenVariable is the environment variable with the token that clients must have.
const TokenVariable = "TOOLX_SERVE_TOKEN"

// HTTPOptions say where and to whom tools are served over HTTP.
type HTTPOptions struct {
	Address string   // HOST:PORT or PORT; empty: standard streams instead
	Remote  bool     // addresses that other machines reach are meant
	Token   string   // "@FILE"; empty: that of TokenVariable, else a new one
	Open    bool     // no token is wanted
	Hosts   []string // names in the Host header, besides addresses and localhost
	Origins []string // of web pages from elsewhere that may send requests
}

// Check refuses a token that everyone on the machine could read, and names that are no host or origin. The error is a
// *fault.UsageError.
func (o *HTTPOptions) Check() error {
	if o.Token != "" && (!strings.HasPrefix(o.Token, "@") || o.Token == "@") {
		return fault.Usage("a token does not belong on a command line, which everyone on this machine can read",
			"name a file that has it by @FILE, or set "+TokenVariable)
	}
	return o.checkNames()
}

// checkNames refuses hosts and origins that no request can name, since allowing them would have no effect.
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
	Token    string       // what every client must have; empty: none is wanted
	NewToken bool         // whether the token was made here, so that nobody knows it yet

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

// Listen opens the address, so that whoever connects from now on is answered as soon as Serve runs. A message has at
// most limit bytes. The error is a *fault.UsageError.
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
			"--http 0 takes any port of this machine that is free")
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

// resolveAddress returns the address to listen on: this machine only, unless the options say otherwise.
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
		return nil, fault.Usage("--http "+strconv.Quote(o.Address)+" lets other machines in",
			"--http "+port+" serves this machine only; --allow-remote serves the others too")
	}
	return address, nil
}

// clientToken returns the token that clients must have, empty with --no-token. One is made where none is given; it is
// long enough that nobody guesses it.
func (o *HTTPOptions) clientToken() (token string, made bool, err error) {
	token, err = readToken(o.Token)
	switch {
	case err != nil:
		return "", false, err
	case o.Open && token != "":
		return "", false, fault.Usage(TokenVariable+" contradicts \"--no-token\"",
			"unset "+TokenVariable+", or leave the flag out")
	case o.Open || token != "":
		return token, false, nil
	}
	return strings.ToLower(rand.Text()), true, nil
}

// readToken reads the token that clients must have; empty if there is none.
func readToken(given string) (string, error) {
	token, set := os.LookupEnv(TokenVariable)
	source := TokenVariable
	file, named := strings.CutPrefix(given, "@")
	switch {
	case named:
		data, err := os.ReadFile(file)
		if err != nil {
			return "", fault.Usage("the token in "+file+" cannot be read: "+fault.Reason(err),
				"name a file that has it by @FILE, or set "+TokenVariable)
		}
		token, source = strings.TrimSpace(string(data)), file
		if token == "" {
			return "", fault.Usage("no token in "+file, "write a long random text into it")
		}
	case set && token == "": // "$(cat FILE)" without a FILE must not let everybody in
		return "", fault.Usage(TokenVariable+" is empty", "set it to a long random text, or unset it")
	}
	for _, r := range token {
		if r <= ' ' || r > '~' { // what no Authorization header can carry (RFC 6750, 2.1)
			return "", fault.Usage("the token in "+source+" has characters that no header can carry",
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

// Serve answers until ctx ends. Calls that are open then are given up and answered as interrupted; streams end.
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
	if e.sdk.Shutdown(bounded) != nil { // somebody holds a connection
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
