package auth

import (
	"testing"

	"github.com/spf13/cobra"

	"toolx/cmd/cmdtest"
	"toolx/cmd/factory"
)

// TestAuthOptions maps command lines to options. Scripts prove what the commands do.
func TestAuthOptions(t *testing.T) {
	cmdtest.CheckOptions(t, func(f *factory.Factory, options *any) []*cobra.Command {
		auth := New(f)
		auth.ResetCommands()
		auth.AddCommand(
			newAuthLoginCommand(f, cmdtest.Take[loginOptions](options)),
			newAuthLogoutCommand(f, cmdtest.Take[logoutOptions](options)),
			newAuthStatusCommand(f, cmdtest.Take[statusOptions](options)),
		)
		return []*cobra.Command{auth}
	}, []cmdtest.Row{
		{
			Name: "a login",
			Args: []string{"auth", "login", "a", "--no-browser", "--scope", "r", "--scope", "w"},
			Want: loginOptions{server: "a", noBrowser: true, scopes: []string{"r", "w"}},
		},
		{Name: "a logout", Args: []string{"auth", "logout", "a"}, Want: logoutOptions{server: "a"}},
		{Name: "logins", Args: []string{"auth", "status", "a", "b", "--json"}, Want: statusOptions{servers: []string{"a", "b"}, json: true}},
	}...)
}
