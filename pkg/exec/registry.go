package exec

import (
	"cmp"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/agnivade/levenshtein"
)

// Separator separates a server's name and a tool's in a qualified name.
const Separator = "__"

// Own is the prefix for toolx's own tools, in place of a server's name: toolx__echo is the built-in echo, even if
// servers have such a tool. A server with that name takes precedence.
const Own = "toolx"

// Registry is the one ordered collection of tools (REG-1). The zero value is
// empty and ready. It is safe for concurrent use.
type Registry struct {
	mu    sync.RWMutex
	tools []*Tool
	// denied are tools that guards do not allow. They are not indexed and only used for errors.
	denied []*Tool
	// byName has the tools of each name: several if different servers' and tools' names join to the same (a and b__c,
	// a__b and c). byPlain has all servers' tools of each plain name.
	byName  map[string][]*Tool
	byAlias map[string]*Tool
	byPlain map[string][]*Tool
	servers []string
	// preferred are the only servers whose tools are found; empty means all.
	preferred []string
	launch    []string // see ReachedBy
	bus       *Bus
}

// NewRegistry returns an empty Registry that announces replaced tools on bus, which may be nil.
func NewRegistry(bus *Bus) *Registry { return &Registry{bus: bus} }

// Prefer limits the tools to those of the named servers, as for servers on the command line. toolx's own tools are then
// found only with the prefix Own.
func (r *Registry) Prefer(servers ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.preferred = servers
}

// ReachedBy sets the words that a command needs to find the tools (see LaunchWords), for hints.
func (r *Registry) ReachedBy(words ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.launch = words
}

// Preferred returns the server of Prefer; empty if there are none or several.
func (r *Registry) Preferred() string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if len(r.preferred) != 1 {
		return ""
	}
	return r.preferred[0]
}

// KnowServers adds names of existing servers, opened or not, to distinguish an unknown prefix from an unknown tool
// (ROUTE-2).
func (r *Registry) KnowServers(names ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := make(map[string]bool, len(r.servers)+len(names))
	for _, name := range r.servers {
		known[name] = true
	}
	for _, name := range names {
		if !known[name] {
			known[name], r.servers = true, append(r.servers, name)
		}
	}
}

// Register adds tools in order. A tool of the same name and server replaces the earlier one, in its place, with a
// warning (REG-3).
func (r *Registry) Register(tools ...*Tool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.registerAll(tools)
}

// ReplaceServer replaces all tools of a server in one step, for example after it was listed again. Without tools it
// only removes them.
func (r *Registry) ReplaceServer(server string, tools ...*Tool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.removeServer(server)
	r.registerAll(tools)
}

func (r *Registry) registerAll(tools []*Tool) {
	if r.byName == nil {
		r.byName = make(map[string][]*Tool)
		r.byAlias = make(map[string]*Tool)
		r.byPlain = make(map[string][]*Tool)
	}
	for _, tool := range tools {
		r.register(tool)
	}
}

func (r *Registry) register(tool *Tool) {
	if tool.Denied() != nil {
		r.deny(tool)
		return
	}
	if old := r.registeredAs(tool); old != nil {
		r.bus.Emit(Notice{
			Time: Now(), Level: slog.LevelWarn, Server: tool.Server,
			Text: fmt.Sprintf("tool %q is defined twice: the later definition replaces the earlier one", tool.Name),
		})
		r.tools[slices.Index(r.tools, old)] = tool
		r.forget(old)
	} else {
		r.tools = append(r.tools, tool)
	}
	if builtIn := r.builtIn(tool.Name); builtIn != nil && tool.Server == "" && !tool.BuiltIn {
		text := fmt.Sprintf("tool %q is defined in the config", tool.Name)
		if own := r.reservedName(builtIn); own != "" {
			text += "; the built-in one is " + own
		}
		r.bus.Emit(Notice{Time: Now(), Level: slog.LevelWarn, Text: text})
	}
	r.byName[tool.Name] = append(r.byName[tool.Name], tool)
	for _, alias := range tool.Aliases {
		if first := r.byAlias[alias]; first != nil && first != tool {
			const text = "the alias %q of tool %q is ignored: it is an alias of %q"
			r.bus.Emit(Notice{
				Time: Now(), Level: slog.LevelWarn, Text: fmt.Sprintf(text, alias, tool.Name, first.Name),
			})
			continue
		}
		r.byAlias[alias] = tool
	}
	if tool.Server != "" {
		r.byPlain[tool.Plain] = append(r.byPlain[tool.Plain], tool)
	}
}

