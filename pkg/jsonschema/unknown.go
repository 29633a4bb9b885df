package jsonschema

import (
	"maps"
	"slices"
	"strconv"

	"toolx/pkg/words"
)

// comparing returns the steps for comparing a name with others.
func comparing(known []string) int { return len(known) / 2 }

// addUnknown reports every name in the arguments that the schema lacks, at any depth (VAL-2), until the budget is used
// up.
func (r *report) addUnknown(budget *budget) {
	walker := unknownWalker{report: r, shapes: make(map[*Node]*nameShape), budget: budget}
	walker.visit(r.document.root, r.value, nil)
}

// unknownWalker walks arguments and schema in parallel.
type unknownWalker struct {
	report *report
	shapes map[*Node]*nameShape
	budget *budget
}

// nameShape is what a schema contains about the names in an object.
type nameShape struct {
	parts Parts
	names *names
	// plain reports whether the names are complete: some are declared, possibly none.
	plain bool
	// open reports whether the schema explicitly accepts further names.
	open bool
}

func (w *unknownWalker) shapeOf(schema *Node) *nameShape {
	if known := w.shapes[schema]; known != nil {
		return known
	}
	found := schema.doc.shapeOf(schema)
	w.shapes[schema] = found
	return found
}

// shapeOf returns the shape of a schema. The root's is cached because every call needs it. A schema that was joined
// from several has no document.
func (d *Document) shapeOf(schema *Node) *nameShape {
	if d == nil || schema != d.root {
		return newNameShape(schema)
	}
	d.rootShapeOnce.Do(func() { d.rootShape = newNameShape(schema) })
	return d.rootShape
}

func newNameShape(schema *Node) *nameShape {
	shape := &nameShape{parts: schema.Branches(), names: newNames(schema.Branches().Names())}
	for _, part := range shape.parts {
		shape.plain = shape.plain || part.Get("properties") != nil
		shape.open = shape.open || accepts(part, "additionalProperties") || accepts(part, "unevaluatedProperties")
	}
	return shape
}

func (w *unknownWalker) visit(schema *Node, value any, path []string) {
	switch value := value.(type) {
	case map[string]any:
		shape := w.shapeOf(schema)
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if w.budget.spend(1+len(shape.parts)/itemsPerStep) != nil {
				return
			}
			below := append(slices.Clone(path), name)
			w.judge(shape, name, below)
			if !KindOf(value[name]).Has(Object | Array) {
				continue
			}
			if property, ok := shape.property(schema, name); ok {
				w.visit(property, value[name], below)
			}
		}
	case []any:
		for i, element := range value {
			if !KindOf(element).Has(Object | Array) {
				continue
			}
			if w.budget.spend(1) != nil {
				return
			}
			if items, ok := schema.Element(i); ok {
				w.visit(items, element, append(slices.Clone(path), strconv.Itoa(i)))
			}
		}
	}
}

// property returns the schema of a name in any branch.
func (s *nameShape) property(schema *Node, name string) (*Node, bool) {
	if some := s.parts.named(name); len(some) > 0 {
		return join("anyOf", some), true
	}
	return schema.Property(name)
}

// judge reports an unknown name. If a schema declares names and accepts others too, only likely
// misspellings are reported; if it declares none, nothing is.
func (w *unknownWalker) judge(shape *nameShape, name string, path []string) {
	if !shape.plain || shape.names.set[name] || shape.parts.HasPattern(name) {
		return
	}
	if shape.open && !w.looksMisspelt(name, shape.names.sorted) {
		return
	}
	w.report.addUnknownParameter(path, shape.names.sorted)
}

func (w *unknownWalker) looksMisspelt(name string, known []string) bool {
	return w.budget.spend(comparing(known)) == nil && words.Nearest(name, known) != ""
}
