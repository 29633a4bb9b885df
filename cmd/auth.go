package cmd

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"toolx/pkg/auth"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
	"toolx/pkg/servers"
)

// authRun is what the subcommands of auth do, so that a test can take its place.
type authRun struct {
	login  func(context.Context, *App, authLoginOptions) error
	logout func(context.Context, *App, string) error
	status func(context.Context, *App, authStatusOptions) error
}

// authLoginOptions say where to log in, and how a person gets there.
type authLoginOptions struct {
	server    string // a name of the config, or an address
	noBrowser bool
	scopes    []string
}

func newAuthCommand(app *App, run authRun) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "auth login|logout|status [SERVER]",
		Short: "Log in to servers that want it, and out again",
		Long: `Log in to remote servers (OAuth 2.1), see what logins there are, and end them.

SERVER is a server of the config, or an address (https://…), which --url gives as
well. Tokens are kept in the system's keyring where there is one, else in a file that
only you can read, and are renewed when they end. A server with an Authorization
header of its own needs no login.

Exit codes: 0 success, 2 wrong usage or config, 3 the login was refused or there is
none, 4 the server or its authorization server was not reached, 130 interrupted.`,
		Example: `  toolx auth login github
  toolx auth login --no-browser https://host/mcp
  toolx auth status --json
  toolx auth logout github`,
		Args: func(_ *cobra.Command, args []string) error {
			problem := "auth needs to know what to do"
			if len(args) > 0 {
				problem = "auth does not know " + quote(args[0])
			}
			return fault.Usage(problem, "toolx auth login SERVER, toolx auth logout SERVER, or toolx auth status")
		},
		RunE: func(*cobra.Command, []string) error { return nil }, // Args has refused
	}
	cmd.AddCommand(newAuthLoginCommand(app, run.login), newAuthLogoutCommand(app, run.logout), newAuthStatusCommand(app, run.status))
	return cmd
}

func newAuthLoginCommand(app *App, run func(context.Context, *App, authLoginOptions) error) *cobra.Command {
	var o authLoginOptions
	cmd := &cobra.Command{
		Use:   "login SERVER",
		Short: "Log in to a server, in the browser",
		Long: `Log in to a server: its page opens in the browser, and toolx waits for the answer.
With --no-browser the page's address is printed, for a browser on any machine; paste
the address at which it ends. A server with client credentials needs no browser.

Exit codes: 0 logged in, or the server wants no login; 2 wrong usage or config, 3 the
login was refused, or needs a terminal; 4 not reached, 130 interrupted.`,
		Example: `  toolx auth login github
  toolx auth login github --scope repo
  toolx auth login --no-browser https://host/mcp`,
		Args:              oneServer(app, "login"),
		ValidArgsFunction: completeServer(app),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.server = append(args, app.flags.url)[0]
			return run(cmd.Context(), app, o)
		},
	}
	cmd.Flags().BoolVar(&o.noBrowser, "no-browser", false, "print the page's address and take the one where the browser ended")
	cmd.Flags().StringArrayVar(&o.scopes, "scope", nil, "ask for `SCOPE` as well (repeatable)")
	return cmd
}

func newAuthLogoutCommand(app *App, run func(context.Context, *App, string) error) *cobra.Command {
	return &cobra.Command{
		Use:   "logout SERVER",
		Short: "End the login to a server",
		Long: `End the login to a server: its authorization server is told, where it can be, and the
tokens are removed.

Exit codes: 0 there is no login any more, 2 wrong usage or config, 130 interrupted.`,
		Example:           `  toolx auth logout github`,
		Args:              oneServer(app, "logout"),
		ValidArgsFunction: completeServer(app),
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd.Context(), app, append(args, app.flags.url)[0])
		},
	}
}

// oneServer wants the name of one server, or its address, which --url gives as well.
func oneServer(app *App, verb string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		named, addressed := len(args) == 1 && args[0] != "", app.flags.url != ""
		switch {
		case named && addressed:
			return fault.Usage("auth "+verb+" takes one server, and --url is another", "leave one of them out")
		case named, addressed && len(args) == 0:
			return nil
		}
		return fault.Usage("auth "+verb+" takes one server",
			"toolx auth "+verb+" SERVER (toolx auth status lists them)")
	}
}