// deny adds a tool that guards do not allow, and removes an allowed one of the same name and server.
func (r *Registry) deny(tool *Tool) {
	if denied := tool.Denied(); len(denied.Changes) > 0 {
		r.bus.Emit(Notice{
			Time: Now(), Level: slog.LevelWarn, Server: tool.Server, Text: denied.Error(), Denied: true,
		})
	}
	if old := r.registeredAs(tool); old != nil {
		r.forget(old)
		r.tools = slices.DeleteFunc(slices.Clone(r.tools), func(t *Tool) bool { return t == old })
	}
	r.denied = append(r.denied, tool)
}

// deniedAs returns the denied tool of a name, nil if there is none. Without plain, name is a whole name; with plain, it
// is a plain name, an alias or a name with the prefix Own.
func (r *Registry) deniedAs(name string, plain bool) *Tool {
	at := slices.IndexFunc(r.denied, func(t *Tool) bool {
		switch {
		case !plain:
			return t.Server != "" && t.Name == name
		case len(r.preferred) > 0:
			return slices.Contains(r.preferred, t.Server) && t.Plain == name
		}
		return t.Plain == name || slices.Contains(t.Aliases, name) || t.Server == "" && name == Own+Separator+t.Name
	})
	if at < 0 {
		return nil
	}
	return r.denied[at]
}

// registeredAs returns the registered tool with the same name and origin: the same server, the config, or built in.
func (r *Registry) registeredAs(tool *Tool) *Tool {
	for _, old := range r.byName[tool.Name] {
		if old.Server == tool.Server && old.BuiltIn == tool.BuiltIn {
			return old
		}
	}
	return nil
}

// builtIn returns the built-in tool of that name, nil if there is none.
func (r *Registry) builtIn(name string) *Tool {
	return r.first(name, func(t *Tool) bool { return t.BuiltIn })
}

// first returns the first registered tool of that name that fits, nil if none does.
func (r *Registry) first(name string, fits func(*Tool) bool) *Tool {
	if at := slices.IndexFunc(r.byName[name], fits); at >= 0 {
		return r.byName[name][at]
	}
	return nil
}

// forget removes a tool from the indexes.
func (r *Registry) forget(old *Tool) {
	dropFrom(r.byName, old.Name, old)
	dropFrom(r.byPlain, old.Plain, old)
	for _, alias := range old.Aliases {
		if r.byAlias[alias] == old {
			delete(r.byAlias, alias)
		}
	}
}

// dropFrom removes a tool from an index, and a name without tools, since a server may list other names each time.
func dropFrom(index map[string][]*Tool, name string, old *Tool) {
	left := slices.DeleteFunc(index[name], func(t *Tool) bool { return t == old })
	if len(left) == 0 {
		delete(index, name)
		return
	}
	index[name] = left
}

// removeServer removes every tool of one server; the caller holds the lock.
func (r *Registry) removeServer(server string) {
	kept := r.tools[:0:0]
	for _, tool := range r.tools {
		if tool.Server == server {
			r.forget(tool)
			continue
		}
		kept = append(kept, tool)
	}
	r.tools = kept
	r.denied = slices.DeleteFunc(slices.Clone(r.denied), func(t *Tool) bool { return t.Server == server })
}

// All returns every tool that may be used, in the order of registration.
func (r *Registry) All() []*Tool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Clone(r.tools)
}

// Denied returns the tools that may not be used, in the order of registration.
func (r *Registry) Denied() []*Tool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Clone(r.denied)
}

// Offered returns the tools that are found by their own names, in the order of registration: only those of preferred
// servers, if any, and no built-in one whose name another tool has.
func (r *Registry) Offered() []*Tool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.DeleteFunc(slices.Clone(r.tools), r.hidden)
}

