package tool

import (
	"fmt"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/listing"
	"toolx/pkg/exec"
)

// The sizes beyond which a schema is a burden for whoever reads it.
const (
	deepSchema   = 32       // levels of subschemas
	largeSchema  = 64 << 10 // bytes
	combosSchema = 10_000   // subschemas, each as often as it is referred to
)

func askSchemaDeep(d *listing.Definition, tree *listing.SchemaTree) []check.Finding {
	if tree.Deep {
		return []check.Finding{d.Finding(tree.Root.Pointer(), "deeper than JSON decoders read: 10,000 brackets in one another")}
	}
	deepest, more := tree.Levels()
	if deepest <= deepSchema {
		return nil
	}
	figure := fmt.Sprint(deepest)
	if more {
		figure = "more than " + figure
	}
	return []check.Finding{d.Finding(tree.Root.Pointer(), fmt.Sprintf("%s levels of subschemas; over %d is deep", figure, deepSchema))}
}

func askSchemaLarge(d *listing.Definition, tree *listing.SchemaTree) []check.Finding {
	if len(tree.Raw) <= largeSchema {
		return nil
	}
	return []check.Finding{d.Finding(tree.Root.Pointer(), fmt.Sprintf("%s; over %s is large", exec.Bytes(int64(len(tree.Raw))), exec.Bytes(largeSchema)))}
}

func askSchemaCombos(d *listing.Definition, tree *listing.SchemaTree) []check.Finding {
	counter := comboCounter{known: make(map[*listing.SchemaNode]float64)}
	n := counter.count(tree.Root)
	if n <= combosSchema && len(tree.Nodes) <= combosSchema {
		return nil
	}
	return []check.Finding{d.Finding(tree.Root.Pointer(), fmt.Sprintf("%.3g subschemas when every reference is written out, of %d as it stands; over %d is too many",
		max(n, float64(len(tree.Nodes))), len(tree.Nodes), combosSchema))}
}

// comboCounter counts subschemas, each as often as it is reached. A circle counts
// once round.
type comboCounter struct {
	known map[*listing.SchemaNode]float64
}

func (c comboCounter) count(node *listing.SchemaNode) float64 {
	if n, ok := c.known[node]; ok {
		return n
	}
	c.known[node] = 0 // while it is being counted
	n := 1.0
	for _, below := range node.Below {
		if !below.IsDefinition() {
			n += c.count(below)
		}
	}
	if node.Target != nil {
		n += c.count(node.Target)
	}
	c.known[node] = n
	return n
}
