package toolset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolx/cmd/cli"
	"toolx/cmd/exit"
	"toolx/cmd/person"
	"toolx/cmd/stores"
	"toolx/cmd/streams"
	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/fault"
	"toolx/pkg/guard"
	"toolx/pkg/render"
	"toolx/pkg/servers"
)

// Filter selects the tools or other listed items that a verb works with: everything if there are neither servers nor
// patterns.
type Filter struct {
	Servers  []string // all items of these servers
	Patterns []string // items of any server that match one of these; see fits
	// Cached reports whether a server's catalogue has a match, and whether there is a catalogue. A server without a
	// match is not asked if a pattern starts with the name of an unknown server. If Cached is nil, all servers are
	// asked.
	Cached func(server *config.Server) (fits, known bool)
	// Responsive leaves out servers that are silent while others are ready.
	Responsive bool
	// Opened is called when the servers are open, before failures are reported; it may be nil.
	Opened func()
}

// Filter returns the filter for a verb's arguments: the name of a server, or CLIENT:, selects everything that it has,
// and anything else is a pattern. It fails for a disabled server and for a client without servers.
func (b *Set) Filter(arguments []string) (Filter, error) {
	names, err := cli.ExpandClients(b.Config().Servers, arguments)
	if err != nil {
		return Filter{}, err
	}
	var filter Filter
	for _, name := range names {
		at := slices.IndexFunc(b.Config().Servers, func(server *config.Server) bool { return server.Name == name })
		if at < 0 || b.AdHoc {
			filter.Patterns = append(filter.Patterns, name)
			continue
		}
		if err := b.Pool.Known(name); err != nil {
			return Filter{}, err
		}
		filter.Servers = append(filter.Servers, name)
	}
	return filter, nil
}

// Selects reports whether the filter selects an item that a server lists under names, with texts about it; server is
// empty for toolx's own.
func (f Filter) Selects(server string, names []string, texts ...string) bool {
	return len(f.Servers)+len(f.Patterns) == 0 || server != "" && slices.Contains(f.Servers, server) ||
		slices.ContainsFunc(f.Patterns, func(pattern string) bool { return fits(pattern, server, names, texts) })
}

// SelectsTool is Selects for a tool.
func (f Filter) SelectsTool(tool *exec.Tool) bool {
	names := append([]string{tool.Name, tool.Plain}, tool.Aliases...)
	if tool.Server == "" {
		names = append(names, exec.Own+exec.Separator+tool.Name)
	}
	return f.Selects(tool.Server, names, tool.Plain, tool.Title, tool.Description)
}

// fits reports whether a pattern matches one of the names as a glob, or is part of one of the texts. The server's name
// may precede the part, as in zwave__contr, but is not searched.
func fits(pattern, server string, names, texts []string) bool {
	glob := func(name string) bool { return guard.Fits(pattern, name) }
	part := strings.ToLower(strings.TrimPrefix(pattern, cmp.Or(server, exec.Own)+exec.Separator))
	return slices.ContainsFunc(names, glob) || strings.Contains(strings.ToLower(strings.Join(texts, "\n")), part)
}

// OpenTools starts the servers whose tools a filter may select, reports those that fail, and returns the tools that
// match: toolx's own first, then server by server. If no server answered, the error is one server's.
func (b *Set) OpenTools(ctx context.Context, filter Filter, verb string) ([]*exec.Tool, error) {
	opened, err := b.OpenForTools(ctx, verb, filter)
	if err != nil {
		return nil, err
	}
	if err := ListFailure(opened, false); err != nil {
		if !b.AdHoc {
			b.Out.Log.Warn("no server answered: there is nothing to " + verb)
		}
		return nil, err
	}
	b.ReportRest(opened)
	all := b.Registry.Offered()
	tools := ToolsOf(all, "", filter)
	for _, one := range opened {
		tools = append(tools, ToolsOf(all, one.Server, filter)...)
	}
	tools, _ = WorkingTools(b.Out, tools)
	return tools, nil
}

