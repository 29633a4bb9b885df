package cmd

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/words"
)

// completionTime bounds how long a shell waits for a server's tools.
const completionTime = 5 * time.Second

// completeTool completes the name of a tool: toolx's own tools and the servers at
// once; a server's tools, which means starting it, only behind "server__".
func completeTool(app *App) cobra.CompletionFunc {
	return completeQualified(app, "tools", func(ctx context.Context, box *toolbox, server, typed string) []cobra.Completion {
		if server != "" {
			// What cannot be opened cannot be completed; the call will say why.
			_, _ = box.pool.Open(ctx, server)
		}
		var names []cobra.Completion
		add := func(name string, tool *exec.Tool) {
			if strings.HasPrefix(name, typed) {
				names = append(names, cobra.CompletionWithDesc(name, words.FirstLine(tool.Description)))
			}
		}
		own := exec.Own + exec.Separator
		for _, tool := range box.registry.All() {
			switch {
			case tool.Server != server:
			case server == "" && strings.HasPrefix(typed, own):
				add(own+tool.Name, tool)
			default:
				add(box.registry.NameOf(tool), tool)
			}
		}
		return names
	})
}

// completeQualified completes the first argument, the qualified name of one of things: by what of gives for a server,
// empty where none is named yet; then the servers as well.
func completeQualified(
	app *App, things string, of func(ctx context.Context, box *toolbox, server, typed string) []cobra.Completion,
) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 || app.begin() != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		app.asksNobody = true
		app.log = slog.New(slog.DiscardHandler) // the user is typing: there is no place for words
		box, err := app.toolbox(toolboxOptions{lenient: true})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
		defer cancel()
		server := exec.ServerOf(typed, box.pool.Names())
		names := of(ctx, box, server, typed)
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

// safeCompletions makes what a command's arguments complete to fit for a terminal. Shells write completions as they
// are, and names come from servers and from the files of strangers: one with control characters is left out, and so is
// one that cobra would take for a message of its own. Secrets in descriptions are masked.
func (a *App) safeCompletions(cmd *cobra.Command) {
	if complete := cmd.ValidArgsFunction; complete != nil {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
			found, directive := complete(cmd, args, typed)
			safe := found[:0]
			for _, one := range found {
				name, description, described := strings.Cut(one, "\t")
				if render.Safe(name) != name || strings.HasPrefix(name, activeHelp) {
					continue
				}
				if described {
					name += "\t" + render.Safe(a.mask.Text(description))
				}
				safe = append(safe, name)
			}
			return safe, directive
		}
	}
	for _, sub := range cmd.Commands() {
		a.safeCompletions(sub)
	}
}

// activeHelp begins the completions that cobra's scripts show as messages.
const activeHelp = "_activeHelp_ "
