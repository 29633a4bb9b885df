package tool

import (
	"fmt"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/listing"
	"toolx/pkg/exec"
	"toolx/pkg/jsonschema"
)

// The sizes beyond which a schema is a burden for readers.
const (
	deepSchema   = 32       // levels of subschemas
	largeSchema  = 64 << 10 // bytes
	combosSchema = 10_000   // subschemas, each as often as it is referred to
)

func askSchemaDeep(d *listing.Definition, tree *jsonschema.Tree) []check.Finding {
	deepest, more := tree.Levels()
	figure := fmt.Sprint(deepest)
	switch {
	case tree.Document.Unreadable():
		return d.One(tree.Root.Pointer(), "deeper than JSON decoders read: 10,000 brackets in one another")
	case deepest <= deepSchema:
		return nil
	case more:
		figure = "more than " + figure
	}
	return d.One(tree.Root.Pointer(), "%s levels of subschemas; over %d is deep", figure, deepSchema)
}

func askSchemaLarge(d *listing.Definition, tree *jsonschema.Tree) []check.Finding {
	size := len(tree.Document.Raw())
	if size <= largeSchema {
		return nil
	}
	return d.One(tree.Root.Pointer(), "%s; over %s is large", exec.Bytes(int64(size)), exec.Bytes(largeSchema))
}

func askSchemaCombos(d *listing.Definition, tree *jsonschema.Tree) []check.Finding {
	written := len(tree.All)
	all := max(float64(written), make(comboCounter).count(tree.Root))
	if all <= combosSchema {
		return nil
	}
	return d.One(tree.Root.Pointer(),
		"%.3g subschemas when every reference is written out, of %d as it stands; over %d is too many",
		all, written, combosSchema)
}

// comboCounter counts subschemas, each as often as it is reached, and those in a cycle once.
type comboCounter map[*jsonschema.Subschema]float64

func (c comboCounter) count(node *jsonschema.Subschema) float64 {
	if n, ok := c[node]; ok {
		return n
	}
	c[node] = 0 // while it is being counted
	n := 1.0
	for _, below := range node.Below {
		if !below.IsDefinition() {
			n += c.count(below)
		}
	}
	if node.Target != nil {
		n += c.count(node.Target)
	}
	c[node] = n
	return n
}
