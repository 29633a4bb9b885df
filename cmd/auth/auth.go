// Package auth has the commands that log in to remote servers.
package auth

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/complete"
	"toolx/cmd/factory"
	"toolx/cmd/person"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/auth"
	"toolx/pkg/fault"
	"toolx/pkg/render"
)

// loginOptions are the server to log in to, and how the user reaches the login page.
type loginOptions struct {
	Out    *streams.Streams
	Flags  *cli.Flags
	Tools  *toolset.Opener
	Logins *person.Logins

	server    string // a name of the config, or an address
	noBrowser bool
	scopes    []string
}

// New returns the command auth.
func New(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "auth login|logout|status [SERVER]",
		Short: "Log in to remote servers",
		Long: `Log in to remote servers (OAuth 2.1), log out, and show logins.

SERVER is a server of the config, or an address (https://…), also given by --url.
Tokens are stored in the system keyring if there is one, otherwise in a file that only
you can read, and are renewed automatically. A server with its own Authorization header
needs no login.

Exit codes: 0 success, 2 wrong usage or config, 3 the login was refused or is missing, 4
the server or its authorization server could not be reached, 130 interrupted.`,
		Example: `  toolx auth login github
  toolx auth login --no-browser https://host/mcp
  toolx auth status --json
  toolx auth logout github`,
		Args: cli.NeedsSubcommand("toolx auth login SERVER, toolx auth logout SERVER, or toolx auth status"),
		RunE: func(*cobra.Command, []string) error { return nil }, // never reached: Args always fails
	}
	cmd.AddCommand(
		newAuthLoginCommand(f, runAuthLogin),
		newAuthLogoutCommand(f, runAuthLogout),
		newAuthStatusCommand(f, runAuthStatus),
	)
	return cmd
}

func newAuthLoginCommand(f *factory.Factory, run cli.RunFunc[loginOptions]) *cobra.Command {
	o := loginOptions{Out: f.Out, Flags: f.Flags, Tools: f.Tools, Logins: f.Logins}
	cmd := &cobra.Command{
		Use:   "login SERVER",
		Short: "Log in to a server",
		Long: `Log in to a server in the browser; toolx waits until you are done. With --no-browser,
open the printed address in a browser on any machine, and paste the address that the
browser shows at the end. Client credentials need no browser.

Exit codes: 0 logged in, or the server needs no login; 2 wrong usage or config, 3 the
login was refused or needs a terminal, 4 the server could not be reached, 130 interrupted.`,
		Example: `  toolx auth login github
  toolx auth login github --scope repo
  toolx auth login --no-browser https://host/mcp`,
		Args:              oneServer(f.Flags, "login", &o.server),
		ValidArgsFunction: complete.Servers(f.Tools, 1),
		RunE:              cli.Run(&o, run),
	}
	cmd.Flags().BoolVar(&o.noBrowser, "no-browser", false,
		"print the login page's address, and read the redirect URL from the terminal")
	cli.TextsVar(cmd.Flags(), &o.scopes, "scope", "also request `SCOPE` (repeatable)")
	return cmd
}

// logoutOptions are the login to end.
type logoutOptions struct {
	Out    *streams.Streams
	Tools  *toolset.Opener
	Logins *person.Logins

	server string // a name of the config, or an address
}

func newAuthLogoutCommand(f *factory.Factory, run cli.RunFunc[logoutOptions]) *cobra.Command {
	o := logoutOptions{Out: f.Out, Tools: f.Tools, Logins: f.Logins}
	return &cobra.Command{
		Use:   "logout SERVER",
		Short: "Log out of a server",
		Long: `Log out of a server. toolx revokes the tokens if the authorization server supports it,
and deletes them.

Exit codes: 0 logged out, or there was no login; 2 wrong usage or config, 130
interrupted.`,
		Example:           `  toolx auth logout github`,
		Args:              oneServer(f.Flags, "logout", &o.server),
		ValidArgsFunction: complete.Servers(f.Tools, 1),
		RunE:              cli.Run(&o, run),
	}
}

// oneServer reads the argument of a verb that takes the name or address of one server into server; --url is an address
// too.
func oneServer(flags *cli.Flags, verb string, server *string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		given := cli.WithServers(cmd, args)
		if flags.URL != "" {
			given = append(given, flags.URL)
		}
		if len(given) == 1 && given[0] != "" {
			*server = given[0]
			return nil
		}
		if len(args) == 1 && args[0] != "" {
			return fault.Usage("auth "+verb+" accepts one server, but SERVER and --url or --server are given",
				"leave one of them out")
		}
		return fault.Usage("exactly one server name is required",
			"toolx auth "+verb+" SERVER; toolx auth status lists them")
	}
}

// runAuthLogin logs in and prints the outcome on stderr.
func runAuthLogin(ctx context.Context, o loginOptions) error {
	site, err := o.Logins.Site(ctx, o.server)
	if err != nil {
		return err
	}
	name := site.Server.Name
	if site.OwnHeader() {
		return fault.Usage("server '"+name+"' has its own Authorization header, which takes precedence",
			"remove it from headers, or the password from the url, to log in instead")
	}
	base, err := person.HTTPBase(site, o.Tools.HTTP())
	if err != nil {
		return err
	}
	defer toolset.ForgetLists(ctx, o.Tools, site.Server)
	options := o.Logins.Options(site)
	options.Scopes, options.LoginTime = o.scopes, o.Flags.MaxTime
	if o.Out.Console.ErrTTY {
		defer o.Logins.MeetPerson(&options, o.noBrowser)()
	}
	status, err := auth.Login(ctx, base, options)
	switch {
	case errors.Is(err, auth.ErrOpen):
		o.Out.Say("server '%s' needs no login", render.Safe(name))
		return nil
	case err != nil:
		return needsTerminal(o.Logins, err, options)
	}
	kept := "in a file that only you can read"
	if status.Keyring {
		kept = "in the keyring"
	}
	o.Out.Say("logged in to server '%s' by %s, tokens %s", render.Safe(name), render.Safe(status.Issuer), kept)
	if len(site.Resolved.HeadersCommand) > 0 {
		o.Out.Log.Warn("server '" + name + "': the Authorization header of its headersCommand overrides the login")
	}
	return nil
}

// needsTerminal adds a hint if a login needs a terminal and there is none, because the same command would fail again.
func needsTerminal(l *person.Logins, err error, options auth.Options) error {
	var failure *auth.Error
	if l.Out.Console.ErrTTY || !errors.As(err, &failure) || !strings.HasPrefix(failure.Fix, "toolx auth login ") {
		return err
	}
	return &auth.Error{
		Server:  failure.Server,
		Problem: failure.Problem + ", and a login needs a terminal",
		Fix: fmt.Sprintf("run toolx auth login %s on a terminal, or give a token in headers: "+
			"{Authorization: Bearer ${TOKEN}}", options.Login),
	}
}

// runAuthLogout ends the login, if there is one.
func runAuthLogout(ctx context.Context, o logoutOptions) error {
	site, err := o.Logins.Site(ctx, o.server)
	if err != nil {
		return err
	}
	base, err := person.HTTPBase(site, o.Tools.HTTP())
	if err != nil {
		return err
	}
	defer toolset.ForgetLists(ctx, o.Tools, site.Server)
	ended, err := auth.Logout(ctx, base, o.Logins.Options(site))
	if err != nil {
		return err
	}
	text := "logged out of server '%s'"
	if ended == 0 {
		text = "there was no login to server '%s'"
	}
	o.Out.Say(text, render.Safe(site.Server.Name))
	return nil
}
