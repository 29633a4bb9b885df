package doctor

import (
	"fmt"

	"toolx/pkg/exec"
)

// The sizes beyond which a schema is a burden for whoever reads it.
const (
	deepSchema   = 32       // levels of subschemas
	largeSchema  = 64 << 10 // bytes
	combosSchema = 10_000   // subschemas, each as often as it is referred to
)

func askSchemaDeep(d *definition, tree *schemaTree) []Finding {
	if tree.deep {
		return []Finding{d.finding(tree.root.pointer(), "deeper than JSON decoders read: 10,000 brackets in one another")}
	}
	deepest, more := tree.levels()
	if deepest <= deepSchema {
		return nil
	}
	figure := fmt.Sprint(deepest)
	if more {
		figure = "more than " + figure
	}
	return []Finding{d.finding(tree.root.pointer(), fmt.Sprintf("%s levels of subschemas; over %d is deep", figure, deepSchema))}
}

func askSchemaLarge(d *definition, tree *schemaTree) []Finding {
	if len(tree.raw) <= largeSchema {
		return nil
	}
	return []Finding{d.finding(tree.root.pointer(), fmt.Sprintf("%s; over %s is large", exec.Bytes(int64(len(tree.raw))), exec.Bytes(largeSchema)))}
}

func askSchemaCombos(d *definition, tree *schemaTree) []Finding {
	counter := comboCounter{known: make(map[*schemaNode]float64)}
	n := counter.count(tree.root)
	if n <= combosSchema && len(tree.nodes) <= combosSchema {
		return nil
	}
	return []Finding{d.finding(tree.root.pointer(), fmt.Sprintf("%.3g subschemas when every reference is written out, of %d as it stands; over %d is too many",
		max(n, float64(len(tree.nodes))), len(tree.nodes), combosSchema))}
}

// comboCounter counts subschemas, each as often as it is reached. A circle counts
// once round.
type comboCounter struct{ known map[*schemaNode]float64 }

func (c comboCounter) count(node *schemaNode) float64 {
	if n, ok := c.known[node]; ok {
		return n
	}
	c.known[node] = 0 // while it is being counted
	n := 1.0
	for _, below := range node.below {
		if !below.isDefinition() {
			n += c.count(below)
		}
	}
	if node.target != nil {
		n += c.count(node.target)
	}
	c.known[node] = n
	return n
}
