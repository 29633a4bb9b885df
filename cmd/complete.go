package cmd

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/words"
)

// completionTime bounds how long a shell waits for a server's tools.
const completionTime = 5 * time.Second

// completeTool completes the name of a tool: toolx's own tools and the servers at once; a server's tools, which means
// starting it, only after "server__".
func completeTool(app *App) cobra.CompletionFunc {
	names := func(ctx context.Context, box *toolbox, server, typed string) []cobra.Completion {
		if server != "" {
			// A server that cannot be opened has no completions; the call will say why.
			_, _ = box.pool.Open(ctx, server)
		}
		var names []cobra.Completion
		own := exec.Own + exec.Separator
		for _, tool := range box.registry.All() {
			name := box.registry.NameOf(tool)
			if server == "" && strings.HasPrefix(typed, own) {
				name = own + tool.Name
			}
			if tool.Server == server && strings.HasPrefix(name, typed) {
				names = append(names, cobra.CompletionWithDesc(name, words.FirstLine(tool.Description)))
			}
		}
		return names
	}
	return completeQualified(app, "tools", names)
}

// completeQualified completes the first argument, the qualified name of one of things. namesOf returns the names that a
// server has; with an empty server, those without one, to which the servers are added.
func completeQualified(
	app *App, things string, namesOf func(ctx context.Context, box *toolbox, server, typed string) []cobra.Completion,
) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 || app.beginQuietly() != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		box, err := app.toolbox(toolboxOptions{lenient: true})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
		defer cancel()
		server := exec.ServerOf(typed, box.pool.Names())
		names := namesOf(ctx, box, server, typed)
		if server != "" {
			return names, cobra.ShellCompDirectiveNoFileComp
		}
		for _, name := range box.pool.Names() {
			if prefix := name + exec.Separator; strings.HasPrefix(prefix, typed) {
				names = append(names, cobra.CompletionWithDesc(prefix, things+" of the server "+name))
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// completeServers completes the names of configured servers: most of them, or any number where most is 0.
func completeServers(app *App, most int) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if most > 0 && len(args) >= most {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		_ = app.beginQuietly()                // wrong flags are the verb's to report
		loaded, _ := app.consent.loadConfig() // a file that cannot be parsed has no names
		var names []cobra.Completion
		for _, server := range loaded.Servers {
			if strings.HasPrefix(server.Name, typed) && !server.Disabled {
				app.mask.Add(server.Secrets()...)
				command := strings.Join(append([]string{server.Command}, server.Args...), " ")
				names = append(names, cobra.CompletionWithDesc(server.Name, command))
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// safeCompletions makes the completions of a command's arguments safe for a terminal, since shells write them as they
// are, and names come from servers and from files of strangers. It leaves out names with control characters and those
// that cobra would take for a message of its own, and hides secrets in descriptions.
func safeCompletions(cmd *cobra.Command, hide func(string) string) {
	if complete := cmd.ValidArgsFunction; complete != nil {
		cmd.ValidArgsFunction = func(
			cmd *cobra.Command, args []string, typed string,
		) ([]cobra.Completion, cobra.ShellCompDirective) {
			found, directive := complete(cmd, args, typed)
			safe := found[:0]
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
	for _, sub := range cmd.Commands() {
		safeCompletions(sub, hide)
	}
}

// activeHelp begins the completions that cobra's scripts show as messages.
const activeHelp = "_activeHelp_ "
