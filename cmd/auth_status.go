package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"toolx/pkg/auth"
	"toolx/pkg/config"
	"toolx/pkg/render"
)

// authStatusOptions say whose logins are shown; no names mean all servers with an address.
type authStatusOptions struct {
	servers []string
	json    bool
}

func newAuthStatusCommand(app *App, run func(context.Context, *App, authStatusOptions) error) *cobra.Command {
	var o authStatusOptions
	cmd := &cobra.Command{
		Use:   "status [SERVER…]",
		Short: "Show what logins there are",
		Long: `Show for each server with an address whether there is a login, by whom, with which
scopes, until when, and where its tokens are kept; then the logins to other addresses, which
--url uses, and the files with logins that cannot be read. Nothing is sent, and no
headersCommand is run. In a pipe each server is a line of six fields with tabs between them.

Exit codes: 0 shown, 2 wrong usage or config, 3 a server that was named has no login.`,
		Example: `  toolx auth status
  toolx auth status github && toolx call github__list_issues
  toolx auth status --json | jq -r '.servers[] | "\(.name) \(.state)"'`,
		ValidArgsFunction: completeServers(app),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.servers = args
			return run(cmd.Context(), app, o)
		},
	}
	cmd.Flags().BoolVar(&o.json, "json", false, "print the logins as JSON")
	return cmd
}

// The states of a server's login.
const (
	stateLoggedIn = "logged in"
	stateExpired  = "expired"
	stateNone     = "not logged in"
	stateHeader   = "own header"         // Authorization in the config, or by -H
	stateProgram  = "headers command"    // what it prints may be an Authorization, and wins
	stateMachine  = "client credentials" // no token yet, and none is needed
	stateWorkload = "identity token"     // the same, where the machine vouches for toolx
	stateUnknown  = "misconfigured"
	stateDamaged  = "damaged" // the file with the login
)

// authStatus is a server's login, as it is shown.
type authStatus struct {
	Name  string       `json:"name"`
	URL   string       `json:"url"`
	State string       `json:"state"`
	Login *auth.Status `json:"login,omitempty"`
	Error string       `json:"error,omitempty"`

	file string // that is damaged
}

// ready reports whether calls can be made without logging in first.
func (s *authStatus) ready() bool {
	switch s.State {
	case stateLoggedIn, stateHeader, stateProgram, stateMachine, stateWorkload:
		return true
	}
	return false
}

// runAuthStatus shows logins. Those that were named have to be there.
func runAuthStatus(ctx context.Context, app *App, o authStatusOptions) error {
	statuses, err := app.authStatuses(ctx, o.servers)
	if err != nil {
		return err
	}
	if o.json {
		err = app.printAuthJSON(statuses)
	} else {
		err = app.printAuthStatuses(statuses)
	}
	if err != nil {
		return err
	}
	for i := range statuses {
		if len(o.servers) > 0 && !statuses[i].ready() {
			return &reportedError{&auth.Error{Server: statuses[i].Name, Problem: statuses[i].State}}
		}
	}
	return nil
}

// authStatuses are the states of the named servers; where none is named, of all that have an address, or a login.
func (a *App) authStatuses(ctx context.Context, names []string) ([]authStatus, error) {
	var statuses []authStatus
	for _, name := range names {
		site, err := a.authSite(ctx, name)
		if err != nil {
			return nil, err
		}
		statuses = append(statuses, a.authStatus(ctx, site))
	}
	if len(names) > 0 {
		return statuses, nil
	}
	loaded, err := a.authServers()
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool) // addresses, and files that are told of
	for _, server := range loaded {
		if server.URL == "" || server.Disabled {
			continue
		}
		site, err := resolveSite(server)
		if err != nil {
			statuses = append(statuses, authStatus{Name: server.Name, URL: server.URL, State: stateUnknown, Error: err.Error()})
			continue
		}
		status := a.authStatus(ctx, site)
		known[site.resolved.URL], known[status.file] = true, true
		statuses = append(statuses, status)
	}
	if a.flags.url != "" {
		return statuses, nil
	}
	return append(statuses, a.otherLogins(ctx, known)...), nil
}