// hidden reports whether one of toolx's own tools is found only with the prefix Own.
func (r *Registry) hidden(tool *Tool) bool {
	taken := tool.BuiltIn &&
		(len(r.byPlain[tool.Name]) > 0 || r.byAlias[tool.Name] != nil || len(r.byName[tool.Name]) > 1)
	return tool.Server == "" && (len(r.preferred) > 0 || taken)
}

// NameOf returns a name with which Find returns the tool: its own, or the one with the prefix Own; empty if there is
// none.
func (r *Registry) NameOf(tool *Tool) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.nameOf(tool)
}

func (r *Registry) nameOf(tool *Tool) string {
	if r.hidden(tool) {
		return r.reservedName(tool)
	}
	return tool.Name
}

// reservedName returns the name with the prefix Own of one of toolx's own tools; empty for other tools, and if a server
// has that prefix.
func (r *Registry) reservedName(tool *Tool) string {
	name := Own + Separator + tool.Name
	if tool.Server != "" || ServerOf(name, r.servers) != "" {
		return ""
	}
	return name
}

// Find returns the tool of that name (REG-4): its qualified name, the name or an alias of a tool of the config, its
// plain name where only one server has it, or the name of a built-in tool. If several tools have the same qualified
// name, the one of the server with the longest name wins. It never guesses: anything else is a *NotFoundError with the
// nearest names, or a *DeniedError if the tool may not be used.
func (r *Registry) Find(name string) (*Tool, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if tool := r.reserved(name); tool != nil && tool.BuiltIn {
		return tool, nil // even if the config has a tool with this name
	}
	plain, named := r.byPlain[name], r.named(name)
	preferred := func(tool *Tool) bool { return slices.Contains(r.preferred, tool.Server) }
	if len(r.preferred) > 0 {
		plain = slices.DeleteFunc(slices.Clone(plain), func(tool *Tool) bool { return !preferred(tool) })
		if len(plain) == 1 {
			return plain[0], nil
		}
		if named != nil && named.Server == "" {
			named = nil
		}
	}
	switch denied := r.deniedAs(name, false); {
	case named != nil && !named.BuiltIn:
		return named, nil
	case denied != nil:
		return nil, denied.Denied()
	case len(plain) == 1:
		return plain[0], nil
	case len(plain) > 1:
		return nil, r.ambiguous(name, plain, named)
	case named != nil:
		return named, nil
	}
	if tool := r.reserved(name); tool != nil {
		return tool, nil
	}
	if denied := r.deniedAs(name, true); denied != nil {
		return nil, denied.Denied()
	}
	missing := &NotFoundError{Name: name, Servers: slices.Clone(r.servers)}
	if prefix, _, ok := strings.Cut(name, Separator); ok && prefix != Own && ServerOf(name, r.servers) == "" {
		missing.UnknownServer = prefix
	}
	missing.Near, missing.Launch = r.near(name), r.launch
	missing.NoTools = len(r.preferred) > 0 && !slices.ContainsFunc(r.tools, preferred)
	return nil, missing
}

// ambiguous returns the error for a plain name of several servers' tools, and perhaps of a built-in one.
func (r *Registry) ambiguous(name string, plain []*Tool, builtIn *Tool) *NotFoundError {
	missing := &NotFoundError{Name: name, Servers: slices.Clone(r.servers), Launch: r.launch}
	for _, tool := range plain {
		missing.Candidates = append(missing.Candidates, tool.Name)
	}
	slices.Sort(missing.Candidates)
	if builtIn != nil && r.reservedName(builtIn) != "" {
		missing.Candidates = append(missing.Candidates, r.reservedName(builtIn))
	}
	return missing
}

// reserved returns the tool of a name with the prefix Own: the built-in one, else the config's; nil if there is none.
func (r *Registry) reserved(name string) *Tool {
	rest, ok := strings.CutPrefix(name, Own+Separator)
	if !ok || ServerOf(name, r.servers) != "" {
		return nil
	}
	if tool := r.builtIn(rest); tool != nil {
		return tool
	}
	if tool := r.first(rest, func(t *Tool) bool { return t.Server == "" }); tool != nil {
		return tool
	}
	if tool := r.byAlias[rest]; tool != nil && tool.Server == "" {
		return tool
	}
	return nil
}