// runAuthLogin logs in and says how it went on stderr: there is no answer.
func runAuthLogin(ctx context.Context, app *App, o authLoginOptions) error {
	site, err := app.authSite(ctx, o.server)
	if err != nil {
		return err
	}
	if site.ownHeader() {
		return fault.Usage("the server '"+site.server.Name+"' has an Authorization header of its own, which always wins",
			"remove it from headers, or the password from the url, to log in instead")
	}
	base, err := app.httpBase(site)
	if err != nil {
		return err
	}
	options := app.authOptions(site)
	options.Scopes, options.LoginTime = o.scopes, app.flags.maxTime
	if app.Console.ErrTTY {
		done := app.meetPerson(&options, o)
		defer done()
	}
	status, err := auth.Login(ctx, base, options)
	switch {
	case errors.Is(err, auth.ErrOpen):
		fmt.Fprintf(app.live, "server '%s' asks for no login\n", render.Safe(site.server.Name))
		return nil
	case err != nil:
		return app.loginFailure(err, site)
	}
	fmt.Fprintf(app.live, "logged in to server '%s' by %s, tokens %s\n",
		render.Safe(site.server.Name), render.Safe(status.Issuer), keptIn(status))
	if len(site.resolved.HeadersCommand) > 0 {
		app.log.Warn("server '" + site.server.Name + "': an Authorization header that its headersCommand prints wins over the login")
	}
	return nil
}

// loginFailure says what to do where a login needs a terminal and there is none: to type the same again would not help.
func (a *App) loginFailure(err error, site *authSite) error {
	var failure *auth.Error
	if a.Console.ErrTTY || !errors.As(err, &failure) || !strings.HasPrefix(failure.Fix, "toolx auth login ") {
		return err
	}
	return &auth.Error{
		Server:  failure.Server,
		Problem: failure.Problem + ", and a login needs a terminal",
		Fix:     "run toolx auth login " + shellWord(site.server.Name) + " on a terminal, or give a token in headers: {Authorization: Bearer ${TOKEN}}",
	}
}

// meetPerson lets a login talk to the person at the terminal. done puts the terminal back as it was.
func (a *App) meetPerson(options *auth.Options, o authLoginOptions) (done func()) {
	done = func() {}
	if !o.noBrowser {
		options.Visit = a.visit(options.Login)
		return done
	}
	options.Visit = func(_ context.Context, address string) error {
		_, err := fmt.Fprintf(a.live, "open this address in a browser:\n\n%s\n\n", render.Safe(address))
		return err
	}
	if !a.Console.InTTY {
		return done // the browser must come back by itself
	}
	input, isFile := a.Console.In.(*os.File)
	if !isFile {
		return done
	}
	if before, err := term.GetState(int(input.Fd())); err == nil {
		done = func() { _ = term.Restore(int(input.Fd()), before) }
	}
	options.Paste = func(_ context.Context, wrong error) (string, error) {
		if wrong != nil {
			fmt.Fprintf(a.live, "%s; paste it again:\n", wrong)
		} else {
			fmt.Fprintln(a.live, "if it ends at a page that does not load, paste that page's address here (it is not shown):")
		}
		return readHidden(input)
	}
	return done
}

// visit opens a login page in the browser, and says so; login is what stands behind toolx auth login.
func (a *App) visit(login string) func(context.Context, string) error {
	return func(ctx context.Context, address string) error {
		fmt.Fprintf(a.live, "the login goes on in the browser; if none opens: toolx auth login --no-browser %s\n", login)
		return auth.OpenBrowser(ctx, address)
	}
}

// readHidden reads a line without showing it: it holds a code that a screen should not keep.
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

// runAuthLogout ends the login, whether there was one or not.
func runAuthLogout(ctx context.Context, app *App, name string) error {
	site, err := app.authSite(ctx, name)
	if err != nil {
		return err
	}
	base, err := app.httpBase(site)
	if err != nil {
		return err
	}
	ended, err := auth.Logout(ctx, base, app.authOptions(site))
	if err != nil {
		return err
	}
	if ended == 0 {
		fmt.Fprintf(app.live, "there was no login to server '%s'\n", render.Safe(site.server.Name))
		return nil
	}
	fmt.Fprintf(app.live, "logged out of server '%s'\n", render.Safe(site.server.Name))
	return nil
}

// authSite is a server that can be logged in to.
type authSite struct {
	server   *config.Server
	resolved *config.Resolved
}

