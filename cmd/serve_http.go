package cmd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/server"
	"github.com/spf13/pflag"

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
	// headerTime bounds how long a client may take to send a request's headers.
	headerTime = 10 * time.Second
	// bodyTime bounds how long a message may take to come.
	bodyTime = 2 * time.Minute
	// keepTime is how long a connection is kept that nothing comes on.
	keepTime = 2 * time.Minute
)

// tokenVariable is the environment variable with the token that clients must have.
const tokenVariable = "TOOLX_SERVE_TOKEN"

// httpOptions say where and to whom toolx serve --http serves.
type httpOptions struct {
	address string   // HOST:PORT or PORT; empty: standard streams instead
	remote  bool     // addresses that other machines reach are meant
	token   string   // "@FILE"; empty: that of tokenVariable, else a new one
	open    bool     // no token is wanted
	hosts   []string // names in the Host header, besides addresses and localhost
	origins []string // of web pages from elsewhere that may send requests
}

func (o *httpOptions) declare(flags *pflag.FlagSet) {
	flags.StringVar(&o.address, "http", "", "serve over HTTP at `ADDR` (HOST:PORT, or PORT of this machine; port 0: any that is free)")
	flags.BoolVar(&o.remote, "allow-remote", false, "let --http take an address that other machines reach")
	flags.StringVar(&o.token, "token", "", "want the token that stands in a file of every client: `@FILE` (also: "+tokenVariable+"; default: a new one)")
	flags.BoolVar(&o.open, "no-token", false, "let --http serve every program and user that reaches it, without a token")
	flags.StringArrayVar(&o.hosts, "allow-host", nil, "serve requests to host `NAME` too (repeatable)")
	flags.StringArrayVar(&o.origins, "allow-origin", nil, "serve web pages of `ORIGIN` too (repeatable)")
}

// check refuses options that mean nothing without --http, a token that everyone on the
// machine could read, and names that are none.
func (o *httpOptions) check(flags *pflag.FlagSet) error {
	if o.address == "" {
		if flags.Changed("http") { // "$ADDR", which is not set: standard streams are not meant
			return &fault.UsageError{Message: "--http is empty", Fix: "--http 127.0.0.1:8080"}
		}
		for _, given := range []struct {
			flag string
			is   bool
		}{
			{"--allow-remote", o.remote}, {"--token", o.token != ""}, {"--no-token", o.open}, {"--allow-host", len(o.hosts) > 0}, {"--allow-origin", len(o.origins) > 0},
		} {
			if given.is {
				return &fault.UsageError{Message: "only --http has a use for " + given.flag, Fix: "toolx serve FILE --http 127.0.0.1:8080 " + given.flag + " …"}
			}
		}
	}
	if o.token != "" && (!strings.HasPrefix(o.token, "@") || o.token == "@") {
		return &fault.UsageError{
			Message: "a token does not belong on a command line, which everyone on this machine can read",
			Fix:     "name a file that has it by @FILE, or set " + tokenVariable,
		}
	}
	if o.open && o.token != "" {
		return &fault.UsageError{Message: "\"--no-token\" contradicts \"--token\"", Fix: "leave one of them out"}
	}
	return o.checkNames()
}

// checkNames refuses hosts and origins that no request can name: they would be allowed
// in vain.
func (o *httpOptions) checkNames() error {
	for _, host := range o.hosts {
		if hostName(host) == "" || strings.ContainsAny(host, "/@ ") {
			return &fault.UsageError{Message: "--allow-host " + quote(host) + " is no host", Fix: "--allow-host tools.example"}
		}
	}
	for _, origin := range o.origins {
		page, err := url.Parse(strings.TrimSuffix(origin, "/"))
		if origin != "null" && (err != nil || page.Host == "" || page.Scheme+"://"+page.Host != page.String()) {
			return &fault.UsageError{Message: "--allow-origin " + quote(origin) + " is no origin", Fix: "--allow-origin https://app.example"}
		}
	}
	return nil
}

// endpoint is toolx serve --http: a listener that is open, and what answers on it.
type endpoint struct {
	listener net.Listener
	server   *http.Server
	sdk      *server.StreamableHTTPServer
	sessions *httpSessions
	announce func()
}

// listen opens the address, so that whoever connects from now on is answered as soon
// as the endpoint serves.
func (a *App) listen(o httpOptions, mcpServer *server.MCPServer, limit int64) (*endpoint, error) {
	token, made, err := o.clientToken()
	if err != nil {
		return nil, err
	}
	a.mask.Add(token)
	address, err := resolveAddress(o)
	if err != nil {
		return nil, err
	}
	listener, err := net.ListenTCP("tcp", address)
	if err != nil {
		return nil, &fault.UsageError{Message: "cannot listen on " + address.String() + ": " + reasonOf(err), Fix: "--http 0 takes any port of this machine that is free"}
	}
	warn := func(text string) { a.log.Warn(text) }
	sessions := newHTTPSessions(sessionTime)
	web := &http.Server{
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       keepTime,
		ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelInfo),
	}
	e := &endpoint{listener: listener, server: web}
	e.sdk = server.NewStreamableHTTPServer(mcpServer,
		server.WithSessionIdManagerResolver(sessions),
		server.WithStreamableHTTPServer(web),
		server.WithStreamableHTTPLogger(slog.New(slog.DiscardHandler)),
		server.WithDisableLocalhostProtection(true), // the guard's is stricter
	)
	sessions.end = endIn(e.sdk)
	own, _, _ := net.SplitHostPort(o.address)
	hosts := []string{own}
	for _, host := range o.hosts {
		hosts = append(hosts, hostName(host))
	}
	web.Handler = &guard{
		hosts: hosts, origins: o.origins, token: token, warn: warn,
		next: &exchange{
			sdk: e.sdk, sessions: sessions, limit: limit, bodies: newBodies(limit), warn: warn,
			room: make(chan struct{}, maxOpenCalls), streams: make(chan struct{}, maxStreams),
		},
	}
	e.sessions = sessions
	e.announce = func() { a.announce(listener.Addr().(*net.TCPAddr), made, token != "") }
	return e, nil
}