// WorkingTools returns the tools that can be called, and reports why the others cannot. Clients and models do not get
// tools with a wrong entry. The error is the first such tool's. A tool without a handler is included, with a warning.
func WorkingTools(o *streams.Streams, all []*exec.Tool) (tools []*exec.Tool, broken error) {
	for _, tool := range all {
		if tool.Warn != nil {
			tool.Warn()
		}
		if tool.Broken == nil {
			tools = append(tools, tool)
			continue
		}
		o.Report(tool.Broken)
		broken = cmp.Or(broken, tool.Broken)
	}
	return tools, broken
}

// OpenServers starts the servers whose tools a filter may select, in parallel, and reports each failure. The error is
// an interruption.
func (b *Set) OpenServers(ctx context.Context, verb string, filter Filter) ([]servers.Opened, error) {
	names, searched := b.serversFor(filter)
	var left []servers.Opened
	plain := func(pattern string) bool { return !exec.MeansServer(pattern) }
	if searched && filter.Cached != nil && !slices.ContainsFunc(filter.Patterns, plain) {
		names, left = b.leaveOut(names, filter)
	}
	open := b.Pool.OpenAll
	switch {
	case searched:
		open = b.Pool.Search
	case filter.Responsive:
		open = b.Pool.OpenResponsive
	}
	opened, err := b.StartServers(ctx, verb, names, open)
	if err != nil {
		return nil, err
	}
	opened = append(opened, left...)
	if filter.Opened != nil {
		filter.Opened()
	}
	ReportFailed(b.Out, opened, searched)
	return opened, nil
}

// OpenForTools is OpenServers for a list of tools: it waits for tools that servers may list soon, and reports servers
// without tools.
func (b *Set) OpenForTools(ctx context.Context, verb string, filter Filter) ([]servers.Opened, error) {
	opened, err := b.OpenServers(ctx, verb, filter)
	b.Pool.AwaitTools(ctx, opened)
	for _, one := range opened {
		if one.Session != nil && len(one.Session.Tools()) == 0 {
			b.Out.Say("server %s lists no tools", strconv.Quote(one.Server))
		}
		if one.Session != nil && one.Session.Announced() && b.lacks != "" && !b.Flags.Quiet {
			b.Out.Say("server %s may have more tools for a client with %s", strconv.Quote(one.Server), b.lacks)
		}
	}
	return opened, err
}

// serversFor returns the servers whose tools a filter may select. searched reports whether a pattern may match a tool
// of any server, so that each is asked although most do not have it.
func (b *Set) serversFor(filter Filter) (names []string, searched bool) {
	known := b.Pool.Names()
	if len(filter.Servers)+len(filter.Patterns) == 0 {
		return known, false
	}
	names = filter.Servers
	for _, pattern := range filter.Patterns {
		named := exec.ServersOf(pattern, known)
		if len(named) == 0 && !strings.HasPrefix(pattern, exec.Own+exec.Separator) {
			return known, true
		}
		names = append(names, named...)
	}
	return cli.Distinct(names), false
}

// leaveOut returns the servers to ask: those that a pattern names, those without a catalogue, and those whose catalogue
// has a match.
func (b *Set) leaveOut(names []string, filter Filter) (ask []string, left []servers.Opened) {
	for _, name := range names {
		begins := func(pattern string) bool { return strings.HasPrefix(pattern, name+exec.Separator) }
		named := slices.Contains(filter.Servers, name) || slices.ContainsFunc(filter.Patterns, begins)
		if fits, known := filter.Cached(b.Server(name)); fits || !known || named {
			ask = append(ask, name)
			continue
		}
		left = append(left, servers.Opened{Server: name})
	}
	return ask, left
}

// KeptMatch returns the Cached of a filter for tools. Those of a server whose catalogue has none that matches are
// registered.
func (b *Set) KeptMatch(filter Filter) func(*config.Server) (fits, known bool) {
	return func(server *config.Server) (fits, known bool) {
		tools, _, known := keptTools(stores.Catalog(), server)
		fits = slices.ContainsFunc(tools, filter.SelectsTool)
		if known && !fits {
			b.Registry.ReplaceServer(server.Name, tools...)
		}
		return fits, known
	}
}