// Settled returns the tool of a name that no server can have: one of the config, or one with the prefix Own; nil if
// servers may have it.
func (r *Registry) Settled(name string) *Tool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if tool := r.reserved(name); tool != nil && tool.BuiltIn {
		return tool
	}
	if tool := r.named(name); len(r.preferred) == 0 && tool != nil && tool.Server == "" && !tool.BuiltIn {
		return tool
	}
	return r.reserved(name)
}

// Shadowed returns the built-in tool that a server's tool hides, nil if there is none.
func (r *Registry) Shadowed(tool *Tool) *Tool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if named := r.named(tool.Plain); tool.Server != "" && named != nil && named.BuiltIn {
		return named
	}
	return nil
}

// named returns the tool of a qualified name or an alias, nil if there is none. An alias, which is from the config,
// wins over a built-in tool.
func (r *Registry) named(name string) *Tool {
	alias := r.byAlias[name]
	tools := r.byName[name]
	if len(tools) == 0 || alias != nil && len(tools) == 1 && tools[0].BuiltIn {
		return alias
	}
	rank := func(tool *Tool) int { // the config's tool wins over a built-in one
		if tool.BuiltIn {
			return -1
		}
		return len(tool.Server)
	}
	return slices.MaxFunc(tools, func(a, b *Tool) int { return cmp.Compare(rank(a), rank(b)) })
}

// ServerOf returns the server in a qualified name "server__tool", empty if there is none. A server's name can contain
// "__": the longest wins.
func ServerOf(name string, servers []string) string {
	if all := ServersOf(name, servers); len(all) > 0 {
		return all[0]
	}
	return ""
}

// ServersOf returns all possible servers of a qualified name, the longest first: "a__b__c" may be c of a server a__b,
// or b__c of a server a.
func ServersOf(name string, servers []string) []string {
	var all []string
	for _, server := range servers {
		if server != "" && strings.HasPrefix(name, server+Separator) {
			all = append(all, server)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return all
}

// MeansServer reports whether a name or glob can only refer to a server's tools: the part before Separator has a
// client's prefix, or a glob follows it. Any other may be a tool's plain name.
func MeansServer(name string) bool {
	const wild = `*?[\`
	server, tool, found := strings.Cut(name, Separator)
	return found && !strings.ContainsAny(server, wild) &&
		(strings.Contains(server, ":") || strings.ContainsAny(tool, wild))
}

// Near returns at most three names of tools similar to a misspelt one, best first.
func Near(name string, tools ...*Tool) []string { return (&Registry{tools: tools}).near(name) }

// near returns at most three similar names, best first.
func (r *Registry) near(name string) []string {
	type candidate struct {
		name, server string
		distance     int
		rank         int // a server's tool ranks before one of toolx's own
	}
	var candidates []candidate
	wanted := strings.ToLower(name)
	for _, tool := range r.tools {
		shown := r.nameOf(tool)
		if shown == "" {
			continue
		}
		if reserved := r.reservedName(tool); reserved != "" && strings.HasPrefix(wanted, Own+Separator) {
			shown = reserved
		}
		distance := math.MaxInt
		for _, known := range append([]string{shown, tool.Plain}, tool.Aliases...) {
			distance = min(distance, levenshtein.ComputeDistance(wanted, strings.ToLower(known)))
		}
		contained := len(wanted) >= 3 && strings.Contains(strings.ToLower(shown), wanted)
		if distance <= max(2, len(wanted)/3) || contained {
			rank := 0
			if tool.BuiltIn {
				rank = 1
			}
			candidates = append(candidates, candidate{shown, tool.Server, distance, rank})
		}
	}
	// Servers register in the order in which they start, which varies.
	slices.SortStableFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.rank, b.rank), cmp.Compare(a.server, b.server))
	})
	var names []string
	for _, c := range candidates[:min(3, len(candidates))] {
		names = append(names, c.name)
	}
	return names
}
