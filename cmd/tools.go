package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/servers"
)

// toolFilter says which tools a verb works with that takes several.
type toolFilter struct {
	servers  []string // only theirs; none: all there are, toolx's own too
	patterns []string // see matches
}

// openTools starts the servers whose tools a filter can mean, tells of those that fail, and returns the tools that
// match: toolx's own first, then server by server. The error is a server's where none answered.
func (a *App) openTools(ctx context.Context, box *toolbox, filter toolFilter, verb string) ([]*exec.Tool, error) {
	opened, err := a.openServers(ctx, box, verb, filter)
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
	all := box.registry.Offered()
	var tools []*exec.Tool
	if len(filter.servers) == 0 {
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

// openServers starts the servers whose tools a filter can mean, in parallel, and tells of
// each that was given up. The error is an interruption.
func (a *App) openServers(ctx context.Context, box *toolbox, verb string, filter toolFilter) ([]servers.Opened, error) {
	names, searched := box.serversFor(filter)
	opened, err := a.startServers(ctx, box, verb, names, searched)
	if err != nil {
		return nil, err
	}
	a.tellFailed(opened, searched)
	return opened, nil
}

// serversFor are the servers whose tools a filter can mean. searched says that a pattern
// may be any server's, so that each is asked although most have nothing to do with it.
func (b *toolbox) serversFor(filter toolFilter) (names []string, searched bool) {
	known := b.pool.Names()
	switch {
	case len(filter.servers) > 0:
		return filter.servers, false
	case len(filter.patterns) == 0:
		return known, false
	}
	for _, pattern := range filter.patterns {
		named := exec.ServersOf(pattern, known)
		if len(named) == 0 && !strings.HasPrefix(pattern, exec.Own+exec.Separator) {
			return known, true
		}
		names = append(names, named...)
	}
	return distinct(names), false
}

// briefError is the failure of a server that is only one of many that were asked: the line
// that says why, without the whole story.
type briefError struct{ error }

func (e *briefError) Unwrap() error { return e.error }

// Details implements the interface that fault.DetailsOf looks for.
func (e *briefError) Details() []string { return nil }

// Hint implements the interface that fault.HintOf looks for.
func (e *briefError) Hint() string { return "" }

// startServers starts servers in parallel; searched says that they are all there are, and nobody named any. The error
// is an interruption; what became of each server is for the caller to tell.
func (a *App) startServers(ctx context.Context, box *toolbox, verb string, names []string, searched bool) ([]servers.Opened, error) {
	if len(names) == 0 {
		return nil, nil
	}
	stop := a.showProgress(verb)
	var opened []servers.Opened
	if searched {
		opened = box.pool.Search(ctx)
	} else {
		opened = box.pool.OpenAll(ctx, names...)
	}
	stop()
	late := gaveUp(ctx, "", "")
	if fault.KindOf(late) == fault.KindInterrupted {
		return nil, late
	}
	for i := range opened {
		if late != nil && fault.KindOf(opened[i].Err) == fault.KindInterrupted {
			opened[i].Err = gaveUp(ctx, "", opened[i].Server)
		}
		opened[i].Err = a.masked(opened[i].Err)
	}
	return opened, nil
}

// tellFailed tells of each server that was given up: all there is to say, or a line where it is only one of many that
// were searched. Those of a file that is not trusted are told of together.
func (a *App) tellFailed(opened []servers.Opened, searched bool) {
	for _, err := range untrustedTogether(opened) {
		if searched {
			err = &briefError{err}
		}
		a.showError(a.masked(err))
	}
}

// needServers is the error of a verb that has no server to deal with.
func (b *toolbox) needServers() error {
	if len(b.pool.Names()) > 0 {
		return nil
	}
	missing := fault.Usage("no server is configured",
		"give one behind --: -- npx -y @modelcontextprotocol/server-everything; or write a toolx.yaml")
	if len(b.config.Servers) > 0 {
		missing.Message = "every server of the config is disabled"
		setting, _ := b.config.Servers[0].DisabledBy()
		missing.Fix = "remove \"" + setting + "\" there, or give a server's command behind --"
	}
	return missing
}

// noMatchError says that nothing that there is fits the patterns.
type noMatchError struct {
	what     string // "tool", "resource"
	patterns []string
	hint     string
}

func (e *noMatchError) Error() string {
	return fmt.Sprintf("no %s matches '%s'", e.what, strings.Join(e.patterns, "', '"))
}

// Kind implements the interface that fault.KindOf looks for.
func (e *noMatchError) Kind() fault.Kind { return fault.KindNotFound }

// Hint says what there is instead.
func (e *noMatchError) Hint() string { return e.hint }

// noTool is the error of patterns that no tool fits, with what a single one may be a misspelling of.
func (b *toolbox) noTool(patterns []string) error {
	failed := &noMatchError{what: "tool", patterns: patterns}
	if len(patterns) > 1 {
		failed.hint = "each pattern is a glob, or a part of a name or description"
		return failed
	}
	_, err := b.registry.Find(patterns[0])
	failed.hint = fault.HintOf(err)
	var missing *exec.NotFoundError
	if errors.As(err, &missing) && missing.UnknownServer != "" && len(missing.Near) == 0 && len(missing.Servers) > 0 {
		failed.hint = fmt.Sprintf("no server is named '%s': the config has %s", missing.UnknownServer, strings.Join(missing.Servers, ", "))
	}
	return failed
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

// matches reports whether a tool matches one of the patterns, or there are none. A
// glob is matched against the names; plain text against the description too.
func matches(tool *exec.Tool, patterns []string) bool {
	if len(patterns) == 0 {
		return true
	}
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		names := append([]string{tool.Name, tool.Plain}, tool.Aliases...)
		if tool.Server == "" {
			names = append(names, exec.Own+exec.Separator+tool.Name)
		}
		for _, name := range names {
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
	text := "continuing with local tools only: " + strings.Join(names(toolsOf(box.registry.Offered(), "", nil)), ", ")
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