// ownHeader reports whether requests have an Authorization of the user's own: a header, or the
// one that a password in the address becomes.
func (s *authSite) ownHeader() bool {
	if address, err := url.Parse(s.resolved.URL); err == nil && address.User != nil {
		return true
	}
	return slices.ContainsFunc(slices.Collect(maps.Keys(s.resolved.Headers)), func(name string) bool {
		return strings.EqualFold(name, "Authorization")
	})
}

// authSite finds a server by its name in the config, or takes an address.
func (a *App) authSite(ctx context.Context, name string) (*authSite, error) {
	if strings.Contains(name, "://") {
		server := config.AdHoc(nil, name, nil)
		server.Name = name
		return resolveSite(server)
	}
	loaded, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(loaded.Servers, func(server *config.Server) bool { return server.Name == name })
	if at < 0 {
		return nil, noSuchSite(name, loaded.Servers)
	}
	if loaded.Servers[at].URL == "" {
		return nil, fault.Usage("the server '"+name+"' is a program, which needs no login",
			"give it secrets by env: in the config")
	}
	if err := a.consent(ctx, loaded.Servers[at]); err != nil {
		return nil, err
	}
	return resolveSite(loaded.Servers[at])
}

func resolveSite(server *config.Server) (*authSite, error) {
	resolved, err := server.Resolve(os.Environ())
	if err != nil {
		return nil, &usageError{err}
	}
	return &authSite{server, resolved}, nil
}

// noSuchSite names the servers that could be meant.
func noSuchSite(name string, known []*config.Server) error {
	var names []string
	for _, server := range known {
		if server.URL != "" {
			names = append(names, server.Name)
		}
	}
	fix := "name a server of the config, or give an address: https://host/mcp"
	if len(names) > 0 {
		fix = "servers with an address: " + strings.Join(names, ", ") + "; or give an address: https://host/mcp"
	}
	return fault.Usage("no server is named "+quote(name), fix)
}

// authOptions say whose tokens are got, and where they are kept; nobody is there to log in.
func (a *App) authOptions(site *authSite) auth.Options {
	a.mask.Add(site.resolved.Secrets...)
	login := site.server.Name
	if site.server.OnCommandLine() {
		login = site.resolved.URL // what is given on the command line has no name that lasts
	}
	return auth.Options{
		Server: site.server.Name, Login: shellWord(login), URL: site.resolved.URL,
		Headers: site.resolved.Headers, Auth: site.resolved.Auth,
		Store: authStore(), Version: Version(), Secret: a.mask.Add,
		Notice: func(level slog.Level, text string) { a.log.Log(context.Background(), level, text) },
	}
}

// authStore is where tokens are kept; nil where there is no home to keep them in.
func authStore() *auth.Store {
	folder := stateFile("auth")
	if folder == "" {
		return nil
	}
	return auth.NewStore(folder, os.Getenv("TOOLX_KEYRING") != "off")
}

// letLogin lets the person at the terminal log in on the way to what name names. A server
// that is only asked whether it has something of a plain name sends nobody to a browser.
func (a *App) letLogin(box *toolbox, name string) {
	switch {
	case !a.Console.InTTY || !a.Console.ErrTTY:
	case box.adHoc:
		a.loginTo = config.AdHocName
	default:
		a.loginTo = exec.ServerOf(name, box.pool.Names())
	}
}

// authorize puts tokens on the requests to a server, as servers.HTTPOptions.Authorize wants it. Where letLogin has not
// named the server, nobody is asked to log in: then the error says how to.
func (a *App) authorize(server *config.Server, base http.RoundTripper) http.RoundTripper {
	site, err := resolveSite(server)
	if err != nil || site.ownHeader() {
		return base // an entry that cannot be resolved is not reached at all
	}
	options := a.authOptions(site)
	if server.Name == a.loginTo {
		options.Visit = a.visit(options.Login)
	}
	return auth.Transport(base, options)
}

// httpBase is what sends requests to a server, and to its authorization server.
func (a *App) httpBase(site *authSite) (http.RoundTripper, error) {
	base, err := servers.NewHTTPBase(site.resolved, a.overHTTP())
	if err != nil {
		return nil, &usageError{err}
	}
	return base, nil
}

// keptIn says where tokens are.
func keptIn(status *auth.Status) string {
	if status.Keyring {
		return "in the keyring"
	}
	return "in a file of yours"
}

// shellWord is a word as a shell takes it.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@%+,", r)
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) && word[0] != '-' {
		return word
	}
	return cmp.Or("'"+strings.ReplaceAll(word, "'", `'\''`)+"'", "''")
}
