// Package jsonschema reads JSON Schemas of any origin. A Document is one schema, parsed once. Its Nodes answer
// questions about it: where a reference leads, which names and kinds of value a place allows, how a form shows it
// (Shape), which arguments fit (Example). A Schema is the compiled document: it reports what is wrong with a
// value (Problem).
//
// Schemas come from servers. They may be broken, so every question still gets a useful answer, and they may be hostile,
// so every question has a bound.
package jsonschema

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"sync"
	"unicode/utf8"
)

// Document is one schema. It is read leniently: text that is not a schema allows anything. It is safe for concurrent
// use.
type Document struct {
	raw  json.RawMessage // as written by its owner
	root *Node           // its references are pointers

	compile  sync.Once
	done     chan struct{} // closed when the two below are set
	compiled *Schema
	err      error

	quickOnce sync.Once
	quick     *Quick // nil if it does not support the schema

	rootShapeOnce sync.Once
	rootShape     *nameShape // see shapeOf

	mu      sync.Mutex // guards matcher
	matcher *matcher   // of patternProperties; created when first needed
}

// Parse reads the text of a schema. It never fails; Compile reports errors. A schema over MaxSize allows anything, like
// a missing schema.
func Parse(raw json.RawMessage) *Document {
	d := &Document{raw: raw}
	if d.TooLarge() {
		d.root = &Node{doc: d}
		return d
	}
	text := raw
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	if !json.Valid(text) {
		text = nil
	}
	d.root = d.Fragment(localReferences(text))
	return d
}

// Root returns the whole schema.
func (d *Document) Root() *Node { return d.root }

// Fragment reads the text of a schema whose references lead into the document.
func (d *Document) Fragment(text json.RawMessage) *Node { return &Node{doc: d, raw: text} }

// Raw returns the schema as its owner wrote it.
func (d *Document) Raw() json.RawMessage { return d.raw }

// Unreadable reports whether the text is not JSON, or nested deeper than JSON decoders read.
func (d *Document) Unreadable() bool { return d.root.raw == nil && !d.TooLarge() }

// TooLarge reports whether the schema is over MaxSize, so that none of it was read.
func (d *Document) TooLarge() bool { return len(d.raw) > MaxSize }

// Compile compiles the schema, once. An error means that the schema is broken (VAL-3): callers warn and skip
// validation. If ctx ends first, the error is that of ctx; the compiler, which cannot be stopped, then finishes in the
// background (see checkCompileWork).
func (d *Document) Compile(ctx context.Context) (*Schema, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d.compile.Do(func() {
		d.done = make(chan struct{})
		go func() {
			defer close(d.done)
			d.compiled, d.err = compileDocument(d)
		}()
	})
	select {
	case <-d.done:
		return d.compiled, d.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Schema returns the compiled schema, or one that accepts every object if it is broken or ctx ends first.
func (d *Document) Schema(ctx context.Context) *Schema {
	schema, err := d.Compile(ctx)
	if err != nil {
		return unchecked()
	}
	return schema
}

// Resolve follows a reference within the document (RFC 6901, as a URI fragment); nil if it leads out of it or nowhere.
// All references in the document are pointers (see localReferences).
func (d *Document) Resolve(reference string) *Node {
	pointer, local := LocalPointer(reference)
	if !local || d == nil {
		return nil
	}
	return d.root.at(pointer)
}

// LocalPointer returns the JSON pointer of a reference within its document (RFC 6901, section 6), and reports whether
// it is one.
func LocalPointer(reference string) (pointer string, ok bool) {
	pointer, ok = strings.CutPrefix(reference, "#")
	if text, err := url.PathUnescape(pointer); err == nil {
		pointer = text
	}
	return pointer, ok && (pointer == "" || pointer[0] == '/')
}

// matches reports whether a name matches a pattern of patternProperties; every name does after the budget is used up.
func (d *Document) matches(budget *budget, pattern, name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.matcher == nil {
		d.matcher = newMatcher()
	}
	return d.matcher.match(budget, pattern, name)
}
