package tui

import (
	"context"
	"encoding/json"
	"slices"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers"
)

// shelf is one of the lists that a server may have beside its tools.
type shelf struct {
	kind   kind
	items  []item
	closed bool
	// offered says that the server has such a list, listed that it was read.
	offered, listed bool
	// reading is the session that is being asked for the list, nil for none; again says
	// that the list has changed meanwhile.
	reading *servers.Session
	again   bool
	failure string // why it could not be read the last time; not safe
}

// newShelves are the lists that a server may have, closed.
func newShelves() []*shelf {
	return []*shelf{{kind: kindResource, closed: true}, {kind: kindTemplate, closed: true}, {kind: kindPrompt, closed: true}}
}

// shown reports whether the shelf has a place in the tree. Templates have no capability of
// their own: most servers with resources have none.
func (s *shelf) shown() bool {
	return s.offered && (s.kind != kindTemplate || len(s.items) > 0 || s.failure != "")
}

// name is what the tree calls the shelf.
func (s *shelf) name() string { return s.kind.String() + "s" }

// method is the request for a list of a kind.
func (k kind) method() string {
	switch k {
	case kindResource:
		return "resources/list"
	case kindTemplate:
		return "resources/templates/list"
	}
	return "prompts/list"
}

// list asks a session for all of a kind.
func (k kind) list(ctx context.Context, session *servers.Session) ([]json.RawMessage, error) {
	switch k {
	case kindResource:
		return session.Resources(ctx)
	case kindTemplate:
		return session.ResourceTemplates(ctx)
	}
	return session.Prompts(ctx)
}

// describe makes what describes one of a kind.
func (k kind) describe(server *config.Server, definition json.RawMessage) (*exec.Tool, bool) {
	switch k {
	case kindResource:
		return servers.DescribeResource(server, definition)
	case kindTemplate:
		return servers.DescribeTemplate(server, definition)
	}
	return servers.DescribePrompt(server, definition)
}

// itemsOf makes items of what a server lists, in its order. Of several that have the
// same name the last one counts; titles that do not tell resources apart are left to
// their pages.
func itemsOf(k kind, server *config.Server, definitions []json.RawMessage) []item {
	items := make([]item, 0, len(definitions))
	places := make(map[string]int, len(definitions))
	titles := make(map[string]int, len(definitions))
	for _, definition := range definitions {
		tool, ok := k.describe(server, definition)
		if !ok {
			continue
		}
		if at, twice := places[tool.Name]; twice {
			items[at] = item{Tool: tool, kind: k}
			continue
		}
		places[tool.Name] = len(items)
		items = append(items, item{Tool: tool, kind: k})
		titles[tool.Title]++
	}
	for i := range items {
		items[i].ambiguous = titles[items[i].Title] > 1
	}
	return items
}

// clear forgets what a server has that does not have it any more.
func (s *shelf) clear() { *s = shelf{kind: s.kind, closed: s.closed} }

// find is the item of a name.
func (s *shelf) find(name string) (item, bool) {
	at := slices.IndexFunc(s.items, func(one item) bool { return one.Name == name })
	if at < 0 {
		return item{}, false
	}
	return s.items[at], true
}
