package cmd

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/servers"
)

// listOptions say what is listed and how.
type listOptions struct {
	patterns []string
	json     bool
	strict   bool
	server   []string // a command line behind --
	answers  answerOptions
}

func newListCommand(app *App, run func(context.Context, *App, listOptions) error) *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:   "list [PATTERN…] [-- COMMAND…]",
		Short: "List the tools of all servers and of the config",
		Long: `List tools, grouped by server: what each takes, what it says of itself, and what it
is for. A PATTERN is a glob (zwave__*) or a part of a name or description; a tool
that matches one of them is listed. In a pipe each tool is a line of four fields
with tabs between them: name, signature, badges, description.

Exit codes: 0 when at least one server answered or none is configured, 2 wrong
usage, 4 when no server answered; with --strict when any did not.`,
		Example: `  toolx list
  toolx list 'zwave__*'
  toolx list --sampling ask --root . -- npx -y @modelcontextprotocol/server-everything
  toolx list --json -- npx -y @modelcontextprotocol/server-everything | jq -r '.servers[].tools[].name'`,
		Args: func(cmd *cobra.Command, args []string) (err error) {
			if o.patterns, o.server, err = splitDash(cmd, args); err != nil {
				return err
			}
			if err := checkPatterns(o.patterns); err != nil {
				return err
			}
			return o.answers.check()
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), app, o) },
	}
	flags := cmd.Flags()
	o.answers.declare(flags)
	flags.BoolVar(&o.json, "json", false, "print full definitions as JSON, as the servers sent them")
	flags.BoolVar(&o.strict, "strict", false, "fail when any server did not answer")
	return cmd
}

// runList opens every server, in parallel, and lists what answered.
func runList(ctx context.Context, app *App, o listOptions) error {
	box, err := app.toolbox(toolboxOptions{server: o.server, answers: &o.answers})
	if err != nil {
		return err
	}
	bounded, done := box.bounded(ctx, exec.TimeoutError{Tool: "list", Request: true})
	defer done()
	opened, err := app.openServers(bounded, box, "list")
	if err != nil {
		return err
	}
	groups := box.groups(opened, o.patterns)
	for _, group := range groups {
		_, broken := working(group.Tools)
		for _, wrong := range broken {
			app.tell(wrong)
		}
	}
	if o.json {
		err = render.ListJSON(app.Console.Out, groups, app.outScreen())
	} else {
		// stderr has told of those that failed.
		groups = slices.DeleteFunc(groups, func(group render.Group) bool { return group.Err != nil })
		err = render.List(app.Console.Out, groups, app.outScreen())
	}
	if err != nil {
		return err
	}
	return listFailure(opened, o.strict)
}

// groups are the tools that match, grouped by server, toolx's own first. Those are
// left out where a server was given on the command line: that one is asked about.
func (b *toolbox) groups(opened []servers.Opened, patterns []string) []render.Group {
	var groups []render.Group
	all := b.registry.All()
	if !b.adHoc {
		if local := toolsOf(all, "", patterns); len(local) > 0 {
			groups = append(groups, render.Group{Status: "ready", Tools: local})
		}
	}
	for _, one := range opened {
		group := render.Group{Server: one.Server, Status: "ready", Err: one.Err}
		if one.Err != nil {
			group.Status = "failed"
		} else {
			group.Tools = toolsOf(all, one.Server, patterns)
		}
		if len(patterns) == 0 || len(group.Tools) > 0 {
			groups = append(groups, group)
		}
	}
	return groups
}

// listFailure is the error of a listing: a server's where none answered, or where
// every one had to. The user has been told of it.
func listFailure(opened []servers.Opened, strict bool) error {
	var first error
	answered := 0
	for _, one := range opened {
		if one.Err == nil {
			answered++
		} else if first == nil {
			first = one.Err
		}
	}
	if first == nil || answered > 0 && !strict {
		return nil
	}
	if strict && exec.KindOf(first) == exec.KindUsage {
		return &reportedError{&strictError{first}}
	}
	return &reportedError{first}
}

// strictError makes any server's failure count as one to connect.
type strictError struct{ error }

func (e *strictError) Unwrap() error { return e.error }

// Kind implements the interface that exec.KindOf looks for.
func (e *strictError) Kind() exec.Kind { return exec.KindConnect }
