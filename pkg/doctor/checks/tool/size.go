package tool

import (
	"fmt"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/listing"
	"toolx/pkg/exec"
	"toolx/pkg/jsonschema"
)

// Limits above which a schema is hard to process.
const (
	deepSchema   = 32       // levels of subschemas
	largeSchema  = 64 << 10 // bytes
	combosSchema = 10_000   // subschemas, counted once per reference
)

func askSchemaDeep(d *listing.Definition, tree *jsonschema.Tree) []check.Finding {
	deepest, more := tree.Levels()
	figure := fmt.Sprint(deepest)
	switch {
	case tree.Document.Unreadable():
		return d.One(tree.Root.Pointer(), "deeper than JSON decoders support: 10,000 nested brackets")
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
		"%.3g subschemas with all references expanded, %d without; over %d is too many",
		all, written, combosSchema)
}

// comboCounter counts subschemas once per path, and those in a cycle once.
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
