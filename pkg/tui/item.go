package tui

import (
	"cmp"
	"context"
	"encoding/json"

	"toolx/pkg/config"
	"toolx/pkg/exec"
	"toolx/pkg/servers/protocol"
)

// kind is a kind of item that a server, or toolx itself, offers.
type kind int

// The kinds, in the order of the tree.
const (
	kindTool kind = iota
	kindResource
	kindTemplate
	kindPrompt
)

// kinds has, for each kind, its name, the verb for its items, the request that runs an item, and how a server's list
// is read. The session itself lists tools.
var kinds = [...]struct {
	name, verb, past string
	request, listing string
	list             func(*protocol.Session, context.Context) ([]json.RawMessage, error)
	describe         func(*config.Server, json.RawMessage) (*exec.Tool, bool)
}{
	kindTool: {name: "tool", verb: "call", past: "called", request: "tools/call"},
	kindResource: {
		"resource", "read", "read", "resources/read", "resources/list",
		(*protocol.Session).Resources, describeResource,
	},
	kindTemplate: {
		"template", "read", "read", "resources/read", "resources/templates/list",
		(*protocol.Session).ResourceTemplates, protocol.DescribeTemplate,
	},
	kindPrompt: {
		"prompt", "get", "got", "prompts/get", "prompts/list",
		(*protocol.Session).Prompts, protocol.DescribePrompt,
	},
}

// String returns the name of a kind.
func (k kind) String() string { return kinds[k].name }

// verb returns the verb for using an item of the kind.
func (k kind) verb() string { return kinds[k].verb }

// request returns the method that runs an item of the kind.
func (k kind) request() string { return kinds[k].request }

// item is one thing to call, read or get. Resources and prompts are described by a Tool as well, so
// that form, page and tree handle one type; only real tools are ever called. The zero item means no
// item. Items that are equal are the same item from the same list.
type item struct {
	*exec.Tool
	kind kind
	// ambiguous reports whether other items of the list have the same title.
	ambiguous bool
}

// toolItem returns the item of a tool.
func toolItem(tool *exec.Tool) item { return item{Tool: tool, kind: kindTool} }

// none reports whether there is no item.
func (i item) none() bool { return i.Tool == nil }

// itemKey identifies an item across listings.
type itemKey struct {
	kind kind
	name string
}

// key returns the item's key; the zero item has the zero key.
func (i item) key() itemKey {
	if i.none() {
		return itemKey{}
	}
	return itemKey{i.kind, i.Name}
}

// label returns the item's name in the tree. URIs are long and have similar beginnings, so resources are shown by
// title.
func (i item) label() string {
	if i.resource() && !i.ambiguous {
		return cmp.Or(i.Title, i.Plain)
	}
	return i.Plain
}

// resource reports whether the item is read by its URI: a resource, or a template of resources.
func (i item) resource() bool { return i.kind == kindResource || i.kind == kindTemplate }

// describeResource describes a resource. It is read without arguments.
func describeResource(server *config.Server, definition json.RawMessage) (*exec.Tool, bool) {
	resource, ok := protocol.DescribeResource(server, definition)
	resource.InputSchema = json.RawMessage(`{"type":"object","additionalProperties":false}`)
	return resource, ok
}
