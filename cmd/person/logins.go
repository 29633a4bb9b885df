package person

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"toolx/cmd/build"
	"toolx/cmd/cli"
	"toolx/cmd/exit"
	"toolx/cmd/stores"
	"toolx/cmd/streams"
	"toolx/pkg/auth"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
	mcphttp "toolx/pkg/servers/http"
)

// Logins adds access tokens to requests, and lets the user at the terminal log in.
type Logins struct {
	Out     *streams.Streams
	Consent *Consent
	// To is the name of the server for which a browser may open (see toolset.Set.AllowLogin).
	To string
}

// Site is a server that can be logged in to.
type Site struct {
	Server   *config.Server
	Resolved *config.Resolved
}

// OwnHeader reports whether requests have the user's own Authorization: a header, or the password in the address.
func (s *Site) OwnHeader() bool {
	if address, err := url.Parse(s.Resolved.URL); err == nil && address.User != nil {
		return true
	}
	for name := range s.Resolved.Headers {
		if strings.EqualFold(name, "Authorization") {
			return true
		}
	}
	return false
}

// Site finds a server by its name in the config or by its address.
func (l *Logins) Site(ctx context.Context, name string) (*Site, error) {
	if strings.Contains(name, "://") {
		server := config.AdHoc(nil, name, nil)
		server.Name = name
		return ResolveSite(server)
	}
	loaded, err := l.Consent.LoadConfig()
	if err != nil {
		return nil, err
	}
	program := func(server *config.Server) bool { return server.URL == "" && server.Name != name }
	remote := slices.DeleteFunc(slices.Clone(loaded.Servers), program)
	server, err := cli.ServerNamed(remote, name, "or give an address: https://host/mcp")
	if err != nil {
		return nil, err
	}
	if server.URL == "" {
		return nil, fault.Usage("server '"+name+"' is a local program and needs no login",
			"pass secrets in env: in the config")
	}
	if err := l.Consent.Ask(ctx, server); err != nil {
		return nil, err
	}
	return ResolveSite(server)
}

// ResolveSite returns the site of a server's entry, with its variables filled in from the environment.
func ResolveSite(server *config.Server) (*Site, error) {
	resolved, err := server.Resolve(os.Environ())
	if err != nil {
		return nil, exit.Usage(err)
	}
	return &Site{server, resolved}, nil
}

// HTTPBase returns the transport for requests to a server and to its authorization server.
func HTTPBase(site *Site, options mcphttp.ClientOptions) (http.RoundTripper, error) {
	base, err := mcphttp.NewBase(site.Resolved, options)
	if err != nil {
		return nil, exit.Usage(err)
	}
	return base, nil
}

// Options returns the options for getting and storing the tokens of a server. They do not permit a login.
func (l *Logins) Options(site *Site) auth.Options {
	l.Out.Mask.Add(site.Resolved.Secrets...)
	login := []string{site.Server.Name}
	if site.Server.OnCommandLine() {
		login[0] = site.Resolved.URL // a server on the command line has no lasting name
	} else {
		for _, file := range l.Consent.Flags.Config {
			login = append(login, "--config", file)
		}
	}
	return auth.Options{
		Server: site.Server.Name, Login: exec.ShellLine(login...), URL: site.Resolved.URL,
		Headers: site.Resolved.Headers, Auth: site.Resolved.Auth,
		Store: stores.Logins(), Version: build.Version(), Secret: l.Out.Mask.Add,
		Notice: func(level slog.Level, text string) { l.Out.Log.Log(context.Background(), level, text) },
	}
}

// Authorize adds tokens to the requests to a server, for http.ClientOptions.Authorize. If To is not the server, it does
// not ask the user to log in; the error then says how.
func (l *Logins) Authorize(server *config.Server, base http.RoundTripper) http.RoundTripper {
	site, err := ResolveSite(server)
	if err != nil || site.OwnHeader() {
		return base // an entry that cannot be resolved gets no requests
	}
	options := l.Options(site)
	if server.Name == l.To {
		options.Visit = l.visit(options.Login)
	}
	return auth.Transport(base, options)
}

// Unattended returns what lets the user log in to a server without a terminal: in a browser (see auth.LoginOnce). In CI
// none opens. It returns nil if requests have their own authorization.
func (l *Logins) Unattended(
	server *config.Server, http mcphttp.ClientOptions,
) func(ctx context.Context, show func(address string, opened bool)) error {
	site, err := ResolveSite(server)
	if err != nil || site.OwnHeader() {
		return nil
	}
	started := time.Now()
	return func(ctx context.Context, show func(string, bool)) error {
		base, err := HTTPBase(site, http)
		if err != nil {
			return err
		}
		options := l.Options(site)
		options.Visit = auth.OpenBrowser
		if os.Getenv("CI") != "" {
			options.Visit = func(context.Context, string) error { return errors.New("CI is set") }
		}
		return auth.LoginOnce(ctx, base, options, started, show)
	}
}

// visit opens a login page in the browser, and says so; login is the argument of toolx auth login.
func (l *Logins) visit(login string) func(context.Context, string) error {
	return func(ctx context.Context, address string) error {
		l.Out.Say("continue in the browser; if none opens: toolx auth login --no-browser %s", login)
		return auth.OpenBrowser(ctx, address)
	}
}

// MeetPerson lets a login ask the user at the terminal. done restores the terminal.
func (l *Logins) MeetPerson(options *auth.Options, noBrowser bool) (done func()) {
	done = func() {}
	if !noBrowser {
		options.Visit = l.visit(options.Login)
		return done
	}
	options.Visit = func(_ context.Context, address string) error {
		_, err := fmt.Fprintf(l.Out.Live, "open this address in a browser:\n\n%s\n\n", render.Safe(address))
		return err
	}
	input, isFile := l.Out.Console.In.(*os.File)
	if !l.Out.Console.InTTY || !isFile {
		return done // the browser must redirect to toolx
	}
	if before, err := term.GetState(int(input.Fd())); err == nil {
		done = func() { _ = term.Restore(int(input.Fd()), before) }
	}
	options.Paste = func(_ context.Context, wrong error) (string, error) {
		l.Out.Console.HideTyped()
		if wrong != nil {
			l.Out.Say("%s; paste it again:", wrong)
		} else {
			l.Out.Say("if the last page does not load, paste its address here (it is not shown):")
		}
		return readHidden(input)
	}
	return done
}
