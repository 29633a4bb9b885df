package servers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"toolx/pkg/exec"
	"toolx/pkg/servers/protocol"
	"toolx/pkg/servers/wire"
	"toolx/pkg/words"
)

// lookup looks for the tool that a name means.
type lookup struct {
	pool *Pool
	name string
}

func (l *lookup) find(ctx context.Context) (*exec.Tool, error) {
	registry := l.pool.options.Registry
	known := l.pool.known()
	if server := exec.ServerOf(l.name, known.disabled); server != "" && exec.ServerOf(l.name, known.order) == "" {
		return nil, Disabled(known.off[server])
	}
	if named := exec.ServersOf(l.name, known.order); len(named) > 0 {
		return l.findOnAny(ctx, named)
	}
	if tool := registry.Settled(l.name); tool != nil {
		return tool, nil
	}
	if preferred := registry.Preferred(); preferred != "" {
		return l.findOn(ctx, preferred)
	}
	owners := l.beginOwners(ctx)
	if err := waitAll(ctx, slices.Collect(maps.Values(owners)), triedOf); err != nil {
		return nil, err
	}
	if len(owners) > 0 {
		tool, err := registry.Find(l.name)
		var denied *exec.DeniedError // another server may have one that may be used
		if err == nil && !tool.BuiltIn || err != nil && !unknown(err) && !errors.As(err, &denied) {
			return l.chosen(tool, nil), err
		}
	}
	names, others := l.pool.known().order, []*exec.Tool(nil)
	if prefix, _, found := strings.Cut(l.name, exec.Separator); found && len(owners) == 0 {
		names, others = l.mayHave(prefix + exec.Separator)
	}
	tool, err := l.findOnAll(ctx, l.pool.beginAll(ctx, names, owners), owners)
	return tool, l.nearOthers(err, others)
}

// findOnAll looks for a plain name on all servers. owners are those that had such a tool.
func (l *lookup) findOnAll(
	ctx context.Context, openings []*opening, owners map[string]*opening,
) (*exec.Tool, error) {
	registry := l.pool.options.Registry
	if err := waitAll(ctx, openings, triedOf); err != nil {
		return nil, err
	}
	tool, err := registry.Find(l.name)
	if err == nil || !unknown(err) || namesNoServer(err) && len(owners) == 0 {
		return l.chosen(tool, openings), err
	}
	if err := waitAll(ctx, openings, func(o *opening) chan struct{} { return o.done }); err != nil {
		return nil, err
	}
	var wait sync.WaitGroup
	for _, o := range openings {
		if o.session != nil {
			wait.Go(func() { l.askAgain(ctx, o.session) })
		}
	}
	wait.Wait()
	if tool, err = registry.Find(l.name); err == nil || !unknown(err) {
		return l.chosen(tool, openings), err
	}
	return nil, l.unreached(err, openings, owners)
}

// chosen returns tool, and warns where the plain name could mean another one: a built-in tool, or that of a server that
// was not reached.
func (l *lookup) chosen(tool *exec.Tool, openings []*opening) *exec.Tool {
	if tool == nil {
		return nil
	}
	if shadowed := l.pool.options.Registry.Shadowed(tool); shadowed != nil {
		l.pool.note(fmt.Sprintf("%s is the tool of server '%s'; toolx's own is %s", l.name, tool.Server,
			l.pool.options.Registry.NameOf(shadowed)))
	}
	if !tool.BuiltIn {
		return tool
	}
	var missed []string
	var reasons []string
	for _, o := range openings {
		switch {
		case !wire.Closed(o.done): // a Retry has told why
			missed = append(missed, o.server)
		case o.err != nil:
			missed = append(missed, o.server)
			reasons = append(reasons, words.FirstLine(o.err.Error()))
		}
	}
	if len(missed) > 0 {
		reason := ""
		if len(reasons) > 0 {
			reason = " (" + strings.Join(reasons, "; ") + ")"
		}
		l.pool.note(fmt.Sprintf("%s is toolx's own tool: %s not reached%s, and no other server has a tool of that "+
			"name; %s%s%s asks no server", l.name, wereNames(missed), reason, exec.Own, exec.Separator, l.name))
	}
	return tool
}

// unreached adds the servers that were not reached to the error of an unknown name, a server that had it first.
func (l *lookup) unreached(err error, openings []*opening, owners map[string]*opening) error {
	failed := &UnreachedError{}
	errors.As(err, &failed.Missing)
	for _, o := range openings {
		switch one := (Opened{Server: o.server, Err: o.err}); {
		case o.err == nil:
		case owners[one.Server] != nil && failed.Owner == "":
			failed.Owner = one.Server
			failed.Failed = slices.Insert(failed.Failed, 0, one)
		default:
			failed.Failed = append(failed.Failed, one)
		}
	}
	if len(failed.Failed) == 0 {
		return err
	}
	failed.Alone = len(failed.Failed) == len(l.pool.known().order) && len(failed.Missing.Near) == 0
	return failed
}

