// Package list has the commands that list tools, resources and prompts.
package list

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"toolx/cmd/cli"
	"toolx/cmd/complete"
	"toolx/cmd/correct"
	"toolx/cmd/factory"
	"toolx/cmd/person"
	"toolx/cmd/streams"
	"toolx/cmd/toolset"
	"toolx/pkg/catalog"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/render"
	"toolx/pkg/servers"
)

// Options say what to list and how.
type Options struct {
	Out       *streams.Streams
	Tools     *toolset.Opener
	Corrector *correct.Corrector

	toolset.CacheFlags
	patterns []string
	json     bool
	compact  bool
	strict   bool
	server   []string // a command line after --
	answers  person.AnswerFlags
	guards   toolset.Guards
}

// New returns the command list; run runs it.
func New(f *factory.Factory, run cli.RunFunc[Options]) *cobra.Command {
	o := Options{Out: f.Out, Tools: f.Tools, Corrector: f.Corrector}
	cmd := &cobra.Command{
		Use:   "list [PATTERN…] [-- COMMAND…]",
		Short: "List tools",
		Long: `List tools, grouped by server, with their parameters and descriptions. A PATTERN is
a server's name, a glob on whole names (zwave__*), or part of a tool's name, title or
description. Built-in tools are one line at the end; toolx__* lists them.

In a pipe each tool is a line of four tab-separated fields: name, signature, badges,
description.

Exit codes: 0 at least one server answered, or none is configured, 2 wrong usage, or no
tool matches, 4 no server answered; with --strict, any server did not.`,
		Example: `  toolx list
  toolx list zwave
  toolx list --cached --compact
  toolx list --sampling ask --root . -- npx -y @modelcontextprotocol/server-everything
  toolx list --json -- npx -y @modelcontextprotocol/server-everything | jq -r '.servers[].tools[].name'`,
		Args: cli.WithCommand(&o.server, func(args []string) error {
			o.patterns = args
			return cli.CheckPatterns(args)
		}),
		ValidArgsFunction: complete.Anywhere(complete.Tool(f.Tools)),
		RunE:              cli.Run(&o, run, o.answers.Check, o.guards.Check),
	}
	flags := cmd.Flags()
	o.answers.Declare(flags)
	o.guards.Declare(flags)
	flags.BoolVar(&o.json, "json", false, "print full definitions as JSON, as the servers sent them")
	flags.BoolVar(&o.compact, "compact", false, "print one short line for each tool, for models")
	flags.BoolVar(&o.strict, "strict", false, "fail if any server does not respond")
	o.CacheFlags.Declare(cmd)
	cmd.MarkFlagsMutuallyExclusive("json", "compact")
	return cmd
}

// Run opens all servers in parallel, and lists the tools of those that answer.
func Run(ctx context.Context, o Options) error {
	o.answers.Listing = true
	box, err := o.Tools.Open(toolset.Options{Server: o.server, Answers: &o.answers, Guards: o.guards})
	if err != nil {
		return err
	}
	bounded, done := box.Bounded(ctx, exec.TimeoutError{Tool: "list", Request: true})
	defer done()
	o.Tools.ReportNotes(box.Config(), box.Config().Servers...)
	filter, err := box.Filter(o.patterns)
	if err != nil {
		return err
	}
	if err := o.Corrector.CheckPatterns(box, filter, catalog.Tools, nil); err != nil {
		return err
	}
	ready := printReady(box, o, filter)
	filter.Opened = ready.end
	opened, listed, err := openListed(bounded, box, o, filter)
	ready.end()
	if err != nil {
		return err
	}
	box.ReportGuards(opened)
	groups, failure := groupsOf(box, opened, listed, o, filter), toolset.ListFailure(opened, o.strict)
	if err := o.Corrector.CheckPatterns(box, filter, catalog.Tools, func(string) bool { return false }); err != nil {
		return err
	}
	if len(filter.Patterns) > 0 && len(groups) == 0 && failure == nil {
		return box.NoTool(o.patterns)
	}
	if err := ready.finish(groups); err != nil {
		return err
	}
	if missing := box.NeedServers(""); missing != nil && len(o.patterns) == 0 && !o.json {
		o.Out.Log.Warn(missing.Error() + "; " + fault.HintOf(missing))
	}
	return failure
}

// openListed opens the servers or the catalogues to list. listed has the times of catalogues, by server.
func openListed(
	ctx context.Context, b *toolset.Set, o Options, filter toolset.Filter,
) ([]servers.Opened, map[string]time.Time, error) {
	if o.Cached {
		opened, listed := b.OpenCatalogues(filter, []string{"list"}, b.TakeTools)
		return opened, listed, nil
	}
	if !o.Refresh {
		filter.Cached = b.KeptMatch(filter)
	}
	opened, err := b.OpenForTools(ctx, "list", filter)
	if err != nil {
		return nil, nil, err
	}
	b.ReportRest(opened)
	if o.Refresh {
		return opened, nil, nil
	}
	return opened, b.AddStale(opened, "tools", b.TakeTools), nil
}

// groupsOf returns the tools that match: those of the config, then server by server, then the built-in ones, which take
// one line unless there are no others or a pattern matches them. In JSON, toolx's own tools are one group. If the
// command line selects the servers, toolx's own tools are left out.
func groupsOf(
	b *toolset.Set, opened []servers.Opened, listed map[string]time.Time, o Options, filter toolset.Filter,
) []render.Group {
	var groups []render.Group
	all := b.Registry.All()
	var local, builtIn []*exec.Tool
	if !b.Chosen {
		local = toolset.ToolsOf(all, "", filter)
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
		case o.Cached:
			group.Status = "cached"
		}
		if one.Err == nil || !group.Listed.IsZero() {
			group.Tools = toolset.ToolsOf(all, one.Server, filter)
		}
		if len(filter.Patterns) == 0 || len(group.Tools) > 0 || slices.Contains(filter.Servers, one.Server) {
			groups = append(groups, group)
		}
	}
	if len(builtIn) > 0 {
		groups = append(groups, render.Group{
			Status: "ready", Tools: builtIn, NameOf: b.Registry.NameOf,
			BuiltIn: true, Folded: len(o.patterns) == 0 && len(groups) > 0,
		})
	}
	return groups
}
