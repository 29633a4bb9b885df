package convert

import (
	"encoding/json"
	"slices"

	"toolx/pkg/jsonschema"
	"toolx/pkg/rawjson"
)

// node is a JSON value, and member a part of an object.
type (
	node   = jsonschema.Node
	member = jsonschema.Member
)

// object is a schema that is being changed.
type object struct {
	*node
	// hints describe dropped keywords.
	hints []string
}

// parseObject returns a copy of a schema, to be changed.
func parseObject(schema *node) (*object, bool) {
	if !schema.IsObject() {
		return nil, false
	}
	return &object{node: schema.Clone()}, true
}

func (o *object) clone() *object { return &object{o.Clone(), slices.Clone(o.hints)} }

// setType sets a schema's types, at the beginning if there were none.
func (o *object) setType(types ...string) {
	if o.Has("type") {
		o.Set("type", quoteTypes(types))
		return
	}
	typed := jsonschema.Build("type", quoteTypes(types))
	for _, m := range o.Members() {
		typed.Set(m.Name, m.Node)
	}
	o.node = typed
}

// editable returns a copy of an object, to be changed; an empty one if there is none.
func editable(n *node) *node {
	if !n.IsObject() {
		return jsonschema.Build()
	}
	return n.Clone()
}

// with returns an object with a changed or added member; a nil value changes nothing.
func with(n *node, name string, value *node) *node {
	changed := editable(n)
	changed.Set(name, value)
	return changed
}

// without returns an object without some members.
func without(n *node, names ...string) *node {
	rest := editable(n)
	rest.Keep(func(m member) bool { return !slices.Contains(names, m.Name) })
	return rest
}

// withName returns an object with a renamed member, unless the new name is taken.
func withName(n *node, from, to string) *node {
	if n.Has(to) {
		return n
	}
	changed := editable(n)
	changed.Rename(from, to)
	return changed
}

// at returns the value at a path of names; nil if it is missing or null.
func at(n *node, path []string) *node {
	for _, name := range path {
		n = n.Value(name)
	}
	return n
}

// hasAt reports whether there is a value at a path of names, even if it is null.
func hasAt(n *node, path []string) bool {
	last := len(path) - 1
	return at(n, path[:last]).Has(path[last])
}

// setAt sets the value at a path, creating objects as needed; nil removes it.
func setAt(n *node, path []string, value *node) *node {
	switch name := path[0]; {
	case value == nil && !hasAt(n, path):
		return n
	case len(path) > 1:
		return with(n, name, setAt(n.Value(name), path[1:], value))
	case value == nil:
		return without(n, name)
	default:
		return with(n, name, value)
	}
}

// valueOf returns the value of JSON text.
func valueOf(text string) *node { return jsonschema.NewNode(json.RawMessage(text)) }

// compact returns a value without spaces; empty for nil.
func compact(n *node) string { return string(rawjson.Compact(n.Bytes())) }

// literal returns the JSON type of a value, with "number" for all numbers.
func literal(n *node) string { return jsonschema.KindsOf(n.Bytes()).String() }

func isFalse(n *node) bool { return n.Is("false") }

// isBoolean reports whether a schema is true or false.
func isBoolean(n *node) bool { return n.Is("true") || isFalse(n) }
