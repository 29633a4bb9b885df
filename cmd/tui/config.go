package tui

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolx/cmd/cli"
	serverscmd "toolx/cmd/servers"
	"toolx/cmd/toolset"
	"toolx/pkg/cmdline"
	"toolx/pkg/config"
	"toolx/pkg/detect"
	"toolx/pkg/fault"
	"toolx/pkg/tui"
)

// tuiConfig is the config that the full-screen interface shows and changes. It implements tui.Entries.
type tuiConfig struct {
	box    *toolset.Set
	names  []string // of the servers that are shown; none: all
	guards toolset.Guards
	// trusted are the files that the user edits and had consented to.
	trusted []config.File
}

// Entry returns the file that has a server's entry, and its line.
func (c *tuiConfig) Entry(name string) (path string, line int, err error) {
	server := c.box.Server(name)
	if server.OnCommandLine() || server.File() == "" {
		return "", 0, fault.Usage("the server was given on the command line, and has no entry",
			"toolx servers add NAME -- COMMAND… adds one")
	}
	file := serverscmd.NamedFile(server.File(), server.Project() != nil)
	if (serverscmd.Editor{Tools: c.box.Opener}).IsTrusted(file) {
		c.trusted = append(c.trusted, file)
	}
	return file.Path, server.Origin.Line, nil
}

// Reload reads the config again, and returns the servers to show. It stops servers whose entries have changed, and the
// named one.
func (c *tuiConfig) Reload(ctx context.Context, name string) ([]*config.Server, error) {
	for _, file := range c.trusted {
		if err := (serverscmd.Editor{Tools: c.box.Opener}).KeepTrust(ctx, file); err != nil {
			return nil, err
		}
	}
	c.trusted = nil
	loaded, err := c.box.Opener.Consent.LoadConfig()
	if err != nil {
		return nil, err
	}
	c.box.Opener.AddFlags(c.guards, loaded.Servers)
	shown, err := cli.ServersNamed(loaded.Servers, c.names)
	if err != nil {
		return nil, err
	}
	c.box.Loaded.Store(loaded)
	c.box.Pool.Change(ctx, loaded.Servers, name)
	return shown, nil
}

// Add keeps a server, a command line or an address as it was typed, in the config, and returns its name.
func (c *tuiConfig) Add(ctx context.Context, typed string) (name string, err error) {
	server := config.AdHoc(nil, strings.TrimSpace(typed), nil)
	if !strings.HasPrefix(server.URL, "http://") && !strings.HasPrefix(server.URL, "https://") {
		commands := cmdline.ShellCommands(typed)
		if len(commands) != 1 || len(commands[0].Words) == 0 || strings.ContainsRune(typed, '$') {
			return "", fault.Usage("that is neither an address nor a command line",
				"https://… or npx -y PACKAGE")
		}
		server = config.AdHoc(commands[0].Words, "", nil)
		if slices.ContainsFunc(commands[0].Words, isRelativeFile) {
			if server.Cwd, err = os.Getwd(); err != nil {
				return "", err
			}
		}
	}
	name = c.freeName(detect.NameOf(append([]string{server.Command}, server.Args...), server.URL))
	if len(c.names) > 0 {
		c.names = append(c.names, name)
	}
	return name, serverscmd.Editor{Tools: c.box.Opener}.Add(ctx, c.file(), name, server, false)
}

// isRelativeFile reports whether a word of a command line is a file relative to the working folder.
func isRelativeFile(word string) bool {
	if filepath.IsAbs(word) {
		return false
	}
	info, err := os.Stat(word)
	return err == nil && !info.IsDir()
}

// freeName returns an unused name for a server, derived from one that may be taken.
func (c *tuiConfig) freeName(name string) string {
	free := name
	taken := func(s *config.Server) bool { return s.Name == free }
	for i := 2; slices.ContainsFunc(c.box.Config().Servers, taken); i++ {
		free = fmt.Sprintf("%s-%d", name, i)
	}
	return free
}

// Found returns the enabled servers of other clients on this machine.
func (c *tuiConfig) Found() []tui.FoundServers {
	var found []tui.FoundServers
	for _, client := range serverscmd.ClientsWithServers() {
		found = append(found, tui.FoundServers{ID: client.ID, Client: client.Name, Names: client.Servers})
	}
	return found
}

// Import makes the user's config use the servers of a client.
func (c *tuiConfig) Import(ctx context.Context, client string) error {
	clients, _ := c.box.Config().TrustedImports()
	return serverscmd.Editor{Tools: c.box.Opener}.Import(ctx, c.file(), append(clients, client))
}

// file returns the file that servers are added to.
func (c *tuiConfig) file() config.File {
	if file, named := (&serverscmd.ConfigFileFlags{}).Named(c.box.Flags); named {
		return file
	}
	return config.UserFile(config.Options{})
}
