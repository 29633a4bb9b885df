package cmd

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"toolx/pkg/exec"
	"toolx/pkg/render"
	"toolx/pkg/servers"
)

// toolFilter says which tools a verb works with that takes several.
type toolFilter struct {
	servers  []string // only theirs; none: all there are, toolx's own too
	patterns []string // see matches
}

// openTools starts the servers that a filter names, tells of those that fail, and
// returns the tools that match: toolx's own first, then server by server. The error
// is a server's where none answered.
func (a *App) openTools(ctx context.Context, box *toolbox, filter toolFilter, verb string) ([]*exec.Tool, error) {
	opened, err := a.startServers(ctx, box, verb, filter.servers...)
	if err != nil {
		return nil, err
	}
	if err := listFailure(opened, false); err != nil {
		if !box.adHoc {
			a.log.Warn("no server answered: there is nothing to " + verb)
		}
		return nil, err
	}
	a.tellRest(box, opened)
	all := box.registry.All()
	var tools []*exec.Tool
	if !box.adHoc && len(filter.servers) == 0 {
		tools = toolsOf(all, "", filter.patterns)
	}
	for _, one := range opened {
		tools = append(tools, toolsOf(all, one.Server, filter.patterns)...)
	}
	tools, broken := working(tools)
	for _, wrong := range broken {
		a.tell(wrong)
	}
	return tools, nil
}

// working are the tools that can be called, and why the others cannot: no client and no
// model is offered a tool whose entry is wrong.
func working(all []*exec.Tool) (tools []*exec.Tool, broken []error) {
	for _, tool := range all {
		if tool.Broken != nil {
			broken = append(broken, tool.Broken)
			continue
		}
		tools = append(tools, tool)
	}
	return tools, broken
}

// openServers starts the named servers in parallel, all where none is named, and
// tells of each that was given up, and of what is left. The error is an interruption.
func (a *App) openServers(ctx context.Context, box *toolbox, verb string, names ...string) ([]servers.Opened, error) {
	opened, err := a.startServers(ctx, box, verb, names...)
	if err != nil {
		return nil, err
	}
	a.tellRest(box, opened)
	return opened, nil
}

// startServers is openServers for a verb that does not go on with the tools that are
// left: what else servers have, nothing of toolx takes the place of.
func (a *App) startServers(ctx context.Context, box *toolbox, verb string, names ...string) ([]servers.Opened, error) {
	stop := a.showProgress(verb)
	opened := box.pool.OpenAll(ctx, names...)
	stop()
	late := gaveUp(ctx, "", "")
	if exec.KindOf(late) == exec.KindInterrupted {
		return nil, late
	}
	for i := range opened {
		if late != nil && exec.KindOf(opened[i].Err) == exec.KindInterrupted {
			opened[i].Err = gaveUp(ctx, "", opened[i].Server)
		}
		opened[i].Err = a.masked(opened[i].Err)
		if opened[i].Err != nil {
			_ = render.Error(a.live, opened[i].Err, a.screen())
		}
	}
	return opened, nil
}

// toolsOf are a server's tools that match, by name.
func toolsOf(all []*exec.Tool, server string, patterns []string) []*exec.Tool {
	var tools []*exec.Tool
	for _, tool := range all {
		if tool.Server == server && matches(tool, patterns) {
			tools = append(tools, tool)
		}
	}
	slices.SortStableFunc(tools, func(a, b *exec.Tool) int { return cmp.Compare(a.Name, b.Name) })
	return tools
}

// matches says whether a tool matches one of the patterns, or there are none. A
// glob is matched against the names; plain text against the description too.
func matches(tool *exec.Tool, patterns []string) bool {
	if len(patterns) == 0 {
		return true
	}
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		for _, name := range append([]string{tool.Name, tool.Plain}, tool.Aliases...) {
			if ok, _ := path.Match(pattern, name); ok {
				return true
			}
		}
		text := strings.ToLower(tool.Name + "\n" + tool.Title + "\n" + tool.Description)
		return strings.Contains(text, strings.ToLower(pattern))
	})
}

// tellRest tells what toolx goes on with where some servers were given up (MCP-4).
func (a *App) tellRest(box *toolbox, opened []servers.Opened) {
	var left []string
	failed := false
	for _, one := range opened {
		if one.Err == nil {
			left = append(left, one.Server)
			continue
		}
		failed = true
	}
	if !failed || box.adHoc {
		return
	}
	text := "continuing with local tools only: " + strings.Join(names(toolsOf(box.registry.All(), "", nil)), ", ")
	if len(left) > 0 {
		text = "continuing with the tools of " + strings.Join(left, ", ") + ", and local tools"
	}
	a.log.Warn(text)
}

func names(tools []*exec.Tool) []string {
	names := make([]string, len(tools))
	for i, tool := range tools {
		names[i] = tool.Name
	}
	return names
}
