package tui

import (
	"cmp"

	"toolx/pkg/exec"
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

// String returns the name of a kind.
func (k kind) String() string {
	return [...]string{"tool", "resource", "template", "prompt"}[k]
}

// verb returns what one does with an item of the kind.
func (k kind) verb() string {
	return [...]string{"call", "read", "read", "get"}[k]
}

// past returns the past tense of verb.
func (k kind) past() string {
	return [...]string{"called", "read", "read", "got"}[k]
}

// request returns the method that runs an item of the kind.
func (k kind) request() string {
	return [...]string{"tools/call", "resources/read", "resources/read", "prompts/get"}[k]
}

// item is one thing to call, read or get. Resources and prompts are described by a Tool as well, so
// that form, page and tree handle one type; only real tools are ever called. The zero item means no
// item. Items that are equal are the same item from the same list.
type item struct {
	*exec.Tool
	kind kind
	// ambiguous says that other items of the list have the same title.
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

// label returns the item's name in the tree. URIs are long and begin alike, so resources are shown by
// title.
func (i item) label() string {
	if (i.kind == kindResource || i.kind == kindTemplate) && !i.ambiguous {
		return cmp.Or(i.Title, i.Plain)
	}
	return i.Plain
}

// heading returns the item's name on its page.
func (i item) heading() string {
	if i.kind == kindResource || i.kind == kindTemplate {
		return i.Server + " " + i.label()
	}
	return i.Name
}

// fillable reports whether the item has a form.
func (i item) fillable() bool { return !i.none() && i.kind != kindResource }
