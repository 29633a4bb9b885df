package exec

import (
	"maps"
	"slices"
	"strconv"
)

// addUnknown reports every name in the arguments that the schema does not know,
// at any depth (VAL-2).
func (r *report) addUnknown() {
	walker := unknownWalker{report: r, shapes: make(map[uintptr]*shape), left: maxSteps}
	walker.visit(r.document.root, r.value, nil)
}

// unknownWalker goes through arguments and schema side by side.
type unknownWalker struct {
	report *report
	shapes map[uintptr]*shape
	left   int // values still to be looked at; the rest goes without warnings
}

// shape is what a schema knows about the names in an object.
type shape struct {
	parts []map[string]any
	names []string
	// plain says that the names are all there is: some are listed, maybe none.
	plain bool
	// open says that further names are welcome by the schema's own word.
	open bool
}

func (w *unknownWalker) shapeOf(schema any) *shape {
	object, ok := schema.(map[string]any)
	if !ok {
		return &shape{}
	}
	if known := w.shapes[identity(object)]; known != nil {
		return known
	}
	d := w.report.document
	found := &shape{parts: d.branches(schema), names: d.names(schema)}
	for _, part := range found.parts {
		if _, ok := part["properties"]; ok {
			found.plain = true
		}
		found.open = found.open || welcomes(part, "additionalProperties") || welcomes(part, "unevaluatedProperties")
	}
	w.shapes[identity(object)] = found
	return found
}

// welcomes says that a keyword is there and is not false.
func welcomes(part map[string]any, keyword string) bool {
	value, ok := part[keyword]
	return ok && value != false
}

func (w *unknownWalker) visit(schema, value any, path []string) {
	if w.left--; w.left < 0 {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		shape := w.shapeOf(schema)
		for _, name := range slices.Sorted(maps.Keys(value)) {
			below := append(slices.Clone(path), name)
			w.judge(shape, name, below)
			if property, ok := w.property(shape, schema, name); ok {
				w.visit(property, value[name], below)
			}
		}
	case []any:
		for i, element := range value {
			if !kindOf(element).has(kindObject | kindArray) {
				continue
			}
			if items, ok := w.report.document.element(schema, i); ok {
				w.visit(items, element, append(slices.Clone(path), strconv.Itoa(i)))
			}
		}
	}
}

// property returns what any branch says about a name.
func (w *unknownWalker) property(shape *shape, schema any, name string) (any, bool) {
	if some := propertiesNamed(shape.parts, name); len(some) > 0 {
		return join("anyOf", some), true
	}
	return w.report.document.property(schema, name)
}

// judge reports a name that shape does not know. Where a schema lists names and
// welcomes others too, only what looks like a misspelling is worth a warning;
// where it lists none, nothing is.
func (w *unknownWalker) judge(shape *shape, name string, path []string) {
	if !shape.plain || slices.Contains(shape.names, name) {
		return
	}
	for _, part := range shape.parts {
		if len(patternProperties(part, name)) > 0 {
			return
		}
	}
	if shape.open && nearest(name, shape.names) == "" {
		return
	}
	w.report.addUnknownParameter(path, shape.names)
}
