package tui

import (
	"encoding/json"

	"toolx/pkg/config"
	"toolx/pkg/servers/protocol"
)

// serverList is one of the lists that a server may have besides its tools.
type serverList struct {
	kind   kind
	items  []item
	closed bool
	// offered reports whether the server offers the list, listed whether it was read.
	offered, listed bool
	// reading is the session that is reading the list, nil if none is. again reports whether the list has
	// changed since that request.
	reading *protocol.Session
	again   bool
	failure string // why it could not be read the last time; not safe
}

// newServerLists returns the lists that a server may have, closed.
func newServerLists() []*serverList {
	return []*serverList{
		{kind: kindResource, closed: true}, {kind: kindTemplate, closed: true}, {kind: kindPrompt, closed: true},
	}
}

// shown reports whether the list is shown in the tree. Templates have no capability of their own, and
// most servers with resources have no templates.
func (s *serverList) shown() bool {
	return s.offered && (s.kind != kindTemplate || len(s.items) > 0 || s.failure != "")
}

// name returns the list's name in the tree.
func (s *serverList) name() string { return s.kind.String() + "s" }

// itemsOf makes items from a server's list, in its order. Of items with the same name the last one
// counts. Titles that do not distinguish resources are shown only on their pages.
func itemsOf(k kind, server *config.Server, definitions []json.RawMessage) []item {
	items := make([]item, 0, len(definitions))
	places := make(map[string]int, len(definitions))
	titles := make(map[string]int, len(definitions))
	for _, definition := range definitions {
		tool, ok := kinds[k].describe(server, definition)
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

// clear forgets the items of a list that the server no longer has.
func (s *serverList) clear() { *s = serverList{kind: s.kind, closed: s.closed} }