// StartServers starts servers with a method of the pool, and shows how far they are. The error is an interruption; the
// caller reports the failures of servers.
func (b *Set) StartServers(
	ctx context.Context, verb string, names []string, open func(context.Context, ...string) []servers.Opened,
) ([]servers.Opened, error) {
	if len(names) == 0 {
		return nil, nil
	}
	stop := b.Opener.ShowProgress(verb)
	opened := open(ctx, names...)
	stop()
	late := GaveUp(ctx, "", "")
	if fault.KindOf(late) == fault.KindInterrupted {
		return nil, late
	}
	for i := range opened {
		if late != nil && fault.KindOf(opened[i].Err) == fault.KindInterrupted {
			opened[i].Err = GaveUp(ctx, "", opened[i].Server)
		}
		opened[i].Err = b.Out.Masked(opened[i].Err)
	}
	return opened, nil
}

// ReportFailed reports each server that failed: only with its message if it is one of many that were searched,
// otherwise also with details and a hint. A file that is not trusted always gets its hint, which is shown once.
func ReportFailed(o *streams.Streams, opened []servers.Opened, searched bool) {
	for _, err := range person.UntrustedTogether(opened) {
		var untrusted *config.UntrustedError
		if searched && !errors.As(err, &untrusted) {
			err = streams.MessageAlone(err)
		}
		o.ShowError(o.Masked(err))
	}
}

// NeedServers returns the error for a verb that needs a server, perhaps with a name, and has none.
func (b *Set) NeedServers(name string) error {
	if len(b.Pool.Names()) > 0 {
		return nil
	}
	missing := fault.Usage("no server is configured",
		"put its command after --: -- npx -y @modelcontextprotocol/server-everything; "+
			"or add it to the config: toolx servers add NAME -- COMMAND…; or find servers: toolx init")
	missing.Server = name
	if len(b.Config().Servers) > 0 {
		missing.Message, missing.Server = "all servers in the config are disabled", ""
		setting, _ := b.Config().Servers[0].DisabledBy()
		missing.Fix = "remove \"" + setting + "\" there, or give a server's command after --"
	}
	return missing
}

// NoMatch returns the error for patterns without a match.
func NoMatch(what string, patterns []string, hint string) error {
	text := fmt.Sprintf("no %s matches '%s'", what, strings.Join(patterns, "', '"))
	return exit.Fail(errors.New(text), fault.KindNotFound, hint)
}

// NoTool returns the error for patterns that match no tool. A single pattern may be a misspelt name.
func (b *Set) NoTool(patterns []string) error {
	hint := "each pattern is a server, a glob, or a part of a name or description"
	if len(patterns) == 1 {
		_, err := b.Registry.Find(patterns[0])
		var denied *exec.DeniedError
		if errors.As(err, &denied) {
			return err
		}
		hint = fault.HintOf(err)
		var missing *exec.NotFoundError
		errors.As(err, &missing)
		if missing != nil && missing.UnknownServer != "" && len(missing.Near) == 0 && len(missing.Servers) > 0 {
			hint = fmt.Sprintf("no server named %q: known servers are %s",
				missing.UnknownServer, strings.Join(missing.Servers, ", "))
		}
	}
	return NoMatch("tool", patterns, hint)
}

// ToolsOf returns a server's tools that the filter selects, sorted by name.
func ToolsOf(all []*exec.Tool, server string, filter Filter) []*exec.Tool {
	var tools []*exec.Tool
	for _, tool := range all {
		if tool.Server == server && filter.SelectsTool(tool) {
			tools = append(tools, tool)
		}
	}
	slices.SortStableFunc(tools, func(a, b *exec.Tool) int { return cmp.Compare(a.Name, b.Name) })
	return tools
}

// ReportRest reports the servers that toolx continues with if some have failed (MCP-4).
func (b *Set) ReportRest(opened []servers.Opened) {
	if FirstFailure(opened) == nil || b.Chosen {
		return
	}
	var left []string
	for _, one := range opened {
		if one.Err == nil {
			left = append(left, one.Server)
		}
	}
	if len(left) > 0 {
		b.Out.Log.Warn("continuing with the tools of " + strings.Join(left, ", ") + ", and local tools")
		return
	}
	for _, tool := range ToolsOf(b.Registry.Offered(), "", Filter{}) {
		left = append(left, tool.Name)
	}
	b.Out.Log.Warn("continuing with local tools only: " + strings.Join(left, ", "))
}