// announce tells on stderr where toolx serves, and the token that it made, which nobody
// knows otherwise.
func (a *App) announce(address *net.TCPAddr, made string, guarded bool) {
	host, scope := address.IP.String(), ""
	if address.IP.IsUnspecified() {
		host, scope = "localhost", ", and at every address of this machine"
	}
	url := "http://" + net.JoinHostPort(host, strconv.Itoa(address.Port)) + endpointPath
	if !a.flags.quiet {
		fmt.Fprintf(a.live, "serving at %s%s (Ctrl-C ends)\n", url, scope)
	}
	if made != "" {
		fmt.Fprintf(a.live, "clients need this token, which is new each time: %s\n", made)
		fmt.Fprintf(a.live, "  toolx list --url %s -H 'Authorization: Bearer %s'\n", url, made)
	}
	if !guarded {
		who := "every user and program of this machine"
		if !address.IP.IsLoopback() {
			who = "whoever reaches this machine"
		}
		a.log.Warn(who + " can call these tools, for no token is wanted (toolx makes one unless given \"--no-token\")")
	}
}

// resolveAddress is where to listen: on this machine alone, unless told otherwise.
func resolveAddress(o httpOptions) (*net.TCPAddr, error) {
	text := o.address
	if text != "" && strings.Trim(text, "0123456789") == "" {
		text = net.JoinHostPort("127.0.0.1", text)
	}
	address, err := net.ResolveTCPAddr("tcp", text)
	if err != nil {
		return nil, &fault.UsageError{Message: "--http " + quote(o.address) + ": " + reasonOf(err), Fix: "--http 127.0.0.1:8080"}
	}
	if !address.IP.IsLoopback() && !o.remote {
		port := strconv.Itoa(address.Port)
		return nil, &fault.UsageError{
			Message: "--http " + quote(o.address) + " lets other machines in",
			Fix:     "--http " + port + " serves this machine only; --allow-remote serves the others too",
		}
	}
	return address, nil
}

// clientToken is the token that clients must have, empty with --no-token. One is made where
// none is given, which is made then; it is long enough that nobody guesses it.
func (o *httpOptions) clientToken() (token, made string, err error) {
	token, err = readToken(o.token)
	switch {
	case err != nil:
		return "", "", err
	case o.open && token != "":
		return "", "", &fault.UsageError{Message: tokenVariable + " contradicts \"--no-token\"", Fix: "unset " + tokenVariable + ", or leave the flag out"}
	case o.open || token != "":
		return token, "", nil
	}
	made = strings.ToLower(rand.Text())
	return made, made, nil
}

// readToken reads the token that clients must have; empty where there is none.
func readToken(given string) (string, error) {
	token, set := os.LookupEnv(tokenVariable)
	source := tokenVariable
	file, named := strings.CutPrefix(given, "@")
	switch {
	case named:
		data, err := os.ReadFile(file)
		if err != nil {
			return "", &fault.UsageError{Message: "the token in " + file + " cannot be read: " + reasonOf(err), Fix: "name a file that has it by @FILE, or set " + tokenVariable}
		}
		token, source = strings.TrimSpace(string(data)), file
		if token == "" {
			return "", &fault.UsageError{Message: "there is no token in " + file, Fix: "write a long random text into it"}
		}
	case set && token == "": // "$(cat FILE)" without a FILE must not let everybody in
		return "", &fault.UsageError{Message: tokenVariable + " is empty", Fix: "set it to a long random text, or unset it"}
	}
	for _, r := range token {
		if r <= ' ' || r > '~' { // what no Authorization header can carry (RFC 6750, 2.1)
			return "", &fault.UsageError{Message: "the token in " + source + " has characters that no header can carry", Fix: "use letters, digits and punctuation, without spaces"}
		}
	}
	return token, nil
}

// reasonOf is what the network or a file has to say, without the words around it. A path such
// as …/token before a colon would pass for a secret's name.
func reasonOf(err error) string {
	var file *fs.PathError
	var call *os.SyscallError
	var address *net.AddrError
	var name *net.DNSError
	switch {
	case errors.As(err, &file):
		return file.Err.Error()
	case errors.As(err, &call):
		return call.Err.Error()
	case errors.As(err, &address):
		return address.Err
	case errors.As(err, &name):
		return name.Err
	}
	return err.Error()
}

// serve answers until ctx ends. Calls that are open then are given up, and answered
// as interrupted; streams end.
func (e *endpoint) serve(ctx context.Context) error {
	failed := make(chan error, 1)
	go func() { failed <- e.server.Serve(e.listener) }()
	e.announce()
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
func (e *endpoint) sweep(ctx context.Context) {
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
