package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"toolx/pkg/auth"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
	"toolx/pkg/servers"
)

// logins puts access tokens on the requests to servers, and lets the person at the terminal log in.
type logins struct {
	*output
	consent *consent
	// to names the server that a person may be sent to a browser for (see letLogin).
	to string
}

// authSite is a server that can be logged in to.
type authSite struct {
	server   *config.Server
	resolved *config.Resolved
}

// ownHeader reports whether requests have an Authorization of the user's own: a header, or the one that a password in
// the address becomes.
func (s *authSite) ownHeader() bool {
	if address, err := url.Parse(s.resolved.URL); err == nil && address.User != nil {
		return true
	}
	for name := range s.resolved.Headers {
		if strings.EqualFold(name, "Authorization") {
			return true
		}
	}
	return false
}

// site finds a server by its name in the config, or takes an address.
func (l *logins) site(ctx context.Context, name string) (*authSite, error) {
	if strings.Contains(name, "://") {
		server := config.AdHoc(nil, name, nil)
		server.Name = name
		return resolveSite(server)
	}
	loaded, err := l.consent.loadConfig()
	if err != nil {
		return nil, err
	}
	program := func(server *config.Server) bool { return server.URL == "" && server.Name != name }
	remote := slices.DeleteFunc(slices.Clone(loaded.Servers), program)
	server, err := serverNamed(remote, name, "or give an address: https://host/mcp")
	if err != nil {
		return nil, err
	}
	if server.URL == "" {
		return nil, fault.Usage("the server '"+name+"' is a program, which needs no login",
			"give it secrets by env: in the config")
	}
	if err := l.consent.ask(ctx, server); err != nil {
		return nil, err
	}
	return resolveSite(server)
}

func resolveSite(server *config.Server) (*authSite, error) {
	resolved, err := server.Resolve(os.Environ())
	if err != nil {
		return nil, usageError(err)
	}
	return &authSite{server, resolved}, nil
}

// httpBase returns what sends requests to a server, and to its authorization server.
func httpBase(site *authSite, options servers.HTTPOptions) (http.RoundTripper, error) {
	base, err := servers.NewHTTPBase(site.resolved, options)
	if err != nil {
		return nil, usageError(err)
	}
	return base, nil
}

// options returns for which server tokens are got, and where they are kept. They let nobody log in.
func (l *logins) options(site *authSite) auth.Options {
	l.mask.Add(site.resolved.Secrets...)
	login := site.server.Name
	if site.server.OnCommandLine() {
		login = site.resolved.URL // the name of a server on the command line does not last
	}
	return auth.Options{
		Server: site.server.Name, Login: exec.ShellLine(login), URL: site.resolved.URL,
		Headers: site.resolved.Headers, Auth: site.resolved.Auth,
		Store: authStore(), Version: Version(), Secret: l.mask.Add,
		Notice: func(level slog.Level, text string) { l.log.Log(context.Background(), level, text) },
	}
}

// authStore returns where tokens are kept; nil where there is no home to keep them in.
func authStore() *auth.Store {
	folder := stateFile("auth")
	if folder == "" {
		return nil
	}
	return auth.NewStore(folder, os.Getenv("TOOLX_KEYRING") != "off")
}

// authorize puts tokens on the requests to a server, as servers.HTTPOptions.Authorize wants it. Where letLogin has not
// named the server, nobody is asked to log in; the error then says how to.
func (l *logins) authorize(server *config.Server, base http.RoundTripper) http.RoundTripper {
	site, err := resolveSite(server)
	if err != nil || site.ownHeader() {
		return base // an entry that cannot be resolved is not reached at all
	}
	options := l.options(site)
	if server.Name == l.to {
		options.Visit = l.visit(options.Login)
	}
	return auth.Transport(base, options)
}

// letLogin lets the person at the terminal log in to the server that a name names. A server that is only asked whether
// it has something of a plain name sends nobody to a browser.
func (b *toolbox) letLogin(name string) {
	switch {
	case !b.person():
	case b.adHoc:
		b.logins.to = config.AdHocName
	default:
		b.logins.to = exec.ServerOf(name, b.pool.Names())
	}
}

// visit opens a login page in the browser, and says so; login is the argument of toolx auth login.
func (l *logins) visit(login string) func(context.Context, string) error {
	return func(ctx context.Context, address string) error {
		l.say("the login goes on in the browser; if none opens: toolx auth login --no-browser %s", login)
		return auth.OpenBrowser(ctx, address)
	}
}

// meetPerson lets a login talk to the person at the terminal. done puts the terminal back as it was.
func (l *logins) meetPerson(options *auth.Options, noBrowser bool) (done func()) {
	done = func() {}
	if !noBrowser {
		options.Visit = l.visit(options.Login)
		return done
	}
	options.Visit = func(_ context.Context, address string) error {
		_, err := fmt.Fprintf(l.live, "open this address in a browser:\n\n%s\n\n", render.Safe(address))
		return err
	}
	input, isFile := l.Console.In.(*os.File)
	if !l.Console.InTTY || !isFile {
		return done // the browser must come back by itself
	}
	if before, err := term.GetState(int(input.Fd())); err == nil {
		done = func() { _ = term.Restore(int(input.Fd()), before) }
	}
	options.Paste = func(_ context.Context, wrong error) (string, error) {
		l.Console.HideTyped()
		if wrong != nil {
			l.say("%s; paste it again:", wrong)
		} else {
			l.say("if it ends at a page that does not load, paste that page's address here (it is not shown):")
		}
		return readHidden(input)
	}
	return done
}

// readHidden reads a line without showing it, since it holds a code.
func readHidden(input *os.File) (string, error) {
	line, err := term.ReadPassword(int(input.Fd()))
	if err == nil {
		return string(line), nil
	}
	text, err := bufio.NewReader(input).ReadString('\n')
	if err != nil {
		return "", errors.New("the terminal was closed")
	}
	return text, nil
}
