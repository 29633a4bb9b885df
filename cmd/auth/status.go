package auth

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/complete"
	"toolx/cmd/exit"
	"toolx/cmd/factory"
	"toolx/cmd/person"
	"toolx/cmd/stores"
	"toolx/cmd/streams"
	"toolx/pkg/auth"
	"toolx/pkg/config"
)

// statusOptions are the servers whose logins to show; no names mean all servers with an address.
type statusOptions struct {
	Out    *streams.Streams
	Flags  *cli.Flags
	Logins *person.Logins

	servers []string
	json    bool
}

func newAuthStatusCommand(f *factory.Factory, run cli.RunFunc[statusOptions]) *cobra.Command {
	o := statusOptions{Out: f.Out, Flags: f.Flags, Logins: f.Logins}
	cmd := &cobra.Command{
		Use:   "status [SERVER…]",
		Short: "Show logins",
		Long: `Show the login of each server with an address: state, issuer, scopes, expiry, and where
its tokens are stored; then logins to addresses that are not in the config, and
unreadable login files. toolx makes no requests and does not run headersCommand. In a
pipe, each server is a line of six tab-separated fields.

Exit codes: 0 shown, 2 wrong usage or config, 3 a named server has no login.`,
		Example: `  toolx auth status
  toolx auth status github && toolx call github__list_issues
  toolx auth status --json | jq -r '.servers[] | "\(.name) \(.state)"'`,
		Args: func(cmd *cobra.Command, args []string) error {
			o.servers = cli.WithServers(cmd, args)
			return nil
		},
		ValidArgsFunction: complete.Servers(f.Tools, 0),
		RunE:              cli.Run(&o, run),
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
	stateProgram  = "headers command"    // it may print an Authorization header, which takes precedence
	stateMachine  = "client credentials" // no token yet, and no login needed
	stateWorkload = "identity token"     // the same, if the machine vouches for toolx
	stateUnknown  = "misconfigured"
	stateDamaged  = "damaged" // the file with the login
)

// loginStatus is the login of a server for display.
type loginStatus struct {
	Name  string       `json:"name"`
	URL   string       `json:"url"`
	State string       `json:"state"`
	Login *auth.Status `json:"login,omitempty"`
	Error string       `json:"error,omitempty"`

	file string // that is damaged
}

// ready reports whether calls can be made without logging in first.
func (s *loginStatus) ready() bool {
	switch s.State {
	case stateLoggedIn, stateHeader, stateProgram, stateMachine, stateWorkload:
		return true
	}
	return false
}

// runAuthStatus shows logins. It fails if a named server has no login.
func runAuthStatus(ctx context.Context, o statusOptions) error {
	statuses, err := loginStates(ctx, o.Logins, o.Flags, o.servers)
	if err != nil {
		return err
	}
	if o.json {
		err = o.Out.PrintJSON(map[string]any{"servers": append([]loginStatus{}, statuses...)})
	} else {
		err = printAuthStatuses(o.Out, statuses)
	}
	if err != nil {
		return err
	}
	for i := range statuses {
		if len(o.servers) > 0 && !statuses[i].ready() {
			return exit.Reported(&auth.Error{Server: statuses[i].Name, Problem: statuses[i].State})
		}
	}
	return nil
}

// loginStates returns the states of the named servers, or without names of all that have an address or a login.
func loginStates(
	ctx context.Context, l *person.Logins, flags *cli.Flags, names []string,
) ([]loginStatus, error) {
	var statuses []loginStatus
	for _, name := range names {
		site, err := l.Site(ctx, name)
		if err != nil {
			return nil, err
		}
		statuses = append(statuses, loginState(ctx, l, site))
	}
	if len(names) > 0 {
		return statuses, nil
	}
	known := make(map[string]bool) // addresses, and damaged files that were reported
	add := func(server *config.Server) {
		site, err := person.ResolveSite(server)
		if err != nil {
			status := loginStatus{Name: server.Name, URL: server.URL, State: stateUnknown, Error: err.Error()}
			statuses = append(statuses, status)
			return
		}
		status := loginState(ctx, l, site)
		known[site.Resolved.URL], known[status.file] = true, true
		statuses = append(statuses, status)
	}
	adHoc, err := flags.AdHoc(nil)
	if err != nil {
		return nil, err
	}
	if adHoc != nil {
		add(adHoc)
		return statuses, nil
	}
	loaded, err := l.Consent.LoadConfig()
	if err != nil {
		return nil, err
	}
	for _, server := range loaded.Servers {
		if server.URL != "" && !server.Disabled {
			add(server)
		}
	}
	return append(statuses, otherLogins(ctx, l, known)...), nil
}

// otherLogins returns the states of logins without a config entry: to addresses, which --url uses, and in files that
// cannot be read.
func otherLogins(ctx context.Context, l *person.Logins, known map[string]bool) []loginStatus {
	store := stores.Logins()
	if store == nil {
		return nil
	}
	var statuses []loginStatus
	addresses, damaged := store.Servers()
	for _, address := range addresses {
		if known[address] {
			continue
		}
		site, err := l.Site(ctx, address)
		if err != nil {
			continue // it was an address when the login was made
		}
		if status := loginState(ctx, l, site); status.Login != nil {
			statuses = append(statuses, status)
		}
	}
	for _, file := range damaged {
		if !known[file.File] {
			statuses = append(statuses, loginStatus{Name: file.File, State: stateDamaged, Error: file.Err.Error()})
		}
	}
	return statuses
}

// loginState returns the state of one server.
func loginState(ctx context.Context, l *person.Logins, site *person.Site) loginStatus {
	options := l.Options(site) // this also masks the entry's secrets
	hide := l.Out.Mask.Text
	shown := loginStatus{Name: hide(site.Server.Name), URL: hide(site.Resolved.URL), State: stateNone}
	if site.OwnHeader() {
		shown.State = stateHeader
		return shown
	}
	login, err := auth.Kept(ctx, options)
	var damaged *auth.DamagedError
	if err == nil && options.Store != nil {
		if wrong := options.Store.Check(); wrong != nil {
			err = wrong
		}
	}
	grant := ""
	if site.Resolved.Auth != nil {
		grant = site.Resolved.Auth.Grant
	}
	switch {
	case len(site.Resolved.HeadersCommand) > 0:
		shown.State = stateProgram
	case errors.As(err, &damaged):
		shown.State, shown.Error, shown.file = stateDamaged, l.Out.Mask.Text(damaged.Error()), damaged.File
	case err != nil:
		shown.State, shown.Error = stateUnknown, l.Out.Mask.Text(err.Error())
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

// printAuthStatuses prints a line for each server: aligned under a heading on a terminal, with tabs in a pipe.
func printAuthStatuses(out *streams.Streams, statuses []loginStatus) error {
	if len(statuses) == 0 {
		out.Say("no configured server has an address, and there are no other logins")
		return nil
	}
	rows := make([][]string, len(statuses))
	for i := range statuses {
		rows[i] = statuses[i].fields()
	}
	return out.PrintTable([]string{"SERVER", "STATE", "ISSUER", "SCOPES", "UNTIL", "TOKENS"}, rows)
}

// fields returns name, state, issuer, scopes, expiry, and where the tokens are; missing values are dashes.
func (s *loginStatus) fields() []string {
	fields := []string{s.Name, s.State, "-", "-", "-", "-"}
	if s.Error != "" {
		fields[1] += ": " + s.Error
	}
	login := s.Login
	if login == nil {
		return fields
	}
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
	return fields
}