// Bounded limits ctx to the time for a whole call, including connecting (--max-time, or maxTime in the config). subject
// is the call in the error. The clock stops while the user is asked.
func (b *Set) Bounded(ctx context.Context, subject exec.TimeoutError) (context.Context, func()) {
	return exec.WithMaxTime(ctx, b.Executor.Defaults.MaxTime, subject)
}

// GaveUp returns why a call has ended before its server was open: a time limit or an interruption. It returns nil if
// ctx has not ended; tool and server may be empty.
func GaveUp(ctx context.Context, tool, server string) error {
	if server != "" {
		return Ended(ctx, tool, fmt.Sprintf("server %q was not ready by then", server))
	}
	return Ended(ctx, tool, "no server was ready by then")
}

// Ended returns why ctx has ended before a call of the tool could be made, or nil if it has not. detail is what took
// the time.
func Ended(ctx context.Context, tool, detail string) error {
	var timeout *exec.TimeoutError
	switch {
	case ctx.Err() == nil:
		return nil
	case errors.As(context.Cause(ctx), &timeout):
		told := *timeout
		told.Detail = detail
		return &told
	}
	return &exec.InterruptedError{Tool: tool}
}

// SlowSchema is the detail of a timeout while toolx processes a tool's schema.
const SlowSchema = "processing its schema takes that long"

// NamedServers returns the servers with these names, without duplicates, or all servers without names. It fails if a
// server is unknown or if there are none.
func (b *Set) NamedServers(names []string) ([]string, error) {
	names, err := cli.ExpandClients(b.Config().Servers, names)
	if err != nil {
		return nil, err
	}
	wanted := ""
	if len(names) > 0 {
		wanted = names[0]
	}
	if err := b.NeedServers(wanted); err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := b.Pool.Known(name); err != nil {
			return nil, err
		}
	}
	if len(names) == 0 {
		return b.Pool.Names(), nil
	}
	return cli.Distinct(names), nil
}

// AddStartTiming adds the time of the server's start to the time of its call, and whether the server was running
// before.
func (b *Set) AddStartTiming(result *exec.Result) {
	session := b.Pool.Session(result.Server)
	if session == nil || result.Timing == nil {
		return
	}
	if kept := session.Attached; kept != nil {
		result.Session = &exec.SessionUse{Reused: kept.Reused, AgeMS: exec.Milliseconds(kept.Age)}
	}
	timing := session.Timing
	timing.CallMS = result.Timing.CallMS
	result.Timing = &timing
}

// AllowLogin lets the user at the terminal log in to the server in a name. A server that is only searched for a plain
// name never opens a browser.
func (b *Set) AllowLogin(name string) {
	switch {
	case !b.Out.Person():
	case b.AdHoc:
		b.Opener.Logins.To = config.AdHocName
	default:
		b.Opener.Logins.To = exec.ServerOf(name, b.Pool.Names())
	}
}

// AdHocServer returns the server on the command line; nil if there is none.
func (b *Set) AdHocServer() *config.Server {
	if !b.AdHoc {
		return nil
	}
	return b.Config().Servers[0]
}

// ListFailure returns the error of a listing: the first server's, if none answered or if strict is set. It was already
// reported to the user.
func ListFailure(opened []servers.Opened, strict bool) error {
	first := FirstFailure(opened)
	answered := slices.ContainsFunc(opened, func(one servers.Opened) bool { return one.Err == nil })
	if first == nil || answered && !strict {
		return nil
	}
	if strict && fault.KindOf(first) == fault.KindUsage {
		first = exit.Fail(first, fault.KindConnect, "") // any failure counts
	}
	return exit.Reported(first)
}

// ToolFacts returns facts about a tool besides its definition; timeout is the default timeout of calls.
func ToolFacts(ctx context.Context, tool *exec.Tool, timeout time.Duration) render.ToolFacts {
	facts := render.ToolFacts{Timeout: cmp.Or(tool.Timeout, timeout, exec.DefaultTimeout)}
	if arguments, err := tool.Input().Example(ctx); err == nil {
		facts.Example = exec.CommandLine(tool, arguments)
	}
	return facts
}
