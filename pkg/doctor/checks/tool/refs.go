package tool

import (
	"fmt"
	"slices"
	"strings"

	"toolx/pkg/doctor/check"
	"toolx/pkg/doctor/evidence"
	"toolx/pkg/doctor/listing"
	"toolx/pkg/jsonschema"
)

// askRefLoop looks for a subschema that refers to itself for the same value.
func askRefLoop(d *listing.Definition, tree *jsonschema.Tree) []check.Finding {
	walker := loopWalker{state: make(map[*jsonschema.Subschema]int)}
	for _, node := range tree.All {
		loop := walker.visit(node)
		if loop == nil {
			continue
		}
		var pointers []string
		for _, node := range append(loop, loop[0]) {
			pointers = append(pointers, evidence.Label(node.Pointer()))
		}
		if len(pointers) > 6 {
			pointers = append(pointers[:5], fmt.Sprintf("… (%d steps)", len(loop)))
		}
		return d.One(loop[0].Pointer(), "%s", strings.Join(pointers, " → "))
	}
	return nil
}

// loopWalker searches the subschemas of one value depth-first.
type loopWalker struct {
	state map[*jsonschema.Subschema]int // 1: in progress, 2: done
	way   []*jsonschema.Subschema
}

func (w *loopWalker) visit(node *jsonschema.Subschema) []*jsonschema.Subschema {
	switch w.state[node] {
	case 1:
		return slices.Clone(w.way[slices.Index(w.way, node):])
	case 2:
		return nil
	}
	w.state[node] = 1
	w.way = append(w.way, node)
	for _, next := range sameValue(node) {
		if loop := w.visit(next); loop != nil {
			return loop
		}
	}
	w.way = w.way[:len(w.way)-1]
	w.state[node] = 2
	return nil
}

// sameValue returns the subschemas that apply to the same value as the node.
func sameValue(n *jsonschema.Subschema) []*jsonschema.Subschema {
	var nodes []*jsonschema.Subschema
	if n.Target != nil {
		nodes = append(nodes, n.Target)
	}
	for _, below := range n.Below {
		if below.InPlace() {
			nodes = append(nodes, below)
		}
	}
	return nodes
}

// references returns a check for references of a kind.
func references(kind jsonschema.RefKind, remark string) askSchema {
	return func(d *listing.Definition, tree *jsonschema.Tree) []check.Finding {
		var found []check.Finding
		for _, node := range tree.All {
			if node.Reference() != "" && node.RefKind == kind {
				found = append(found, d.Finding(node.Pointer()+"/$ref", "%s%s", evidence.Cut(node.Reference()), remark))
			}
		}
		return found
	}
}
