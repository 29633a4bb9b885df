package tui

import (
	"cmp"

	"toolx/pkg/exec"
)

// kind is what a server, or toolx itself, has to offer.
type kind int

// The kinds, in the order of the tree.
const (
	kindTool kind = iota
	kindResource
	kindTemplate
	kindPrompt
)

// String names a kind.
func (k kind) String() string {
	return [...]string{"tool", "resource", "template", "prompt"}[k]
}

// verb is what is done with one of a kind.
func (k kind) verb() string {
	return [...]string{"call", "read", "read", "get"}[k]
}

// past is what was done with one of a kind.
func (k kind) past() string {
	return [...]string{"called", "read", "read", "got"}[k]
}

// request is the method that runs one of a kind.
func (k kind) request() string {
	return [...]string{"tools/call", "resources/read", "resources/read", "prompts/get"}[k]
}

// item is one thing to call, read or get. What is no tool is described by one, so
// that form, page and tree see one shape; only a tool is ever called. The zero item
// is none. Items that are equal are the same thing, from the same list.
type item struct {
	*exec.Tool
	kind kind
	// ambiguous says that others of its list have the same title.
	ambiguous bool
}

// toolItem is the item of a tool.
func toolItem(tool *exec.Tool) item { return item{Tool: tool, kind: kindTool} }

// none reports whether there is no item.
func (i item) none() bool { return i.Tool == nil }

// itemKey tells an item again after it was listed anew.
type itemKey struct {
	kind kind
	name string
}

// key is the item's key; that of the zero item is the zero key.
func (i item) key() itemKey {
	if i.none() {
		return itemKey{}
	}
	return itemKey{i.kind, i.Name}
}

// label is what the tree calls the item: URIs are long, and alike at their beginning.
func (i item) label() string {
	if (i.kind == kindResource || i.kind == kindTemplate) && !i.ambiguous {
		return cmp.Or(i.Title, i.Plain)
	}
	return i.Plain
}

// heading is what its page calls the item.
func (i item) heading() string {
	if i.kind == kindResource || i.kind == kindTemplate {
		return i.Server + " " + i.label()
	}
	return i.Name
}

// fillable reports whether the item has a form.
func (i item) fillable() bool { return !i.none() && i.kind != kindResource }
