package cmd

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/exit"
	"toolx/cmd/person"
	"toolx/pkg/catalog"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
	"toolx/pkg/servers"
)

// listOptions say what is listed and how.
type listOptions struct {
	cacheFlags
	patterns []string
	json     bool
	compact  bool
	strict   bool
	server   []string // a command line after --
	answers  person.AnswerFlags
	guards   guardOptions
}

func newListCommand(app *App, run RunFunc[listOptions]) *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:   "list [PATTERN…] [-- COMMAND…]",
		Short: "List the tools of all servers and of the config",
		Long: `List tools, grouped by server: what each takes, what it says of itself, and what it
is for. A PATTERN is the name of a server, a glob on whole names (zwave__*), or a part of
a tool's own name, title or description; a tool that matches one of them is listed.
In a pipe each tool is a line of four fields with tabs between: name, signature,
badges, description. The built-in tools are one line at the end; toolx__* lists them.

Exit codes: 0 when at least one server answered or none is configured, 2 wrong
usage, or no tool fits, 4 when no server answered; with --strict when any did not.`,
		Example: `  toolx list
  toolx list zwave
  toolx list --cached --compact
  toolx list --sampling ask --root . -- npx -y @modelcontextprotocol/server-everything
  toolx list --json -- npx -y @modelcontextprotocol/server-everything | jq -r '.servers[].tools[].name'`,
		Args: cli.WithCommand(&o.server, func(args []string) error {
			o.patterns = args
			return checkPatterns(args)
		}),
		ValidArgsFunction: anywhere(completeTool(app.tools)),
		RunE:              runs(app, &o, run, o.answers.Check, o.guards.check),
	}
	flags := cmd.Flags()
	o.answers.Declare(flags)
	o.guards.declare(flags)
	flags.BoolVar(&o.json, "json", false, "print full definitions as JSON, as the servers sent them")
	flags.BoolVar(&o.compact, "compact", false, "print one short line for each tool, for models")
	flags.BoolVar(&o.strict, "strict", false, "fail when any server did not answer")
	o.cacheFlags.declare(cmd)
	cmd.MarkFlagsMutuallyExclusive("json", "compact")
	return cmd
}

// runList opens every server, in parallel, and lists what answered.
func runList(ctx context.Context, app *App, o listOptions) error {
	o.answers.Listing = true
	box, err := app.tools.toolbox(toolboxOptions{server: o.server, answers: &o.answers, guards: o.guards})
	if err != nil {
		return err
	}
	bounded, done := box.bounded(ctx, exec.TimeoutError{Tool: "list", Request: true})
	defer done()
	app.tools.tellNotes(box.config(), box.config().Servers...)
	filter, err := box.filter(o.patterns)
	if err != nil {
		return err
	}
	if err := app.corrector.checkPatterns(box, filter, catalog.Tools, nil); err != nil {
		return err
	}
	ready := printReady(box, o, filter)
	filter.opened = ready.end
	opened, listed, err := openListed(bounded, box, o, filter)
	ready.end()
	if err != nil {
		return err
	}
	box.tellGuards(opened)
	groups, failure := groupsOf(box, opened, listed, o, filter), listFailure(opened, o.strict)
	if err := app.corrector.checkPatterns(box, filter, catalog.Tools, func(string) bool { return false }); err != nil {
		return err
	}
	if len(filter.patterns) > 0 && len(groups) == 0 && failure == nil {
		return box.noTool(o.patterns)
	}
	if err := ready.finish(groups); err != nil {
		return err
	}
	if missing := box.needServers(""); missing != nil && len(o.patterns) == 0 && !o.json {
		app.out.Log.Warn(missing.Error() + "; " + fault.HintOf(missing))
	}
	return failure
}

// openListed opens what a list is made of: the servers, or the catalogues. listed holds the times of what catalogues
// have, by server.
func openListed(
	ctx context.Context, b *toolbox, o listOptions, filter toolFilter,
) ([]servers.Opened, map[string]time.Time, error) {
	if o.cached {
		opened, listed := b.openCatalogues(filter, []string{"list"}, b.takeTools)
		return opened, listed, nil
	}
	if !o.refresh {
		filter.kept = b.keptMatch(filter)
	}
	opened, err := b.openForTools(ctx, "list", filter)
	if err != nil {
		return nil, nil, err
	}
	b.tellRest(opened)
	if o.refresh {
		return opened, nil, nil
	}
	return opened, b.addStale(opened, "tools", b.takeTools), nil
}

// groupsOf returns the tools that match: those of the config, then server by server, then the built-in ones, which are
// one line unless they are all there is, or asked for. JSON has all of toolx's own in one group. Where the command line
// says which servers there are, toolx's own are left out.
func groupsOf(
	b *toolbox, opened []servers.Opened, listed map[string]time.Time, o listOptions, filter toolFilter,
) []render.Group {
	var groups []render.Group
	all := b.registry.All()
	var local, builtIn []*exec.Tool
	if !b.chosen {
		local = toolsOf(all, "", filter)
	}
	if !o.json {
		for _, tool := range local {
			if tool.BuiltIn {
				builtIn = append(builtIn, tool)
			}
		}
		local = slices.DeleteFunc(local, func(tool *exec.Tool) bool { return tool.BuiltIn })
	}
	if len(local) > 0 {
		groups = append(groups, render.Group{Status: "ready", Tools: local})
	}
	for _, one := range opened {
		group := render.Group{Server: one.Server, Status: "ready", Err: one.Err, Listed: listed[one.Server]}
		switch {
		case one.Err != nil:
			group.Status = "failed"
		case o.cached:
			group.Status = "cached"
		}
		if one.Err == nil || !group.Listed.IsZero() {
			group.Tools = toolsOf(all, one.Server, filter)
		}
		if len(filter.patterns) == 0 || len(group.Tools) > 0 || slices.Contains(filter.servers, one.Server) {
			groups = append(groups, group)
		}
	}
	if len(builtIn) > 0 {
		groups = append(groups, render.Group{
			Status: "ready", Tools: builtIn, NameOf: b.registry.NameOf,
			BuiltIn: true, Folded: len(o.patterns) == 0 && len(groups) > 0,
		})
	}
	return groups
}

// listFailure returns the error of a listing: the first server's, where none answered or strict says that all have to.
// The user has been told of it.
func listFailure(opened []servers.Opened, strict bool) error {
	first := firstFailure(opened)
	answered := slices.ContainsFunc(opened, func(one servers.Opened) bool { return one.Err == nil })
	if first == nil || answered && !strict {
		return nil
	}
	if strict && fault.KindOf(first) == fault.KindUsage {
		first = exit.Fail(first, fault.KindConnect, "") // any failure counts
	}
	return exit.Reported(first)
}
