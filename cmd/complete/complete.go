// Package complete completes command lines for shells. It reads the config and catalogues, and starts no server.
package complete

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/toolset"
	"toolx/pkg/catalog"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/words"
)

// Completions come from the config and from catalogues (see toolset.Offline): no server is started or contacted. Tools'
// arguments are in values.go, the values of flags in flags.go.

// Tool completes the name of a tool: first toolx's own tools and the servers, and after "server__" that server's
// tools.
func Tool(tools *toolset.Opener) cobra.CompletionFunc {
	return completeFirst(tools, func(c *toolset.Offline, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		found, directive := completeQualified(c, typed, catalog.Tools)
		if c.Chosen || exec.ServerOf(typed, c.Names()) != "" {
			return found, directive
		}
		local := c.Local()
		var names []cobra.Completion
		for _, tool := range local.All() {
			name := local.NameOf(tool)
			if strings.HasPrefix(typed, exec.Own+exec.Separator) {
				name = exec.Own + exec.Separator + tool.Name
			}
			if strings.HasPrefix(name, typed) {
				names = append(names, cobra.CompletionWithDesc(name, words.FirstLine(tool.Description)))
			}
		}
		return append(names, found...), directive
	})
}

// Named completes the names of resources, prompts or templates.
func Named(tools *toolset.Opener, kinds ...catalog.Kind) cobra.CompletionFunc {
	return completeFirst(tools, func(c *toolset.Offline, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return completeQualified(c, typed, kinds...)
	})
}

// completeFirst completes only the first argument.
func completeFirst(
	tools *toolset.Opener,
	complete func(c *toolset.Offline, typed string) ([]cobra.Completion, cobra.ShellCompDirective),
) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(tools.Quietly(), typed)
	}
}

// completeQualified completes qualified names from catalogues: the servers, and after "server__" the names that the
// server listed. The server of --url also has plain names.
func completeQualified(
	c *toolset.Offline, typed string, kinds ...catalog.Kind,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	var found []cobra.Completion
	named := exec.ServersOf(typed, c.Names())
	for _, server := range c.Servers() {
		prefix := server.Name + exec.Separator
		switch {
		case slices.Contains(named, server.Name):
		case c.Chosen:
			prefix = ""
		default:
			if strings.HasPrefix(prefix, typed) {
				found = append(found, cobra.CompletionWithDesc(prefix, string(kinds[0])+" of the server "+server.Name))
			}
			continue
		}
		kept := c.Store.Read(server.Identity())
		for _, kind := range kinds {
			list := kept.List(kind)
			if list == nil {
				continue
			}
			for _, entry := range list.Entries {
				name := prefix + entry.Name
				if entry.Name == "" || !strings.HasPrefix(name, typed) {
					continue
				}
				if kind != catalog.Tools || !denied(server, entry) {
					found = append(found, cobra.CompletionWithDesc(name, entry.Summary))
				}
			}
		}
	}
	if len(named) > 0 || c.Chosen {
		return found, cobra.ShellCompDirectiveNoFileComp
	}
	found = append(found, clientPrefixes(typed)...)
	return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// clientPrefixes completes "CLIENT:" for the clients that have a file here. toolx reads the file once that is typed.
func clientPrefixes(typed string) []cobra.Completion {
	var found []cobra.Completion
	for _, client := range config.Clients() {
		prefix := client.ID + ":"
		there := func(f config.ClientFile) bool { return f.Exists }
		if strings.HasPrefix(prefix, typed) && prefix != typed &&
			slices.ContainsFunc(client.Files(config.Options{}), there) {
			found = append(found, cobra.CompletionWithDesc(prefix, "servers of "+client.Name))
		}
	}
	return found
}

// denied reports whether guards forbid a tool of a catalogue.
func denied(server *config.Server, entry catalog.Entry) bool {
	if !server.Guards.Says() {
		return false
	}
	tool, err := protocol.DescribeTool(server, entry.Definition())
	return err != nil || tool.Denied() != nil
}

// Servers completes up to most names of servers, or any number if most is 0.
func Servers(tools *toolset.Opener, most int) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if most > 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		c := tools.Quietly()
		var names []cobra.Completion
		for _, server := range c.Servers() {
			if strings.HasPrefix(server.Name, typed) && !slices.Contains(args, server.Name) {
				tools.Out.Mask.Add(server.Secrets()...)
				reached := server.URL
				if reached == "" {
					reached = strings.Join(append([]string{server.Command}, server.Args...), " ")
				}
				names = append(names, cobra.CompletionWithDesc(server.Name, reached))
			}
		}
		if len(names) == 0 {
			return clientPrefixes(typed), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
		return append(names, clientPrefixes(typed)...), cobra.ShellCompDirectiveNoFileComp
	}
}

// ServersOrRecording completes the names of servers, and the file of a recording if no server is named like that.
func ServersOrRecording(tools *toolset.Opener) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		found, directive := Servers(tools, 0)(cmd, args, typed)
		if len(found)+len(args) == 0 {
			return Files("jsonl", "ndjson")(cmd, args, typed)
		}
		return found, directive
	}
}

// Completer completes command lines for shells.
type Completer struct{ Tools *toolset.Opener }

// Set sets the completions of arguments and flags for the command being completed, and for its parents, whose flags it
// inherits. args is the command line after cobra's own command; its last element is the typed text. Shells write
// completions to the terminal unchanged, and names come from servers and from other people's files, so they are made
// safe.
func (c Completer) Set(root *cobra.Command, args []string) {
	completed, _, err := root.Find(args[:max(0, len(args)-1)]) // as cobra finds it
	if err != nil {
		return
	}
	for cmd := completed; cmd != nil; cmd = cmd.Parent() {
		c.set(cmd)
	}
}

func (c Completer) set(cmd *cobra.Command) {
	if complete := cmd.ValidArgsFunction; len(cmd.ValidArgs) == 0 {
		cmd.ValidArgsFunction = func(
			cmd *cobra.Command, args []string, typed string,
		) ([]cobra.Completion, cobra.ShellCompDirective) {
			if command, ok := c.commandAfterDash(); ok {
				return completeProgram(command, typed)
			}
			if complete == nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			c.Tools.Consent.Named = cli.ClientsIn(cmd, append(slices.Clone(args), typed))
			return safeCompletions(complete, c.Tools.Out.Mask.Text)(cmd, args, typed)
		}
	}
	c.setFlagCompletions(cmd)
}

// safeCompletions makes completions safe for a terminal. It omits names with control characters and names that cobra
// would treat as its own messages, and masks secrets in descriptions.
func safeCompletions(complete cobra.CompletionFunc, hide func(string) string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		found, directive := complete(cmd, args, typed)
		var safe []cobra.Completion
		for _, one := range found {
			name, description, described := strings.Cut(one, "\t")
			if render.Safe(name) != name || strings.HasPrefix(name, activeHelp) {
				continue
			}
			if described {
				name += "\t" + render.Safe(hide(description))
			}
			safe = append(safe, name)
		}
		return safe, directive
	}
}

// activeHelp begins the completions that cobra's scripts show as messages.
const activeHelp = "_activeHelp_ "