// otherLogins are the states of logins to addresses that no entry of the config has: those
// that --url finds, and the files that cannot be read.
func (a *App) otherLogins(ctx context.Context, known map[string]bool) []authStatus {
	store := authStore()
	if store == nil {
		return nil
	}
	var statuses []authStatus
	addresses, damaged := store.Servers()
	for _, address := range addresses {
		if known[address] {
			continue
		}
		site, err := a.authSite(ctx, address)
		if err != nil {
			continue // it was an address when the login was made
		}
		if status := a.authStatus(ctx, site); status.Login != nil {
			statuses = append(statuses, status)
		}
	}
	for _, file := range damaged {
		if !known[file.File] {
			statuses = append(statuses, authStatus{Name: file.File, State: stateDamaged, Error: file.Err.Error(), file: file.File})
		}
	}
	return statuses
}

// authServers are the server of --url, where there is one, else those of the config.
func (a *App) authServers() ([]*config.Server, error) {
	adHoc, err := a.adHoc(nil)
	if err != nil {
		return nil, err
	}
	if adHoc != nil {
		return []*config.Server{adHoc}, nil
	}
	loaded, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	return loaded.Servers, nil
}

// authStatus is the state of one server.
func (a *App) authStatus(ctx context.Context, site *authSite) authStatus {
	options := a.authOptions(site)
	shown := authStatus{Name: a.mask.Text(site.server.Name), URL: a.mask.Text(site.resolved.URL), State: stateNone}
	if site.ownHeader() {
		shown.State = stateHeader
		return shown
	}
	login, err := auth.Kept(ctx, options)
	var damaged *auth.DamagedError
	grant := ""
	if site.resolved.Auth != nil {
		grant = site.resolved.Auth.Grant
	}
	switch {
	case len(site.resolved.HeadersCommand) > 0:
		shown.State = stateProgram
	case errors.As(err, &damaged):
		shown.State, shown.Error, shown.file = stateDamaged, a.mask.Text(damaged.Error()), damaged.File
	case err != nil:
		shown.State, shown.Error = stateUnknown, a.mask.Text(err.Error())
	case login != nil && login.Usable():
		shown.State = stateLoggedIn
	case grant == config.GrantClientCredentials:
		shown.State = stateMachine
	case grant == config.GrantJWTBearer:
		shown.State = stateWorkload
	case login != nil:
		shown.State = stateExpired
	}
	shown.Login = login
	return shown
}

func (a *App) printAuthJSON(statuses []authStatus) error {
	if statuses == nil {
		statuses = []authStatus{}
	}
	text, err := json.Marshal(map[string]any{"servers": statuses})
	if err != nil {
		return err
	}
	return render.JSONLine(a.Console.Out, text, a.outScreen())
}

// printAuthStatuses prints a line for each server: aligned under a heading on a terminal, with tabs in a pipe.
func (a *App) printAuthStatuses(statuses []authStatus) error {
	if len(statuses) == 0 {
		fmt.Fprintln(a.live, "no server of the config has an address, and there is no login to another")
		return nil
	}
	lines := make([][]string, 0, len(statuses)+1)
	if a.Console.OutTTY {
		lines = append(lines, []string{"SERVER", "STATE", "ISSUER", "SCOPES", "UNTIL", "TOKENS"})
	}
	for i := range statuses {
		lines = append(lines, statuses[i].fields(a.outScreen()))
	}
	out := tabwriter.NewWriter(a.Console.Out, 0, 0, 2, ' ', 0)
	for _, fields := range lines {
		line := strings.Join(fields, "\t")
		if !a.Console.OutTTY {
			if _, err := fmt.Fprintln(a.Console.Out, line); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintln(out, line)
	}
	return out.Flush()
}

// fields are name, state, issuer, scopes, end, and where the tokens are; what there is not is a dash.
func (s *authStatus) fields(screen render.Screen) []string {
	fields := []string{s.Name, s.State, "-", "-", "-", "-"}
	if s.Error != "" {
		fields[1] += ": " + s.Error
	}
	if login := s.Login; login != nil {
		fields[2], fields[5] = login.Issuer, "file"
		if len(login.Scopes) > 0 {
			fields[3] = strings.Join(login.Scopes, " ")
		}
		switch {
		case login.Renewable:
			fields[4] = "renewed"
		case !login.Expires.IsZero():
			fields[4] = login.Expires.Format(time.RFC3339)
		}
		if login.Keyring {
			fields[5] = "keyring"
		}
	}
	for i := range fields {
		fields[i] = render.Field(fields[i], screen)
	}
	return fields
}
