package exec

import (
	"maps"
	"slices"
	"strconv"
)

// unknownTexts are the warnings of unknown parameters, of the first and of how many
// more there are.
func unknownTexts(unknown []UnknownParameter) []string {
	var texts []string
	for _, parameter := range unknown[:min(len(unknown), maxNamed)] {
		texts = append(texts, parameter.String())
	}
	return append(texts, andMore(len(unknown), "unknown parameters")...)
}

// Limits of looking for unknown parameters; what is left goes without warnings.
const (
	maxUnknownWork = 2_000_000 // names times the schema's parts
	maxComparisons = 200_000   // of one name with another
)

// addUnknown reports every name in the arguments that the schema does not know,
// at any depth (VAL-2).
func (r *report) addUnknown() {
	walker := unknownWalker{report: r, shapes: make(map[uintptr]*shape), left: maxUnknownWork, comparisons: maxComparisons}
	walker.visit(r.document.root, r.value, nil)
}

// unknownWalker goes through arguments and schema side by side.
type unknownWalker struct {
	report      *report
	shapes      map[uintptr]*shape
	left        int // work still to be done
	comparisons int // names still to be compared
}

// shape is what a schema knows about the names in an object.
type shape struct {
	parts []map[string]any
	names *names
	// plain says that the names are all there is: some are listed, maybe none.
	plain bool
	// open says that further names are welcome by the schema's own word.
	open bool
}

func (w *unknownWalker) shapeOf(schema any) *shape {
	object, ok := schema.(map[string]any)
	if !ok {
		return &shape{names: &names{}}
	}
	if known := w.shapes[identity(object)]; known != nil {
		return known
	}
	d := w.report.document
	set := d.nameSet(schema)
	found := &shape{parts: d.branches(schema), names: &names{set: set, sorted: slices.Sorted(maps.Keys(set))}}
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
	switch value := value.(type) {
	case map[string]any:
		shape := w.shapeOf(schema)
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if w.left -= 1 + len(shape.parts); w.left < 0 {
				return
			}
			below := append(slices.Clone(path), name)
			w.judge(shape, name, below)
			if property, ok := w.property(shape, schema, name); ok {
				w.visit(property, value[name], below)
			}
		}
	case []any:
		for i, element := range value {
			if w.left--; w.left < 0 {
				return
			}
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
	if !shape.plain || shape.names.set[name] {
		return
	}
	for _, part := range shape.parts {
		if len(w.report.document.patternProperties(part, name)) > 0 {
			return
		}
	}
	if shape.open && !w.looksMisspelt(name, shape.names.sorted) {
		return
	}
	w.report.addUnknownParameter(path, shape.names.sorted)
}

func (w *unknownWalker) looksMisspelt(name string, known []string) bool {
	w.comparisons -= len(known)
	return w.comparisons >= 0 && nearest(name, known) != ""
}
