package jsonschema

import (
	"maps"
	"slices"
	"strconv"

	"toolx/pkg/words"
)

// Limits of looking for unknown parameters; what is left goes without warnings.
const (
	maxUnknownWork = 2_000_000 // names times the schema's parts
	maxComparisons = 200_000   // of one name with another
)

// addUnknown reports every name in the arguments that the schema does not know,
// at any depth (VAL-2).
func (r *report) addUnknown() {
	walker := unknownWalker{report: r, shapes: make(map[*Node]*nameShape), left: maxUnknownWork, comparisons: maxComparisons}
	walker.visit(r.document.root, r.value, nil)
}

// unknownWalker goes through arguments and schema side by side.
type unknownWalker struct {
	report      *report
	shapes      map[*Node]*nameShape
	left        int // work still to be done
	comparisons int // names still to be compared
}

// nameShape is what a schema knows about the names in an object.
type nameShape struct {
	parts []*Node
	names *names
	// plain says that the names are all there is: some are listed, maybe none.
	plain bool
	// open says that further names are welcome by the schema's own word.
	open bool
}

func (w *unknownWalker) shapeOf(schema *Node) *nameShape {
	if known := w.shapes[schema]; known != nil {
		return known
	}
	found := &nameShape{parts: schema.Branches(), names: newNames(schema.NameSet())}
	for _, part := range found.parts {
		found.plain = found.plain || part.Get("properties") != nil
		found.open = found.open || welcomes(part, "additionalProperties") || welcomes(part, "unevaluatedProperties")
	}
	w.shapes[schema] = found
	return found
}

func (w *unknownWalker) visit(schema *Node, value any, path []string) {
	switch value := value.(type) {
	case map[string]any:
		shape := w.shapeOf(schema)
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if w.left -= 1 + len(shape.parts); w.left < 0 {
				return
			}
			below := append(slices.Clone(path), name)
			w.judge(shape, name, below)
			if property, ok := shape.property(schema, name); ok {
				w.visit(property, value[name], below)
			}
		}
	case []any:
		for i, element := range value {
			if w.left--; w.left < 0 {
				return
			}
			if !KindOf(element).Has(Object | Array) {
				continue
			}
			if items, ok := schema.Element(i); ok {
				w.visit(items, element, append(slices.Clone(path), strconv.Itoa(i)))
			}
		}
	}
}

// property returns what any branch says about a name.
func (s *nameShape) property(schema *Node, name string) (*Node, bool) {
	if some := propertiesNamed(s.parts, name); len(some) > 0 {
		return join("anyOf", some), true
	}
	return schema.Property(name)
}

// judge reports a name that shape does not know. Where a schema lists names and
// welcomes others too, only what looks like a misspelling is worth a warning;
// where it lists none, nothing is.
func (w *unknownWalker) judge(shape *nameShape, name string, path []string) {
	if !shape.plain || shape.names.set[name] || len(patternProperties(shape.parts, name)) > 0 {
		return
	}
	if shape.open && !w.looksMisspelt(name, shape.names.sorted) {
		return
	}
	w.report.addUnknownParameter(path, shape.names.sorted)
}

func (w *unknownWalker) looksMisspelt(name string, known []string) bool {
	w.comparisons -= len(known)
	return w.comparisons >= 0 && words.Nearest(name, known) != ""
}
