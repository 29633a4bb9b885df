// Package jsonschema reads JSON Schemas that strangers wrote. A Document is one schema,
// parsed once. Its Nodes answer what toolx asks of it: where a reference leads, which
// names and kinds of value a place allows, what a form shows there (Shape), which
// arguments would fit (Example). A Schema is the same document compiled: it says what is
// wrong with a value (Problem).
//
// Schemas come from servers. They may be broken, which leaves questions with useful
// answers, and they may be hostile, so that every question has a bound.
package jsonschema

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
	"sync"
	"unicode/utf8"

	"toolx/pkg/rawjson"
)

// Document is one schema. It is read leniently: what is not one answers every question
// with "anything". It is safe for concurrent use.
type Document struct {
	raw  json.RawMessage // as its owner wrote it
	root *Node           // whose references are pointers

	compile  sync.Once
	compiled *Schema
	err      error

	mu      sync.Mutex // guards matcher
	matcher *matcher   // of patternProperties; made when first needed
}

// Parse reads the text of a schema. It never fails; Compile says what is wrong with it. A
// schema over MaxSize answers every question with "anything", like one that is none.
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
	d.root = &Node{doc: d, raw: LocalReferences(text)}
	return d
}

// Root returns the whole schema.
func (d *Document) Root() *Node { return d.root }

// TooLarge reports whether the schema is over MaxSize, so that none of it was read.
func (d *Document) TooLarge() bool { return len(d.raw) > MaxSize }

// Compile compiles the schema, once. An error means that the schema is broken (VAL-3):
// callers warn and skip validation.
func (d *Document) Compile() (*Schema, error) {
	d.compile.Do(func() { d.compiled, d.err = compileDocument(d) })
	return d.compiled, d.err
}

// Schema returns the compiled schema; where that is broken, one that accepts every object.
func (d *Document) Schema() *Schema {
	schema, err := d.Compile()
	if err != nil {
		return unchecked()
	}
	return schema
}

// Resolve follows a reference within the document (RFC 6901, as a URI fragment); nil
// where it leads out of it or nowhere. References by other names than pointers are
// pointers already (see LocalReferences).
func (d *Document) Resolve(reference string) *Node {
	pointer, local := strings.CutPrefix(reference, "#")
	if text, err := url.PathUnescape(pointer); err == nil {
		pointer = text
	}
	if !local || pointer != "" && pointer[0] != '/' {
		return nil
	}
	at := d.root
	for _, token := range rawjson.Tokens(pointer) {
		at = at.child(token)
	}
	return at
}

// matches reports whether a name matches a pattern of patternProperties.
func (d *Document) matches(pattern, name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.matcher == nil {
		d.matcher = newMatcher()
	}
	return d.matcher.match(pattern, name)
}