// namesNoServer reports whether err is about a qualified name whose server does not exist (ROUTE-2). A tool's own name
// may look like one, so the servers were asked first; servers that are being retried are not waited for.
func namesNoServer(err error) bool {
	var missing *exec.NotFoundError
	return errors.As(err, &missing) && missing.UnknownServer != ""
}

// unknown reports whether err says that no tool has the name, rather than that several do.
func unknown(err error) bool {
	var missing *exec.NotFoundError
	return errors.As(err, &missing) && len(missing.Candidates) == 0
}

// findOnAny opens the servers that a qualified name may name, the longest first, until one has the tool.
func (l *lookup) findOnAny(ctx context.Context, named []string) (tool *exec.Tool, err error) {
	for _, server := range named {
		if tool, err = l.findOn(ctx, server); err == nil || !unknown(err) {
			return tool, err
		}
	}
	return nil, err
}

// findOn opens one server and then looks for the tool.
func (l *lookup) findOn(ctx context.Context, server string) (*exec.Tool, error) {
	session, err := l.pool.Open(ctx, server)
	if err != nil {
		return nil, err
	}
	tool, err := l.pool.options.Registry.Find(l.name)
	if err != nil && unknown(err) {
		l.askAgain(ctx, session)
		return l.pool.options.Registry.Find(l.name)
	}
	return tool, err
}

// askAgain makes sure that the tool is none of a session's: it lists the tools again if they are those of an
// earlier list, and waits for those that may still come.
func (l *lookup) askAgain(ctx context.Context, s *protocol.Session) {
	if s.ListAgain(ctx) {
		l.pool.options.Registry.ReplaceServer(s.Name, s.Tools()...)
	}
	s.AwaitTools(ctx, func() bool {
		_, err := l.pool.options.Registry.Find(l.name)
		return err == nil || !unknown(err)
	})
}

// beginOwners starts opening the servers that had a tool of that plain name when they were last asked. It says which
// may have one too, since nothing is known of them: to start them all would delay a name that is settled.
func (l *lookup) beginOwners(ctx context.Context) map[string]*opening {
	openings := make(map[string]*opening)
	if l.pool.options.Memory == nil {
		return openings
	}
	owners, unknown := l.pool.options.Memory.Owners(l.name)
	for _, server := range owners {
		if e := l.pool.known().entries[server]; e != nil {
			openings[server] = l.pool.begin(ctx, e, false)
		}
	}
	if len(openings) > 0 && len(unknown) > 0 {
		const text = "according to the catalogues, %s belongs to %s; not asked, because they have no catalogue: %s"
		l.pool.remark(fmt.Sprintf(text, l.name, strings.Join(owners, ", "), strings.Join(unknown, ", ")))
	}
	return openings
}

// mayHave returns the servers that may have a tool of a name whose server does not exist: those whose tools are not
// known from when they were last asked, and those of whose tools one has a name that begins alike, as a server has that
// passes on the tools of others. It says which are left out, and returns their tools.
func (l *lookup) mayHave(beginning string) (names []string, others []*exec.Tool) {
	set := l.pool.known() // which Change may replace
	if l.pool.options.Memory == nil {
		return set.order, nil
	}
	var left []string
	for _, server := range set.order {
		definitions, known := l.pool.options.Memory.Kept(set.entries[server].server)
		tools := protocol.DescribeTools(set.entries[server].server, definitions)
		begins := func(tool *exec.Tool) bool { return strings.HasPrefix(tool.Plain, beginning) }
		if !known || slices.ContainsFunc(tools, begins) {
			names = append(names, server)
			continue
		}
		left, others = append(left, server), append(others, tools...)
	}
	if len(left) > 0 {
		const text = "not asked for %s, because their catalogues have no tool whose name starts with %s: %s; " +
			"toolx list asks them"
		l.pool.remark(fmt.Sprintf(text, l.name, beginning, strings.Join(left, ", ")))
	}
	return names, others
}

// nearOthers lets the error of an unknown name suggest tools of servers that were not asked, too.
func (l *lookup) nearOthers(err error, others []*exec.Tool) error {
	var missing, wider *exec.NotFoundError
	if len(others) == 0 || !errors.As(err, &missing) {
		return err
	}
	all := exec.NewRegistry(nil)
	all.KnowServers(l.pool.known().order...)
	all.Register(append(l.pool.options.Registry.All(), others...)...)
	if _, again := all.Find(l.name); errors.As(again, &wider) {
		missing.Near = wider.Near
	}
	return err
}
