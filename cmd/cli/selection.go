package cli

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"toolx/pkg/config"
	"toolx/pkg/fault"
	"toolx/pkg/recording"
	"toolx/pkg/servers"
)

// ClientsNamed returns the clients whose servers a command line names as CLIENT:SERVER. toolx reads only the files of
// clients that are named.
func ClientsNamed(cmd *cobra.Command, args []string) []string {
	if dash := cmd.ArgsLenAtDash(); dash >= 0 {
		args = args[:dash]
	}
	return ClientsIn(cmd, args)
}

// ClientsIn is ClientsNamed for arguments without a "--".
func ClientsIn(cmd *cobra.Command, args []string) []string {
	switch cmd.Name() {
	case "list", "doctor", "tui", "ping", "watch", "convert", "subscribe", "status", "snapshot", "diff":
		// any number of names
	case "ask", "serve", "trust", "set", "conformance-client", "add", "rename":
		args = nil // something else
	default:
		args = args[:min(1, len(args))]
	}
	for _, flag := range []string{"server", "tools", "call", "resource"} {
		given, _ := cmd.Flags().GetStringArray(flag)
		args = append(slices.Clone(args), given...)
	}
	if attach, err := cmd.Flags().GetString("attach"); err == nil {
		args = append(slices.Clone(args), attach)
	}
	var ids []string
	for _, arg := range args {
		client, rest := config.ClientOf(arg)
		if client != nil && !strings.HasPrefix(rest, "//") && !slices.Contains(ids, client.ID) { // else an address
			ids = append(ids, client.ID)
		}
	}
	return ids
}

// FromError returns the error for a --from that is neither a client nor a readable file.
func FromError(from string, err error) error {
	return fault.Usage("--from "+strconv.Quote(from)+": "+err.Error(), fromTakes())
}

func fromTakes() string {
	return "--from takes a config file, or a client: " + strings.Join(ClientIDs(), ", ")
}

// ExpandClients replaces each "CLIENT:" by the names of all servers of that client.
func ExpandClients(all []*config.Server, names []string) ([]string, error) {
	var expanded []string
	for _, name := range names {
		client, rest := config.ClientOf(name)
		if client == nil || rest != "" {
			expanded = append(expanded, name)
			continue
		}
		before := len(expanded)
		for _, server := range all {
			if server.Client == client.ID && strings.HasPrefix(server.Name, name) && !server.Disabled {
				expanded = append(expanded, server.Name)
			}
		}
		if len(expanded) == before {
			return nil, noServers(client)
		}
	}
	return expanded, nil
}

// noServers returns the error for a client without servers.
func noServers(client *config.Client) error {
	var places []string
	for _, file := range client.Files(config.Options{}) {
		if !slices.Contains(places, file.Path) {
			places = append(places, file.Path)
		}
	}
	return fault.Usage(client.Name+" has no servers here", "toolx looks for them in "+strings.Join(places, ", "))
}

// ServersNamed returns the servers with these names, or without names all that are not disabled.
func ServersNamed(all []*config.Server, names []string) ([]*config.Server, error) {
	names, err := ExpandClients(all, names)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return slices.DeleteFunc(slices.Clone(all), func(server *config.Server) bool { return server.Disabled }), nil
	}
	var shown []*config.Server
	for _, name := range Distinct(names) {
		server, err := ServerNamed(all, name, "toolx list shows their tools")
		switch {
		case err != nil:
			return nil, err
		case server.Disabled:
			return nil, servers.Disabled(server)
		}
		shown = append(shown, server)
	}
	return shown, nil
}

// RecordingNamed returns the recording that the only one of a command's names is: an existing file of JSON lines. It is
// empty if the names are those of servers.
func RecordingNamed(names []string) string {
	if len(names) != 1 {
		return ""
	}
	if kind := path.Ext(strings.TrimSuffix(names[0], recording.OldSuffix)); kind != ".jsonl" && kind != ".ndjson" {
		return ""
	}
	if _, err := os.Stat(names[0]); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return names[0]
}

// Distinct returns the elements of a list without duplicates, in order.
func Distinct[T comparable](list []T) []T {
	var once []T
	for _, one := range list {
		if !slices.Contains(once, one) {
			once = append(once, one)
		}
	}
	return once
}

// ServerNamed returns the server with a name. The error's hint lists the known servers, followed by fix.
func ServerNamed(all []*config.Server, name, fix string) (*config.Server, error) {
	var names []string
	for _, server := range all {
		if server.Name == name {
			return server, nil
		}
		names = append(names, server.Name)
	}
	if len(names) > 0 {
		fix = "known servers: " + strings.Join(names, ", ") + "; " + fix
	}
	return nil, &fault.UsageError{Message: "no server named " + strconv.Quote(name), Fix: fix, Server: name}
}

// ClientIDs returns the ids of all clients that toolx supports.
func ClientIDs() []string {
	var ids []string
	for _, client := range config.Clients() {
		ids = append(ids, client.ID)
	}
	slices.Sort(ids)
	return ids
}

// CheckPatterns refuses patterns that path.Match cannot read.
func CheckPatterns(patterns []string) error {
	for _, pattern := range patterns {
		if _, err := path.Match(pattern, ""); err != nil {
			return fault.Usage("the pattern "+strconv.Quote(pattern)+" is malformed",
				"quote [ and \\ in patterns: '\\['")
		}
	}
	return nil
}
