package convert

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"toolx/pkg/jsonschema"
)

// schemaReader analyses the schemas of a document.
type schemaReader struct {
	document *jsonschema.Document // the original schema, to which refs refer
	budget   int                  // how many more schemas may be analysed
}

// shape returns the shape of a schema, or an empty one when the budget is used up.
func (r *schemaReader) shape(schema *node) *jsonschema.Shape {
	if r.budget < 0 {
		return &jsonschema.Shape{}
	}
	shape := schema.Shape()
	r.budget -= 1 + shape.LookedAt()
	return shape
}

// resolve returns the target of a ref in the document.
func (r *schemaReader) resolve(ref string) (*node, bool) {
	target := r.document.Resolve(ref)
	return target, target.IsObject() || isBoolean(target)
}

// isNull reports whether a schema allows only null.
func (r *schemaReader) isNull(schema *node) bool { return r.shape(schema).Kinds() == jsonschema.Null }

// nameOf returns a schema's title, its kinds, or the name of its definition.
func (r *schemaReader) nameOf(schema *node) string {
	shape := r.shape(schema)
	if kinds := shape.Kinds(); shape.Title == "" && kinds != jsonschema.AnyKind {
		return kinds.String()
	}
	return cmp.Or(shape.Title, strings.Join(shape.Unknown, " or "), shape.Name, "any")
}

// disjoint reports whether no value matches two of the branches, according to their types and constant properties.
func (r *schemaReader) disjoint(branches []*node) bool {
	const most = 64 // the comparison is quadratic
	if len(branches) > most {
		return false
	}
	shapes := make([]*jsonschema.Shape, len(branches))
	for i, text := range branches {
		shapes[i] = r.shape(text)
		if slices.ContainsFunc(shapes[:i], func(b *jsonschema.Shape) bool { return !r.apart(shapes[i], b) }) {
			return false
		}
	}
	return true
}

// apart reports whether no value matches both shapes, according to their kinds, their values, or those of a property
// that both require.
func (r *schemaReader) apart(a, b *jsonschema.Shape) bool {
	if a.Kinds()&b.Kinds() == 0 || valuesApart(a, b) {
		return true
	}
	return slices.ContainsFunc(a.Properties, func(mine jsonschema.Property) bool {
		return mine.Required && slices.ContainsFunc(b.Properties, func(other jsonschema.Property) bool {
			return other.Required && other.Name == mine.Name && valuesApart(r.shape(mine.Node), r.shape(other.Node))
		})
	})
}

// valuesApart reports whether both shapes list values and have none in common.
func valuesApart(a, b *jsonschema.Shape) bool {
	return a.Options != nil && b.Options != nil && !(a.Nullable && b.Nullable) &&
		!slices.ContainsFunc(a.Options, func(mine jsonschema.Option) bool {
			return slices.ContainsFunc(b.Options, func(other jsonschema.Option) bool {
				return bytes.Equal(mine.Raw, other.Raw)
			})
		})
}
